"""What was recomputed about an attacker's belief, as a guarantee with a sentence in plain words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints, Mask
from shoal.check.guarantee import N_WORST, Guarantee, WorstClass, count
from shoal.check.slices.posterior import Posterior
from shoal.check.tables.models import check_of
from shoal.check.tables.t_closeness import Distance
from shoal.models import Model


@dataclass(frozen=True)
class Outcome:
    """One requirement on one attribute, measured on all classes of a posterior.

    Attributes
    ----------
    ids : int64 array
        The classes that have a belief.
    reached, failing : arrays
        What each of them reaches, and whether it fails.
    """

    required: Model
    name: str
    distance: Distance
    ids: Ints
    reached: Floats
    failing: Mask

    @property
    def low_is_worse(self) -> bool:
        """Whether small numbers are the dangerous ones."""
        return check_of(self.required).is_low_worse(self.required)

    @property
    def worst(self) -> float:
        """What the worst class reaches."""
        if not len(self.reached):
            return 0.0 if self.low_is_worse else float("inf")
        return float(self.reached.min() if self.low_is_worse else self.reached.max())


def concluded(
    outcome: Outcome,
    belief: Posterior,
    *,
    who: str,
    smallest: int = 0,
    n_unmatched: int = 0,
    show_regions: bool = False,
) -> Guarantee:
    """Sum an outcome up.

    Parameters
    ----------
    who : str
        The attacker, as the subject of a sentence.
    smallest : int
        What the release reaches of the k that a model such as (alpha, k)-anonymity has of its own.
    n_unmatched : int
        Records of which nothing can be said, as they are in no bucket: nothing holds then.
    show_regions : bool
        Whether published labels may name the worst classes; where values are published as they are, they may not.
    """
    required = outcome.required
    failing = outcome.failing
    check = check_of(required)
    title, parameters, says, kind = check.believed(required, outcome, smallest, bool(failing.any()))
    least = check.least_rows(required)
    holds = not failing.any() and smallest >= least and n_unmatched == 0
    badness = -outcome.reached if outcome.low_is_worse else outcome.reached
    sizes = belief.sizes[outcome.ids]
    order = np.lexsort((outcome.ids, sizes, -badness, ~failing))[:N_WORST].tolist()
    worst = tuple(
        WorstClass(_place(belief, int(outcome.ids[i]), show_regions), int(sizes[i]), float(outcome.reached[i]))
        for i in order
    )
    if holds:
        sentence = f"{who} {says}."
    elif n_unmatched:
        sentence = (
            f"{title} is not shown: {count(n_unmatched, 'record')} of the original could stand in no bucket, "
            "so the table is not made of these records."
        )
    elif not failing.any():
        sentence = f"{title} fails: the smallest group has {count(smallest, 'row')}; {who[0].lower()}{who[1:]} {says}."
    else:
        n_people = int(sizes[failing].sum())
        where = f"for {count(n_people, 'record')} in {int(failing.sum())} of {count(len(failing), 'group')}"
        sentence = f"{title} fails {where}: {who[0].lower()}{who[1:]} {says}."
    return Guarantee(
        model=required.model,
        kind=kind,
        sensitive=outcome.name,
        required=parameters,
        achieved=outcome.worst,
        holds=holds,
        n_classes=len(outcome.ids),
        n_failing=int(failing.sum()),
        worst=worst,
        sentence=sentence,
        details={"k": smallest} if least else {},
    )


def _place(belief: Posterior, index: int, show_regions: bool) -> dict[str, str]:
    """Where a class could stand: its buckets and, of a single one, the labels that cover it."""
    matching = belief.matching
    sliced = matching.sliced
    numbers = belief.buckets_of(index)
    more = f" and {len(numbers) - N_WORST} more" if len(numbers) > N_WORST else ""
    values = {sliced.layout.bucket: ", ".join(str(n) for n in numbers[:N_WORST]) + more}
    if not show_regions or len(numbers) > 1:
        return values
    pair = int(belief.example[belief.traces[belief.starts[index]]])
    for part in belief.carrying:
        hit_pair, hit_region = matching.hits[part.number]
        regions = hit_region[slice(*np.searchsorted(hit_pair, [pair, pair + 1]))]
        row = int(part.first[regions[0]])
        for column in part.columns:
            values[column.name] = (column.texts() + [""])[column.codes[row]] if len(regions) == 1 else "several"
    return values
