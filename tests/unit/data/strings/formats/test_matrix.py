"""Rows of a table as strings of some of its columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.attack.strings.genotype_recovery import doses
from shoal.check.strings.sites import rarely_carried
from shoal.data.strings.files import read_strings, read_strings_back, string_file_name, write_strings
from shoal.data.strings.formats.matrix import chosen_columns
from shoal.data.strings.sites import at_sites, only_carried
from shoal.data.strings.strings import Strings
from shoal.errors import DataError, PolicyError
from shoal.kind import kind_named

N = 120


def people(seed: int = 3, n: int = N, n_blocks: int = 6, width: int = 6) -> np.ndarray:
    """Doses of persons who have two of three haplotypes in each block; the last column is of one person alone."""
    rng = np.random.default_rng(99)
    haplotypes = (rng.random((n_blocks, 3, width)) < 0.45).astype(int)
    rng = np.random.default_rng(seed)
    of = rng.integers(3, size=(2, n_blocks, n))
    drawn = np.hstack([haplotypes[b][of[0, b]] + haplotypes[b][of[1, b]] for b in range(n_blocks)])
    alone = np.zeros((n, 1), dtype=int)
    alone[0] = 1
    return np.hstack([drawn, alone])


def frame(doses: np.ndarray) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {"name": [f"p{i}" for i in range(len(doses))]}
    columns |= {f"rs{j}": [*map(int, doses[:, j])] for j in range(doses.shape[1])}
    return columns | {"ill": ["case" if i % 2 else "control" for i in range(len(doses))]}


def written(path: Path, columns: dict[str, list[object]]) -> Path:
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in [tuple(columns), *rows]) + "\n")
    return path


def slow_holders(strings: Strings) -> list[int]:
    """Of each column, how many hold the value that is second in number; no value is none."""
    found = []
    for j in range(len(strings.source.sites)):
        cells = [text[j] for text in strings.texts() if text[j] != "NA"]
        found.append(sorted([cells.count(one) for one in set(cells)] + [0, 0])[-2])
    return found


def test_columns_are_chosen_by_name_and_pattern_in_the_order_of_the_table() -> None:
    names = ["id", "rs7", "b", "rs12", "a*", "[x]1", "[x]2"]
    assert chosen_columns(["rs12", "rs7"], names, None) == ["rs7", "rs12"]
    assert chosen_columns(["*"], names, "id") == names[1:]
    assert chosen_columns(["a*"], names, None) == ["a*"]  # a name that is there is no pattern
    assert chosen_columns(["[x]*"], names, None) == ["[x]1", "[x]2"]
    assert chosen_columns(["r?*"], ["r?1", "rs1"], None) == ["r?1"]  # nothing but * stands for anything else
    with pytest.raises(DataError, match="no column is called 'rs8'"):
        chosen_columns(["rs8"], names, None)


def test_a_matrix_and_back(tmp_path: Path) -> None:
    path = written(
        tmp_path / "m.csv", {"id": [1, 2, 3], "s1": ["AA", "AG", ""], "s2": [0, 10, 2], "c": ["x", "y", "x"]}
    )
    strings = read_strings(path, columns=["s*"], class_column="c")
    assert strings.texts() == [["AA", "0"], ["AG", "10"], ["NA", "2"]]
    assert strings.source.sites == ("s1", "s2")
    assert strings.classes == ("x", "y")
    assert strings.source.notes == ("cells without a value were read as NA, a value like others",)
    assert string_file_name(strings) == "data.csv"
    write_strings(strings, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "s1,s2,c\nAA,0,x\nAG,10,y\nNA,2,x\n"
    again = read_strings_back(tmp_path / "out.csv", strings.source)
    assert again.texts() == strings.texts()
    assert again.source.sites == strings.source.sites
    assert again.classes == strings.classes


def test_cells_and_names_that_a_spreadsheet_would_run_are_guarded(tmp_path: Path) -> None:
    strings = read_strings(written(tmp_path / "m.csv", {"=a": ["+x", "y"], "b": ["-", "@z"]}), columns=["*"])
    write_strings(strings, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "'=a,b\n'+x,'-\ny,'@z\n"
    again = read_strings_back(tmp_path / "out.csv", strings.source)
    assert (again.texts(), again.source.sites) == (strings.texts(), strings.source.sites)


def test_only_columns_in_which_enough_persons_differ_stay() -> None:
    rng = np.random.default_rng(11)
    for _ in range(30):
        cells = rng.choice(["0", "1", "2", "NA"], size=(20, 8), p=[0.7, 0.15, 0.1, 0.05])
        cells[:, 0] = rng.choice(["0", "NA"], size=20)
        columns = {f"s{j}": cells[:, j].tolist() for j in range(8)}
        data = kind_named("strings").load(columns, shoal.StringPolicy.of(columns=("s*", "s0")))
        holders = slow_holders(data)
        rare = int(rng.integers(1, 6))
        assert rarely_carried(data, rare) == sum(n < rare for n in holders)
        kept = [f"s{j}" for j, n in enumerate(holders) if n >= rare]
        if kept:
            made = only_carried(data, rare)
            assert list(made.source.sites) == kept
            assert made.source.columns == ("s*",)  # what was left out is not named
            assert rarely_carried(made, rare) == 0
        else:
            with pytest.raises(DataError, match=f"no column has two values that {rare} persons or more hold each"):
                only_carried(data, rare)


def test_a_release_holds_and_does_not_name_the_column_of_one_person(tmp_path: Path) -> None:
    path = written(tmp_path / "snps.csv", frame(people()))
    policy = shoal.StringPolicy.of(k=10, columns=("rs*", "rs36"), class_column="ill")
    release = shoal.anonymize(path, policy, seed=1)
    release.save(tmp_path / "out", keep=("groups",))
    head = (tmp_path / "out/publish/data.csv").read_text().split("\n", 1)[0].split(",")
    assert "rs36" not in head
    assert head[-1] == "ill"
    manifest = json.loads((tmp_path / "out/publish/manifest.json").read_text())
    assert manifest["columns"] == ["rs*"]
    verdict = shoal.check(tmp_path / "out/publish", original=path, private=tmp_path / "out/private")
    assert verdict.holds
    assert not verdict.findings
    shares = [np.bincount(people()[:, int(n[2:])], minlength=3) / N for n in head[:-1]]
    texts = release.strings.texts()
    made = [np.bincount([int(t[j]) for t in texts], minlength=3) / len(texts) for j in range(len(head) - 1)]
    assert np.abs(np.array(shares) - np.array(made)).mean() < 0.06


def test_a_column_that_was_put_in_later_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "snps.csv", frame(people()))
    policy = shoal.StringPolicy.of(k=10, columns=("rs*",))
    shoal.anonymize(path, policy, seed=1).save(tmp_path / "out", report=False)
    data = tmp_path / "out/publish/data.csv"
    lines = data.read_text().splitlines()
    data.write_text("\n".join([f"{line},{'rs36' if i == 0 else int(i == 1)}" for i, line in enumerate(lines)]) + "\n")
    verdict = shoal.check(tmp_path / "out/publish", original=path)
    assert any("the variants listed are not those" in finding for finding in verdict.findings)
    data.write_text("\n".join([f"{line},{'name' if i == 0 else i}" for i, line in enumerate(lines)]) + "\n")
    verdict = shoal.check(tmp_path / "out/publish")
    assert any("a column 'name' that the manifest does not know" in finding for finding in verdict.findings)


def test_a_frame_comes_back_as_a_frame() -> None:
    columns = frame(people())
    made = shoal.anonymize(columns, shoal.StringPolicy.of(k=10, columns=("rs*",), class_column="ill"), seed=2).data
    assert isinstance(made, dict)
    assert {type(cell) for cell in made["rs0"]} == {int}
    assert set(made["ill"]) == {"case", "control"}
    pandas = pytest.importorskip("pandas")
    again = shoal.anonymize(pandas.DataFrame(columns), shoal.StringPolicy.of(k=10, columns=("rs*",)), seed=2).data
    assert str(again["rs0"].dtype) == "int64"
    assert "name" not in again.columns


def test_others_are_read_at_the_columns_of_the_release(tmp_path: Path) -> None:
    others = frame(people(seed=8))
    others["rs0"] = [0] * N  # nobody differs there, and it is a column of the release
    release = shoal.anonymize(
        written(tmp_path / "a.csv", frame(people())),
        shoal.StringPolicy.of(k=10, columns=("rs*",)),
        control=written(tmp_path / "b.csv", dict(reversed(others.items()))),
        seed=1,
    )
    assert "rs0" in release.strings.source.sites
    assert "genotype-recovery" in {result.attack for result in release.attack(seed=1).results}


def test_doses_of_a_matrix_are_its_values(tmp_path: Path) -> None:
    path = written(tmp_path / "m.csv", {"a": ["AA", "AG", "AA"], "b": ["T", "T", "C"]})
    strings = read_strings(path, columns=["a", "b"])
    values = doses(at_sites(strings, ("b", "a")), 2)
    assert values.shape == (3, 2)
    assert [[strings.alphabet[i] for i in row] for row in values.tolist()] == [["T", "AA"], ["T", "AG"], ["C", "AA"]]


def test_bad_input_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "m.csv", {"a": [0, 1], "b": [1, 0], "c": ["x", ""]})
    with pytest.raises(DataError, match=r"m\.csv: no column is called 'rs\*'; the choices are 'a', 'b', 'c'"):
        read_strings(path, columns=["rs*"])
    with pytest.raises(DataError, match="no column is called 'klass'"):
        read_strings(path, columns=["a"], class_column="klass")
    with pytest.raises(DataError, match="nothing but the classes"):
        read_strings(path, columns=["c"], class_column="c")
    with pytest.raises(DataError, match=r"row 2 after the header: the column 'c' holds no class"):
        read_strings(path, columns=["a"], class_column="c")
    with pytest.raises(DataError, match=r"the column 'a' holds a value that is not in the alphabet \(row 2"):
        read_strings(path, columns=["a"], alphabet=("0", "2"))
    with pytest.raises(PolicyError, match="one column is given as well"):
        read_strings(path, columns=["a"], column="b", format="matrix")
    with pytest.raises(PolicyError, match="name the columns"):
        read_strings(path, format="matrix")
    with pytest.raises(PolicyError, match="columns are the places of a table's rows, and the format is 'lines'"):
        read_strings(path, format="lines", columns=["a"])
    with pytest.raises(PolicyError, match="leave out person, time"):
        shoal.anonymize({"a": [1, 2]}, shoal.StringPolicy.of(k=2, columns=("a",), person=("b",)))


def test_a_value_that_few_hold_and_a_missing_cell_do_not_move_the_columns(tmp_path: Path) -> None:
    """Both are rare; what stands behind them stays in its column."""
    columns = frame(people())
    columns["rs4"][5], columns["rs9"][7] = "", "of one person"
    path = written(tmp_path / "people.csv", columns)
    asked = {"kind": "strings", "input": {"columns": ["rs*"], "class_column": "ill"}}
    release = shoal.anonymize(path, asked | {"require": [{"model": "k-anonymity", "k": 5}]}, seed=1)
    release.save(tmp_path / "out", keep=("groups",), report=False)
    assert "of one person" not in (tmp_path / "out/publish/data.csv").read_text()
    assert any("replaced by the commonest of the same place" in note for note in release.notes)
    checked = shoal.check(tmp_path / "out/publish", original=path, private=tmp_path / "out/private")
    assert checked.holds
    assert not checked.findings


def test_a_matrix_of_parquet_is_checked(tmp_path: Path) -> None:
    pq.write_table(pa.table(frame(people())), path := tmp_path / "people.parquet")
    asked = {"kind": "strings", "input": {"columns": ["rs*"]}, "require": [{"model": "k-anonymity", "k": 10}]}
    shoal.anonymize(path, asked, seed=1).save(tmp_path / "out", keep=("groups",), report=False)
    checked = shoal.check(tmp_path / "out/publish", original=path, private=tmp_path / "out/private")
    assert checked.holds
    assert not checked.findings


def test_a_release_is_checked_with_the_frame_that_it_was_made_from(tmp_path: Path) -> None:
    data = pd.DataFrame(frame(people()))
    asked = {"kind": "strings", "input": {"columns": ["rs*"], "class_column": "ill"}}
    asked |= {"require": [{"model": "k-anonymity", "k": 10}]}
    shoal.anonymize(data, asked, seed=1).save(tmp_path / "out", keep=("groups",), report=False)
    checked = shoal.check(tmp_path / "out/publish", original=data, private=tmp_path / "out/private")
    assert checked.holds
    assert not checked.findings
    with pytest.raises(PolicyError, match="name the column"):
        shoal.anonymize(data, {"kind": "strings"}, seed=1)


def test_names_with_signs_of_patterns_are_known_to_the_manifest(tmp_path: Path) -> None:
    columns = {name.replace("rs", "[rs]?"): cells for name, cells in frame(people()).items()}
    path = written(tmp_path / "people.csv", columns)
    shoal.anonymize(path, shoal.StringPolicy.of(k=10, columns=("[rs]?*",)), seed=1).save(tmp_path / "out", report=False)
    assert not shoal.check(tmp_path / "out/publish", original=path).findings
