"""Published folders of the same persons, checked together."""

from __future__ import annotations

import csv
import json
import shutil

import pytest

import shoal
from tests.series_samples import people, policy


@pytest.fixture(scope="module", params=[0, 2], ids=["carried", "m-invariant"])
def series(request, tmp_path_factory):
    """Two releases on disk, and what they were made from."""
    folder = tmp_path_factory.mktemp("series")
    after, asked = None, policy(k=3, l=request.param)
    for year, ids in enumerate((range(50), range(4, 58))):
        path = folder / f"v{year}.csv"
        data = people(ids, year)
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(data)
            rows.writerows(zip(*data.values(), strict=True))
        shoal.anonymize(path, asked, seed=year, after=after).save(folder / f"o{year}", report=False)
        after = folder / f"o{year}" / "private"
    return folder


def check(folder, *, with_others=True, private="o1", **more):
    beside = [folder / "o0" / "publish"] if with_others else []
    return shoal.check(
        folder / "o1" / "publish", private=private and folder / private / "private", beside=beside, **more
    )


def test_all_releases_together_are_what_they_claim(series):
    found = check(series, original=series / "v1.csv")
    assert found.is_whole, found.shown()
    assert {g.model for g in found.guarantees} & {"k-candidates", "m-invariance"}


def test_without_the_ledger_it_is_not_verified(series):
    found = check(series, private=None)
    assert not found.holds
    assert not found.findings
    assert "ledger" in found.unverified[-1]


def test_what_is_not_given_is_not_compared(series):
    found = check(series, with_others=False)
    assert found.holds
    assert any("release 1" in what for what in found.not_compared)


def test_another_persons_release_is_found(series, tmp_path):
    shoal.anonymize(people(range(100, 140)), policy(k=3), seed=9).save(tmp_path / "x", report=False)
    found = shoal.check(
        series / "o1" / "publish", private=series / "o1" / "private", beside=[tmp_path / "x" / "publish"]
    )
    assert any("the ledger knows no release" in finding for finding in found.findings)


def test_an_earlier_ledger_does_not_know_a_later_release(series):
    found = check(series, private="o0")
    assert any("the ledger knows no release" in finding for finding in found.findings)


def test_persons_whom_the_original_lacks_are_told(series):
    found = check(series, original=people(range(20, 58), 1))
    assert any("whom the original does not have" in finding for finding in found.findings)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"series": {"release": 2, "after": ["0" * 64]}}, "names other releases before this one"),
        ({"records": {"in": 54, "out": 60, "suppressed": 0, "counterfeits": 6}}, "rows are counterfeits"),
    ],
)
def test_a_manifest_that_tells_otherwise_than_the_ledger_is_found(series, tmp_path, change, told):
    shutil.copytree(series / "o1" / "publish", tmp_path / "publish")
    path = tmp_path / "publish" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    found = shoal.check(tmp_path / "publish", private=series / "o1" / "private")
    assert any(told in finding for finding in found.findings), found.findings
