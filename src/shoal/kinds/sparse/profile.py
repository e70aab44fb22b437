"""A first look at sparse records: how many, how large, of how many items and classes, and a policy to begin with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from shoal.data.sparse.records import Sparse
from shoal.errors import DataError
from shoal.kind import Profiled
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.policy import Strict
from shoal.shown import Grid
from shoal.sparse.anonymize import component_caps
from shoal.sparse.content_order import refine
from shoal.sparse.pseudo_baskets import kept_sizes
from shoal.sparse.rounding import step_of

NEIGHBOURS = (10, 5, 2, 1)
N_CLASSES_SHOWN = 12
SIZE_NAMES = ("smallest", "quarter", "median", "three_quarters", "largest")


@dataclass(frozen=True, repr=False)
class SparseProfile(Profiled):
    """What was found; for the owner.

    Attributes
    ----------
    n_records, n_empty, n_duplicates : int
        How many there are, how many of them are empty, and how many have an earlier one equal to them.
    sizes : tuple of int
        The least number of items of a record that is not empty, the quartiles and the largest.
    n_items, n_alone, n_rare : int
        Items that occur, those that only one record holds, and those that fewer than k do.
    weights_are : str
        "0/1", "counts" or "real numbers".
    classes : tuple of (str, int)
        Classes and their sizes, the largest first.
    components : tuple of int
        Of sketches: smallest, quartiles and largest number of components that the proposed policy allows before
        neighbours are looked at; else none.
    n_suppressed : int
        How many records it would suppress for their few items or the size of their class.
    policy : SparsePolicy
        The proposal.
    notes : tuple of str
    """

    n_records: int
    n_empty: int
    n_duplicates: int
    sizes: tuple[int, ...]
    n_items: int
    n_alone: int
    n_rare: int
    weights_are: str
    classes: tuple[tuple[str, int], ...]
    components: tuple[int, ...]
    n_suppressed: int
    policy: SparsePolicy
    notes: tuple[str, ...] = ()

    def shown(self) -> list[str | Grid]:
        """For a terminal, a line each."""
        return [*self.sentences, *(f"note: {note}" for note in self.notes)]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The same in words."""
        smallest, _, median, _, largest = self.sizes
        told = [
            f"{self.n_records:,} records with {smallest:,} to {largest:,} items, half of them up to {median:,}; "
            f"weights are {self.weights_are}",
            f"{self.n_items:,} different items, {self.n_alone:,} of them in one record only",
        ]
        if self.n_empty or self.n_duplicates:
            told.append(f"{self.n_empty:,} records are empty, {self.n_duplicates:,} are equal to another one")
        if self.classes:
            rare = self.policy.least_told if self.policy.publish != "sketch" else self.policy.method.rare
            small = sum(n < rare for _, n in self.classes)
            sizes = ", ".join(f"{name} ({n:,})" for name, n in self.classes[:N_CLASSES_SHOWN])
            more = f" and {len(self.classes) - N_CLASSES_SHOWN:,} more" if len(self.classes) > N_CLASSES_SHOWN else ""
            told.append(f"{len(self.classes):,} classes: {sizes}{more}; {small:,} of fewer than {rare}")
        if self.policy.publish == "generalise":
            told.append(f"with k = {self.policy.k}, {self.n_rare:,} items are generalised at least, as fewer hold them")
            return tuple(told)
        if self.policy.publish != "sketch":
            told.append(
                f"with k = {self.policy.k}, {self.n_rare:,} items are left out, as fewer records hold them, and "
                f"{self.n_suppressed:,} records that hold no others or are of small classes"
            )
            return tuple(told)
        low, _, middle, _, high = self.components
        told.append(
            f"with delta = {self.policy.delta:g}, sketches of {low:,} to {high:,} components, half of them up to "
            f"{middle:,}, before neighbours are looked at; {self.n_suppressed:,} records would be left out"
        )
        return tuple(told)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "kind": "sparse",
            "records": self.n_records,
            "empty": self.n_empty,
            "duplicates": self.n_duplicates,
            "sizes": dict(zip(SIZE_NAMES, self.sizes, strict=True)),
            "items": self.n_items,
            "items_of_one_record": self.n_alone,
            "items_of_fewer_than_k": self.n_rare,
            "weights_are": self.weights_are,
            "classes": [{"name": name, "records": n} for name, n in self.classes],
            "components": dict(zip(SIZE_NAMES, self.components, strict=True)) if self.components else None,
            "suppressed": self.n_suppressed,
            "notes": list(self.notes),
        }

    def to_toml(self) -> str:
        """A policy file to be edited."""
        policy = self.policy
        meanings = {
            "k-anonymity": {"k": "groups of at least k; items that fewer records hold are left out"},
            "k-variance": {"k": "a record's similarities to its k nearest are blurred by the threshold"},
            "km-anonymity": {
                "k": "so many records hold every combination of up to m items",
                "m": "attackers know up to so many items of a record",
            },
            "rho-uncertainty": {"rho": "of those with up to m items, no larger share has one more that is sensitive"},
            "delta-anonymity": {"delta": "the usual estimate of an item's weight has no smaller variance"},
        }
        required = [line for r in policy.require for line in ("[[require]]", *_lines(r, meanings[r.model]), "")]
        told = policy.told()
        lines = [
            "# Written by `shoal profile`. Read it, correct it, then run",
            "#     shoal anonymize DATA -p THIS_FILE -o out/",
            'kind = "sparse"',
            "",
            "[input]   # what is left out is detected",
            *_lines(policy.input, only=set(policy.input.told())),
            "",
            *required,
            "[method]",
            *_lines(
                policy.method,
                {
                    "publish": "items dealt anew within groups (pseudo), or a few numbers for each record (sketch)",
                    "support": "so many of a pool hold an item that is dealt in it",
                    "recovery_cap": "a sketch carries a share of the bits that pick its record out",
                },
                set(told) | {"publish", *(["item_hierarchy"] if policy.publish == "generalise" else [])},
            ),
            "",
        ]
        return "\n".join(lines)


