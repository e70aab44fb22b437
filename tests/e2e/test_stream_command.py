"""`shoal stream` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.command import RunHere

POLICY = """
person = "id"
[columns]
age = { role = "quasi", type = "continuous" }
sex = { role = "quasi" }
disease = { role = "sensitive" }
[[require]]
model = "k-anonymity"
k = 4
[[require]]
model = "l-diversity"
l = 2
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(5)
    rows = zip(rng.integers(0, 90, 150), rng.integers(18, 90, 150), rng.choice(["f", "m"], 150), strict=True)
    lines = [f"p{i},{a},{s},d{(i + a) % 7}" for i, a, s in rows]
    (tmp_path / "people.csv").write_text("\n".join(["id,age,sex,disease", *lines]) + "\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_becomes_a_folder_that_checks(run_here: RunHere, here: Path) -> None:
    made = run_here("stream", "-p", "policy.toml", "--delay", "50", "--in", "people.csv", "-o", "out", "--seed", "1")
    assert made.code == 0, made.stderr
    assert "150 of 150 records published in 3 windows, 0 suppressed." in made.stdout
    checked = run_here("check", "out", "--original", "people.csv")
    assert checked.code == 0, checked.stdout
    assert "The folder is what it claims to be." in checked.stdout
    again = run_here("stream", "-p", "policy.toml", "--in", "people.csv", "-o", "out")
    assert (again.code, "holds a stream that ended" in again.stderr) == (1, True)


def test_it_tells_the_result_as_json(run_here: RunHere, here: Path) -> None:
    made = run_here("stream", "-p", "policy.toml", "--delay", "50", "--in", "people.csv", "-o", "out", "--json")
    told = json.loads(made.stdout)
    assert told["records"] == {"in": 150, "out": 150, "suppressed": 0}
    assert set(told["loss"]) == {"NCP", "NCP of age", "NCP of sex"}
    refused = run_here("stream", "-p", "policy.toml", "--in", "people.csv", "--json")
    assert (refused.code, "--json prints the result" in refused.stderr) == (2, True)


def test_records_go_to_standard_output_and_words_do_not(run_here: RunHere, here: Path) -> None:
    asked = ("stream", "-p", "policy.toml", "--delay", "50", "--in", "people.csv", "--seed", "1")
    made, quiet = run_here(*asked), run_here(*asked, "-q")
    assert made.stdout.splitlines()[0] == "age,sex,disease"
    assert len(made.stdout.splitlines()) == 151
    assert "150 of 150 records published" in made.stderr
    assert (quiet.stdout, quiet.stderr) == (made.stdout, "")


@pytest.mark.parametrize(
    ("edit", "told", "code"),
    [
        (("people.csv", ",f,d", ",f"), "has 3 cells and the header 4", 3),
        (("people.csv", "p1", ""), "column 'id', which says whose it is, is empty", 3),
        (("policy.toml", "age", "agee"), "did you mean 'age'?", 2),
        (("policy.toml", '"l-diversity"\nl = 2', '"t-closeness"\nt = 0.2'), "compares a class with the whole table", 2),
        (("policy.toml", "k = 4", "k = 60"), "the delay is 50 records, and a class takes 60", 2),
        (("policy.toml", "[columns]", "[method]\npublish = 'condense'\n[columns]"), "publish = condense", 2),
    ],
)
def test_what_is_wrong_is_one_sentence(
    run_here: RunHere, here: Path, edit: tuple[str, str, str], told: str, code: int
) -> None:
    name, old, new = edit
    (here / name).write_text((here / name).read_text().replace(old, new))
    made = run_here("stream", "-p", "policy.toml", "--delay", "50", "--in", "people.csv", "-o", "out")
    assert (made.code, told in made.stderr, made.stderr.count("\n")) == (code, True, 1), made.stderr


def test_bad_lines_can_be_passed_over(run_here: RunHere, here: Path) -> None:
    text = (here / "people.csv").read_text().splitlines()
    text[7] = "secret"
    text[99] = ",20,f,d1"
    (here / "people.csv").write_text("\n".join(text) + "\n")
    asked = ("stream", "-p", "policy.toml", "--delay", "50", "--in", "people.csv", "-o", "out")
    made = run_here(*asked, "--skip-bad")
    assert made.code == 0, made.stderr
    assert "148 of 150 records published" in made.stdout
    assert "2 suppressed: unreadable" in made.stdout


@pytest.mark.slow
def test_kills_lose_nothing_and_publish_nothing_twice(tmp_path: Path) -> None:
    """Killed by a signal that it cannot see, whenever the output has grown, and gone on with."""
    rng = np.random.default_rng(1)
    lines = [f"{a},{b},{i}\n" for i, (a, b) in enumerate(rng.integers(0, 500, (15_000, 2)).tolist())]
    (tmp_path / "in.csv").write_text("a,b,number\n" + "".join(lines))
    code = (
        "import shoal, shoal.stream.stream as home; home._COMMIT = 1; "
        "p = shoal.Policy.of(quasi=['a', 'b'], insensitive=['number'], k=5, accept={'singled_out': 'counted'}); "
        "shoal.stream('in.csv', p, delay=100).save('out')"
    )
    data, size, n_kills = tmp_path / "out/publish/data.csv", 0, 0
    while True:
        process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
        while n_kills < 3 and process.poll() is None:
            if data.exists() and data.stat().st_size > size:
                process.kill()
                n_kills += 1
                break
        if process.wait() == 0:
            break
        size = data.stat().st_size
    shown = [line.rsplit(",", 1)[1] for line in data.read_text().splitlines()[1:]]
    assert sorted(map(int, shown)) == list(range(15_000))
