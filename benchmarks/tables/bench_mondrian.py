"""Mondrian, k = 10, eight quasi-identifiers of Adult, against anonypy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.data import QUASI, people, write_csv
from benchmarks.harness import Case, Setting, timed
from benchmarks.losses import of_generalising
from benchmarks.peers import ANONYPY
from shoal.api import anonymize
from shoal.data.tables.meaning import attributes_of
from shoal.kinds.tables.kind import load
from shoal.kinds.tables.policy import Policy
from shoal.tables.anonymize import Anonymized, anonymize_table
from shoal.tables.encoding import rank
from shoal.tables.partition.mondrian import mondrian_labels

K = 10
SENSITIVE = "salary-class"


def cases(setting: Setting) -> Iterator[Case]:
    """One case: from a table in memory to generalised labels, which is what the peer's call does too."""
    data = people(setting.quick)
    columns = data.select([*QUASI, SENSITIVE])
    table = load(columns)
    policy = Policy.of(quasi=QUASI, sensitive=[SENSITIVE], k=K, partition="mondrian", publish="generalise")
    attributes = attributes_of(table, policy)
    ranked = [rank(table[name], attributes[name]) for name in sorted(QUASI)]

    def losses(labels: object) -> dict[str, float]:
        return of_generalising(table, attributes, QUASI, np.asarray(labels))

    def losses_of_release(made: Anonymized) -> dict[str, float]:
        labels = np.empty(table.n_rows, dtype=np.int32)
        labels[made.rows] = made.groups
        return losses(labels)

    yield Case(
        "mondrian",
        f"Mondrian, k = {K}, {len(QUASI)} quasi-identifiers, groups and generalised labels",
        data.about,
        [
            timed(
                "shoal: order, group, generalise",
                lambda: anonymize_table(table, policy),
                numbers=losses_of_release,
            ),
            timed("shoal: encode and check too", lambda: anonymize(columns, policy)),
            timed("shoal: groups alone", lambda: mondrian_labels(ranked, K), numbers=losses),
            ANONYPY.contestant(
                lambda: write_csv(columns, setting.folder / "mondrian.csv"),
                numbers=lambda found: losses(found["labels"]),
                at_least=60,
                quasi=QUASI,
                sensitive=SENSITIVE,
                k=K,
            ),
        ],
    )
