"""Windows of tables: classes of k persons, true labels, an order that tells nothing, what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from shoal.data.tables.labels import read_label
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.kinds.tables.policy import Policy
from shoal.stream import tables as home
from shoal.stream.tables import NO_CLASS, NO_DIVERSITY, TableWindows
from shoal.stream.windows import Made, Window

HEAD = b"id,age,sex,disease\n"


def people(n: int, seed: int, n_persons: int = 10**6, n_diseases: int = 9) -> bytes:
    rng = np.random.default_rng(seed)
    rows = zip(
        rng.integers(0, n_persons, n),
        rng.integers(18, 90, n),
        rng.choice(["f", "m"], n),
        rng.integers(0, n_diseases, n),
        strict=True,
    )
    return "".join(f"p{i},{age},{sex},d{d}\n" for i, age, sex, d in rows).encode()


def asked(**more: object) -> Policy:
    return Policy.of(quasi=["age", "sex"], sensitive=["disease"], **{"k": 3, "identifying": ["id"], **more})


def published(windows: TableWindows, text: bytes, first: int = 1) -> Made:
    n = text.count(b"\n")
    return windows.finish(windows.work(windows.prepare(Window(first, text, n, n))))


def opened(policy: Policy, seed: int = 1) -> TableWindows:
    windows = TableWindows(policy, seed)
    windows.begin(HEAD)
    return windows


def classes(data: bytes) -> list[list[list[str]]]:
    """Rows that follow each other with the same labels."""
    import csv
    import itertools

    rows = csv.reader(data.decode().splitlines())
    return [list(group) for _, group in itertools.groupby(rows, key=lambda row: row[:2])]


@pytest.mark.parametrize("seed", range(5))
def test_every_class_has_k_persons_and_its_labels_are_true(seed: int) -> None:
    windows = opened(asked(person="id"))
    text = people(60, seed, n_persons=25)
    made = published(windows, text)
    assert made.persons is not None
    at = 0
    for group in classes(made.data):
        assert len(set(made.persons[at : at + len(group)].tolist())) >= 3
        at += len(group)
    assert at == made.n_out == 60
    had = [line.split(",") for line in text.decode().split()]
    # Every row can be paired with a record of its disease that its labels cover: counted label by label.
    for group in classes(made.data):
        low, high = (float(v) for v in (read_label(group[0][0]).values * 2)[:2])
        sexes = read_label(group[0][1]).values or ("f", "m")
        for row in group:
            assert any(low <= float(age) <= high and sex in sexes and d == row[2] for _, age, sex, d in had)


def test_all_that_is_kept_comes_out_once() -> None:
    text = people(60, 4)
    made = published(opened(asked()), text)
    assert sorted(row[2] for g in classes(made.data) for row in g) == sorted(
        r.split(",")[3] for r in text.decode().split()
    )
    assert opened(asked()).head is not None


def test_the_order_is_drawn_from_the_seed() -> None:
    text = people(40, 5)
    first, same, other = (published(opened(asked(), seed), text).data for seed in (1, 1, 2))
    assert first == same != other
    assert sorted(first.splitlines()) == sorted(other.splitlines())


def test_one_who_comes_again_is_no_further_person() -> None:
    text = b"".join(b"p%d,30,f,d1\n" % (i % 2) for i in range(20))
    made = published(opened(asked(person="id")), text)
    assert (made.n_out, made.suppressed) == (0, {NO_CLASS: 20})


def test_what_may_wait_waits_where_there_is_no_class() -> None:
    windows = opened(asked())
    window = Window(1, people(2, 1), 2, 1)
    made = windows.finish(windows.work(windows.prepare(window)))
    assert (made.n_in, made.n_out) == (1, 0)


def test_every_class_is_diverse_or_nothing_is_published() -> None:
    windows = opened(asked(l=3))
    made = published(windows, people(60, 3, n_diseases=5))
    assert made.n_out == 60
    assert all(len({row[2] for row in group}) >= 3 for group in classes(made.data))
    poor = published(windows, people(60, 3, n_diseases=2), 61)
    assert (poor.data, poor.suppressed) == (b"", {NO_DIVERSITY: 60})


def test_who_stands_together_depends_on_no_sensitive_value() -> None:
    """All classes of a window grow, so that their sizes tell of the whole window alone."""
    text = people(64, 6)
    plain = [len(g) for g in classes(published(opened(asked()), text).data)]
    diverse = [len(g) for g in classes(published(opened(asked(l=3)), text).data)]
    assert min(diverse) >= 3
    if min(diverse) >= 6:
        assert len(diverse) <= len(plain) // 2 + 1


def test_json_goes_out_as_json() -> None:
    windows = TableWindows(asked(), 1)
    lines = [
        json.dumps(dict(zip(["id", "age", "sex", "disease"], r.split(","), strict=True)))
        for r in people(9, 2).decode().split()
    ]
    assert windows.begin(lines[0].encode()) == 0
    made = published(windows, ("\n".join(lines) + "\n").encode())
    assert windows.file_name == "data.jsonl"
    assert {tuple(json.loads(line)) for line in made.data.splitlines()} == {("age", "sex", "disease")}


def test_a_state_comes_back() -> None:
    windows, again = opened(asked()), TableWindows(asked(), 9)
    published(windows, people(40, 7))
    again.restore(json.loads(json.dumps(windows.state())))
    text = people(40, 8)
    assert published(windows, text, 41).data == published(again, text, 41).data
    assert windows.state() == again.state()
    assert windows.loss(80) == again.loss(80)


def test_cells_with_quotes_and_delimiters_come_out_as_they_are() -> None:
    text = b"".join(b'p%d,%d,f,"flu, ""bad"""\n' % (i, 20 + i) for i in range(6))
    made = published(opened(asked()), text)
    assert {row[2] for g in classes(made.data) for row in g} == {'flu, "bad"'}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"p1,secret,f,d1\n", "record 107: column 'age' holds no finite number"),
        (b",20,f,d1\n", "record 107: column 'id', which says whose it is"),
        (b"p1,20,f\n", "record 107: has 3 cells and the header 4"),
    ],
)
def test_a_bad_line_is_named_with_its_column_and_not_quoted(line: bytes, told: str) -> None:
    windows = opened(asked(person="id"))
    published(windows, people(9, 1))
    with pytest.raises(DataError, match=told) as error:
        windows.prepare(Window(101, people(6, 1) + line, 7, 7))
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "more",
    [
        {"t": 0.2},
        {"publish": "condense"},
        {"shift": ["id"], "identifying": []},
        {"metadata": True},
        {"encoding": "latin-1"},
        {"decimal": ","},
        {"partition": "mdav", "restore_variance": True},
        {"partition": "datafly"},
        {"order": "original"},
        {"target": "disease"},
        {"person": "id", "person_knowledge": "history"},
    ],
)
def test_what_a_stream_cannot_keep_is_refused(more: dict[str, object]) -> None:
    with pytest.raises(PolicyError, match="leave it out"):
        TableWindows(asked(**more))


