"""The checks agree with pycanon on real tables, after the conversions that docs/checks.md describes.

pycanon lives in an environment of its own, because it pins its dependencies; the benchmarks' peers make it.
"""

from __future__ import annotations

import csv
import fcntl
import gzip
import json
import math
import os
import subprocess
from collections import Counter

import numpy as np
import pytest

from benchmarks.child import ChildFailed
from benchmarks.peers import PYCANON
from shoal.check import classes_of, verify
from shoal.check.tables.distribution import distribution
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells
from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness

PEER = PYCANON.python
ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
# What is run over there: one JSON object in (file, quasi, sensitive, numeric, functions), one out.
SCRIPT = """
import json, sys, time
import pandas as pd
from pycanon import anonymity
job = json.load(sys.stdin)
data = pd.read_csv(job["file"], dtype=str)
for name in job["numeric"]:
    data[name] = data[name].astype(float)
found = {}
for name in job["functions"]:
    given = [data, job["quasi"]] + ([] if name == "k_anonymity" else [[job["sensitive"]]])
    start = time.perf_counter()
    value = getattr(anonymity, name)(*given)
    seconds = time.perf_counter() - start
    value = [float(v) for v in value] if isinstance(value, tuple) else float(value)
    found[name] = {"value": value, "seconds": seconds}
print(json.dumps(found))
"""
ALL = (
    "k_anonymity",
    "l_diversity",
    "entropy_l_diversity",
    "recursive_c_l_diversity",
    "t_closeness",
    "alpha_k_anonymity",
    "basic_beta_likeness",
    "enhanced_beta_likeness",
)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def peer(tmp_path_factory):
    """Runs functions of pycanon on a table of texts, given as a dict of lists."""
    try:
        with (tmp_path_factory.getbasetemp().parent / "pycanon.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the tests may run in several processes, and all want one environment
            PYCANON.install()
    except ChildFailed as failed:
        pytest.skip(f"needs pycanon in .peers/pycanon, which {failed}")

    def run(cells, quasi, sensitive, numeric=(), functions=ALL):
        file = tmp_path_factory.mktemp("peer") / "table.csv"
        with open(file, "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([list(cells), *zip(*cells.values(), strict=True)])
        job = {
            "file": str(file),
            "quasi": quasi,
            "sensitive": sensitive,
            "numeric": numeric,
            "functions": functions,
        }
        quiet = {**os.environ, "PYTHONWARNINGS": "ignore"}
        quiet.pop("PYTHONPATH", None)
        done = subprocess.run(
            [str(PEER), "-c", SCRIPT],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            check=True,
            env=quiet,
        )
        return {n: f["value"] for n, f in json.loads(done.stdout).items()}

    return run


def table(cells, numeric=()):
    columns = []
    for name, column in cells.items():
        array = np.empty(len(column), dtype=object)
        array[:] = [c or None for c in column]
        columns.append(encode_cells(name, array.astype(np.float64) if name in numeric else array))
    return Table.of(columns)


def read(path, delimiter=","):
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="") as file:
        header, *rows = csv.reader(file, delimiter=delimiter)
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


@pytest.fixture(scope="session")
def adult(shared_data):
    return read(shared_data / "adult" / "arx_adult.csv.gz", ";")


@pytest.fixture(scope="session")
def generalised_adult(shared_data, adult):
    """Every quasi-identifier lifted in its ARX hierarchy, and the records of small classes left out."""
    levels = dict(zip(ADULT, (0, 3, 1, 1, 2, 1, 1), strict=True))
    lifted = {}
    for name, level in levels.items():
        file = shared_data / "adult" / "hierarchies" / f"adult_hierarchy_{name}.csv"
        with open(file, newline="") as rows:
            above = {row[0]: row[min(level, len(row) - 1)] for row in csv.reader(rows, delimiter=";")}
        lifted[name] = [above[v] for v in adult[name]]
    keys = list(zip(*lifted.values(), strict=True))
    sizes = Counter(keys)
    kept = [i for i, key in enumerate(keys) if sizes[key] >= 60]
    assert 15_000 < len(kept) < len(keys)
    return {n: [column[i] for i in kept] for n, column in {**adult, **lifted}.items()}


def ours(cells, quasi, sensitive, numeric=()):
    """What we find, converted to the numbers that pycanon gives."""
    t = table(cells, numeric)
    attributes = {sensitive: Attribute(sensitive, "continuous" if numeric else "nominal", "sensitive")}
    required = [
        KAnonymity(k=2),
        LDiversity(l=2),
        LDiversity(l=2, kind="entropy"),
        TCloseness(t=0.5),
        AlphaK(alpha=0.5, k=2),
        BetaLikeness(beta=1, kind="basic"),
    ]
    k, l, entropy, t_, alpha, beta = (  # noqa: E741  the paper's name
        g.achieved for g in verify(t, required, quasi, [sensitive], attributes=attributes)
    )
    held = distribution(classes_of(t, quasi), t[sensitive])
    rarest = -math.log(held.totals.min() / held.n_members)
    return {
        "k_anonymity": k,
        "l_diversity": l,
        "entropy_l_diversity": entropy,
        "recursive_c_l_diversity": [recursive_as_there(held, int(l)), l],
        "t_closeness": t_,
        "alpha_k_anonymity": [alpha, k],
        "basic_beta_likeness": beta,
        "enhanced_beta_likeness": min(beta, rarest),
    }


def recursive_as_there(held, l):  # noqa: E741  the paper's name
    """Counts in ascending order where the paper has them descending, and the next whole c above."""
    if l < 2:
        return math.nan
    found = 0
    for counts in np.split(held.counts, held.starts[1:]):
        r = np.sort(counts)
        found = max(found, math.floor(r[0] / r[l - 1 :].sum() + 1))
    return found


def assert_agreement(here, there):
    for name, value in there.items():
        if name == "entropy_l_diversity":
            # The fraction is cut off there, also where rounding leaves a whole number just below itself.
            assert value == math.floor(here[name]) or value == pytest.approx(here[name] - 1, abs=1e-9)
        else:
            assert here[name] == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True), name


