"""What sketches tell of a record without the key: its length, its parity, how many items it has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.case import SPARSE_ATTACKS, SparseCase
from shoal.attack.sparse.targets import NO_ROWS, OnSketches, mean
from shoal.data.sparse.sketches import Sketches


@dataclass(frozen=True)
class Length(OnSketches):
    """Read the squared length of a record from its sketch.

    The mean square of the components is an unbiased estimate of it. So may be their number: rules that allow longer
    records more components publish the length in passing. The attacker learns on one half of the records which number
    of components goes with which length (he could learn that on data of his own), and is tested on the other half,
    where the sharper of both ways counts: a success is a squared length within `tolerance` of the true one. Guessing
    is to name the median for all. Of whole-numbered records every component has the parity of the sum of weights.

    Attributes
    ----------
    tolerance : float
        Relative error that counts as a success.
    """

    tolerance: float = 0.1

    name = "length"
    place = 40
    title = "lengths of records from their sketches"
    knows = "the release, and how the number of components goes with the length; not the key"
    stopped_by = "nothing: dot products and distances need lengths, so sketches keep them"
    remedy = "where lengths are secret, lower max_components, or scale records to one length beforehand"
    reference = "N. Alon, Y. Matias, M. Szegedy, The space complexity of approximating the frequency moments, STOC 1996"

    def missing(self, case: SparseCase) -> str | None:
        """It needs to know whose sketches they are."""
        return NO_ROWS if case.rows is None else "There are too few records." if len(case.published) < 4 else None

    def run(self, case: SparseCase, rng: np.random.Generator) -> AttackResult:
        """Attack all published records."""
        assert case.rows is not None
        truth = case.original.squares[case.rows]
        counts = case.published.counts
        order = rng.permutation(len(truth))
        learned, tested = order[: len(order) // 2], order[len(order) // 2 :]
        by_square = mean_squares(case.published)[tested]
        by_count = _median_at(counts[learned], truth[learned], counts[tested])
        middle = float(np.median(truth[learned]))
        n = len(tested)

        def right(guess: Floats | float) -> Rate:
            near = np.abs(guess - truth[tested]) <= self.tolerance * truth[tested] * (1 + 1e-12)
            return Rate(int(near.sum()), n)

        square, count = right(by_square), right(by_count)
        main = max(square, count, key=lambda rate: rate.value)
        details = {
            "within_by_mean_square": square.value,
            "within_by_number_of_components": count.value,
            "relative_error_by_mean_square": mean(np.abs(by_square - truth[tested]) / truth[tested]),
            "relative_error_by_number_of_components": mean(np.abs(by_count - truth[tested]) / truth[tested]),
            "correlation_of_number_of_components": _correlation(counts, truth),
        }
        parity = ""
        if case.original.is_integral and case.published.is_integral:
            odd = case.original.sums(case.original.weights)[case.rows] % 2 == 1
            read = case.published.components[case.published.starts[:-1]] % 2 == 1
            details |= {"parity_right": mean(read == odd), "parity_guessed": max(mean(odd), 1 - mean(odd))}
            parity = f" Whether its sum is odd is told of {100 * details['parity_right']:.0f} % of the records."
        way = "the mean square" if main is square else "the number"
        return self.result(
            main,
            f"Without the key, {way} of the components tells the squared length of {100 * main.value:.0f} % "
            f"of the records to within {100 * self.tolerance:g} %; naming the median, it is "
            f"{100 * right(middle).value:.0f} %.{parity}",
            baseline=right(middle),
            details=details,
        )


def mean_squares(sketches: Sketches) -> Floats:
    """The mean square of each sketch's components; 0 of none."""
    owners = np.repeat(np.arange(len(sketches)), sketches.counts)
    sums = np.bincount(owners, weights=sketches.components.astype(np.float64) ** 2, minlength=len(sketches))
    return np.asarray(sums / np.maximum(sketches.counts, 1), np.float64)


def _median_at(known: Ints, values: Floats, asked: Ints) -> Floats:
    """The median of the values that go with a number; in between and beyond, those of the nearest numbers."""
    order = np.lexsort((values, known))
    numbers, starts, sizes = np.unique(known[order], return_index=True, return_counts=True)
    return np.asarray(np.interp(asked, numbers, values[order][starts + sizes // 2]), np.float64)


def _correlation(a: Ints, b: Floats) -> float:
    if len(a) < 2 or a.std() == 0 or b.std() == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


SPARSE_ATTACKS.register(Length())
