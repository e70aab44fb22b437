"""All that the owner's report shows, as plain data, and the page that is drawn from it.

A report is collected once, when a release is written: numbers, sentences, tables and the data of pictures, the same
that the page shows and nothing else; no record, no seed, no key, no membership of a group. It is kept as
`private/report.json`. The page beside it, `report.html`, is drawn from this file and from the results of attacks in
`attacks.json`, when the release is written and again after each attack; a page is never edited.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from markupsafe import Markup

from shoal._version import __version__
from shoal.errors import DataError, ShoalError
from shoal.kind import kind_named
from shoal.kinds import HOMES
from shoal.report.attacks import attacks_in_words, attacks_section
from shoal.report.page import Words, render, said
from shoal.report.points import public_points
from shoal.report.verdict import Grounds, judge_release
from shoal.scratch import clear_abandoned, write_owned

if TYPE_CHECKING:
    from shoal.attack.attack import Attacked
    from shoal.release import Release

DATA_FILE, PAGE_FILE = "report.json", "report.html"
_DRAWN_BY = "drawn_by"


@dataclass(frozen=True)
class ReportContent:
    """What the owner's report of a release shows.

    Attributes
    ----------
    kind : str
        "table", "strings" or "sparse".
    shown : mapping of str to JSON-ready values
        By the names that the template of the kind knows; pictures as the data that they are drawn from.
    version : str
        Of the program that collected it.
    """

    kind: str
    shown: Mapping[str, Any]
    version: str = __version__

    @classmethod
    def of(cls, kind: str, **shown: Any) -> ReportContent:
        """Collect values, made plain: what is drawn now is what is drawn from the file later."""
        return cls(kind, {name: plain(value) for name, value in shown.items()})

    @classmethod
    def of_release(cls, release: Release[Any], **shown: Any) -> ReportContent:
        """What all reports show of a release, by the words of its pages, and what this one shows besides."""
        words = cast(Words, import_module(release.pages.words))
        return cls.of(
            release.kind,
            verdict=release.grounds().to_dict(),
            noun=words.NOUN,
            checked=words.CHECKED,
            **said(words, release.guarantees, release.suppressed),
            **{"notes": release.notes, **shown},
        )

    def with_more(self, **shown: Any) -> ReportContent:
        """The same with what is collected in one place for all kinds."""
        return replace(self, shown={**self.shown, **{name: plain(value) for name, value in shown.items()}})

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"shoal": self.version, "kind": self.kind, "report": dict(self.shown)}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> ReportContent:
        """From what `to_dict` gave."""
        kind, shown = told["kind"], told["report"]
        if kind not in HOMES or not isinstance(shown, dict):
            raise ValueError
        return cls(kind, shown, str(told["shoal"]))


def picture(name: str, /, **data: Any) -> dict[str, Any]:
    """A picture as the data that a function of the pictures draws it from."""
    return {_DRAWN_BY: name, **data}


def plain(value: Any) -> Any:
    """The same as JSON reads it back; a number that is not finite is null.

    >>> plain({"a": (1, np.float64(0.5), float("nan"))})
    {'a': [1, 0.5, None]}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    return str(value)


def draw_page(content: ReportContent, attacks: Attacked[Any] | None) -> str:
    """The report as one HTML page: the same content and results give the same page."""
    kind = kind_named(content.kind)
    shown = _drawn(content.shown, kind.pictures)
    shown["origin"] = _origin(content)
    shown["title"] = (content.shown.get("context") or {}).get("title") or shown.get("title")
    shown["verdict"] = judge_release(_grounds(content.shown), attacks, kind.attacks)
    shown["attacks"] = attacks_section(content.kind, attacks)
    shown["attacks_in_short"] = attacks_section(content.kind, attacks, is_short=True)
    shown["attacks_in_words"] = attacks_in_words(content.kind, attacks)
    return render(kind.report_template, **shown, version=content.version)


def _origin(content: ReportContent) -> Markup:
    """What is said of the release besides its data, and what it was made from; earlier versions kept neither."""
    about, provenance = public_points(content.shown.get("context")), content.shown.get("provenance")
    page = render("origin.html", about=about, provenance=provenance, version=content.version)
    return Markup(page)  # whose own parts are escaped


def _grounds(shown: Mapping[str, Any]) -> Grounds:
    """What the verdict rests on; earlier versions kept a sentence about the guarantees, and no more."""
    told = shown.get("verdict")
    if isinstance(told, Mapping):
        return Grounds.from_dict(told)
    return Grounds(str(told or ""), bool(shown.get("holds", True)), "")


def _drawn(value: Any, pictures: Mapping[str, str]) -> Any:
    """The same with pictures in place of their data."""
    if isinstance(value, list):
        return [_drawn(item, pictures) for item in value]
    if not isinstance(value, Mapping):
        return value
    name = value.get(_DRAWN_BY)
    if name is None:
        return {key: _drawn(item, pictures) for key, item in value.items()}
    draw = getattr(import_module(pictures[name]), name)
    return draw(**{key: item for key, item in value.items() if key != _DRAWN_BY})


def write_report(private: Path, content: ReportContent) -> None:
    """Keep what the report shows in `private/`, and draw the page."""
    write_owned(private / DATA_FILE, json.dumps(content.to_dict(), indent=1, allow_nan=False) + "\n", overwrite=True)
    draw_report(private)


def read_content(private: Path) -> ReportContent | None:
    """What the report shows; None where `private/` keeps none, as of earlier versions and without a report."""
    path = private / DATA_FILE
    try:
        return ReportContent.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise DataError(
            f"{path} cannot be read as what a report shows; restore it, or move it away to do without a page"
        ) from None


def draw_report(private: Path) -> Path | None:
    """Draw the page anew from what `private/` keeps; None where that is no report. It changes whole or not at all."""
    from jinja2 import TemplateError

    from shoal.attack.kept import KeptAttacks

    content = read_content(private)
    if content is None:
        return None
    kept, path = KeptAttacks.read(private), private / PAGE_FILE
    try:
        page = draw_page(
            content, None if kept is None else kept.shown([a.name for a in kind_named(content.kind).attacks])
        )
    except (KeyError, TypeError, ValueError, AttributeError, LookupError, TemplateError):
        raise DataError(
            f"{private / DATA_FILE} does not hold what a report of version {__version__} shows; the page is as it was"
        ) from None
    try:
        clear_abandoned(private)
        write_owned(path, page, overwrite=True)
    except OSError as error:
        raise ShoalError(f"the report {path} cannot be written: {error.strerror or error}; it is as it was") from None
    return path