def test_adult_generalised(peer, generalised_adult):
    here = ours(generalised_adult, ADULT, "occupation")
    assert here["k_anonymity"] >= 60
    assert here["l_diversity"] > 2
    assert here["recursive_c_l_diversity"][0] >= 1
    assert_agreement(here, peer(generalised_adult, ADULT, "occupation"))


def test_adult_raw_sample(peer, adult):
    rows = np.random.default_rng(11).choice(len(adult["sex"]), 1500, replace=False)
    sample = {n: [column[i] for i in rows] for n, column in adult.items()}
    assert_agreement(ours(sample, ADULT, "occupation"), peer(sample, ADULT, "occupation"))


def test_adult_raw_k_and_l(peer, adult):
    there = peer(adult, ADULT, "occupation", functions=["k_anonymity", "l_diversity"])
    assert_agreement(ours(adult, ADULT, "occupation"), there)


def test_adult_age_by_the_ordered_distance(peer, adult):
    quasi = ["sex", "race", "marital-status", "education"]
    sample = {n: column[::10] for n, column in adult.items()}
    here = ours(sample, quasi, "age", numeric=["age"])
    assert 0 < here["t_closeness"] < 1
    assert_agreement(here, peer(sample, quasi, "age", numeric=["age"]))


def test_tarragona_coarsened(peer, shared_data):
    cells = read(shared_data / "tarragona" / "tarragona.csv")
    quasi = ["FIXED.ASSETS", "LABOR.COSTS", "DEPRECIATION"]
    for name in quasi:
        numbers = np.array(cells[name], dtype=float)
        cells[name] = [f"part {i}" for i in np.searchsorted(np.quantile(numbers, [1 / 3, 2 / 3]), numbers)]
    profit = np.array(cells["NET.PROFIT"], dtype=float)
    cells["profit"] = [f"band {i}" for i in np.searchsorted(np.quantile(profit, [0.2, 0.4, 0.6, 0.8]), profit)]
    for sensitive, numeric in (("profit", []), ("NET.PROFIT", ["NET.PROFIT"])):
        assert_agreement(ours(cells, quasi, sensitive, numeric), peer(cells, quasi, sensitive, numeric))


def test_there_records_with_a_missing_quasi_identifier_are_left_out(peer):
    """The difference that docs/checks.md warns of: they are published all the same."""
    cells = {"a": ["x", "x", ""], "s": ["u", "v", "u"]}
    assert peer(cells, ["a"], "s", functions=["k_anonymity"]) == {"k_anonymity": 2}
    assert verify(table(cells), [KAnonymity(k=2)], ["a"])[0].achieved == 1
