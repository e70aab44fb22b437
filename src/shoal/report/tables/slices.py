"""The report's section about a table in slices: what an attacker believes, and who seems to be in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.check.slices.exposure import Exposure
from shoal.data.tables.slices import Layout
from shoal.report.content import picture
from shoal.report.tables.words import percent

_JOINED = "An attacker who knows all quasi-identifiers of a record and joins the slices on what they share."
_NAIVE = "The same attacker as the published check of slicing has it, who forgets to join: shown for comparison only."


@dataclass(frozen=True)
class Section:
    """What the template shows."""

    sentence: str
    beliefs: tuple[tuple[str, str, str, str, str], ...]
    membership: str
    picture: dict[str, Any]
    names: tuple[str, ...]
    kept: str


def section(layout: Layout, found: Exposure) -> Section:
    """Put the exposure into words and a picture."""
    held = found.membership
    beliefs = tuple(
        (name, percent(b.highest), percent(b.average), percent(b.certain), meaning)
        for name, b, meaning in (("With the join", found.joined, _JOINED), ("Without it", found.naive, _NAIVE))
        if b is not None
    )
    one = found.n_buckets == 1
    buckets = "one bucket" if one else f"{found.n_buckets:,} buckets"
    sizes = "" if one else f", half of them of {found.median:,} or fewer"
    repeated = len(set(layout.attributes.values())) < len(layout.attributes)
    return Section(
        f"The records stand in {buckets}{sizes}. Inside a bucket every slice was permuted on its own, so nothing but "
        f"the bucket{' and the sensitive value that stands in each slice' if repeated else ''} ties slices together.",
        beliefs,
        "A bucket matches a record if every slice of it holds the record's values. If records that are not in the "
        f"table matched as many buckets as those that are, a match would tell nothing. {held.n_fakes:,} invented ones "
        "were tried.",
        picture(
            "paired_bars",
            bins=held.bins,
            left=held.originals,
            right=held.fakes,
            what="matching buckets",
            alt="Share of records in the table, and of invented ones, by the number of buckets that match them.",
        ),
        tuple(", ".join(s.attributes) for s in layout.slices),
        " as far as labels are narrow" if repeated else "",
    )
