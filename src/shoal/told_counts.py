"""Numbers of records as a release tells them: few persons are not counted out.

How many records were left out for being unusual is a count of persons, and a small one tells of each of them. So a
count from 1 to k - 1 is told as that range. It would follow by subtraction from exact numbers beside it (what came in
less what went out, which can be counted; the whole less the other reasons), so those are told as ranges too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

FEWEST = 3
"""Below this, "fewer than k" would say as much as the number itself."""


@dataclass(frozen=True)
class Span:
    """A number that is told as a range: from `low` to `high`, both possible; without an end if `high` is None.

    >>> f"{Span(1, 4)} suppressed of {10_000 + Span(1, 4)}"
    '1 to 4 suppressed of 10,001 to 10,004'
    """

    low: int
    high: int | None

    def __radd__(self, n: int) -> Span:
        return Span(self.low + n, None if self.high is None else self.high + n)

    def __format__(self, _: str) -> str:
        return f"{self.low:,} or more" if self.high is None else f"{self.low:,} to {self.high:,}"

    def __str__(self) -> str:
        return format(self)

    def to_dict(self) -> dict[str, int | None]:
        """JSON-ready."""
        return {"from": self.low, "to": self.high}


Count = int | Span

MOST_RECORDS = 2**40
"""More than any table has, and so than a manifest may claim."""


SOME = Span(1, None)
"""What is told of records that are of fewer than k persons, of whom each may have many."""


def small(k: int) -> Span:
    """What is told instead of a count of fewer than k."""
    return Span(1, max(k, FEWEST) - 1)


def public_counts(records: Mapping[str, int], k: int, n_persons: int | None = None) -> dict[str, Count]:
    """The numbers of records that a manifest and a datasheet tell, where reasons for suppression are not told.

    `n_persons` is how many persons the suppressed ones are of, where persons count.
    """
    n = records["suppressed"]
    few = small(k) if n_persons is None else SOME
    is_few = 0 < (n if n_persons is None else n_persons) < max(k, FEWEST)
    return _with_total(records, few if is_few else n, k)


def public_reasons(
    records: Mapping[str, int], reasons: Mapping[str, int], k: int, n_persons: Mapping[str, int] | None = None
) -> tuple[dict[str, Count], dict[str, Count]]:
    """The same, and how many records were suppressed for which reason, and of how many persons where these count."""
    told: dict[str, Count] = {name: small(k) if 0 < n < max(k, FEWEST) else n for name, n in reasons.items()}
    told |= {name: SOME for name, n in (n_persons or {}).items() if 0 < n < max(k, FEWEST)}
    return _with_total(records, total(told.values()), k), told


def _with_total(records: Mapping[str, int], suppressed: Count, k: int) -> dict[str, Count]:
    n_own = records["out"] - records.get("counterfeits", 0)
    told: dict[str, Count] = {**records, "in": n_own + suppressed, "suppressed": suppressed}
    is_few = records.get("held_out", k) < max(k, FEWEST)
    if "held_out" in records and (is_few or isinstance(suppressed, Span)):
        told["held_out"] = Span(1, None)  # the share is a round number, so it would tell how many came in
    return told


def n_published(records: Mapping[str, Count]) -> int:
    """How many records went out, which anybody can count, so that a manifest must tell it."""
    n_out = records["out"]
    assert not isinstance(n_out, Span)
    return n_out


def total(counts: Iterable[Count]) -> Count:
    """The sum of numbers, a range if one of them is.

    >>> str(total([30, Span(1, 4), Span(1, 4)])), total([30, 7])
    ('32 to 38', 37)
    """
    known, ranges = 0, []
    for n in counts:
        if isinstance(n, Span):
            ranges.append(n)
        else:
            known += n
    if not ranges:
        return known
    highs = [r.high for r in ranges if r.high is not None]
    return Span(known + sum(r.low for r in ranges), known + sum(highs) if len(highs) == len(ranges) else None)


def may_be(told: Count, n: int) -> bool:
    """Whether a number is what was told of it."""
    if isinstance(told, Span):
        return told.low <= n and (told.high is None or n <= told.high)
    return told == n


def contradictions(
    records: Mapping[str, Count],
    k: int,
    reasons: Mapping[str, Count] | None,
    noun: str,
    *,
    counts_persons: bool = False,
) -> list[str]:
    """What is wrong with numbers of a manifest, whatever the data: they do not add up, or hide more than few."""
    findings = []
    if reasons is not None and total(reasons.values()) != records["suppressed"]:
        findings.append(f"the reasons for suppression do not add up to the number of suppressed {noun}")
    n_false = records.get("counterfeits", 0)
    n_own = n_published(records) - (0 if isinstance(n_false, Span) else n_false)
    if total([n_own, records["suppressed"]]) != records["in"]:
        findings.append(f"published and suppressed {noun} do not make those that came in, by the manifest")
    hidden = [records["suppressed"]] if reasons is None else list(reasons.values())
    few = (small(k), *([SOME] if counts_persons else []))
    if any(isinstance(n, Span) and n not in few for n in hidden):
        findings.append(f"the manifest tells numbers of {noun} as ranges that are not those of a release")
    return findings


def read_count(told: Any) -> Count:
    """A number of a manifest.

    Raises
    ------
    ValueError, TypeError, KeyError
        If it is none.
    """
    if isinstance(told, Mapping):
        low, high = _whole(told["from"]), None if told["to"] is None else _whole(told["to"])
        if set(told) != {"from", "to"} or (high is not None and high < low):
            raise ValueError
        return Span(low, high)
    return _whole(told)


def write_count(told: Count) -> Any:
    """A number as a manifest holds it."""
    return told.to_dict() if isinstance(told, Span) else told


def _whole(told: Any) -> int:
    if isinstance(told, bool) or not isinstance(told, int) or not 0 <= told <= MOST_RECORDS:
        raise ValueError
    return told
