"""The owner's report of a stream that ended: what holds, who was left out, what it cost. Sums only, never a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from shoal.report.page import judged, render
from shoal.report.points import Point
from shoal.report.tables import words
from shoal.report.tables.words import number, percent
from shoal.report.verdict import ReleaseVerdict, what_holds

if TYPE_CHECKING:
    from shoal.check.guarantee import Guarantee
    from shoal.stream.pump import Delay
    from shoal.stream.stream import Streamed

PAGE_FILE = "report.html"
NOT_ATTACKED = (
    "Nothing is known about what attackers get, as no attack was run; run shoal attack on the published folder. "
    "Attacks know nothing of when records came in."
)
CHECKED = "All that was published was read again at the end, and checked by code that is independent of the method."
LIMITS = (
    Point(
        "Who comes several times",
        "Of somebody known to come several times, the sensitive values of the classes in which he stood can be "
        "compared.",
    ),
    Point("Being in the data", "That a record came in within a window, and how many did, is not hidden."),
    Point("What a class has in common", "If all of a class have the same value, it is told of each of them."),
    Point("No differential privacy", "What is promised is what is listed above, and nothing else."),
)


def render_stream_report(
    made: Streamed, delay: Delay, attacker: Sequence[str], unverified: Sequence[str], publish: str = ""
) -> str:
    """Write the report as one HTML page.

    Parameters
    ----------
    attacker : sequence of str
        Against whom what is promised holds, a phrase each.
    unverified : sequence of str
        What could not be recomputed from all that was published.
    publish : str
        What stands in the place of a class, by its name in the policy.
    """
    records = made.records
    cost = _cost(made.loss, records)
    met = all(g.holds for g in made.guarantees)
    holds = what_holds(made.guarantees, [words.short_name(g) for g in made.guarantees]) if made.guarantees else ""
    found = ReleaseVerdict("amber" if met else "red", " ".join([holds, *unverified]).strip(), NOT_ATTACKED, cost)
    limit = f"{delay.records:,} records" + ("" if delay.seconds is None else f" or {delay.seconds:g} seconds")
    return render(
        "stream_report.html",
        guarantees=judged(made.guarantees, words.short_name, words.required, words.achieved),
        models=words.models(publish) if made.guarantees else {},
        suppressed=list(made.suppressed.items()),
        verdict=found,
        checked=CHECKED,
        title=f"A stream of {records['in']:,} records",
        noun="Records",
        facts=[
            ("Records published", f"{records['out']:,}", f"of {records['in']:,}"),
            ("Windows", f"{made.windows:,}", f"a record waits for {limit} at most"),
            *_least(made.guarantees),
            *((name, number(value), "see below") for name, value in list(made.loss.items())[:1]),
        ],
        suppressed_sentence=_suppressed(records),
        limits=LIMITS,
        attacks="",
        losses=[(name, number(value)) for name, value in made.loss.items()],
        method={
            "Windows": f"What came in one after the other was a window until its first record had waited for {limit}; "
            "it came out together, and windows do not overlap.",
            **({"The attacker": "; ".join(attacker) + "."} if attacker else {}),
        },
        notes=(),
        origin="",
    )


def _least(guarantees: Sequence[Guarantee]) -> list[tuple[str, str, str]]:
    sizes = [g for g in guarantees if g.model == "k-anonymity"]
    return [("Smallest class", f"{g.achieved:,.0f}", f"required: {g.required['k']:g}") for g in sizes[:1]]


def _suppressed(records: Mapping[str, int]) -> str:
    if not records["suppressed"]:
        return "No record was suppressed."
    share = percent(records["suppressed"] / max(records["in"], 1))
    return f"{records['suppressed']:,} of {records['in']:,} records were suppressed, {share}."


def _cost(loss: Mapping[str, float], records: Mapping[str, int]) -> str:
    told = [f"{name} is {number(value)}." for name, value in list(loss.items())[:1]]
    return " ".join([*told, _suppressed(records)])
