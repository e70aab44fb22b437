"""The tests of `check/guarantee.py`."""

from __future__ import annotations

import dataclasses
import json

import pytest

from shoal.check import verify
from shoal.check.guarantee import Guarantee
from shoal.kinds.tables.policy import BetaLikeness, KAnonymity, LDiversity, TCloseness
from tests.unit.check.tables.slow_check import table

HOSPITAL = table(
    age=["20-29"] * 5 + ["30-39"] * 5 + ["40-49"] * 5,
    zip=["130**"] * 5 + ["1485*"] * 5 + ["130**"] * 5,
    disease=["heart", "viral", "viral", "cancer", "heart"] * 2 + ["cancer"] * 5,
    ward=["n", "s"] * 7 + ["n"],
)

QUASI = ["age", "zip"]


def test_results_are_frozen_and_become_json():
    required = [KAnonymity(k=2), LDiversity(l=4, kind="recursive"), TCloseness(t=0.5), BetaLikeness(beta=1)]
    for found in verify(HOSPITAL, required, QUASI, ["disease"]):
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.holds = True
        again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert set(again) == {f.name for f in dataclasses.fields(Guarantee)}
        assert again["worst"][0]["values"] == found.worst[0].values
    assert verify(HOSPITAL, required, QUASI, ["disease"])[1].to_dict()["achieved"] is None
