"""The ledger on disk: what it tells, who may read it, and what is refused."""

from __future__ import annotations

import json
import stat
from dataclasses import replace

import numpy as np
import pytest

from shoal.data.ledger import Ledger, hash_persons, hash_texts, hash_values, said
from shoal.data.tables.frames import from_frame
from shoal.data.tables.table import encode_cells
from shoal.errors import DataError, PolicyError

KEY = bytes(range(32))


def ledger():
    return Ledger(
        KEY,
        ("id",),
        3,
        hash_texts([b"a", b"b", b"c"], KEY, 16),
        np.array([[0], [0], [-1]], dtype=np.int32),
        np.zeros(3, dtype=np.int32),
        hash_texts([b"x", b"y", b"x"], KEY, 8),
        2,
        "illness",
        (("flu", "gout"),),
        ({"age": ["[20..30]"], "town": ['a "b", c']},),
        ("0" * 64,),
    )


def test_it_reads_back_as_it_was_written(tmp_path):
    made = ledger()
    made.write(tmp_path)
    for place in (tmp_path, tmp_path / "ledger"):
        found = Ledger.read(place)
        assert (found.person, found.k, found.m, found.signatures) == (made.person, made.k, made.m, made.signatures)
        assert dict(found.labels[0]) == made.labels[0]
        for name in ("persons", "classes", "cohorts", "values"):
            assert (getattr(found, name) == getattr(made, name)).all()


def test_it_is_the_owners_alone(tmp_path):
    ledger().write(tmp_path)
    assert stat.S_IMODE((tmp_path / "ledger").stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "ledger").iterdir()} == {0o600}


def test_a_missing_one_is_told(tmp_path):
    with pytest.raises(DataError, match="there is no ledger in"):
        Ledger.read(tmp_path)


@pytest.mark.parametrize("name", ["persons.npy", "classes.npy", "cohorts.npy", "values.npy", "labels-1.csv", "key.txt"])
def test_a_changed_or_missing_file_is_found(tmp_path, name):
    ledger().write(tmp_path)
    path = tmp_path / "ledger" / name
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match="damaged or was changed"):
        Ledger.read(tmp_path)
    path.unlink()
    with pytest.raises(DataError, match="damaged or was changed"):
        Ledger.read(tmp_path)


@pytest.mark.parametrize("change", [{"k": 2}, {"person": ["name"]}, {"m": 0}, {"seal": ""}, {"checksums": ["1", "2"]}])
def test_a_changed_entry_is_found(tmp_path, change):
    ledger().write(tmp_path)
    path = tmp_path / "ledger" / "ledger.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(DataError, match="damaged or was changed"):
        Ledger.read(tmp_path)


def test_persons_are_known_again_however_they_are_spelled():
    table = from_frame({"id": ["7", "A1", "x"]})
    again = from_frame({"id": [7, 8]})
    first, _ = hash_persons(table, ["id"], KEY)
    second, codes = hash_persons(again, ["id"], KEY)
    made = replace(ledger(), persons=first)
    assert sorted((made.places(second) >= 0).tolist()) == [False, True]
    assert sorted(codes.tolist()) == [0, 1]
    assert (made.places(hash_persons(from_frame({"id": ["a1 "]}), ["id"], KEY)[0]) >= 0).all()


def test_long_numbers_are_not_taken_for_each_other():
    table = from_frame({"id": ["9007199254740993", "9007199254740992"]})
    assert len(hash_persons(table, ["id"], KEY)[0]) == 2


def test_without_a_person_nothing_is_known():
    with pytest.raises(PolicyError, match="nothing says who is who"):
        hash_persons(from_frame({"id": ["7"]}), [], KEY)


def test_values_are_hashed_by_what_they_say():
    texts = encode_cells("v", np.array(["1", "1.0", "x"], dtype=object))
    found = hash_values(texts, KEY)
    assert said(texts) == ["1.0", "1.0", "x"]
    assert found[0] == found[1] != found[2]
    assert found[0] == hash_values(encode_cells("v", np.array([1.0])), KEY)[0]
