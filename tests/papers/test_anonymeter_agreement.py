"""Singling out, linkability and inference agree with anonymeter on Adult: on the raw table, and on pseudo-records.

anonymeter lives in an environment of its own, because it pins its dependencies; the benchmarks' peers make it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.attack.bench_attacks import condensed, contests, halves, write_case
from benchmarks.child import ChildFailed
from benchmarks.data import adult
from benchmarks.peers import ANONYMETER
from shoal.attack.result import AddedRisk, Rate

pytestmark = pytest.mark.slow
N_RECORDS = 1500
# Everybody is a target where targets are drawn, so that chance does not choose them; predicates cost more.
N_ATTACKS = {"linkability": N_RECORDS, "inference": N_RECORDS, "singling-out": 400, "singling-out univariate": 400}


CONTESTS = [
    ("raw", "linkability"),
    ("condensed", "singling-out"),
    ("condensed", "singling-out univariate"),
    ("condensed", "linkability"),
    ("condensed", "inference"),
]


@pytest.fixture(scope="module")
def found(shared_data, tmp_path_factory):
    """What both found in each contest, on pseudo-records and on the originals themselves."""
    try:
        ANONYMETER.install()
    except ChildFailed as failed:
        pytest.skip(f"needs anonymeter in .peers/anonymeter, which {failed}")
    case = condensed(*halves(adult(), N_RECORDS))
    cases = {"condensed": case, "raw": replace(case, published=case.original)}
    files = {kind: write_case(c, tmp_path_factory.mktemp(kind)) for kind, c in cases.items()}
    known = {
        name: (attack, task)
        for n_attacks in set(N_ATTACKS.values())
        for name, attack, task in contests(n_attacks)
        if N_ATTACKS[name] == n_attacks
    }
    tasks = [{**known[name][1], **{n: str(f) for n, f in files[kind].items()}} for kind, name in CONTESTS]
    there = ANONYMETER.run(files["raw"]["published"], tasks=tasks)["found"]
    here = [known[name][0].run(cases[kind], np.random.default_rng(1)) for kind, name in CONTESTS]
    return dict(zip(CONTESTS, zip(here, there, strict=True), strict=True))


@pytest.mark.parametrize(("kind", "name"), CONTESTS)
def test_rates_and_risks_agree(found, kind, name):
    (here, there), n_attacks = found[kind, name], N_ATTACKS[name]
    # There, attacks that were asked for but found no predicate count as failed.
    ours = {"main": here.main, "control": here.control}
    if "univariate" in name:
        assert here.main.attempts <= n_attacks
        ours = {which: Rate(rate.successes, n_attacks) for which, rate in ours.items()}
    for which, rate in ours.items():
        theirs = Rate(there[which], n_attacks)
        assert rate.low <= theirs.high, which
        assert theirs.low <= rate.high, which
    risk = AddedRisk.of(ours["main"], ours["control"])
    value, low, high = there["risk"]
    assert risk.low <= high
    assert low <= risk.high
    # The intervals are the same formula: of their counts ours gives their risk.
    same = AddedRisk.of(Rate(there["main"], n_attacks), Rate(there["control"], n_attacks))
    assert (same.value, same.low, same.high) == pytest.approx((value, low, high), abs=1e-9)
