"""Pseudo-strings of a file that is read in blocks are, to the byte, those of held strings; the rest is refused."""

from __future__ import annotations

import gzip
import hashlib
import os
import pickle
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.data import line_blocks, ragged_rows
from shoal.data.strings import blocks, on_disk
from shoal.data.strings.files import read_strings
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError
from shoal.kinds.strings import unheld
from shoal.kinds.strings.policy import StringPolicy

pytestmark = pytest.mark.unattacked
LABEL = "class=(.*)"


def put(path: Path, n: int = 400, seed: int = 0, n_symbols: int = 25, least: int = 0) -> Path:
    """Sessions, characters one string a line, or FASTA with classes, by the name; plain or packed."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, n_symbols + 1)
    lines = []
    for i in range(n):
        items = rng.choice(n_symbols, least + int(rng.geometric(0.15)) - 1, p=share / share.sum())
        if ".dat" in path.name:
            lines.append(" ".join(f"p{s}" for s in items))
            continue
        letters = "".join("-ACDEFGHIKLMNPQRSTVWYacdef"[int(s) % 26] for s in items)
        lines += [f">s{i} class={'small' if i % 99 == 0 else 'ab'[i % 2]}"] if ".fasta" in path.name else []
        lines.append(letters)
    text = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def asked_of(path: Path, **more: Any) -> StringPolicy:
    by_name = {"label": LABEL} if ".fasta" in path.name else {"format": "tokens" if ".dat" in path.name else "lines"}
    return StringPolicy.of(**{"k": 10, **by_name, **more})


def made(path: Path, policy: StringPolicy, out: Path, **more: Any) -> Any:
    """The checksums of what is published and what is said of it, or why there is nothing."""
    try:
        release = shoal.anonymize(path, policy, seed=7, **more)
    except ShoalError as error:
        return type(error), str(error)
    release.save(out, keep="groups", report=False)
    files = {
        f"{file.parent.name}/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest()
        for folder in ("publish", "private")
        for file in (out / folder).iterdir()
    }
    return files, release.records, release.guarantees, dict(release.suppressed), release.notes, release.n_rejected


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["s.dat", "s.txt", "s.fasta", "s.fasta.gz"]),
    st.integers(2, 250),
    st.integers(0, 2**32 - 1),
    st.sampled_from([{}, {"copies": "allow"}, {"rare": 1, "support": 2}, {"order": 3, "lengths": "template"}]),
    st.integers(2, 15),
    st.sampled_from([50, 700, 1 << 22]),
    st.sampled_from([20, 900, 1 << 23]),
)
def test_the_bytes_are_those_of_held_strings(
    name: str, n: int, seed: int, asked: dict[str, Any], k: int, symbols: int, n_bytes: int
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(on_disk, "SYMBOLS_AT_ONCE", symbols),
        patch.object(ragged_rows, "ENTRIES_OF_A_RANGE", 2 * symbols),
        patch.object(blocks, "BYTES_AT_ONCE", n_bytes),
    ):
        path = put(Path(folder) / name, n, seed)
        policy = asked_of(path, k=k, suppression=0.9, unaligned="accept", **asked)
        held = made(path, policy, Path(folder) / "held")
        assert made(path, policy.changed(memory="1GB"), Path(folder) / "bounded") == held


@pytest.mark.parametrize("name", ["s.dat", "s.fasta", "s.fasta.gz"])
def test_what_is_said_of_utf_16_is_what_is_said_of_held_strings(tmp_path: Path, name: str) -> None:
    path = put(tmp_path / name, least=3)
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode().encode("utf-16")
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    policy = asked_of(path, suppression=0.9)
    held = made(path, policy, tmp_path / "held")
    assert "read as UTF-16, as its first bytes say" in held[4]
    with patch.object(blocks, "BYTES_AT_ONCE", 900), patch.object(line_blocks, "_PIECE", 300):
        assert made(path, policy.changed(memory="1GB"), tmp_path / "bounded") == held


@pytest.mark.parametrize("workers", [1, 2])
def test_many_blocks_and_near_copies_are_those_of_held_strings(tmp_path: Path, workers: int) -> None:
    """More strings than are grouped at once; short ones, of which some are near copies and drawn again."""
    path = put(tmp_path / "many.dat", 9000, n_symbols=12, least=2)
    policy = asked_of(path)
    held = made(path, policy, tmp_path / "held")
    assert held[-1] > 0
    with patch.object(on_disk, "SYMBOLS_AT_ONCE", 20_000), patch.object(ragged_rows, "ENTRIES_OF_A_RANGE", 30_000):
        assert made(path, policy.changed(memory="1GB"), tmp_path / "bounded", workers=workers) == held


@pytest.mark.parametrize("name", ["s.dat", "s.fasta"])
def test_groups_are_kept_and_the_folder_holds_with_them(tmp_path: Path, name: str) -> None:
    path = put(tmp_path / name, least=3)
    policy = asked_of(path, memory="1GB")
    release = shoal.anonymize(path, policy, seed=7)
    out = release.save(tmp_path / "out", keep="groups")
    found = shoal.check(out, path, asked_of(path), out / "private")
    assert found.holds, found.to_dict()
    assert release.check() == release.guarantees
    with pytest.raises(NotVerified, match="cannot be written again"):  # a copy has no file
        pickle.loads(pickle.dumps(release)).save(tmp_path / "copy")
    with pytest.raises(PolicyError, match="statistics of groups hold all strings"):
        release.save(tmp_path / "no", keep="statistics")
    assert (out / "private" / "report.html").is_file()


def test_what_is_measured_is_drawn_and_the_rest_is_of_all(tmp_path: Path) -> None:
    path = put(tmp_path / "s.fasta", 900, least=4)
    policy = asked_of(path, memory="1GB")
    with patch.object(unheld, "N_DRAWN", 80):
        release = shoal.anonymize(path, policy, seed=7)
    assert 10 <= len(release.published) <= 80
    assert release.sampled.startswith(f"Measures and attacks used {len(release.published)} of {release.records['out']}")
    release.save(tmp_path / "out")
    whole = read_strings(tmp_path / "out" / "publish" / "data.fasta").compact()
    assert np.sort(release.facts.lengths).tolist() == np.sort(whole.lengths).tolist()
    assert release.facts.counts.tolist() == np.bincount(whole.symbols, minlength=len(whole.alphabet)).tolist()
    assert (release.records["in"], release.records["out"]) == (900, len(whole))
    assert len(release.original_lengths) == 900
    held = shoal.anonymize(path, asked_of(path), seed=7)
    all_of_it = shoal.anonymize(path, policy, seed=7)
    assert (all_of_it.sampled, all_of_it.suppressed_lengths) == ("", held.suppressed_lengths)
    assert all_of_it.strings.texts() == held.strings.texts()
    assert all_of_it.utility == held.utility
    assert all_of_it.verbatim.to_dict() == held.verbatim.to_dict()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"generator": "markov"}, 'generator = "markov" needs all strings in memory'),
        ({"generator": "template"}, 'generator = "template" needs all strings in memory'),
        ({"format": "vcf"}, 'format = "vcf" needs all strings in memory'),
        ({"column": "visits"}, "a column needs all strings in memory"),
        ({"columns": ("rs*",)}, "columns needs? all strings in memory"),
        ({"person": "id"}, "events of a person needs? all strings in memory"),
        ({"header": "none"}, "a header needs all strings in memory"),
        ({"memory": "20MB"}, "memory is a size of at least 500 MB, such as 2GB"),
        ({"memory": "much"}, "memory is a size of at least 500 MB, such as 2GB"),
    ],
)
def test_policies_that_need_all_strings_are_refused_by_name(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        StringPolicy.of(**{"memory": "1GB", **asked})


def test_what_cannot_be_read_in_blocks_is_refused_by_name(tmp_path: Path) -> None:
    path = put(tmp_path / "s.dat", least=3)
    policy = asked_of(path, memory="1GB")
    (tmp_path / "s.jsonl").write_text('"ab"\n')
    with pytest.raises(PolicyError, match="is 'jsonl': leave memory out"):
        shoal.anonymize(tmp_path / "s.jsonl", StringPolicy.of(memory="1GB"))
    with pytest.raises(PolicyError, match="these strings are in memory: leave memory out"):
        shoal.anonymize(["ab", "ba"] * 20, StringPolicy.of(memory="1GB"))
    with pytest.raises(PolicyError, match="strings are held out of those in memory"):
        shoal.anonymize(path, policy, hold_out=0.1)
    with pytest.raises(PolicyError, match="all are held here: leave memory out"):
        shoal.anonymize(path, policy, control=path)
    with pytest.raises(PolicyError, match="all are held here: leave memory out"):
        shoal.profile(path, policy)
    with pytest.raises(DataError, match="no such file"):
        shoal.anonymize(tmp_path / "absent.dat", policy)
    with pytest.raises(Infeasible, match="strings, fewer than k"):
        shoal.anonymize(put(tmp_path / "few.dat", 5), policy)
    with (
        patch.object(unheld, "BYTES_A_STRING", 10**7),
        pytest.raises(Infeasible, match="400 strings take about 4,350 MB, however short they are, and memory is 1GB"),
    ):
        shoal.anonymize(path, policy)


def test_as_many_strings_are_accepted_as_the_peaks_say() -> None:
    """Five million took 1.4 GB."""
    policy = StringPolicy.of(memory="2GB")
    unheld._refuse_many(policy, 5_000_000, 1_000)
    with pytest.raises(Infeasible, match="7,000,000 strings take about 2,450 MB"):
        unheld._refuse_many(policy, 7_000_000, 1_000)


def test_what_is_wrong_is_counted_as_far_as_was_read(tmp_path: Path) -> None:
    """The rest of the file may have more of it."""
    path = put(tmp_path / "s.fasta", least=3)
    with patch.object(blocks, "BYTES_AT_ONCE", 900), patch.object(line_blocks, "_PIECE", 300):
        with pytest.raises(DataError, match=r"not in the alphabet \(\d+ so far\)"):
            shoal.anonymize(path, asked_of(path, memory="1GB", alphabet="dna"))
        with pytest.raises(DataError, match=r"\(1 of \d{1,2} that were read have none\)"):
            shoal.anonymize(path, asked_of(path, memory="1GB", label="class=([ab])"))


def test_nothing_is_left_in_the_temporary_folder_nor_when_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, scratch = put(tmp_path / "s.dat", 600, least=3), tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    release = shoal.anonymize(path, asked_of(path, memory="1GB"), seed=7)
    assert os.listdir(scratch) == []
    del release

    def full(self: Any, at: int, symbols: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ragged_rows.ValueFile, "write", full)
    with pytest.raises(ShoalError, match=r"temporary folder .*: No space left on device; make room there"):
        shoal.anonymize(path, asked_of(path, memory="1GB"), seed=7)
    assert os.listdir(scratch) == []


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check reads it again, and would compare with strings that nothing was made of."""
    path = tmp_path / "s.txt"
    put_originals = unheld.put_originals

    def change_one(read: Any, rare: int, k: int) -> Any:
        lines = path.read_text().splitlines()
        path.write_text("\n".join(["C" * len(lines[0]), *lines[1:]]) + "\n")
        return put_originals(read, rare, k)

    policy = asked_of(path, k=5, memory="1GB")
    release = shoal.anonymize(put(path, least=3, n_symbols=4), policy, seed=7)
    release.check()
    monkeypatch.setattr(unheld, "put_originals", change_one)
    with pytest.raises(DataError, match="the strings changed while they were read"):
        release.check()
    with pytest.raises(DataError, match="the strings changed while they were read"):
        shoal.anonymize(put(path, least=3, n_symbols=4), policy, seed=7)


def test_long_strings_and_many_names_are_refused_before_they_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "s.txt")
    policy = asked_of(path, memory="1GB")
    with path.open("a") as file:
        file.write("C" * 60_000 + "\n")
    monkeypatch.setattr(blocks, "BYTES_AT_ONCE", 5_000)
    monkeypatch.setattr(unheld, "BYTES_AT_ONCE", 5_000)
    monkeypatch.setattr(line_blocks, "_PIECE", 1_000)
    shoal.anonymize(path, policy, seed=1)
    with monkeypatch.context() as larger:
        larger.setattr(unheld, "BYTES_A_BYTE", 20_000)
        with pytest.raises(DataError, match=r"a record that begins after line 400 is too long for the bound on memory"):
            shoal.anonymize(path, policy, seed=1)
    monkeypatch.setattr(unheld, "BYTES_A_NAME", 10**8)
    with pytest.raises(Infeasible, match=r"\d+ different symbols and classes take about .* MB and memory is 1GB"):
        shoal.anonymize(path, policy, seed=1)
