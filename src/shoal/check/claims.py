"""What a manifest claims to be guaranteed, beside what was recomputed: a claim that was edited or invented is found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.check.guarantee import Guarantee

_SLACK = 1e-9
_ALWAYS = ("required", "holds", "achieved", "sentence")
_WORDS = ("sentence",)
_MOST = 5  # entries to name


def wrong_claims(
    claims: Sequence[Mapping[str, Any]],
    guarantees: Sequence[Guarantee],
    *,
    is_complete: bool,
    are_words_known: bool = True,
) -> list[str]:
    """Compare the guarantees of a manifest with those that were recomputed for what it says to require.

    Parameters
    ----------
    claims : sequence of mappings
        As the manifest has them; it may leave counts out.
    guarantees : sequence of Guarantee
        Recomputed from the data.
    is_complete : bool
        Whether everything that is promised was recomputed. If not, other claims may be true, and what is reached may
        be told more exactly with more to look at, so no more is compared than what is required and whether it holds.
    are_words_known : bool
        Whether the manifest was written by this version, whose sentences are known.
    """
    findings = []
    left = [dict(c) for c in claims]
    for g in guarantees:
        name = f"{g.model} of {g.sensitive!r}" if g.sensitive else g.model
        found = g.to_dict()
        same = [c for c in left if all(c.get(n) == found[n] for n in ("model", "kind", "sensitive"))]
        # One model may be required twice, with other parameters.
        claim = next((c for c in same if _equal(c.get("required"), found["required"])), same[0] if same else None)
        if claim is None:
            if is_complete:
                findings.append(f"{name} is required and was recomputed, and the manifest's guarantees do not name it")
            continue
        left.remove(claim)
        compared = {*_ALWAYS, *claim} & set(found) if is_complete else {"required", "holds"}
        compared -= set() if are_words_known else set(_WORDS)
        wrong = [n for n in found if n in compared and not _equal(claim.get(n), found[n])]
        if wrong:
            told = ", ".join(wrong)
            findings.append(f"the manifest's guarantee of {name} is not what the data gives: {told}")
        strange = sorted(map(str, set(claim) - set(found)))
        if strange:
            findings.append(f"the manifest's guarantee of {name} says more than a release does: {', '.join(strange)}")
    if left and is_complete:
        plural = "guarantees" if len(left) > 1 else "guarantee"
        findings.append(f"the manifest claims {len(left):,} {plural} that nothing requires or shows")
    return findings


def unread_entries(content: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """Entries of a manifest that a release's has not, so that nothing looks at what they claim.

    Parameters
    ----------
    content : mapping
        What the file holds.
    known : mapping
        What a manifest with the same meaning would hold.
    """
    strange = sorted(_beyond(content, known))
    findings = [f"the manifest's entry {name!r} is none of a release, and was not checked" for name in strange[:_MOST]]
    if len(strange) > _MOST:
        findings.append(f"{len(strange) - _MOST:,} more entries of the manifest are none of a release")
    return findings


def _beyond(content: Mapping[str, Any], known: Mapping[str, Any], within: str = "") -> list[str]:
    """The names of entries that are in the one alone, with those that they stand in."""
    found = []
    for name, value in content.items():
        if name not in known:
            found.append(f"{within}{name}")
        elif isinstance(value, Mapping) and isinstance(known[name], Mapping):
            found += _beyond(value, known[name], f"{within}{name}.")
    return found


def _equal(claimed: Any, found: Any) -> bool:
    if isinstance(found, bool) or isinstance(claimed, bool):
        return claimed is found
    if isinstance(found, int | float):
        return isinstance(claimed, int | float) and math.isclose(claimed, found, rel_tol=_SLACK, abs_tol=_SLACK)
    if isinstance(found, Mapping):  # counts may be left out
        return isinstance(claimed, Mapping) and all(n in found and _equal(v, found[n]) for n, v in claimed.items())
    return bool(claimed == found)
