"""The tests of `report/strings/datasheet.py`."""

from __future__ import annotations

import shoal
from shoal.data.samples.proteins import protein_families
from shoal.kinds.strings.policy import StringPolicy
from shoal.report.strings.datasheet import render_datasheet


def test_the_datasheet_is_made_of_what_is_published() -> None:
    """Measures on the original are not even computed for it."""
    release = shoal.anonymize(protein_families(60, n_families=1, mean_length=30, seed=1), StringPolicy.of(k=10))
    render_datasheet(release)
    assert not {"utility", "verbatim", "learning"} & set(vars(release))