def test_headers_that_name_nothing_are_refused() -> None:
    for line in (b"a,a\n", b"a,,b\n"):
        with pytest.raises(DataError, match="name of its own"):
            TableWindows(asked()).begin(line)
    with pytest.raises(PolicyError, match="does not name the column 'sex'"):
        TableWindows(asked()).begin(b"id,age,gender,disease\n")


@pytest.mark.parametrize("seed", range(3))
def test_large_windows_are_cut_into_blocks_that_keep_k_persons(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "BLOCK_RECORDS", 30)
    rng = np.random.default_rng(seed)
    points, persons = rng.random((2, 200)).astype(np.float32), rng.integers(0, 40, 200).astype(np.int32)
    labels = np.empty(200, np.int32)
    n_groups = home.group_blocks(points, np.ones(2, np.float32), persons, 6, labels)
    assert set(labels.tolist()) == set(range(n_groups))
    assert min(len(set(persons[labels == g].tolist())) for g in range(n_groups)) >= 6


def test_a_column_that_tells_records_apart_stops_the_stream_unless_it_is_taken() -> None:
    asks = {"quasi": ["age", "sex"], "insensitive": ["id"], "sensitive": ["disease"], "k": 3}
    with pytest.raises(Infeasible, match="Whoever knows 'id'"):
        published(opened(Policy.of(**asks)), people(60, 1))
    taken = opened(Policy.of(**asks, accept={"singled_out": "numbers of lines"}))
    assert published(taken, people(60, 1)).n_out == 60


def test_a_column_that_looks_sensitive_stops_the_stream_unless_its_role_is_stated() -> None:
    guessing = Policy.of(quasi=["age", "sex"], identifying=["id"], k=3)
    with pytest.raises(Infeasible, match=r"disease.* looks sensitive"):
        published(opened(guessing), people(60, 1))
    assert published(opened(guessing.changed(l=2)), people(60, 1)).n_out == 60
