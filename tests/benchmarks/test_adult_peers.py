"""The tables of other packages beside ours: ratios to ours, and failures that are told."""

from __future__ import annotations

import pytest

from benchmarks.child import ChildFailed
from benchmarks.data import invented
from benchmarks.peers import Peer
from reproductions import adult_partitions, adult_peers
from reproductions.adult_peers import Beside, table_of


def test_times_are_multiples_of_ours_at_the_same_k() -> None:
    found = [
        Beside("shoal", 5, {"GCP": 0.1}, 0.5),
        Beside("peer==1", 5, {"GCP": 0.2}, 60.0),
        Beside("shoal", 10, {"GCP": 0.3}, 2.0),
        Beside("peer==1", 10, {}, failure="not finished after 900 s"),
    ]
    lines = table_of(found, ["GCP"], [2])
    assert lines[2:] == [
        "| shoal | 5 | 0.10 | 0.5 |  |",
        "| peer==1 | 5 | 0.20 | 60 | 120 x |",
        "| shoal | 10 | 0.30 | 2 |  |",
        "| peer==1 | 10 | not finished after 900 s | | |",
    ]
    assert len({line.count("|") for line in lines}) == 1


def test_a_peer_that_fails_is_told_and_stops_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    def fail(self: Peer, path: object, **task: object) -> None:
        raise ChildFailed("could not be installed")

    monkeypatch.setattr(Peer, "run", fail)
    monkeypatch.setattr(adult_peers, "people", lambda: invented(300))
    found = list(adult_peers.mdav_of_numbers([50], tmp_path))
    assert [row.name.partition(",")[0] for row in found] == ["shoal", "shoal", "anonypyx==0.2.11"]
    assert [row.failure for row in found] == ["", "", "could not be installed"]


def test_the_page_tells_whether_peers_were_run() -> None:
    rows = [
        adult_partitions.Found(p, k, 0.1, 10.0, 20.0, 0.3, 0, 0.1, 0.1)
        for p in (*adult_partitions.RIVALS, "full-domain")
        for k in adult_partitions.FIGURE_SIZES
    ]
    alone = adult_partitions.page(rows, None)
    assert "Other packages were not run" in alone
    assert "anonypy" not in alone
    anjana = [adult_partitions.Found("anjana", 5, 0.2, 10.0, 20.0, 0.3, 1, 3.0, 2.0)]
    beside = adult_partitions.page(rows, adult_partitions.Peers(anjana, ["anjana at k = 10: broke."], [], []))
    assert "It took 20 to 20 times the processor time of `full-domain`. anjana at k = 10: broke." in beside
    assert "| anjana | 5 | 0.2000 |" in beside
    assert "ARX and sdcMicro could not be had" in beside
