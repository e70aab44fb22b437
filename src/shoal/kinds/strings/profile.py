"""A first look at strings: how many, how long, of which symbols and classes, and a policy to begin with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.data.strings.alphabets import KNOWN
from shoal.data.strings.strings import Strings
from shoal.errors import DataError, ShoalError
from shoal.kind import Profiled
from shoal.kinds.strings.policy import StringPolicy
from shoal.shown import Grid
from shoal.strings.generate import fingerprint_originals
from shoal.strings.homology import MOST_SHARED, find_unaligned
from shoal.strings.lengths import homogenize_lengths

GROUP_SIZES = (20, 10, 5, 2)
N_CLASSES_SHOWN = 12
MOST_TRIED = 300_000  # symbols: a second or two
FEW_DROPPED = 0.005
LENGTH_NAMES = ("shortest", "quarter", "median", "three_quarters", "longest")


@dataclass(frozen=True, repr=False)
class StringProfile(Profiled):
    """What was found; for the owner, as it tells original lengths.

    Attributes
    ----------
    n_strings, n_empty, n_duplicates : int
        How many there are, how many of them are empty, and how many have an earlier one equal to them.
    lengths : tuple of int
        The shortest, the quartiles and the longest of those that are not empty.
    n_symbols : int
        Distinct symbols that occur.
    n_rare : int
        How many of them fewer than the proposed k strings hold.
    symbols_are : str
        "tokens", or "characters", with the name of a known alphabet.
    classes : tuple of (str, int)
        Classes and their sizes, the largest first.
    n_suppressed : int
        How many strings the proposed policy would suppress for their length or the size of their class.
    policy : StringPolicy
        The proposal.
    notes : tuple of str
    """

    n_strings: int
    n_empty: int
    n_duplicates: int
    lengths: tuple[int, int, int, int, int]
    n_symbols: int
    n_rare: int
    symbols_are: str
    classes: tuple[tuple[str, int], ...]
    n_suppressed: int
    policy: StringPolicy
    notes: tuple[str, ...] = ()

    def shown(self) -> list[str | Grid]:
        """For a terminal, a line each."""
        return [*self.sentences, *(f"note: {note}" for note in self.notes)]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The same in words."""
        k, method = self.policy.k, self.policy.method
        shortest, _, median, _, longest = self.lengths
        told = [
            f"{self.n_strings:,} strings of {self.symbols_are}; lengths from {shortest:,} to {longest:,}, half of them "
            f"up to {median:,}",
            f"{self.n_symbols:,} different symbols, {self.n_rare:,} of them in fewer than {k} strings (not shown in a "
            "release)",
        ]
        if self.n_empty or self.n_duplicates:
            told.append(f"{self.n_empty:,} strings are empty, {self.n_duplicates:,} are equal to another one")
        if self.classes:
            small = sum(n < k for _, n in self.classes)
            sizes = ", ".join(f"{name} ({n:,})" for name, n in self.classes[:N_CLASSES_SHOWN])
            more = f" and {len(self.classes) - N_CLASSES_SHOWN:,} more" if len(self.classes) > N_CLASSES_SHOWN else ""
            told.append(f"{len(self.classes):,} classes: {sizes}{more}; {small:,} of fewer than {k}")
        told.append(
            f"with k = {k} and eps = {method.eps:g}, {self.n_suppressed:,} would be left out for their length or class"
        )
        return tuple(told)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "kind": "strings",
            "strings": self.n_strings,
            "empty": self.n_empty,
            "duplicates": self.n_duplicates,
            "lengths": dict(zip(LENGTH_NAMES, self.lengths, strict=True)),
            "symbols": self.n_symbols,
            "rare_symbols": self.n_rare,
            "symbols_are": self.symbols_are,
            "classes": [{"name": name, "strings": n} for name, n in self.classes],
            "suppressed": self.n_suppressed,
            "notes": list(self.notes),
        }

    def to_toml(self) -> str:
        """A policy file to be edited."""
        method = self.policy.method
        lines = [
            "# Written by `shoal profile`. Read it, correct it, then run",
            "#     shoal anonymize DATA -p THIS_FILE -o out/",
            'kind = "strings"',
            "",
            "[input]   # what is left out is detected",
            *(
                f"{name} = {_toml(value)}"
                for name, value in self.policy.input.model_dump(exclude_none=True).items()
                if value != ()
            ),
            "",
            "[[require]]",
            'model = "k-anonymity"',
            f"k = {self.policy.k}   # every pseudo-string is drawn from a group of at least k strings",
            "",
            "[method]",
            f"eps = {method.eps}   # strings of a group differ in length by a factor of {1 + method.eps:g} at most",
            f"order = {method.order}   # a symbol depends on the {method.order - 1} before it",
            f'generator = "{method.generator}"   # window | template, as in the papers | markov, to compare with',
            f"support = {method.support}   # as far as that many strings of the group carry them; 1: even one",
            f'lengths = "{method.lengths}"   # template: one length a segment | spread: lengths as in the group',
            f'copies = "{method.copies}"   # redraw: none equals an original of fewer than k holders | allow: some may',
            "",
        ]
        return "\n".join(lines)


