"""Files for machines: made from the manifest alone, checked, and nothing in them that is not public."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.kind import kind_named
from shoal.kinds.strings.policy import StringPolicy
from shoal.manifest import checksum
from shoal.metadata.files import METADATA_FILES, metadata_files

pytestmark = pytest.mark.unattacked

CONTEXT = {
    "title": 'Town "Q"',
    "source": "a register",
    "licence": "CC-BY-4.0",
    "contact": "data@example.org",
    "date": "2025-01-31",
    "release_model": "public",
    "harms": "stigma-of-the-original",
    "recipients": "only-the-university",
    "population": 987_654,
}
PEOPLE = {
    "name": ["Ann Unseen", "Bob Unseen", "Cy Unseen", "Di Unseen", "Ed Unseen", "Flo Unseen"],
    "age": [31, 32, 33, 47, 48, 49],
    "weight": [61.5, 62.5, 63.5, 77.5, 78.5, 79.5],
    "disease": ["flu", "cold", "flu", "flu", "cold", "ulcer"],
}


def release(**asked: Any) -> shoal.TableRelease:
    policy = shoal.Policy.of(
        identifying=["name"],
        quasi=["age"],
        sensitive=["disease", "weight"],
        k=3,
        l=2,
        context=CONTEXT,
        accept={"singled_out": "few records"},
        **asked,
    )
    return shoal.anonymize(PEOPLE, policy, seed=1)


@pytest.fixture
def publish(tmp_path: Path) -> Path:
    return release(metadata=True).save(tmp_path / "out", report=False) / "publish"


def test_they_stand_beside_the_data_where_asked_for(publish: Path, tmp_path: Path) -> None:
    names = {p.name for p in publish.iterdir()}
    assert names == {"data.csv", "datasheet.html", "manifest.json", *METADATA_FILES}
    assert shoal.check(publish, PEOPLE).is_whole
    without = release().save(tmp_path / "without", report=False) / "publish"
    assert {p.name for p in without.iterdir()} == {"data.csv", "datasheet.html", "manifest.json"}
    assert (without / "data.csv").read_bytes() == (publish / "data.csv").read_bytes()
    again = release(metadata=True).save(tmp_path / "again", report=False) / "publish"
    for name in METADATA_FILES:
        assert (again / name).read_bytes() == (publish / name).read_bytes()


def test_they_tell_nothing_that_is_not_public(publish: Path) -> None:
    for name in METADATA_FILES:
        text = (publish / name).read_text("utf-8")
        for secret in ("Unseen", "stigma", "only-the-university", "987654", "987,654"):
            assert secret not in text, name
        assert checksum(publish / "data.csv") in text or name == "CITATION.cff"


def test_each_says_what_its_readers_look_for(publish: Path) -> None:
    croissant, dcat, spdx = (json.loads((publish / name).read_text("utf-8")) for name in METADATA_FILES[:3])
    assert croissant["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert croissant["name"] == CONTEXT["title"]
    fields = {field["name"]: field["dataType"] for field in croissant["recordSet"][0]["field"]}
    assert fields == {"age": "sc:Text", "weight": "sc:Float", "disease": "sc:Text"}
    assert dcat["dcat:distribution"][0]["spdx:checksum"]["spdx:checksumValue"] == checksum(publish / "data.csv")
    package = spdx["@graph"][-1]
    assert "shares its published quasi-identifiers" in package["dataset_anonymizationMethodUsed"][0]
    cff = (publish / "CITATION.cff").read_text("utf-8")
    assert 'title: "Town \\"Q\\""\n' in cff
    assert "date-released: 2025-01-31\n" in cff


@pytest.mark.parametrize("name", METADATA_FILES)
def test_what_was_edited_is_found_out_even_where_the_checksum_was_too(publish: Path, name: str) -> None:
    path = publish / name
    path.write_text(path.read_text("utf-8").replace("Town", "Clown"), "utf-8")
    assert any(f"{name} was changed" in finding for finding in shoal.check(publish).findings)
    manifest = json.loads((publish / "manifest.json").read_text("utf-8"))
    manifest["checksums"][name] = checksum(path)
    (publish / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert f"{name} does not say what the manifest says" in shoal.check(publish).findings


def test_one_that_is_gone_or_not_listed_is_found_out(publish: Path) -> None:
    (publish / "spdx.json").unlink()
    assert any("spdx.json" in finding for finding in shoal.check(publish).findings)
    manifest = json.loads((publish / "manifest.json").read_text("utf-8"))
    del manifest["checksums"]["spdx.json"]
    (publish / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert any("all of them or none" in finding for finding in shoal.check(publish).findings)


def test_data_without_columns_has_them_too(tmp_path: Path) -> None:
    strings = ["ACGTACGTAC"] * 12 + ["ACGAACGTAC"] * 12
    out = shoal.anonymize(strings, StringPolicy.of(k=4, metadata=True, copies="allow", support=1), seed=1).save(
        tmp_path / "out", report=False
    )
    publish = out / "publish"
    assert "recordSet" not in json.loads((publish / "croissant.json").read_text("utf-8"))
    manifest = kind_named("strings").manifest.read(publish)
    for name, text in metadata_files(manifest).items():
        assert (publish / name).read_text("utf-8") == text
    assert not shoal.check(publish).findings


def test_mlcroissant_has_nothing_to_object(publish: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    dataset = mlcroissant.Dataset(jsonld=str(publish / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
