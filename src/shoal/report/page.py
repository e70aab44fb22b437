"""The frame of a page: one HTML file, no script, everything inside, everything from the data escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal._version import __version__
from shoal.report.tables.words import number, percent
from shoal.report.verdict import some_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from jinja2 import Environment

    from shoal.check.guarantee import Guarantee

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
N_PICTURES = 24
WIDEST = 60


def cut(text: object, width: int = WIDEST) -> str:
    """Shorten a text that would break a table."""
    shown = str(text)
    return shown if len(shown) <= width else shown[: width - 1].rstrip() + "…"


def ended(text: str) -> str:
    """A phrase with a full stop, and one only.

    >>> ended("raise k"), ended("raise k.")
    ('raise k.', 'raise k.')
    """
    return f"{text.rstrip('.')}."


def capped(text: str) -> str:
    """A phrase that begins a line."""
    return text[:1].upper() + text[1:]


def judged(
    guarantees: Sequence[Guarantee],
    short_name: Callable[[Guarantee], str],
    required: Callable[[Guarantee], str],
    achieved: Callable[[Guarantee], str],
) -> list[tuple[dict[str, Any], str, str, str]]:
    """What a page says of each guarantee, by the words of its kind."""
    return [
        (
            {"model": g.model, "kind": g.kind, "holds": g.holds, "sentence": g.sentence},
            short_name(g),
            required(g),
            achieved(g),
        )
        for g in guarantees
    ]


def points(listed: Iterable[Any]) -> list[dict[str, str]]:
    """Headings with their sentences."""
    return [{"title": point.title, "text": point.text} for point in listed]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from shoal.report.compiled_pages import CompiledPages

    environment = Environment(
        loader=PackageLoader("shoal.report", "templates"),
        bytecode_cache=CompiledPages(Path(__file__).parent / "__pycache__"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number,
        percent=percent,
        cut=cut,
        ended=ended,
        capped=capped,
        some_of=some_of,
        count=lambda n: f"{n:,}",
    )
    environment.globals["content_security_policy"] = POLICY
    return environment


def render(template: str, **values: Any) -> str:
    """Fill a template in."""
    return _environment().get_template(template).render(**{"version": __version__, **values})
