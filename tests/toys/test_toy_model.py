"""A privacy model that Shoal does not know is two files: what is asked for and kept, and how it is checked."""

from __future__ import annotations

import csv
import importlib
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import shoal
import shoal.check.tables
import shoal.models
from shoal.check.tables import models as checks
from shoal.errors import Infeasible, PolicyError
from shoal.models import base

pytestmark = pytest.mark.unattacked

TOYS = Path(__file__).resolve().parent
FILES = {"shoal.models": TOYS / "models", "shoal.check.tables": TOYS / "check"}
PARTITIONS = ("mondrian", "k-member", "mdav", "full-domain")


@pytest.fixture(autouse=True)
def m_doubt(monkeypatch):
    """The model, as if its two files lay in the folders of the package."""
    for name in base.registered():  # else what is first imported below would be forgotten with the patch
        importlib.import_module(f"shoal.check.tables.{name.replace('-', '_')}")
    monkeypatch.setattr(base, "_MODELS", dict(base._MODELS))
    monkeypatch.setattr(checks, "_CHECKS", dict(checks._CHECKS))
    for package, folder in FILES.items():
        monkeypatch.setattr(sys.modules[package], "__path__", [*sys.modules[package].__path__, str(folder)])
        monkeypatch.delitem(sys.modules, f"{package}.m_doubt", raising=False)
    yield import_module("shoal.models.m_doubt").MDoubt
    for package in FILES:
        sys.modules.pop(f"{package}.m_doubt", None)


def people(n_rows=240):
    rng = np.random.default_rng(3)
    rare = rng.random(n_rows) < 0.15
    return {
        "age": rng.integers(20, 80, n_rows).tolist(),
        "zip": [f"{z}" for z in rng.integers(100, 130, n_rows)],
        "disease": np.where(rare, rng.choice(["flu", "ulcer"], n_rows), "cold").tolist(),
    }


def policy(m=2, **asked):
    roles = {"quasi": ["age", "zip"], "sensitive": ["disease"]}
    return shoal.Policy.of(**roles, require=[{"model": "m-doubt", "m": m}], **asked)


def test_two_files_are_all_there_is():
    assert [[f.name for f in folder.glob("*.py")] for folder in FILES.values()] == [["m_doubt.py"], ["m_doubt.py"]]


def test_a_policy_asks_for_it(tmp_path, m_doubt):
    assert policy().require == (m_doubt(m=2),)
    assert policy().k == 3
    assert shoal.Policy.of(m=4).require[-1] == m_doubt(m=4)
    written = tmp_path / "policy.toml"
    written.write_text('[[require]]\nmodel = "m-doubt"\nm = 0\n', encoding="utf-8")
    with pytest.raises(PolicyError, match=r"line 3: require\[1\].m: it must be greater than or equal to 1, not 0"):
        shoal.Policy.read(written)
    with pytest.raises(
        PolicyError, match=r"there is no key 'require\[1\].n'; the choices are 'model', 'm', 'sensitive'"
    ):
        shoal.Policy.of(require=[{"model": "m-doubt", "m": 2, "n": 3}])
    with pytest.raises(PolicyError, match="did you mean 'm-doubt'"):
        shoal.Policy.of(require=[{"model": "m-dout", "m": 2}])


@pytest.mark.parametrize("partition", PARTITIONS)
def test_methods_keep_it_and_the_checker_shows_it(partition, tmp_path):
    hierarchies = {"zip": shoal.Hierarchy(tuple((f"{z}", f"{z // 10}", "*") for z in range(100, 130)))}
    publish = {} if partition == "full-domain" else {"publish": "generalise"}
    release = shoal.anonymize(
        people(), policy(3, partition=partition, hierarchies=hierarchies, suppression=0.1, **publish), seed=1
    )
    (guarantee,) = release.guarantees
    assert guarantee.holds
    assert guarantee.achieved >= 3
    release.save(tmp_path / "out")
    assert shoal.check(tmp_path / "out").holds
    for page in ("private/report.html", "publish/datasheet.html"):
        said = (tmp_path / "out" / page).read_text(encoding="utf-8")
        for text in ("3-doubt of disease", "m ≥ 3", "is wrong of at least m records", "Cuts that were not made"):
            assert text in said, (page, text)


@pytest.mark.parametrize("asked", [{"diversity": "blind"}, {"publish": "condense"}, {"effort": "balanced"}], ids=str)
def test_other_ways_keep_it(asked):
    guarantees = shoal.anonymize(people(), policy(3, **asked), seed=1).guarantees
    assert all(g.holds for g in guarantees)
    assert "m-doubt" in {g.model for g in guarantees}


def test_without_it_groups_are_smaller_and_fail():
    bare = shoal.Policy.of(quasi=["age", "zip"], sensitive=["disease"], k=4)
    table = shoal.anonymize(people(), bare, seed=1).table
    (guarantee,) = shoal.check.verify(table, policy(3).require, ["age", "zip"], ["disease"])
    assert not guarantee.holds
    assert "m-doubt fails in" in guarantee.sentence


def test_an_edit_is_caught(tmp_path):
    shoal.anonymize(people(), policy(), seed=1).save(tmp_path / "out")
    file = next((tmp_path / "out" / "publish").glob("*.csv"))
    with file.open(encoding="utf-8", newline="") as lines:
        names, *rows = list(csv.reader(lines))
    place = names.index("disease")
    edited = [[*row[:place], "cold", *row[place + 1 :]] for row in rows]
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([names, *edited])
    verdict = shoal.check(tmp_path / "out")
    assert not verdict.holds
    assert any(g.model == "m-doubt" and not g.holds and g.achieved == 0 for g in verdict.guarantees)


def test_what_no_table_reaches_is_refused():
    with pytest.raises(Infeasible, match="m-doubt with m = 200 cannot be met for 'disease'"):
        shoal.anonymize(people(), policy(200), seed=1)


@pytest.mark.parametrize("publish", ["bucketize", "screen"])
def test_slices_are_refused_without_a_formula_for_beliefs(publish):
    with pytest.raises(PolicyError, match="m-doubt says what holds in a group of records, and nothing of slices"):
        shoal.anonymize(people(), policy(publish=publish), seed=1)


def test_a_model_without_a_check_is_not_promised(m_doubt, monkeypatch):
    monkeypatch.setattr(shoal.check.tables, "__path__", shoal.check.tables.__path__[:1])
    with pytest.raises(PolicyError, match="the checker has no formula for m-doubt, so it cannot be promised"):
        shoal.anonymize(people(), policy(), seed=1)