def profile_sparse_records(records: Sparse, policy: SparsePolicy) -> SparseProfile:
    """Look at sparse records; the policy gives the input and the method, and k is proposed by their number."""
    sizes = records.sizes[records.sizes > 0]
    if not len(sizes):
        raise DataError("there is nothing to profile: no record holds an item")
    k = next((k for k in NEIGHBOURS if len(sizes) >= 10 * k), 1)
    if policy.publish != "sketch":
        k = max(k, 2)
    proposed = policy.changed(k=k)
    held = np.bincount(records.items, minlength=records.n_items)
    has_k = proposed.publish != "sketch"
    allowed = kept_sizes(records, k) if has_k else component_caps(records, proposed, step_of(records))[0]
    classes: list[tuple[str, int]] = []
    if records.labels is not None:
        counts = np.bincount(records.labels, minlength=len(records.classes))
        classes = sorted(zip(records.classes, counts.tolist(), strict=True), key=lambda c: (-c[1], c[0]))
    shown = allowed[allowed > 0]
    return SparseProfile(
        n_records=len(records),
        n_empty=len(records) - len(sizes),
        n_duplicates=_duplicates(records),
        sizes=_five(sizes),
        n_items=int((held > 0).sum()),
        n_alone=int((held == 1).sum()),
        n_rare=int(((held > 0) & (held < k)).sum()),
        weights_are="0/1" if records.is_binary else "counts" if records.is_integral else "real numbers",
        classes=tuple(classes),
        components=() if has_k else _five(shown) if len(shown) else (0,) * 5,
        n_suppressed=int((allowed == 0).sum()),
        policy=proposed,
        notes=records.source.notes,
    )


def _lines(part: Strict, meanings: Mapping[str, str] = MappingProxyType({}), only: set[str] | None = None) -> list[str]:
    """A part of the policy in TOML, all keys or some, with comments on some of them."""
    values = part.model_dump(exclude_none=True, include=only).items()
    return [f"{n} = {_in_toml(v)}" + (f"   # {meanings[n]}" if n in meanings else "") for n, v in values]


def _in_toml(value: Any) -> str:
    """JSON is TOML too, but for the one control character that it leaves as it is."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _five(values: np.ndarray[Any, Any]) -> tuple[int, ...]:
    return tuple(int(v) for v in np.quantile(values, (0, 0.25, 0.5, 0.75, 1), method="lower"))


def _duplicates(records: Sparse) -> int:
    """How many records that are not empty have the items and weights of an earlier one; classes play no part."""
    filled = records.take(np.flatnonzero(records.sizes > 0))
    ranks = refine(np.zeros(len(filled), np.int64), filled.starts, filled.items)
    ranks = refine(ranks, filled.starts, filled.weights)
    return len(filled) - len(np.unique(ranks))
