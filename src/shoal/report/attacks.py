"""The section of the owner's report on attacks: what was tried, what it got, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from shoal.errors import DataError, ShoalError
from shoal.report.page import capped, render
from shoal.report.svg import AFTER, BEFORE, MUTED, RULE, draw
from shoal.scratch import clear_abandoned, locked, write_owned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal.attack.attack import Attacked
    from shoal.attack.result import AttackResult, Rate

BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"
HEADING, EARLIER_HEADING = "<h2>What attackers got</h2>", "<h2>What attackers got in earlier runs</h2>"


def attacks_section(kind: str, found: Attacked[Any] | None) -> Markup:
    """The section with the results, or with how to get some; between marks, so that it can be replaced."""
    from shoal.kind import kind_named

    known = {a.name: a for a in kind_named(kind).attacks}
    titles = {name: a.title for name, a in known.items()}
    body = render(
        "attacks.html",
        found=found,
        picture=None if found is None or not found.results else forest(found.results),
        rows=[] if found is None else [(r, known.get(r.attack)) for r in found.results],
        skipped=[] if found is None else [(titles.get(name, name), why) for name, why in found.skipped],
        verdict="" if found is None else verdict(found.results),
    )
    return Markup(f"{BEGIN}\n{body}\n{END}")


def verdict(results: Sequence[AttackResult]) -> str:
    """One sentence on all results; an attack succeeded if it did under any conditions."""
    if not results:
        return "No attack could be run."
    n_attacks = len({r.attack for r in results})
    winners: dict[str, list[str]] = {}
    for r in results:
        if r.succeeds:
            winners.setdefault(r.attack, []).append(r.title)
    if not winners:
        return f"None of {n_attacks} attacks got more from the release than it would get without it."
    named = "; ".join(title for titles in winners.values() for title in titles)
    return f"{len(winners)} of {n_attacks} attacks got more from the release than without it: {named}."


def refuse_foreign(private: Path, checksum: str) -> None:
    """Refuse a folder that has no report, or the results of attacks on other data, before any attack is run."""
    from shoal.attack.kept import kept_of

    folder = private / "private" if (private / "private").is_dir() else private
    _read_page(folder / "report.html")
    kept_of(folder, checksum)


def keep_in_report(
    private: Path, kind: str, checksum: str, found: Attacked[Any], granted: Mapping[str, int], seed: int | None
) -> Path:
    """Join the results of a run with those that `private/` keeps, and draw the section of the report from all of them.

    Parameters
    ----------
    checksum : str
        Of the data file that was attacked: results on other data are refused.
    granted, seed
        What the attacker was given; see `shoal.attack.kept`.
    """
    from shoal.attack.kept import KeptAttacks, kept_of
    from shoal.kind import kind_named

    folder = private / "private" if (private / "private").is_dir() else private
    with locked(folder):
        _read_page(folder / "report.html")  # what is no report is refused before anything is kept
        earlier = kept_of(folder, checksum)
        kept = (earlier or KeptAttacks(checksum)).joined(found, granted, seed)
        if earlier is None:  # what the page alone tells is put aside first, in case that this run is killed below
            put_into_report(folder, kind, None, keep_unknown=True)
        kept.write(folder)
        return put_into_report(folder, kind, kept.shown([a.name for a in kind_named(kind).attacks]))


def put_into_report(private: Path, kind: str, found: Attacked[Any] | None, *, keep_unknown: bool = False) -> Path:
    """Replace the section in the report of a release's `private/` folder; the file changes as a whole or not at all.

    Parameters
    ----------
    keep_unknown : bool
        Whether results that the report shows, of which nothing else is known, stay below the new ones.
    """
    folder = private / "private" if (private / "private").is_dir() else private
    path = folder / "report.html"
    head, old, tail = _read_page(path)
    below = f"\n{old.replace(HEADING, EARLIER_HEADING)}" if keep_unknown and "</table>" in old else ""
    try:
        clear_abandoned(folder)
        write_owned(path, f"{head}{attacks_section(kind, found)}{below}{tail}", overwrite=True)
    except OSError as error:
        raise ShoalError(f"the report {path} cannot be written: {error.strerror or error}; it is as it was") from None
    return path


def _read_page(path: Path) -> tuple[str, str, str]:
    """A report in three parts: before the section, the section, and behind it."""
    try:
        page = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path} cannot be read; give the private/ folder of the release") from None
    head, begin, rest = page.partition(BEGIN)
    old, end, tail = rest.partition(END)
    if not begin or not end:
        raise DataError(f"{path} has no place for attacks; it is not the report of a release")
    return head, old, tail


def forest(results: Sequence[AttackResult]) -> Markup:
    """How often each attack succeeded, with intervals: on members, on others, by guessing."""

    def paint(axes: Any) -> None:
        for i, r in enumerate(results):
            y = len(results) - 1 - i
            for rate, shift, colour, sign in (
                (r.main, 0.0, AFTER, "o"),
                (r.control, -0.24, BEFORE, "s"),
                (r.baseline, 0.24, MUTED, "|"),
            ):
                if rate is not None and rate.attempts:
                    axes.plot([rate.low, rate.high], [y + shift] * 2, color=colour, linewidth=1.4)
                    axes.plot([rate.value], [y + shift], sign, color=colour, markersize=5, markeredgewidth=1.2)
        axes.set_yticks(range(len(results)), [capped(r.title) for r in reversed(results)])
        axes.set_ylim(-0.6, len(results) - 0.4)
        axes.set_xlim(-0.02, 1.02)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        axes.grid(axis="x", color=RULE, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines["left"].set_visible(False)

    alt = "; ".join(
        f"{r.title}: {_told(r.main)} on members, {_told(r.control)} on others, {_told(r.baseline)} by guessing"
        for r in results
    )
    return draw(7.2, 0.5 + 0.42 * len(results), paint, f"Share of attempts that succeeded. {alt}.")


def _told(rate: Rate | None) -> str:
    return "not tried" if rate is None or not rate.attempts else f"{100 * rate.value:.1f} %"
