from __future__ import annotations

import json
from dataclasses import replace

import pytest

from shoal.check.finding import Finding, reasons, refuse_serious
from shoal.errors import Infeasible

COST = Finding("singled_out", ("cost",), 0.4, 0.05, "Of 10 records 4 have a cost of their own.", "drop it")


def test_what_is_above_the_limit_is_serious_until_it_is_taken() -> None:
    assert COST.is_above
    assert COST.is_serious
    taken = replace(COST, accepted="nobody outside knows it")
    assert taken.is_above
    assert not taken.is_serious
    few = replace(COST, share=0.05)
    assert not few.is_above
    assert not few.is_serious


def test_the_worst_is_told_and_the_others_counted() -> None:
    refuse_serious([replace(COST, accepted="known to nobody"), replace(COST, share=0.01)])
    with pytest.raises(Infeasible, match=r"a cost of their own, so nothing was published; drop it$"):
        refuse_serious([COST])
    with pytest.raises(Infeasible, match=r"^Worse, so nothing was published; drop it \(1 more such finding\)$"):
        refuse_serious([COST, replace(COST, share=0.9, sentence="Worse.")])


def test_reasons_are_those_of_what_was_found() -> None:
    few = replace(COST, name="unprotected", share=0.0, accepted="in advance")
    assert reasons([COST, few, replace(COST, accepted="why")]) == {"singled_out": "why"}


def test_json() -> None:
    told = json.loads(json.dumps(COST.to_dict()))
    assert told["columns"] == ["cost"]
    assert told["serious"] is True
    assert told["accepted"] is None
