"""What is told of a stream: nothing of few, and nothing of secrets."""

from __future__ import annotations

import json
from pathlib import Path

import shoal
from shoal.stream.manifest import stream_report
from shoal.stream.stream import Streamed


def test_a_few_suppressed_are_told_as_a_range(tmp_path: Path) -> None:
    rows = ({"age": 20 + i % 50, "disease": "flu"} for i in range(42))
    policy = shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=5)
    shoal.stream(rows, policy, delay=20, seed=77).save(tmp_path / "out")
    manifest = json.loads((tmp_path / "out/publish/manifest.json").read_text())
    assert manifest["records"] == {"in": {"from": 41, "to": 44}, "out": 40, "suppressed": {"from": 1, "to": 4}}
    assert set(manifest["checksums"]) == {"data.jsonl"}
    assert all("worst" not in g for g in manifest["guarantees"])
    assert not {"seed", "entropy"} & set(manifest)


def test_the_report_has_the_numbers_themselves() -> None:
    result = Streamed({"in": 3, "out": 0, "suppressed": 3}, {"few": 3}, 1, {"NCP": 0.5})
    told = json.loads(stream_report(result, shoal.Policy(), {"data.csv": "ab"}))
    assert told["checksums"] == {"data.csv": "ab"}
    assert (told["records"]["suppressed"], told["loss"], told["policy"][:4]) == (3, {"NCP": 0.5}, "kind")
