"""Table 1 of S. R. Subramanian, "Screening: preserving the sensitive information during data mining".

The paper screens the eight people of Table 1a as its Table 1c. That table is no correct release, and so our own is made
from the same people at k = 2 and l = 2.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import shoal
from shoal.manifest import checksum

pytestmark = pytest.mark.unattacked

PEOPLE = {
    "sex": list("FFMFFMMM"),
    "zip": ["40178", "40277", "40276", "40175", "40385", "40485", "40286", "40267"],
    "age": [26, 30, 32, 51, 28, 43, 50, 48],
    "occupation": ["nurse", "nurse", "police", "cook", "engineer", "engineer", "clerk", "clerk"],
    "salary": ["10000", "12000", "8000", "9000", "20000", "23000", "8000", "11000"],
}
POLICY = shoal.Policy.of(
    columns={
        "sex": {"role": "quasi", "type": "nominal"},
        "zip": {"role": "quasi", "type": "prefix"},
        "age": {"role": "quasi", "type": "continuous"},
        "occupation": {"role": "quasi", "type": "nominal"},
        "salary": {"role": "sensitive", "type": "nominal"},
    },
    require=[{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "kind": "probabilistic"}],
    ends="exact",
    publish="screen",
    slices=[["age", "sex"], ["zip", "occupation"]],
)
# Table 1c as it is printed: bucket, then (age, sex, salary) and (zip code, occupation, salary).
PRINTED = """\
bucket;age;sex;salary@1;zip;occupation;salary@2
1;[26..32];*;10000;402**;{engineer, nurse};12000
1;[26..32];*;12000;402**;{nurse, police};8000
1;[26..32];*;8000;403**;{engineer, police};20000
1;[26..32];*;20000;401**;{engineer, police};10000
2;[43..51];*;9000;402**;{clerk, cook};11000
2;[43..51];*;23000;404**;{clerk, engineer};23000
2;[43..51];*;8000;402**;{clerk, engineer};8000
2;[43..51];*;11000;401**;{cook, engineer};9000
"""


def slices_of(release: shoal.Release) -> list[Counter]:
    """The rows of each slice with their bucket: which row stands where inside a bucket is chance."""
    data = release.data
    return [Counter(zip(data["bucket"], *(data[c] for c in s.columns), strict=True)) for s in release.layout.slices]


def test_table_1_corrected() -> None:
    release = shoal.anonymize(PEOPLE, POLICY, seed=1)
    ages, jobs = slices_of(release)
    assert ages == Counter(
        [
            (1, "[26..30]", "F", "10000"),
            (1, "[26..30]", "F", "12000"),
            (2, "[28..32]", "*", "8000"),
            (2, "[28..32]", "*", "20000"),
            (3, "[43..51]", "*", "9000"),
            (3, "[43..51]", "*", "23000"),
            (4, "[48..50]", "M", "8000"),
            (4, "[48..50]", "M", "11000"),
        ]
    )
    assert jobs == Counter(
        [
            (1, "40***", "nurse", "10000"),
            (1, "40***", "nurse", "12000"),
            (2, "40***", "{engineer, police}", "8000"),
            (2, "40***", "{engineer, police}", "20000"),
            (3, "40***", "{cook, engineer}", "9000"),
            (3, "40***", "{cook, engineer}", "23000"),
            (4, "402**", "clerk", "8000"),
            (4, "402**", "clerk", "11000"),
        ]
    )
    assert [g.achieved for g in release.guarantees] == [2, 2]
    assert release.exposure.joined.highest == pytest.approx(0.5)


def printed(folder: Path) -> Path:
    """Table 1c as the release of its own, with a manifest and checksums that fit it."""
    shoal.anonymize(PEOPLE, POLICY, seed=1).save(folder)
    publish = folder / "publish"
    manifest = json.loads((publish / "manifest.json").read_text(encoding="utf-8"))
    (publish / "data.csv").write_text(PRINTED, encoding="utf-8")
    manifest["delimiter"] = ";"
    manifest["checksums"]["data.csv"] = checksum(publish / "data.csv")
    (publish / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return publish


@pytest.mark.parametrize("policy", [None, POLICY])
def test_the_printed_table_1c_is_rejected_and_why(tmp_path: Path, policy) -> None:
    found = shoal.check(printed(tmp_path / "out"), PEOPLE, policy)
    assert not found.holds
    k, l = found.guarantees  # noqa: E741  the paper's name
    assert not k.holds
    assert k.sentence == (
        "k-anonymity fails in 8 of 10 regions of a slice and bucket: a combination of quasi-identifiers stands in "
        "1 row only (required: 2)."
    )
    assert not l.holds
    # Alice is a nurse with a zip code of 401**, where only {engineer, police} stand.
    assert any("no bucket could hold 1 record" in f for f in found.findings)


def test_the_printed_table_1c_is_rejected_without_the_original(tmp_path: Path) -> None:
    found = shoal.check(printed(tmp_path / "out"))
    assert found.fails
    assert not found.guarantees[0].holds
