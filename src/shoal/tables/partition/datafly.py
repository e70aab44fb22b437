"""Datafly: full-domain recoding by one greedy rule, generalise the attribute that has the most distinct values.

The way up does not depend on how much may be suppressed, only where it ends does: it ends no higher where more may be.

**Guarantee** every published record shares its recoded quasi-identifiers with at least k - 1 others, every class meets
the limits on sensitive values, and at most the allowed share is suppressed.

**Not protected** sensitive values, unless there are limits on them: a class may have one and the same. The loss may be
far from the least (`shoal.tables.partition.full_domain` finds that).

References
----------
L. Sweeney, "Datafly: a system for providing anonymity in medical data", Database Security XI, Chapman & Hall, 1998.
We depart from it in that ties go to the attribute named first, in that the share of records that may be suppressed is
given (there it is at most k records), and in that classes that violate a limit are suppressed as small ones are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import PARTITIONS, PartitionMethod, always
from shoal.tables.partition.full_domain import Lattice, Recoding


def datafly_recoding(ranked: Sequence[Ranked], k: int, **asked: Any) -> Recoding:
    """Generalise the attribute of most distinct values by one level until few enough records must be left out.

    Parameters and errors are those of `full_domain_recoding`; the loss is reported and does not lead the way. The work
    is one pass over the classes for each level of each attribute at most.
    """
    lattice = Lattice(ranked, k, **asked)
    levels = [0] * len(ranked)
    visit = lattice.visit(tuple(levels))
    while not visit.is_allowed:
        left = [a for a, level in enumerate(levels) if level < lattice.top[a]]
        if not left:
            raise lattice.refusal(is_proved=False)
        widest = max(left, key=lambda a: int(lattice.sizes[a][levels[a]]))
        levels[widest] += 1
        visit = lattice.visit(tuple(levels))
    return lattice.recoding(visit, optimal=False)


PARTITIONS.register(
    PartitionMethod(
        name="datafly",
        help="Datafly: the column with most values is generalised until groups are large enough",
        reference="Sweeney, Database Security XI, 1998",
        recoding=datafly_recoding,
        takes_weights=always,
        few_records=10_000,
        place=10,
    )
)
