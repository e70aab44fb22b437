"""What pages for boards are made from comes back from a file as it went in."""

from __future__ import annotations

import json

from shoal.report.board.facts import RISKS, BoardColumn, BoardFacts, suppression_of


def test_it_comes_back_as_it_went_in() -> None:
    risks = {name: 0.1 for name, _ in RISKS}
    column = BoardColumn("age", "quasi-identifying", "continuous", "replaced by a range", "C", "its name")
    facts = BoardFacts(
        "record", {"in": 9, "out": 8, "suppressed": 1}, [("masking", "x")], ["age"], [column], risks, risks
    )
    assert BoardFacts.from_dict(json.loads(json.dumps(facts.to_dict()))) == facts
    assert facts.highest == 0.1
    assert BoardFacts("record", {}, bound=0.25).highest == 0.25
    assert BoardFacts("record", {}).highest is None


def test_suppression_is_told_where_there_was_some() -> None:
    assert suppression_of({"in": 9, "suppressed": 0}, "record") == []
    assert suppression_of({}, "record") == []
    assert suppression_of({"in": 9, "suppressed": 2}, "record") == [
        ("record suppression", "2 of 9 records were left out")
    ]