def profile_of(strings: Strings, policy: StringPolicy) -> StringProfile:
    """Look at strings; the policy gives the input and the method, and k is proposed by their number."""
    sizes = strings.lengths[strings.lengths > 0]
    if not len(sizes):
        raise DataError("there is nothing to profile: no string holds a symbol")
    k = next((k for k in GROUP_SIZES if len(sizes) >= 2 * k), 2)
    proposed = policy.changed(k=k)
    labels = strings.labels if strings.labels is not None else np.zeros(len(strings), np.int32)
    n_suppressed = 0
    for label in np.unique(labels).tolist():
        lengths = strings.lengths[(labels == label) & (strings.lengths > 0)]
        if len(lengths) < k:
            n_suppressed += len(lengths)
            continue
        n_suppressed += int((homogenize_lengths(lengths, k, policy.method.eps, policy.method.homogenize) < 0).sum())
    counts = np.bincount(labels, minlength=len(strings.classes)) if strings.classes else np.zeros(0, np.int64)
    classes = sorted(zip(strings.classes, counts.tolist(), strict=True), key=lambda c: (-c[1], c[0]))
    owner = np.repeat(np.arange(len(strings)), strings.lengths)
    held = np.unique(owner * max(len(strings.alphabet), 1) + strings.symbols) % max(len(strings.alphabet), 1)
    holders = np.bincount(held, minlength=len(strings.alphabet))
    name = strings.source.alphabet
    quartiles = np.percentile(sizes, [0, 25, 50, 75, 100], method="lower").astype(int).tolist()
    return StringProfile(
        n_strings=len(strings),
        n_empty=len(strings) - len(sizes),
        n_duplicates=len(strings) - len(fingerprint_originals(strings)),
        lengths=(quartiles[0], quartiles[1], quartiles[2], quartiles[3], quartiles[4]),
        n_symbols=int((holders > 0).sum()),
        n_rare=int(((holders > 0) & (holders < k)).sum()),
        symbols_are="tokens" if strings.is_tokens else f"characters ({name})" if name in KNOWN else "characters",
        classes=tuple(classes),
        n_suppressed=n_suppressed,
        policy=proposed,
        notes=(*strings.source.notes, *_foretold(strings, proposed)),
    )


def _foretold(strings: Strings, policy: StringPolicy) -> list[str]:
    """What a release would refuse, or leave out because draws equal originals, by trying it where strings are few."""
    shared = find_unaligned(strings, strings.labels)
    if shared >= MOST_SHARED and policy.method.unaligned == "refuse":
        return [
            f"the strings are nearly the same and not aligned (two of them share {100 * shared:.0f} % of their "
            "fragments and differ in length); a release asks for them aligned, such as by mafft --auto, or for "
            'unaligned = "accept"'
        ]
    if len(strings.symbols) > MOST_TRIED or policy.method.copies == "allow":
        return []
    from shoal.kinds.strings.release import condensation_of

    trial = condensation_of(policy, seed=0)
    try:
        trial.fit_transform(strings)
    except ShoalError:
        return []
    share = trial.pseudo_.n_dropped / len(strings)
    if share < FEW_DROPPED:
        return []
    return [
        f"with k = {policy.k} about {100 * share:.0f} % would be left out, as every draw equals a string that fewer "
        f"than {policy.k} hold; {100 * policy.method.suppression:g} % may be"
    ]


def _toml(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False).replace("\x7f", "\\u007f")
