"""Which strings of a release were left out and why: in numbers, in words, and how many may be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from shoal.errors import Infeasible
from shoal.kinds.strings.policy import StringPolicy
from shoal.strings.condense import SUPPRESSED_BECAUSE

COPIES = "copies"
REASONS = dict(
    zip(SUPPRESSED_BECAUSE, ("kept", "empty", "rare_symbols", "small_class", "length"), strict=True),
)


def refuse_none(n_made: int) -> None:
    """Refuse to publish nothing.

    Raises
    ------
    Infeasible
    """
    if not n_made:
        raise Infeasible(
            "every pseudo-string that was drawn equals an original, so nothing can be published; the strings are too "
            'much alike for their groups: lower the order, raise support or k, or ask for copies = "allow"'
        )


def suppressed_of(reasons: npt.NDArray[np.int8], n_copies: int) -> dict[str, int]:
    """How many strings were left out for each reason, and because each draw was a copy or a near one."""
    counts = np.bincount(reasons, minlength=len(SUPPRESSED_BECAUSE)).tolist()
    suppressed = {name: n for name, n in zip(REASONS.values(), counts, strict=True) if n and name != "kept"}
    return {**suppressed, COPIES: n_copies} if n_copies else suppressed


def refuse_suppressed(suppressed: Mapping[str, int], n_in: int, policy: StringPolicy) -> None:
    """Refuse to leave out more than the policy lets; empty strings do not count.

    Raises
    ------
    Infeasible
    """
    left_out = {name: n for name, n in suppressed.items() if name != "empty"}
    share = sum(left_out.values()) / max(n_in - suppressed.get("empty", 0), 1)
    if share <= policy.method.suppression:
        return
    remedies = {
        "small_class": "lower k or join classes",
        "rare_symbols": "lower k or rare, or join symbols",
        "length": "raise eps or lower k",
        COPIES: "lower k, so that more strings have k holders, or lower the order",
    }
    most = max(left_out, key=lambda name: left_out[name])
    raise Infeasible(
        f"{100 * share:.0f} % of the strings would be left out, most of them for the reason {most!r}, and "
        f"{100 * policy.method.suppression:g} % may be; {remedies[most]}, or let more be left out (suppression)"
    )


def suppressed_sentence(suppressed: Mapping[str, int], n_in: int, policy: StringPolicy) -> str:
    """What was suppressed and why.

    >>> suppressed_sentence({"length": 3, "empty": 1}, 500, StringPolicy())
    '4 of 500 strings were suppressed: 1 is empty; 3 have lengths that fewer than 20 strings come near to (a factor \
of 2.5 is allowed).'
    """
    if not suppressed:
        return f"No string was suppressed: all {n_in:,} are in groups."

    def told(name: str, one: str, many: str) -> str:
        n = suppressed.get(name, 0)
        return f"{n:,} {one if n == 1 else many}" if n else ""

    k, rare = policy.k, policy.rare
    near = f"that fewer than {k} strings come near to (a factor of {1 + policy.method.eps:g} is allowed)"
    parts = [
        told("empty", "is empty", "are empty"),
        told("small_class", f"is of a class of fewer than {k}", f"are of classes of fewer than {k}"),
        told(
            "rare_symbols",
            f"has only symbols that fewer than {rare} strings hold",
            f"have only symbols that fewer than {rare} strings hold",
        ),
        told("length", f"has a length {near}", f"have lengths {near}"),
        told(
            COPIES,
            "has no pseudo-string in its place, as every draw equalled an original or nearly did",
            "have no pseudo-strings in their place, as every draw equalled an original or nearly did",
        ),
    ]
    total = sum(suppressed.values())
    verb = "string was" if total == 1 else "strings were"
    return f"{total:,} of {n_in:,} {verb} suppressed: {'; '.join(filter(None, parts))}."
