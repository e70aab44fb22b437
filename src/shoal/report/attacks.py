"""The section of the owner's report on attacks: what was tried, what it got, and what to do about it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from shoal.errors import DataError
from shoal.report.page import capped, render
from shoal.report.svg import AFTER, BEFORE, MUTED, Axis, Drawing, clean
from shoal.scratch import locked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal.attack.attack import Attacked
    from shoal.attack.result import AttackResult, Rate
    from shoal.secrets import PrivateFolder

WIDEST_TITLE = 44  # letters in a line of the picture


def attacks_section(kind: str, found: Attacked[Any] | None, *, is_short: bool = False) -> Markup:
    """The section with the results, or with how to get some; in short without the sentence on each attack."""
    return _drawn("attacks.html", kind, found, is_short=is_short)


def attacks_in_words(kind: str, found: Attacked[Any] | None) -> Markup:
    """What the short section leaves out, for an appendix; nothing where no attack was run."""
    return _drawn("attacks_words.html", kind, found)


def _drawn(template: str, kind: str, found: Attacked[Any] | None, **how: bool) -> Markup:
    from shoal.kind import kind_named

    if found is not None:
        found = replace(found, results=by_risk(found.results))
    known = {} if found is None else {a.name: a for a in kind_named(kind).attacks}
    titles = {name: a.title for name, a in known.items()}
    body = render(
        template,
        found=found,
        picture=None if found is None or not found.results else forest(found.results),
        rows=[] if found is None else [(r, known.get(r.attack)) for r in found.results],
        skipped=[] if found is None else [(titles.get(name, name), why.rstrip(".")) for name, why in found.skipped],
        verdict="" if found is None else verdict(found.results),
        **how,
    )
    return Markup(body)  # whose own parts are escaped


def by_risk(results: Sequence[AttackResult]) -> tuple[AttackResult, ...]:
    """The same with the worst first: by what an attack surely adds, then by what it likeliest does."""
    return tuple(sorted(results, key=lambda r: (r.risk.low, r.risk.value, r.risk.high), reverse=True))


def verdict(results: Sequence[AttackResult]) -> str:
    """One sentence on all results; an attack succeeded if it did under any conditions."""
    if not results:
        return "No attack could be run."
    n_attacks = len({r.attack for r in results})
    winners: dict[str, list[str]] = {}
    for r in results:
        if r.succeeds:
            winners.setdefault(r.attack, []).append(r.title)
    named = "; ".join(title for titles in winners.values() for title in titles)
    if n_attacks == 1:
        whose, more = "The one attack", "more" if winners else "no more"
    else:
        whose, more = f"{len(winners) or 'None'} of {n_attacks} attacks", "more"
    return f"{whose} achieved {more} with the release than without it{f': {named}' if named else ''}."


def note_on_page(private: PrivateFolder) -> str:
    """What the owner should know where results are kept that no page shows; "" where the report shows them."""
    from shoal.report.content import DATA_FILE

    folder = private.path
    if (folder / DATA_FILE).exists():
        return ""
    return (
        f"note: the results are kept in {folder / 'attacks.json'}, and no page shows them, for there is no {DATA_FILE} "
        "to draw one from (a report was not asked for, or an earlier version wrote it)\n"
    )


def refuse_foreign(private: PrivateFolder, checksum: str) -> None:
    """Refuse what is no private folder, or one with results of attacks on other data, before any attack is run."""
    from shoal.attack.kept import kept_of
    from shoal.report.content import read_content

    folder = private.path
    if not folder.is_dir() or (folder / "manifest.json").exists():
        raise DataError(f"{folder} is not the private/ folder of a release; give that folder")
    read_content(folder)
    kept_of(folder, checksum)


def keep_in_report(
    private: PrivateFolder, checksum: str, found: Attacked[Any], granted: Mapping[str, int], seed: int | None
) -> Path | None:
    """Join the results of a run with those that `private/` keeps, and draw the report anew with all of them.

    Parameters
    ----------
    checksum : str
        Of the data file that was attacked: results on other data are refused.
    granted, seed
        What the attacker was given; see `shoal.attack.kept`.

    Returns
    -------
    path or None
        The page; None where `private/` does not keep what a report shows, so that there is none to draw.
    """
    from shoal.attack.kept import KeptAttacks, kept_of
    from shoal.report.content import draw_report

    folder = private.path
    with locked(folder):
        (kept_of(folder, checksum) or KeptAttacks(checksum)).joined(found, granted, seed).write(folder)
        return draw_report(folder)


def forest(results: Sequence[AttackResult]) -> Markup:
    """How often each attack succeeded, with intervals: on members, on others, by guessing."""

    ticks = [(i, "\n".join(_lines(capped(r.title)))) for i, r in enumerate(results)]
    x = Axis(-0.02, 1.02, [(t / 4, f"{25 * t} %") for t in range(5)], is_ruled=True)
    y = Axis(len(results) - 0.4, -0.6, ticks, has_line=False)
    drawing = Drawing(7.2, 0.5 + 0.42 * len(results), x, y)
    for i, r in enumerate(results):
        for rate, shift, colour, sign in (
            (r.main, 0.0, AFTER, "round"),
            (r.control, 0.24, BEFORE, "square"),
            (r.baseline, -0.24, MUTED, "tick"),
        ):
            if rate is not None and rate.attempts:
                drawing.line([(rate.low, i + shift), (rate.high, i + shift)], colour, 1.4)
                drawing.mark((rate.value, i + shift), sign, colour, 2.9)
    alt = "; ".join(
        f"{r.title}: {_told(r.main)} on members, {_told(r.control)} on others, {_told(r.baseline)} by guessing"
        for r in results
    )
    return drawing.svg(f"Share of attempts that succeeded. {alt}.")


def _lines(title: str) -> list[str]:
    """A title in two lines at most."""
    return wrap(clean(title, 200), WIDEST_TITLE, max_lines=2, placeholder=" …")


def _told(rate: Rate | None) -> str:
    return "not tried" if rate is None or not rate.attempts else f"{100 * rate.value:.1f} %"
