"""The tests of `check/strings/windows.py`: what windows give passes, and what they cannot give is caught."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.check.strings import windows
from shoal.check.strings.verify import StringAsked
from shoal.check.strings.windows import WindowRule, possible_by_windows
from shoal.data.strings.strings import Strings
from tests.unit.check.strings.test_verify import Made, changed, failing, families, with_texts


@pytest.fixture(scope="module")
def made() -> Made:
    return Made(families(spread=12), support=4, lengths="spread", generator="window")


@pytest.mark.parametrize("generator", ["window", "markov"])
@pytest.mark.parametrize(("order", "support"), [(1, 3), (2, 4), (3, 2)])
@pytest.mark.parametrize("spread", [0, 12])
def test_what_the_method_makes_passes(generator: str, order: int, support: int, spread: int) -> None:
    verdict = Made(
        families(spread=spread), order=order, support=support, lengths="spread", generator=generator
    ).verdict()
    assert [g.sentence for g in verdict.guarantees if not g.holds] == []
    assert {g.model for g in verdict.guarantees} >= {"string-condensation", "context-support"}


def test_a_planted_original_is_caught(made: Made) -> None:
    texts = made.published.texts()
    texts[5] = made.original.texts()[17]
    assert "no-copies" in failing(made.verdict(published=with_texts(made.published, texts)))


def test_near_copies_that_the_manifest_does_not_tell_are_caught() -> None:
    made = Made(families(200, length=60, mutation=0.5), generator="window")
    texts = made.published.texts()
    assert failing(made.verdict(near_copies=0)) == set()
    for i in range(12):
        texts[i] = changed(made.original.texts()[7 * i], "changed", 2 * i)
    assert "near-copies" in failing(made.verdict(published=with_texts(made.published, texts), near_copies=0))


def test_strings_of_another_group_are_caught() -> None:
    """Each string is said to be of the next group of its class; long ones, so that chance explains nothing."""
    made = Made(families(120, mutation=0.05, length=400), k=20, support=4, lengths="spread", generator="window")
    labels = made.published.labels
    moved = made.groups.copy()
    for c in range(2):
        here = np.unique(made.groups[labels == c])
        assert len(here) > 1
        moved[labels == c] = np.roll(here, 1)[np.searchsorted(here, made.groups[labels == c])]
    found = made.verdict(groups=moved)
    assert "context-support" in failing(found)
    told = found.guarantees[1].details
    assert told["impossible"] + told["suspect"] > 0.5 * len(made.published)


@pytest.mark.parametrize("promised", [{"order": 3}, {"window": 0.01}])
def test_more_is_not_promised_than_was_kept(promised: dict[str, float]) -> None:
    alike = families(240, spread=6, mutation=0.05, length=60)
    made = Made(alike, k=20, support=4, lengths="spread", generator="window")
    assert failing(made.verdict()) == set()
    assert "context-support" in failing(made.verdict(**promised))


def possible(text: str, original: Strings, rule: WindowRule, groups: list[int]) -> bool:
    """Whether the first group gives a text."""
    published = Strings.of([text], alphabet=original.alphabet)
    classes = np.zeros(max(groups) + 1, np.int64)
    is_possible, _ = possible_by_windows(published, np.zeros(1, np.int64), original, np.array(groups), classes, rule)
    return bool(is_possible[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aabaa", True),  # each symbol after one that two members have before it
        ("aaaaa", True),
        ("baaaa", False),  # every member begins with a, and nothing else can be drawn there
        ("abbaa", False),  # the second column is a for all
        ("aabad", False),  # and the last
        ("aacaa", True),  # after c come d and e, which one alone has; a is in the column for three
        ("aacba", True),  # and the class has b
    ],
)
def test_each_way_by_hand(text: str, expected: bool) -> None:
    """Columns of five members; d and e are of one each."""
    original = Strings.of(["aaaaa", "aabaa", "aabaa", "aacda", "aacea"])
    rule = WindowRule(order=2, support=2, pairs=2, window=0.05, by_group=True)
    assert possible(text, original, rule, [0] * 5) is expected


def test_the_class_gives_what_a_group_lacks() -> None:
    original = Strings.of(["ab", "ac", "ad", "ax", "ax", "bx"])
    rule = WindowRule(order=2, support=2, pairs=2, window=0.05, by_group=True)
    groups = [0, 0, 0, 1, 1, 1]
    assert possible("ax", original, rule, groups)  # two strings of the class have ax
    assert possible("ab", original, rule, groups)  # no way before the last must give anything, and the class has b
    assert not possible("xb", original, rule, groups)  # the first column of the group is a for all


def test_a_string_begins_as_members_do() -> None:
    original = Strings.of(["mabab", "mabababa", "mbabab", "mababab"])  # of several lengths, so that windows are wide
    rule = WindowRule(order=2, support=2, pairs=2, window=0.3, by_group=True)
    assert possible("mabab", original, rule, [0] * 4)
    assert not possible("ababa", original, rule, [0] * 4)
    one_alone = Strings.of(["mabab", "mabababa", "mbabab", "xababab"])
    assert possible("mabab", one_alone, rule, [0] * 4)
    assert possible("ababa", one_alone, rule, [0] * 4)  # x may have been drawn, which one alone has, and left again


@pytest.mark.parametrize("cells", [0, 10**6])
def test_tables_and_sorts_say_the_same(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    keys, members = rng.integers(0, 40, 300), rng.integers(0, 9, 300)
    monkeypatch.setattr(windows, "CELLS_A_ROW", cells)
    found = windows._count_members(keys, members)
    expected = {key: len(set(members[keys == key].tolist())) for key in sorted(set(keys.tolist()))}
    assert dict(zip(found.keys.tolist(), found.values.tolist(), strict=True)) == expected


def test_windows_of_named_places_are_columns() -> None:
    """Four members are too few for twelve columns of two symbols: windows are wide, unless places have names."""
    original = Strings.of(["abc" * 4, "abc" * 4, "bca" * 4, "bca" * 4])
    groups, classes = np.zeros(4, np.int64), np.zeros(1, np.int64)
    text = Strings.of(["acb" * 4], alphabet="abc")
    said = [
        bool(
            possible_by_windows(text, groups[:1], original, groups, classes, WindowRule(1, 1, 1, 0.05, True, named))[0][
                0
            ]
        )
        for named in (False, True)
    ]
    assert said == [True, False]


def test_pairs_of_a_class_have_a_number_of_their_own() -> None:
    strings = Strings.of(["ax", "ax", "ax", "ay", "ay", "by", "by"])
    of_class = WindowRule(order=2, support=2, pairs=2, window=0.05, by_group=False)
    assert not possible("bx", strings, of_class, [0] * 7)  # two strings have by, and nothing else follows b
    assert possible("bx", strings, replace(of_class, pairs=3), [0] * 7)  # too few to be followed


def test_it_is_k_or_support_if_that_is_more() -> None:
    asked = StringAsked(k=20, support=5)
    assert [a.fewest_of_pairs for a in (asked, replace(asked, rare=1), replace(asked, support=1))] == [20, 5, 1]


def test_tables_of_batches_add_up() -> None:
    table = windows._Table
    parts = [table(np.array([2, 7]), np.array([1, 5])), table(np.array([0, 7, 9]), np.array([3, 1, 1]))]
    whole = windows._merged(parts)
    assert (whole.keys.tolist(), whole.values.tolist()) == ([0, 2, 7, 9], [3, 1, 6, 1])


def test_windows_of_aligned_strings_are_columns() -> None:
    """Two of ten columns vary, and four members are too few for their shares; neighbours are no substitute, though."""
    original = Strings.of(["abcabcabca"] * 2 + ["bbcabcabcb"] * 2)
    groups, classes = np.zeros(4, np.int64), np.zeros(1, np.int64)
    texts = Strings.of(["abcabcabcb", "cbcabcabca"], alphabet="abc")
    said, _ = possible_by_windows(
        texts, groups[:2], original, groups, classes, WindowRule(1, 1, 1, 0.05, True, is_named=False)
    )
    assert said.tolist() == [True, False]
