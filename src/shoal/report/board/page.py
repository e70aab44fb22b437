"""The page for a board: a sign-off of one page, then the chapters of a framework, drawn from what `private/` keeps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.attack.attack import Attacked
from shoal.attack.kept import KeptAttacks
from shoal.errors import DataError, PolicyError, did_you_mean
from shoal.kind import kind_named
from shoal.report.board import clauses
from shoal.report.board.chapters import APPENDIX, FRAMEWORKS, Framework, with_appendix
from shoal.report.board.clauses import NOT_STATED, Case
from shoal.report.board.facts import BoardFacts
from shoal.report.content import DATA_FILE, ReportContent, read_content
from shoal.report.page import render
from shoal.report.points import public_points
from shoal.report.verdict import Grounds, judge_release

SIGNED_BY = ("Owner of the data", "Data protection officer", "For the board")


def board_page(folder: str | Path, framework: str) -> str:
    """The page that supports an assessment by a framework, as one HTML file without script.

    Parameters
    ----------
    folder : path
        Of a release: the one that holds `private/`, or `private/` itself.
    framework : {"iso27559", "ema", "hipaa", "gdpr"}

    Raises
    ------
    DataError
        If nothing is kept there that a page can be drawn from.
    """
    if framework not in FRAMEWORKS:
        raise PolicyError(f"no framework is called {framework!r}; {did_you_mean(framework, FRAMEWORKS)}")
    private = private_folder(folder)
    content = read_content(private)
    if content is None or not isinstance(content.shown.get("board"), Mapping):
        raise DataError(
            f"{private} keeps no {DATA_FILE} that a page for a board can be drawn from (the release was made without a "
            "report, or by an earlier version); make the release again"
        )
    kept = KeptAttacks.read(private)
    names = [a.name for a in kind_named(content.kind).attacks]
    try:
        return draw_board(content, None if kept is None else kept.shown(names), FRAMEWORKS[framework])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise DataError(f"{private / DATA_FILE} does not hold what a page for a board shows; restore it") from None


def private_folder(folder: str | Path) -> Path:
    """The folder that a report is kept in, of a release."""
    path = Path(folder)
    inside = path / "private"
    if path.name == "publish" and (path.parent / "private").is_dir():
        raise DataError(f"{path} is the part that is published; give the folder above it, which also holds private/")
    if not path.is_dir():
        raise DataError(f"there is no folder {path}; give the folder of a release")
    return inside if inside.is_dir() else path


def draw_board(content: ReportContent, attacked: Attacked[Any] | None, framework: Framework) -> str:
    """Draw the page: the same content and results give the same page."""
    shown = {**content.shown, "version": content.version}
    attacks = kind_named(content.kind).attacks
    verdict = judge_release(Grounds.from_dict(shown["verdict"]), attacked, attacks)
    case = Case(shown, BoardFacts.from_dict(shown["board"]), verdict, attacked, {a.name: a.title for a in attacks})
    chapters = framework.chapters(case)
    return render(
        "board.html",
        version=content.version,
        framework=framework,
        title=case.context.get("title") or shown["title"],
        about=public_points({key: value for key, value in case.context.items() if key != "title"}),
        verdict=verdict,
        summary=_summary(case),
        chapters=with_appendix(chapters),
        appendix=APPENDIX,
        n_clauses=sum(len(chapter.clauses) for chapter in chapters),
        n_stated=sum(clause.is_stated for chapter in chapters for clause in chapter.clauses),
        not_stated=NOT_STATED,
        signed_by=SIGNED_BY,
    )


def _summary(case: Case) -> list[tuple[str, str]]:
    """What the sign-off says, a line each."""
    limit, highest = case.threshold, case.facts.highest
    risk = "not measured by classes; see the attacks" if highest is None else f"{highest:.3f}"
    said = [
        ("Size", clauses.records(case).text),
        ("Threshold", f"{limit.value:g}, {limit.why}"),
        ("Highest risk (prosecutor)", risk if highest is None else f"{risk}, {limit.verdict(highest)} the threshold"),
    ]
    if case.facts.after is not None:
        average = case.facts.after["prosecutor_average"]
        said.append(("Average risk", f"{average:.3f}, {limit.verdict(average)} the threshold"))
    techniques = list(dict.fromkeys(name for name, _ in case.facts.techniques))
    said.append(("Techniques", clauses.some(techniques) or NOT_STATED))
    tried = len({r.attack for r in case.results})
    said.append(("Attacks run", f"{tried}" if tried else NOT_STATED))
    return said
