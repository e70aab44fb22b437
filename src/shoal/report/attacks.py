"""The section of the owner's report on attacks: what was tried, what it got, and what to do about it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from shoal.errors import DataError, ShoalError
from shoal.report.page import capped, render
from shoal.report.svg import AFTER, BEFORE, MUTED, RULE, draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.attack.attack import Attacked
    from shoal.attack.result import AttackResult, Rate

BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"


def attacks_section(kind: str, found: Attacked[Any] | None) -> Markup:
    """The section with the results, or with how to get some; between marks, so that it can be replaced."""
    from shoal.attack.folder import attacks_of

    known = {a.name: a for a in attacks_of(kind)}
    body = render(
        "attacks.html",
        found=found,
        picture=None if found is None or not found.results else forest(found.results),
        rows=[] if found is None else [(r, known[r.attack]) for r in found.results],
        skipped=[] if found is None else [(known[name].title, why) for name, why in found.skipped],
        verdict="" if found is None else verdict(found.results),
    )
    return Markup(f"{BEGIN}\n{body}\n{END}")


def verdict(results: Sequence[AttackResult]) -> str:
    """One sentence on all results."""
    if not results:
        return "No attack could be run."
    winners = [r.title for r in results if r.succeeds]
    if not winners:
        return f"None of {len(results)} attacks got more from the release than it would get without it."
    named = "; ".join(winners)
    return f"{len(winners)} of {len(results)} attacks got more from the release than without it: {named}."


def put_into_report(private: Path, kind: str, found: Attacked[Any]) -> Path:
    """Replace the section in the report of a release's `private/` folder; the file changes as a whole or not at all."""
    folder = private / "private" if (private / "private").is_dir() else private
    path = folder / "report.html"
    try:
        page = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path} cannot be read; give the private/ folder of the release") from None
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise DataError(f"{path} has no place for attacks; it is not the report of a release")
    stage = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        stage.write_text(f"{head}{attacks_section(kind, found)}{tail}", encoding="utf-8")
        stage.chmod(0o600)
        os.replace(stage, path)
    except OSError as error:
        stage.unlink(missing_ok=True)
        raise ShoalError(f"the report {path} cannot be written: {error.strerror or error}; it is as it was") from None
    return path


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
