"""Whether a record is among those that were published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints, Words
from shoal.attack.result import AttackResult, Rate
from shoal.attack.roc import FALSE_ALARMS, Roc
from shoal.attack.sparse.case import SPARSE_ATTACKS, SparseCase
from shoal.attack.sparse.length import mean_squares
from shoal.attack.sparse.targets import OnSketches, sketch_records
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches

FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class SketchMembership(OnSketches):
    """Decide of whole records whether they are in the release.

    With the key it is nearly certain: sketch the record and look for an equal sketch; the more components are equal,
    the surer. (A stranger whose record equals a member's is taken for one, which is no error of the attack.) Without
    the key only the length and, of whole numbers, the parity can be held against the release: the nearest sketch of
    the right parity, in standard errors of its length. Both are scored on members and on records that were not in the
    release: area under the curve, and the rate of members found where 1 % or 0.1 % of strangers are taken for members.

    Attributes
    ----------
    n_records : int
        How many members, and how many strangers.
    """

    n_records: int = 2000

    name = "membership"
    place = 60
    title = "whether a known record is in the release"
    leaked = "the key"
    knows = "the release, a whole record, and the key of the signs where it is given"
    stopped_by = "the key, which is not published: nothing else stops it"
    remedy = "keep the key secret, or destroy it; without the key this attack is near chance"
    reference = (
        "R. Shokri, M. Stronati, C. Song, V. Shmatikov, Membership inference attacks, IEEE S&P 2017; N. Carlini et "
        "al., Membership inference attacks from first principles, IEEE S&P 2022 (true positives at low false ones)"
    )

    def missing(self, case: SparseCase) -> str | None:
        """It needs records that were not in the release."""
        if case.control is None or not len(case.control):
            return "There are no records that were not in the release to compare with; hold some out, or give them."
        return None

    def run(self, case: SparseCase, rng: np.random.Generator) -> AttackResult:
        """Score members and strangers."""
        assert case.control is not None
        members = np.arange(len(case.original)) if case.rows is None else case.rows
        chosen = rng.choice(members, min(self.n_records, len(members)), replace=False)
        strangers = rng.choice(len(case.control), min(self.n_records, len(case.control)), replace=False)
        inside, outside = case.original.take(chosen), case.control.take(strangers)
        blind = Roc.of(by_length(case.published, inside), by_length(case.published, outside))
        details = {f"{name}_without_key": value for name, value in blind.details.items()}
        scores = blind
        if case.key is not None:
            scores = Roc.of(by_sketch(case.published, inside, case.key), by_sketch(case.published, outside, case.key))
            details |= {f"{name}_with_key": value for name, value in scores.details.items()}
        main, control = scores.hits(FALSE_ALARMS)
        with_key = "With the key" if case.key is not None else "Without the key"
        return self.result(
            main,
            f"{with_key}, {100 * main.value:.0f} % of the members are told from strangers, of whom "
            f"{100 * control.value:.1f} % are taken for members"
            + (
                f"; by length and parity alone, {100 * blind.hits(FALSE_ALARMS)[0].value:.0f} %."
                if case.key is not None
                else "."
            ),
            control=control,
            baseline=Rate(FALSE_ALARMS * len(chosen), len(chosen)),
            details=details,
        )


def by_sketch(published: Sketches, records: Sparse, key: bytes) -> Floats:
    """The most components of a published sketch that are the record's first ones; 0 where no sketch is."""
    width = int(published.counts.max(initial=0))
    step = None if published.is_integral else published.step
    ours = np.rint(sketch_records(records, key, width) / (step or 1.0)).astype(np.int64)
    theirs = np.rint(published.components / (step or 1.0)).astype(np.int64)
    best = np.zeros(len(records))
    of_ours = np.zeros(len(records), np.uint64)
    of_theirs = np.zeros(len(published), np.uint64)
    for j in range(width):
        longer = published.counts > j
        of_theirs[longer] = _extend(of_theirs[longer], theirs[published.starts[:-1][longer] + j])
        of_ours = _extend(of_ours, ours[:, j])
        ending = published.counts == j + 1
        best[np.isin(of_ours, of_theirs[ending])] = j + 1
    return best


def by_length(published: Sketches, records: Sparse) -> Floats:
    """How near the record's length is to that of some sketch of its parity, as the negated number of standard errors.

    A mean square of r components estimates a squared length with a relative standard error of about sqrt(2 / r).
    """
    counts = published.counts
    kept = counts > 0
    logs, errors = np.log(np.maximum(mean_squares(published)[kept], 1e-300)), np.sqrt(2 / counts[kept])
    parity = np.zeros(len(logs), np.int64)
    wanted = np.zeros(len(records), np.int64)
    if published.is_integral and records.is_integral:
        parity = (published.components[published.starts[:-1][kept]] % 2).astype(np.int64)
        wanted = (records.sums(records.weights) % 2).astype(np.int64)
    scores = np.full(len(records), -np.inf)
    lengths = np.log(np.maximum(records.squares, 1e-300))
    for odd in (0, 1):
        ours, theirs = np.flatnonzero(wanted == odd), parity == odd
        if theirs.any():
            for i in np.array_split(ours, max(1, len(ours) * int(theirs.sum()) // (1 << 22))):
                off = np.abs(lengths[i][:, None] - logs[theirs]) / errors[theirs]
                scores[i] = -off.min(axis=1)
    return scores


def _extend(hashes: Words, values: Ints) -> Words:
    """Hash one more number into each; equal only for equal sequences, but for one chance in 2^64 or so."""
    mixed = (hashes ^ values.astype(np.uint64)) * FACTOR
    return np.asarray(mixed ^ (mixed >> np.uint64(29)), np.uint64)


SPARSE_ATTACKS.register(SketchMembership())
