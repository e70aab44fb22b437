"""The frame of a page: one HTML file, no script, everything inside, everything from the data escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from shoal._version import __version__
from shoal.report.points import public_points
from shoal.report.tables.words import number, percent
from shoal.report.verdict import some_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from jinja2 import Environment

    from shoal.arrays import Codes, Ints
    from shoal.check.guarantee import Guarantee
    from shoal.release import Release

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
N_PICTURES = 24
N_CLASSES = 40
WIDEST = 60


class Words(Protocol):
    """What a kind calls what all pages show: a module of its room."""

    @property
    def NOUN(self) -> str: ...
    @property
    def MODELS(self) -> Mapping[str, Any]: ...
    @property
    def REASONS(self) -> Mapping[str, str]: ...
    @property
    def CHECKED(self) -> str: ...
    @property
    def MISUSE(self) -> Sequence[Any]: ...
    def short_name(self, guarantee: Guarantee) -> str: ...
    def required(self, guarantee: Guarantee) -> str: ...
    def achieved(self, guarantee: Guarantee) -> str: ...


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


def said(words: Words, guarantees: Sequence[Guarantee], suppressed: Mapping[str, Any]) -> dict[str, Any]:
    """What every page says of what holds and of who was left out."""
    return {
        "guarantees": judged(guarantees, words.short_name, words.required, words.achieved),
        "models": words.MODELS,
        "suppressed": [(words.REASONS[name], n) for name, n in suppressed.items()],
    }


def classes_shown(labels: Codes | None, names: Sequence[str], weights: Ints | None = None) -> dict[str, Any]:
    """The largest classes with the number of records of each, and how many more there are.

    >>> classes_shown(np.array([0, 1, 1], dtype=np.int32), ["few", "many"])
    {'classes': [('many', 2), ('few', 1)], 'n_more_classes': 0}
    """
    if labels is None:
        return {"classes": [], "n_more_classes": 0}
    counts = np.bincount(labels, weights, len(names)).astype(np.int64).tolist()
    classes = sorted(zip(names, counts, strict=True), key=lambda c: (-c[1], c[0]))
    return {"classes": classes[:N_CLASSES], "n_more_classes": max(len(classes) - N_CLASSES, 0)}


def draw_datasheet(
    template: str, release: Release[Any], words: Words, guarantees: Sequence[Guarantee] | None = None, **more: Any
) -> str:
    """The public datasheet as one HTML page: what all of them say of a release, and what this one says besides."""
    records, reasons = release.told_counts
    return render(
        template,
        about=public_points(release.policy.context.public()),
        records=records,
        misuses=words.MISUSE,
        **said(words, release.guarantees if guarantees is None else guarantees, reasons),
        **more,
    )


def environment(*packages: str, **options: Any) -> Environment:
    """Templates of some packages, the first that has one of a name, in which everything from the data is escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates") for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )
    made.filters.update(
        number=number,
        percent=percent,
        cut=cut,
        ended=ended,
        capped=capped,
        some_of=some_of,
        count=lambda n: f"{n:,}",
    )
    made.globals["version"] = __version__
    return made


@cache
def _reports() -> Environment:
    from shoal.report.compiled_pages import CompiledPages

    made = environment("shoal.report", bytecode_cache=CompiledPages(Path(__file__).parent / "__pycache__"))
    made.globals["content_security_policy"] = POLICY
    return made


def render(template: str, **values: Any) -> str:
    """Fill a template in."""
    return _reports().get_template(template).render(**values)
