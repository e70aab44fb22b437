"""Names of persons that only a key ties to them."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.data.tables.frames import from_frame
from shoal.errors import PolicyError
from shoal.tables import pseudonyms
from shoal.tables.pseudonyms import PersonSecrets, named_persons

ASKED = {"quasi": ["born", "town"], "sensitive": ["ill"], "person": "who", "k": 3, "suppression": 0.3}
TIED = {**ASKED, "person_knowledge": "history", "keep_person": True}


def visits(n: int = 120, n_persons: int = 40, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    who = rng.integers(0, n_persons, n)
    return pd.DataFrame(
        {
            "born": rng.integers(1940, 2000, n_persons)[who],
            "who": who,
            "town": rng.choice(list("ab"), n),
            "ill": rng.choice(["flu", "cold", "gout"], n),
        }
    )


def test_a_pseudonym_is_the_start_of_an_hmac() -> None:
    made = PersonSecrets.of([("a", "b"), ("ab", "")], 7)
    column = made.column("who", np.array([1, 0, 1]))
    texts = [column.values[c] for c in column.codes]
    for text, parts in zip(texts, [("ab", ""), ("a", "b"), ("ab", "")], strict=True):
        message = b"".join(len(p).to_bytes(8, "little") + p.encode() for p in parts)
        assert text == "p" + hmac.new(made.key, message, hashlib.sha256).hexdigest()[:16]
    assert len(made.key) == 32


def test_a_key_comes_from_the_seed_or_is_new() -> None:
    persons = [(str(i),) for i in range(5)]
    assert PersonSecrets.of(persons, 3).key == PersonSecrets.of(persons, 3).key
    assert PersonSecrets.of(persons, 3).key != PersonSecrets.of(persons, 4).key
    assert PersonSecrets.of(persons, None).key != PersonSecrets.of(persons, None).key


def test_two_persons_never_get_one_pseudonym(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pseudonyms, "PSEUDONYM_BYTES", 8)
    drawn = []

    def short(key: bytes, message: bytes, name: str) -> bytes:
        drawn.append(key)
        whole = hmac.new(key, message, name).digest()
        return bytes([whole[0] % 4]) + bytes(7) + whole[8:]  # four pseudonyms in all

    monkeypatch.setattr(pseudonyms.hmac, "digest", short)
    made = PersonSecrets.of([(c,) for c in "abcd"], 1)
    assert len(np.unique(made.digests[:, 0])) == 4
    assert len(set(drawn)) > 1
    assert made.key == drawn[-1]


def test_persons_are_named_as_they_are_spelled() -> None:
    table = from_frame({"a": ["7", "007", "7"], "b": [1, 1, 1]})
    names, codes = named_persons(table, ("a", "b"))
    assert sorted(names) == [("007", "1"), ("7", "1")]
    assert codes[0] == codes[2] != codes[1]


def test_records_of_a_person_are_tied_together_and_nothing_else_is_told() -> None:
    frame = visits()
    release = shoal.anonymize(frame, shoal.Policy.of(**TIED), seed=2)
    data = release.data
    assert list(data.columns) == list(frame.columns)
    assert all(re.fullmatch("p[0-9a-f]{16}", text) for text in data["who"])
    persons = frame["who"].to_numpy()[release._rows]
    assert len(set(zip(data["who"], persons, strict=True))) == data["who"].nunique() == len(set(persons))
    histories = defaultdict(list)
    for who, *row in data[["who", "born", "town"]].itertuples(index=False):
        histories[who].append(tuple(row))
    alike = pd.Series([tuple(sorted(h)) for h in histories.values()]).value_counts()
    assert alike.min() >= 3
    assert data.sort_values(["born", "town", "ill", "who"], kind="stable").index.tolist() == list(range(len(data)))
    assert "who" not in release.table.names


def test_the_order_of_the_original_changes_nothing() -> None:
    frame = visits()
    one = shoal.anonymize(frame, shoal.Policy.of(**TIED), seed=2).data
    other = shoal.anonymize(frame.iloc[::-1].reset_index(drop=True), shoal.Policy.of(**TIED), seed=2).data
    pd.testing.assert_frame_equal(one, other)
    third = shoal.anonymize(frame, shoal.Policy.of(**TIED), seed=3).data
    assert not set(one["who"]) & set(third["who"])


def test_pseudonyms_are_for_histories_alone(tmp_path) -> None:
    with pytest.raises(PolicyError, match='goes with person_knowledge = "history" alone'):
        shoal.Policy.of(**ASKED, keep_person=True)
    with pytest.raises(PolicyError, match="whose a row is"):
        shoal.Policy.of(quasi=["born"], keep_person=True, person_knowledge="history")
    release = shoal.anonymize(visits(), shoal.Policy.of(**ASKED), seed=2)
    with pytest.raises(PolicyError, match="there is no key to keep"):
        release.save(tmp_path / "out", keep="key")


def test_the_key_is_kept_on_request_alone(tmp_path) -> None:
    visits().to_csv(tmp_path / "visits.csv", index=False)
    release = shoal.anonymize(tmp_path / "visits.csv", shoal.Policy.of(**TIED))
    release.save(tmp_path / "without", report=False)
    assert not (tmp_path / "without" / "private" / "key.txt").exists()
    release.save(tmp_path / "with", keep="key", report=False)
    key = (tmp_path / "with" / "private" / "key.txt").read_text().strip()
    assert bytes.fromhex(key) == release._key
    for path in (tmp_path / "with" / "publish").iterdir():
        assert key not in path.read_text(encoding="utf-8")
