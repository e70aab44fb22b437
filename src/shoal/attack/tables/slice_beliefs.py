"""What an attacker believes of people, in a table in slices or not in it: the checker's posterior, asked for anybody.

Originals and controls are looked up alike, as rows of one table: originals first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.cells import CellLabels, stacked
from shoal.check.slices.matching import Finder, Matching, match_records
from shoal.check.slices.posterior import Posterior, Shares, naive_posterior, posterior
from shoal.check.slices.sliced import sliced_of
from shoal.data.tables.table import MARKERS, Table


@dataclass(frozen=True)
class SliceBelief:
    """What is believed of some people.

    Attributes
    ----------
    class_of : int64 array (n_people,)
        People of one class are believed the same of; -1: nothing is, as no bucket matches.
    """

    held: Posterior
    class_of: Ints

    def portions(self, of_joint: Ints, n_values: int) -> Iterator[Shares]:
        """The distribution of one attribute, of all classes in portions."""
        for shares in self.held.distributions():
            yield shares.read_as(of_joint, n_values)


class SliceBeliefs:
    """A table in slices, ready to be asked about originals and controls."""

    def __init__(self, case: TableCase) -> None:
        assert case.sliced is not None
        self.case = case
        self.sliced = sliced_of(case.sliced, MARKERS)
        tables = [t for t in (case.original, case.control) if t is not None]
        people = Table.of(stacked([t[name] for t in tables]) for name in self.sliced.quasi)
        self.n_people = sum(t.n_rows for t in tables)
        self.finder = Finder(self.sliced, people, case.attributes, "value", MARKERS)

    def match(self, rows: Ints) -> Matching:
        """The buckets that could hold each of some people."""
        return match_records(self.finder, rows)

    def believe(self, matching: Matching, *, naive: bool = False) -> SliceBelief:
        """What is believed of the people that were matched."""
        held = naive_posterior(matching) if naive else posterior(matching)
        return SliceBelief(held, held.of_tuple[matching.of_record])

    def of_joint(self, hidden: CellLabels) -> Ints | None:
        """The label of a sensitive attribute that each joint sensitive value has; None where it stands elsewhere."""
        layout = self.sliced.layout
        for part in self.sliced.parts:
            if hidden.name in layout.slices[part.number].columns:
                if not part.carries:
                    return None
                found = np.zeros(self.sliced.n_sensitive, dtype=np.int64)
                found[part.sensitive] = hidden.codes
                return found
        return None

    def distributions(self, hidden: CellLabels, belief: SliceBelief) -> Floats:
        """Probability of each label, for all people: (n_people, n_labels); rows of 0 where nothing is believed."""
        result = np.zeros((len(belief.class_of), hidden.n_labels))
        of_joint = self.of_joint(hidden)
        if of_joint is None:
            return result
        place = np.full(belief.held.n_classes + 1, -1, dtype=np.int64)
        for shares in belief.portions(of_joint, hidden.n_labels):
            place[:] = -1
            place[shares.ids] = np.arange(len(shares.ids))
            dense = np.zeros((len(shares.ids) + 1, hidden.n_labels))
            dense[shares.classes, shares.values] = shares.shares
            at = place[belief.class_of]  # class -1 finds the last entry, which is none
            result[at >= 0] = dense[at[at >= 0]]
        return result
