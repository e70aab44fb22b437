"""The benchmark harness: right ratios, peers that fail, and entries that all still run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import peers, show, store
from benchmarks.__main__ import find, main, run
from benchmarks.child import ChildFailed, run_json
from benchmarks.data import NAMES, NUMERIC, QUASI, hierarchy_files, invented, people
from benchmarks.harness import Case, Contestant, Outcome, Setting, growth, run_case, timed
from benchmarks.losses import of_labels
from benchmarks.peers import Peer
from shoal.data.tables.hierarchy import Hierarchy

ROOT = Path(__file__).resolve().parents[2]


def fixed(name: str, seconds: float | None, **more: object) -> Contestant:
    failure = None if seconds is not None else "broke"
    return Contestant(name, lambda _: Outcome(seconds, failure=failure), **more)


def case_of(*contestants: Contestant) -> Case:
    return Case("name", "task", "data", contestants)


def test_ratio_is_the_time_of_the_rival_over_ours(tmp_path):
    case = case_of(
        fixed("ours", 2.0),
        fixed("ours alone", 1.0),
        fixed("slow", 8.0, is_rival=True),
        fixed("fast", 1.0, is_rival=True),
    )
    assert run_case(case, Setting(tmp_path)).ratios == {"slow": 4.0, "fast": 0.5}


def test_processor_time_has_a_ratio_of_its_own(tmp_path):
    ours = Contestant("ours", lambda _: Outcome(2.0, cpu_seconds=1.0))
    rival = Contestant("slow", lambda _: Outcome(8.0, cpu_seconds=7.0), is_rival=True)
    result = run_case(case_of(ours, rival), Setting(tmp_path))
    assert (result.ratios, result.cpu_ratios) == ({"slow": 4.0}, {"slow": 7.0})
    told = result.to_dict()["contestants"][1]
    assert (told["ratio"], told["cpu_ratio"]) == (4.0, 7.0)


def test_there_is_no_ratio_without_both_times(tmp_path):
    setting = Setting(tmp_path)
    assert run_case(case_of(fixed("ours", 2.0), fixed("slow", None, is_rival=True)), setting).ratios == {}
    assert run_case(case_of(fixed("ours", None), fixed("slow", 2.0, is_rival=True)), setting).ratios == {}


def test_peers_are_left_out_when_asked(tmp_path):
    case = case_of(fixed("ours", 2.0), fixed("peer", 8.0, is_rival=True, is_peer=True))
    assert list(run_case(case, Setting(tmp_path, with_peers=False)).outcomes) == ["ours"]
    assert run_case(case, Setting(tmp_path)).ratios == {"peer": 4.0}


def test_the_warm_up_is_called_once_and_not_counted(tmp_path):
    calls: list[str] = []
    contestant = timed(
        "ours",
        lambda: calls.append("call"),
        warm_up=lambda: calls.append("warm-up"),
        numbers=lambda _: {"n": len(calls)},
    )
    outcome = contestant.measure(Setting(tmp_path))
    assert calls == ["warm-up"] + ["call"] * outcome.repeats
    assert outcome.repeats > 1
    assert outcome.numbers == {"n": len(calls)}
    assert 0 <= outcome.best_seconds <= outcome.seconds


def test_growth_passes_over_what_was_not_measured():
    assert growth([10, 100, 1000, 2000], [1.0, 10.0, None, 4.0]) == {"growth 10 to 100": 1.0}
    assert growth([1, 10, 20], [1.0, 100.0, 200.0]) == {"growth 1 to 10": 2.0, "growth 10 to 20": 1.0}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit('no such thing')", "no such thing"),
        ("print('hello')", "printed no JSON"),
        ("print(3)", "printed no JSON object"),
        ("import sys; sys.exit(3)", "exit status 3"),
        ("print('{}')", "KeyError('seconds')"),
        ("import time; time.sleep(60)", "not finished after 1 s"),
    ],
)
def test_a_failing_peer_is_reported_and_not_raised(tmp_path, monkeypatch, code, reason):
    (tmp_path / "run_bad.py").write_text(code)
    monkeypatch.setattr(peers, "SCRIPTS", tmp_path)
    monkeypatch.setattr(Peer, "python", Path(sys.executable))
    monkeypatch.setattr(Peer, "install", lambda self: None)
    monkeypatch.setattr(peers, "MOST_SECONDS", 1 if "sleep" in code else 600)
    case = case_of(fixed("ours", 2.0), Peer("bad", "bad==1").contestant(lambda: tmp_path / "data.csv"))
    result = run_case(case, Setting(tmp_path))
    assert result.outcomes["bad==1"].failure == reason
    stored = store.as_run([result], 0.5, quick=True)
    assert show.rows_of(stored["cases"][0])[1][1] == f"failed: {reason}"


def test_a_peer_that_cannot_be_installed_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "ENVIRONMENTS", tmp_path / "peers")
    monkeypatch.setattr(peers.sys, "executable", str(tmp_path / "no-python"))
    case = case_of(fixed("ours", 2.0), Peer("bad", "bad==1").contestant(lambda: tmp_path / "data.csv"))
    assert "could not be installed" in run_case(case, Setting(tmp_path)).outcomes["bad==1"].failure


def test_failures_do_not_tell_where_the_checkout_is():
    with pytest.raises(ChildFailed) as failed:
        run_json([sys.executable, "-c", f"raise SystemExit({str(ROOT)!r} + '/x is missing')"])
    assert str(failed.value) == "./x is missing"


def test_a_benchmark_runs_on_tiny_data(tmp_path):
    made = run(["start"], Setting(tmp_path, quick=True, with_peers=False))
    assert [c["name"] for c in made["cases"]] == ["start"]
    for contestant in made["cases"][0]["contestants"]:
        assert "failure" not in contestant, contestant
        assert contestant["seconds"] > 0
    assert store.read(store.write(made, "tiny", tmp_path).stem, tmp_path) == json.loads(json.dumps(made))


@pytest.mark.slow
def test_every_benchmark_runs_on_tiny_data(tmp_path):
    made = run([], Setting(tmp_path, quick=True, with_peers=False))
    assert {c["name"] for c in made["cases"]} >= {
        "mdav",
        "mondrian",
        "recoding",
        "check t-closeness",
        "scale, file to folder",
        "start",
    }
    for case in made["cases"]:
        for contestant in case["contestants"]:
            assert "failure" not in contestant, (case["name"], contestant)
            assert contestant["seconds"] > 0
    stages = next(c for c in made["cases"] if c["name"] == "scale, file to folder")["contestants"][0]
    expected = ("read", "order", "group", "publish", "write", "check the file", "save", "report")
    assert list(stages["numbers"]) == [f"{stage} s" for stage in expected]
    mdav = next(c for c in made["cases"] if c["name"] == "mdav")["contestants"]
    assert mdav[0]["numbers"] == mdav[1]["numbers"]
    assert mdav[1]["ratio"] == pytest.approx(mdav[1]["seconds"] / mdav[0]["seconds"])
    assert store.read(store.write(made, "tiny", tmp_path).stem, tmp_path) == json.loads(json.dumps(made))
    show.print_run(made)


def test_the_page_is_filled_between_its_markers(tmp_path):
    case = case_of(fixed("ours", 2.0), fixed("slow", 8.0, is_rival=True, at_least=5))
    made = store.as_run([run_case(case, Setting(tmp_path))], 0.5, quick=False)
    page = tmp_path / "page.md"
    page.write_text("above\n\n<!-- results: begin -->\nold\n<!-- results: end -->\n\nbelow\n")
    for _ in range(2):
        show.fill_page(made, page)
    text = page.read_text()
    assert text.startswith("above\n")
    assert text.endswith("\nbelow\n")
    assert "old" not in text
    assert "| slow | 8 | 4 x | ≥ 5 x: missed |" in text
    page.write_text("no markers")
    with pytest.raises(ValueError, match="once each"):
        show.fill_page(made, page)


def test_goals_are_judged():
    assert show.goal({"at_least": 5, "ratio": 5.0}) == "≥ 5 x: met"
    assert show.goal({"at_most": 0.3, "seconds": 0.31}) == "≤ 0.3 s: missed"
    assert show.goal({"at_least": 5}) == "≥ 5 x"
    assert show.goal({"seconds": 1.0}) == ""


def test_list_names_every_benchmark(capsys):
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(find())
    assert all(len(line.split()) > 3 for line in listed)


def test_an_unknown_benchmark_is_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["mdva"])
    assert stopped.value.code == 2
    assert "there is no benchmark 'mdva'" in capsys.readouterr().err


def test_generated_data_has_the_columns_of_adult():
    data = invented(50)
    assert tuple(data.columns) == NAMES
    assert data.matrix().shape == (50, len(NUMERIC))
    assert people(quick=True).origin.startswith("generated")
    more = data.resampled(200)
    assert more.n_rows == 200
    assert set(more.columns["sex"]) <= set(data.columns["sex"])


def test_invented_hierarchies_hold_every_value_below_one_root(tmp_path):
    data = invented(60)
    for name, path in hierarchy_files(data, tmp_path).items():
        hierarchy = Hierarchy.read(path)
        assert not hierarchy.missing_from([str(v) for v in data.columns[name]])
        assert {row[-1] for row in hierarchy.rows} == {"*"}
        assert name in QUASI


def test_losses_of_labels_by_hand():
    tree = Hierarchy((("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")))
    labels = {"x": np.array(["ab", "ab", "c", "*"], dtype=object)}
    assert of_labels({"x": tree}, labels, 5) == {
        "GCP_h": (0.5 + 0.5 + 0 + 1 + 1) / 5,
        "DM": 4 + 1 + 1 + 5,
        "suppressed": 1,
        "least class": 1,
    }


def test_stored_runs_name_no_host(monkeypatch):
    monkeypatch.setattr("platform.node", lambda: "my-host")
    text = json.dumps(store.machine())
    assert str(ROOT) not in text
    assert "my-host" not in text


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("results", "memory"),
        ("peers", "peers"),
        ("attacks", "attack"),
        ("averages", "averages"),
        ("buckets", "buckets"),
        ("checks", "check"),
        ("profiles", "profile"),
        ("spilled", "spill"),
    ],
)
def test_what_is_stored_of_bounded_memory_stands_on_its_page(part: str, name: str, tmp_path: Path) -> None:
    text = show.MEMORY_PAGE.read_text(encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    show.fill_page(store.read(f"scale-{name}"), page, part)
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "part",
    [
        "same bytes",
        "resumed steps",
        *(f"{kind}kills of {n}" for kind in ("", "resumed after ") for n in (1_000_000, 10_000_000)),
    ],
)
def test_what_is_told_of_bounded_memory_has_a_place_on_its_page(part: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(show.MEMORY_PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    show.fill_part(page, part, "what was seen")
    assert f"<!-- {part}: begin -->\n\nwhat was seen\n\n<!-- {part}: end -->" in page.read_text(encoding="utf-8")
