"""What the command line makes of its words: lists that add up, things said twice, no command, and one that is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shoal
from shoal.data.samples.proteins import protein_families
from tests.e2e.command import DATA, POLICY, ROLES, RunHere, people, text_of, write

BASKETS = "".join(" ".join(str((7 * i + 3 * j) % 40) for j in range(2 + i % 5)) + "\n" for i in range(60))


@pytest.fixture
def here(tmp_path: Path) -> Path:
    write(tmp_path / "people.csv", text_of(people(60)))
    return tmp_path


def test_a_repeated_list_adds_up(here: Path, run_here: RunHere) -> None:
    roles = ("--quasi", "age", "--quasi", "zip,city", "--sensitive", "disease", "--identifying", "name")
    ended = run_here(
        *("anonymize", "people.csv", *roles, "-k", "3", "--keep", "groups", "--keep", "rows", "-o", "out"), cwd=here
    )
    assert ended.code == 0, ended.stderr
    kept = {p.name for p in (here / "out" / "private").iterdir()}
    assert kept == {"attacks.json", "report.json", "report.html", "groups.csv", "rows.csv"}
    columns = json.loads((here / "out" / "publish" / "manifest.json").read_text())["columns"]
    assert {n for n, c in columns.items() if c["role"] == "quasi"} == {"age", "zip", "city"}


def test_a_repeated_list_of_numbers_adds_up(here: Path, run_here: RunHere) -> None:
    quick = ("--method", "mondrian", "--measure", "GCP", "--json")
    write(here / "policy.toml", '[columns]\nage = { role = "quasi" }\ndisease = { role = "sensitive" }\n')
    ended = run_here("sweep", "people.csv", "-p", "policy.toml", "-k", "2,3", "-k", "5", *quick, cwd=here)
    assert ended.code == 0, ended.stderr
    assert [c["k"] for c in json.loads(ended.stdout)["cells"]] == [2, 3, 5]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("-k", "5", "-k", "10"), "-k is given 2 times; give it once"),
        (("--method", "mdav", "-k", "5", "--method", "mondrian"), "--method is given 2 times; give it once"),
        (("--jointly", "--separately"), "--jointly or --separately is given 2 times; give it once"),
        (("--seed", "1", "--seed", "1", "--seed", "2"), "--seed is given 3 times; give it once"),
        (("--hierarchy", "age=a.csv", "--hierarchy", "age=b.csv"), "--hierarchy is given more than once for the same"),
    ],
)
def test_what_is_no_list_is_said_once(here: Path, options: tuple[str, ...], says: str, run_here: RunHere) -> None:
    ended = run_here("anonymize", "people.csv", *ROLES, "-o", "out", *options, cwd=here)
    assert (ended.code, ended.stdout) == (POLICY, "")
    assert ended.stderr.startswith(f"shoal: {says}")
    assert not (here / "out").exists()


def test_a_flag_may_be_repeated(here: Path, run_here: RunHere) -> None:
    ended = run_here("anonymize", "people.csv", *ROLES, "-k", "3", "-o", "out", "--json", "--json", cwd=here)
    assert ended.code == 0, ended.stderr
    json.loads(ended.stdout)


def test_no_command_prints_the_help(run_here: RunHere) -> None:
    bare, asked = run_here(), run_here("--help")
    assert (bare.code, bare.stderr) == (0, "")
    assert bare.stdout == asked.stdout
    assert "\\n" not in bare.stdout
    assert bare.stdout.splitlines()[0].startswith("Usage: ")


@pytest.mark.parametrize(
    ("word", "says"),
    [("anonymise", "did you mean 'anonymize'?"), ("nonsense", "the choices are 'anonymize', 'attack', 'check'")],
)
def test_a_command_that_is_none_gets_a_hint(word: str, says: str, run_here: RunHere) -> None:
    ended = run_here(word)
    assert (ended.code, ended.stdout) == (POLICY, "")
    assert ended.stderr.startswith(f"shoal: there is no command '{word}'; {says}")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["profile", "sweep", "harden", "anonymize"])
def test_lists_of_items_are_no_table(tmp_path: Path, command: str, run_here: RunHere) -> None:
    write(tmp_path / "baskets.dat", BASKETS)
    ended = run_here(command, "baskets.dat", "-o", "out", cwd=tmp_path)
    assert (ended.code, ended.stdout) == (DATA, "")
    assert "baskets.dat holds lists of items of several lengths, not a table" in ended.stderr
    assert BASKETS.splitlines()[0] not in ended.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["baskets.dat"]


def test_the_profile_is_of_the_kind_that_the_source_is(tmp_path: Path, run_here: RunHere) -> None:
    """From Python as from the command line: a FASTA file is strings, whoever asks."""
    made = protein_families(60, n_families=2, mean_length=30.0, seed=1).texts()
    fasta = write(tmp_path / "proteins.fasta", "".join(f">P{i}\n{s}\n" for i, s in enumerate(made)))
    svm = write(tmp_path / "records.svm", "".join(f"1 {i % 7 + 1}:1 {i % 5 + 10}:2\n" for i in range(30)))
    for source in (fasta, str(fasta), made, shoal.Strings.of(made)):
        found = shoal.profile(source)
        assert type(found).__name__ == "StringProfile"
        assert found.n_strings == 60
    told = json.loads(run_here("profile", fasta, "--json", cwd=tmp_path).stdout)
    assert told == shoal.profile(fasta).to_dict()
    sparse = shoal.profile(svm)
    assert type(sparse).__name__ == "SparseProfile"
    assert type(shoal.profile(shoal.read_sparse(svm))).__name__ == "SparseProfile"
    baskets = write(tmp_path / "baskets.dat", BASKETS)
    assert type(shoal.profile(baskets, shoal.SparsePolicy())).__name__ == "SparseProfile"


def test_the_profile_of_a_sparse_matrix() -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    matrix = scipy_sparse.csr_matrix(([1, 1, 1, 1], ([0, 1, 2, 3], [0, 1, 0, 1])), shape=(4, 2))
    assert type(shoal.profile(matrix)).__name__ == "SparseProfile"


def test_strings_are_not_profiled_or_swept_as_a_table(tmp_path: Path) -> None:
    strings = ["ACGT", "ACGA", "TTGA"] * 5
    with pytest.raises(shoal.PolicyError, match="the data is strings, and the policy is for a table"):
        shoal.profile(strings, shoal.Policy())
    with pytest.raises(shoal.PolicyError, match="the data is strings, and the policy is for a table"):
        shoal.sweep(strings, shoal.Policy())
    with pytest.raises(shoal.PolicyError, match="the policy is for strings"):
        shoal.sweep({"age": [1, 2]}, shoal.StringPolicy())
    with pytest.raises(shoal.DataError, match="not a table"):
        shoal.sweep(write(tmp_path / "baskets.dat", BASKETS))
