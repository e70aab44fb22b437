"""Recoding by hierarchies, k = 5, eight quasi-identifiers of Adult, against anjana."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.data import QUASI, hierarchy_files, people, write_csv
from benchmarks.harness import Case, Setting, timed
from benchmarks.losses import of_labels
from benchmarks.peers import ANJANA
from shoal.api import anonymize
from shoal.data.tables.hierarchy import Hierarchy
from shoal.kinds.tables.kind import load
from shoal.kinds.tables.policy import Policy
from shoal.tables.anonymize import Anonymized, anonymize_table

K = 5
SUPPRESSION = 0.02


def cases(setting: Setting) -> Iterator[Case]:
    """One case: from a table in memory to labels, which is what the peer's call does too."""
    data = people(setting.quick)
    columns = data.select(QUASI)
    table = load(columns)
    files = {name: str(path) for name, path in hierarchy_files(data, setting.folder).items()}
    hierarchies = {name: Hierarchy.read(path) for name, path in files.items()}

    def policy(partition: str, suppression: float) -> Policy:
        return Policy.of(
            quasi=QUASI, hierarchies=files, k=K, partition=partition, publish="generalise", suppression=suppression
        )

    def losses(made: Anonymized) -> dict[str, float]:
        texts = {name: np.array(made.table[name].texts(), dtype=object)[made.table[name].codes] for name in QUASI}
        return of_labels(hierarchies, texts, table.n_rows)

    def losses_of_peer(found: dict[str, Any]) -> dict[str, float]:
        published = {
            name: np.array(labels, dtype=object)[codes] for name, (codes, labels) in found["published"].items()
        }
        return of_labels(hierarchies, published, table.n_rows)

    one_for_all = policy("full-domain", SUPPRESSION)
    yield Case(
        "recoding",
        f"Labels of hierarchies, k = {K}, {len(QUASI)} quasi-identifiers, at most {SUPPRESSION:.0%} suppressed",
        data.about,
        [
            timed("shoal: one for all, the optimum", partial(anonymize_table, table, one_for_all), numbers=losses),
            timed("shoal: the same, encode and check too", partial(anonymize, columns, one_for_all)),
            timed(
                "shoal: one for all, Datafly",
                partial(anonymize_table, table, policy("datafly", SUPPRESSION)),
                numbers=losses,
            ),
            timed(
                "shoal: local, none suppressed",
                partial(anonymize_table, table, policy("local-recoding", 0.0)),
                numbers=losses,
            ),
            ANJANA.contestant(
                lambda: write_csv(columns, setting.folder / "recoding.csv"),
                numbers=losses_of_peer,
                at_least=10,
                quasi=QUASI,
                k=K,
                suppression=SUPPRESSION,
                hierarchies=files,
            ),
        ],
    )
