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

pytestmark = pytest.mark.unattacked

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


def test_persons_are_named_by_one_spelling_of_what_they_say() -> None:
    table = from_frame({"a": ["7", "007", "8"], "b": [1, 1, 1]})
    names, codes = named_persons(table, ("a", "b"))
    assert len(names) == 2
    assert codes[0] == codes[1] != codes[2]


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
    with pytest.raises(PolicyError, match="whose row it is"):
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


def dated(seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = visits(seed=seed)
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, len(frame)), "D")
    return frame.assign(seen=days.strftime("%d.%m.%Y"), left=rng.integers(-50, 50, len(frame)))


MOVED = {**TIED, "shift": ["seen", "left"], "shift_days": 30, "accept": {"known_history": "a test"}}


def test_days_of_a_person_move_by_one_number() -> None:
    frame = dated()
    release = shoal.anonymize(frame, shoal.Policy.of(**MOVED), seed=4)
    before = frame.iloc[release._rows].reset_index(drop=True)
    seen = (pd.to_datetime(release.data["seen"], dayfirst=True) - pd.to_datetime(before["seen"], dayfirst=True)).dt.days
    left = release.data["left"] - before["left"]
    assert (seen == left).all()
    by_person = left.groupby(before["who"]).agg(["min", "max"])
    assert (by_person["min"] == by_person["max"]).all()
    assert by_person["min"].between(-30, 30).all()
    assert by_person["min"].nunique() > 10
    assert any(f.name == "known_history" and f.share > 0.9 for f in release.findings)
    with pytest.raises(shoal.errors.Infeasible, match="days between its 'seen'"):
        shoal.anonymize(frame, shoal.Policy.of(**{**MOVED, "accept": {}}), seed=4)


def test_offsets_fill_the_window_evenly() -> None:
    offsets = PersonSecrets.of([(str(i),) for i in range(21_000)], 1).offsets(10)
    counts = np.bincount(offsets + 10, minlength=21)
    assert len(counts) == 21
    assert counts.min() > 850
    assert counts.max() < 1150


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"keep_person": False}, "shift goes with keep_person"),
        ({"shift_days": 0}, "shift_days: it must be greater than or equal to 1"),
        ({"shift": ["who"]}, "says whose row it is, so it cannot be insensitive"),
        ({"shift": ["*"]}, "name each of them"),
        ({"columns": {"seen": {"shift": "person", "role": "quasi"}}}, "days that are moved cannot be quasi"),
        ({"columns": {"seen": {"shift": "everybody"}}}, "cannot be 'everybody'"),
    ],
)
def test_what_cannot_be_moved_is_refused(asked, what) -> None:
    with pytest.raises(PolicyError, match=what):
        shoal.Policy.of(**{**MOVED, **asked})


def test_shift_without_persons_is_refused_when_it_is_used() -> None:
    with pytest.raises(PolicyError, match="shift goes with keep_person"):
        shoal.anonymize(dated(), shoal.Policy.of(quasi=["born"], shift=["seen"]))
    with pytest.raises(shoal.errors.DataError, match="column 'town' is to be moved"):
        shoal.anonymize(dated(), shoal.Policy.of(**{**MOVED, "quasi": ["born"], "shift": ["town"]}))


def test_dates_that_would_tell_by_how_much_others_moved_are_refused() -> None:
    frame = dated().assign(admitted=dated()["seen"])
    with pytest.raises(PolicyError, match="'admitted' holds dates and would be published as they are"):
        shoal.anonymize(frame, shoal.Policy.of(**MOVED, insensitive=["admitted"]), seed=4)
    with pytest.raises(PolicyError, match="'admitted' holds dates"):
        shoal.anonymize(frame, shoal.Policy.of(**{**MOVED, "sensitive": ["ill", "admitted"]}), seed=4)
    dropped = shoal.anonymize(frame, shoal.Policy.of(**MOVED, identifying=["admitted"]), seed=4)
    assert "admitted" not in dropped.data


def test_another_role_ends_the_moving() -> None:
    policy = shoal.Policy.of(**MOVED)
    assert policy.shifted == ("seen", "left")
    assert policy.columns["seen"].role == "insensitive"
    assert policy.changed(quasi=["seen"]).shifted == ("left",)
    assert policy.changed(columns={"left": {"role": "quasi"}}).shifted == ("seen",)


def test_offsets_stand_in_no_published_file(tmp_path) -> None:
    dated().to_csv(tmp_path / "visits.csv", index=False)
    release = shoal.anonymize(tmp_path / "visits.csv", shoal.Policy.of(**MOVED), seed=4)
    release.save(tmp_path / "out", keep=["rows"])
    told = (tmp_path / "out" / "publish" / "manifest.json").read_text()
    assert '"shift_days": 30' in told
    assert "offset" not in told
    assert "from 30 earlier to 30 later" in (tmp_path / "out" / "publish" / "datasheet.html").read_text()
    found = shoal.check(tmp_path / "out", tmp_path / "visits.csv", private=tmp_path / "out" / "private")
    assert found.is_whole or found.not_compared == ("the pictures of datasheet.html",)
    again = pd.read_csv(tmp_path / "out" / "publish" / "data.csv", dtype=str)
    again.loc[0, "left"] = str(int(again.loc[0, "left"]) + 1)
    again.to_csv(tmp_path / "out" / "publish" / "data.csv", index=False)
    found = shoal.check(tmp_path / "out", tmp_path / "visits.csv", private=tmp_path / "out" / "private")
    assert any("moved by different numbers" in f for f in found.findings)
