"""What a release and those before it leave together; tests/properties/test_several_releases.py has the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import shoal
from shoal.check.releases.verify import published_classes, verify_series
from shoal.data.ledger import Ledger
from shoal.releases.series import Series
from tests.series_samples import QUASI, people, policy


@pytest.fixture
def first(tmp_path):
    release = shoal.anonymize(people(range(60)), policy(k=3, reserve=0), seed=1)
    release._keep(tmp_path, ["ledger"])
    return Ledger.read(tmp_path), tmp_path


def test_a_release_made_as_if_there_were_no_other_fails(first):
    _, folder = first
    alone = shoal.anonymize(
        people(range(60), 4), policy(k=3, reserve=0, partition="mdav", publish="generalise"), seed=2
    )
    series = Series.of(alone._original, alone.policy, folder, 2)
    (found,) = verify_series(series, alone.table, QUASI, alone._rows, 3)
    assert not found.holds
    assert found.n_failing > 0
    (only,) = verify_series(replace(series, before=None), alone.table, QUASI, alone._rows, 3)
    assert only.holds


def test_a_person_in_two_groups_is_in_none_with_others(first):
    release = shoal.anonymize(people(range(60)), policy(k=3), seed=1)
    twice = replace(release._series, codes=np.where(release._series.codes == 1, 0, release._series.codes))
    (found,) = verify_series(twice, release.table, QUASI, release._rows, 3)
    assert found.n_failing == 1


def test_classes_are_of_labels_and_not_of_groups(first):
    ledger, _ = first
    same = {name: ["all"] * len(texts) for name, texts in ledger.labels[0].items()}
    assert set(published_classes(replace(ledger, labels=(same,)))[:, 0].tolist()) == {0}
