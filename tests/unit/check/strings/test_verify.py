"""The check of condensed strings: what the method makes passes, and every way to spoil it is caught."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.check.strings.copies import equal_strings
from shoal.check.strings.verify import StringAsked, StringEvidence, verify_strings
from shoal.data.strings.strings import Strings
from shoal.errors import DataError
from shoal.strings import Condensation


def families(n=240, *, seed=0, spread=0, n_families=4, mutation=0.25, length=30):
    """Strings of a few families, so that groups have something in common; two classes."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("ACDEFGHI"))
    roots = rng.choice(letters, (n_families, length))
    texts, labels = [], []
    for i in range(n):
        root = roots[i % n_families].copy()
        changed = rng.random(length) < mutation
        root[changed] = rng.choice(letters, changed.sum())
        texts.append("".join(root[: length - int(rng.integers(0, spread + 1))]))
        labels.append("even" if i % n_families % 2 == 0 else "odd")
    return Strings.of(texts, labels)


class Made:
    """A release with all that is known of it; near copies may be as many as there are strings (see below)."""

    def __init__(
        self,
        original,
        *,
        k=10,
        order=2,
        support=3,
        lengths="template",
        eps=1.5,
        rare=None,
        seed=1,
        generator="template",
    ):
        self.original = original
        self.asked = StringAsked(
            k, eps, order, support, rare, lengths, near_copies=2 * len(original), generator=generator
        )
        self.method = Condensation(k, eps, order, support, lengths, seed, rare=rare, workers=1, generator=generator)
        self.published = self.method.fit_transform(original)
        self.groups = self.method.pseudo_.groups.astype(np.int64)
        self.original_groups = self.method.labels_.astype(np.int64)
        self.template_lengths = np.concatenate([np.full(s.n_groups, s.length) for s in self.method.segments_])

    def verdict(self, *, published=None, groups=None, original_groups=None, **asked):
        evidence = StringEvidence(
            self.original,
            self.original_groups if original_groups is None else original_groups,
            self.groups if groups is None else groups,
            self.template_lengths if self.asked.lengths == "spread" else None,
        )
        return verify_strings(published or self.published, replace(self.asked, **asked), evidence)


def failing(verdict):
    return {g.model for g in verdict.guarantees if not g.holds}


def with_texts(strings, texts):
    labels = None if strings.labels is None else [strings.classes[c] for c in strings.labels]
    return Strings.of(texts, labels)


@pytest.fixture(scope="module")
def made():
    return Made(families())


@pytest.mark.parametrize("lengths", ["template", "spread"])
@pytest.mark.parametrize(("order", "support"), [(1, 1), (2, 1), (2, 3), (3, 2), (4, 3)])
@pytest.mark.parametrize("spread", [0, 12])
def test_what_the_method_makes_passes(order, support, lengths, spread):
    made = Made(families(spread=spread), order=order, support=support, lengths=lengths)
    verdict = made.verdict()
    assert [g.sentence for g in verdict.guarantees if not g.holds] == []
    assert verdict.holds
    assert {g.model for g in verdict.guarantees} == {
        "string-condensation",
        "context-support",
        "no-copies",
        "near-copies",
        "rare-symbols",
    }
    assert verdict.guarantees[0].achieved >= 10
    for g in verdict.guarantees:
        g.to_dict()


def test_a_copied_original_is_caught(made):
    texts = made.published.texts()
    texts[5] = made.original.texts()[17]
    assert "no-copies" in failing(made.verdict(published=with_texts(made.published, texts)))


def test_a_copy_of_a_suppressed_original_of_another_class_is_caught():
    original = families()
    texts = [*original.texts(), "A" * 500]
    labels = [original.classes[c] for c in original.labels] + ["odd"]
    made = Made(Strings.of(texts, labels))
    assert made.original_groups[-1] == -1
    spoiled = made.published.texts()
    at = int(np.flatnonzero(made.published.labels == 0)[0])
    spoiled[at] = "A" * 500
    assert "no-copies" in failing(made.verdict(published=with_texts(made.published, spoiled)))


def test_a_copy_but_for_its_rare_symbols_is_caught():
    original = families()
    texts = original.texts()
    texts[0] = texts[0][:10] + "Y" + texts[0][11:]
    made = Made(with_texts(original, texts))
    at = int(np.flatnonzero(made.published.labels == original.labels[0])[0])
    spoiled = made.published.texts()
    spoiled[at] = texts[0].replace("Y", texts[0][9])
    assert "no-copies" in failing(made.verdict(published=with_texts(made.published, spoiled)))


@pytest.mark.parametrize("place", [0, 15, 29])
def test_a_foreign_symbol_is_caught(made, place):
    texts = made.published.texts()
    texts[3] = texts[3][:place] + "X" + texts[3][place + 1 :]
    found = failing(made.verdict(published=with_texts(made.published, texts)))
    assert {"rare-symbols", "string-condensation"} <= found


def test_a_rare_symbol_is_caught():
    original = families()
    texts = original.texts()
    for i in range(0, 36, 4):  # nine strings of one class
        texts[i] = texts[i][:7] + "Y" + texts[i][8:]
    original = with_texts(original, texts)
    made = Made(original, rare=1)
    assert "Y" in made.published.alphabet
    assert made.verdict().holds
    assert "rare-symbols" in failing(made.verdict(rare=10))
    assert made.verdict(rare=10).guarantees[-1].achieved == 9


def test_a_group_of_fewer_than_k_is_caught(made):
    groups = made.original_groups.copy()
    group = int(np.bincount(groups).argmin())
    members = np.flatnonzero(groups == group)
    groups[members[9:]] = -1
    verdict = made.verdict(original_groups=groups)
    assert "string-condensation" in failing(verdict)
    assert verdict.guarantees[0].achieved == 9
    assert failing(made.verdict(k=1000, rare=3)) == {"string-condensation"}


def test_groups_of_two_classes_and_published_classes_are_held_to_the_group(made):
    groups = made.original_groups.copy()
    one, two = groups[0], groups[1]
    assert made.original.labels[0] != made.original.labels[1]
    groups[0], groups[1] = two, one
    assert "one class" in made.verdict(original_groups=groups).guarantees[0].sentence
    labels = made.published.labels.copy()
    labels[0] = 1 - labels[0]
    assert "one class" in made.verdict(published=replace(made.published, labels=labels)).guarantees[0].sentence


def test_two_strings_swapped_between_groups_are_caught(made):
    groups = made.groups.copy()
    other = int(np.flatnonzero((groups != groups[0]) & (made.published.labels == made.published.labels[0]))[-1])
    groups[[0, other]] = groups[[other, 0]]
    verdict = made.verdict(groups=groups)
    assert verdict.guarantees[0].details["impossible"] >= 1
    assert "string-condensation" in failing(verdict)


def test_more_strings_than_members_are_caught(made):
    group = made.groups[0]
    rows = np.concatenate([np.arange(len(made.groups)), np.flatnonzero(made.groups == group)[:1]])
    verdict = made.verdict(published=made.published.take(rows), groups=made.groups[rows])
    assert failing(verdict) == {"string-condensation"}
    assert "more pseudo-strings than originals" in verdict.guarantees[0].sentence


def test_a_string_of_no_group_is_caught(made):
    for number in (-1, 99_999):
        groups = made.groups.copy()
        groups[0] = number
        assert "string-condensation" in failing(made.verdict(groups=groups))


@pytest.mark.parametrize("lengths", ["template", "spread"])
def test_lengths_are_held_to_the_group(lengths):
    made = Made(families(spread=12), lengths=lengths)
    texts = made.published.texts()
    texts[0] = texts[0][:3]
    verdict = made.verdict(published=with_texts(made.published, texts))
    assert "lengths of pseudo-strings" in verdict.guarantees[0].sentence
    assert "factor" in made.verdict(eps=0.01).guarantees[0].sentence


@pytest.mark.parametrize(("order", "made_with", "asked"), [(2, 1, 3), (2, 2, 3), (3, 1, 2), (4, 1, 3)])
@pytest.mark.parametrize("spread", [0, 12])
def test_contexts_of_too_few_members_are_caught(order, made_with, asked, spread):
    made = Made(families(n=600, spread=spread, mutation=0.5), order=order, support=made_with, rare=1)
    assert made.verdict().holds
    assert failing(made.verdict(support=asked)) == {"context-support"}


def test_contexts_that_are_too_long_are_caught():
    made = Made(families(n=600, mutation=0.5), order=3, support=2, rare=1)
    assert failing(made.verdict(order=2)) == {"context-support"}


def test_one_string_that_follows_a_member_is_caught():
    made = Made(families(mutation=0.6, length=120), support=3)
    texts = made.published.texts()
    member = int(np.flatnonzero(made.original_groups == made.groups[0])[0])
    copied = made.original.texts()[member]
    texts[0] = copied[:119] + texts[0][119]
    verdict = made.verdict(published=with_texts(made.published, texts))
    assert failing(verdict) == {"context-support"}
    assert verdict.guarantees[1].details["suspect"] == 1


def test_what_the_evidence_does_not_suffice_for_is_named(made):
    nothing = verify_strings(made.published, made.asked)
    assert (nothing.guarantees, len(nothing.unverified), nothing.holds) == ((), 2, False)
    original = verify_strings(made.published, made.asked, StringEvidence(made.original))
    assert [g.model for g in original.guarantees] == ["no-copies", "near-copies", "rare-symbols"]
    assert all(g.holds for g in original.guarantees)
    assert not original.holds
    other = verify_strings(
        made.published, made.asked, StringEvidence(made.original, made.original_groups[1:], made.groups)
    )
    assert "another release" in other.unverified[0]
    spread = Made(families(spread=12), lengths="spread")
    known = StringEvidence(spread.original, spread.original_groups, spread.groups)
    assert "lengths of the groups' templates" in verify_strings(spread.published, spread.asked, known).unverified[0]


def test_classes_that_are_not_published_are_those_of_the_groups(made):
    bare = replace(made.published, labels=None, classes=())
    assert made.verdict(published=bare).holds
    unlabelled = StringEvidence(replace(made.original, labels=None, classes=()), made.original_groups, made.groups)
    assert verify_strings(made.published, made.asked, unlabelled).unverified


def test_no_strings_and_other_symbols_are_refused(made):
    with pytest.raises(DataError, match="nothing would be published"):
        verify_strings(Strings.of([]), made.asked)
    tokens = Strings.of([["a", "b"]])
    assert verify_strings(tokens, made.asked, StringEvidence(made.original)).findings


def test_tokens_pass_and_an_unknown_one_is_caught():
    rng = np.random.default_rng(0)
    items = [f"item {i}" for i in range(60)]
    baskets = [[items[i] for i in np.unique(rng.integers(0, 60, 8) // (1 + j % 3))] for j in range(300)]
    made = Made(Strings.of(baskets), rare=30)
    assert made.verdict().holds
    texts = made.published.texts()
    texts[0] = [*texts[0][:-1], "nowhere"]
    assert "rare-symbols" in failing(made.verdict(published=Strings.of(texts)))


def test_equal_strings_are_those_of_a_set():
    rng = np.random.default_rng(5)
    ours, others = (["".join(rng.choice(list("ab"), rng.integers(0, 7))) for _ in range(80)] for _ in range(2))
    found = equal_strings(Strings.of(ours, alphabet="ab"), Strings.of(others, alphabet="ab"))
    assert found.tolist() == [s in set(others) for s in ours]
    assert 0 < found.sum() < 80


def changed(text, how, place, letter="A"):
    """A string with one symbol changed, put in or left out."""
    other = letter if text[place] != letter else "C"
    return text[:place] + {"changed": other, "put in": other + text[place], "left out": ""}[how] + text[place + 1 :]


@pytest.mark.parametrize("how", ["changed", "put in", "left out"])
def test_near_copies_are_caught_without_the_groups(how):
    made = Made(families(200, length=60, mutation=0.5))
    texts = made.published.texts()
    for i in range(10):
        texts[i] = changed(made.original.texts()[7 * i], how, 5 * i)
    published = with_texts(replace(made.published, labels=None), texts)
    for stated in (0, 9):
        asked = replace(made.asked, near_copies=stated)
        assert failing(verify_strings(made.published, asked, StringEvidence(made.original))) == set()
        verdict = verify_strings(published, asked, StringEvidence(made.original))
        assert failing(verdict) == {"near-copies"}
        found = next(g for g in verdict.guarantees if not g.holds)
        assert (found.achieved, found.n_failing) == (10, 10 - stated)
        assert found.sentence.startswith(
            "10 published strings equal an original that fewer than 10 hold, or all but one"
        )


def test_before_a_release_a_few_near_copies_are_refused_and_many_are_counted():
    made = Made(families(200, length=60, mutation=0.5))
    for n, holds in ((0, True), (1, False), (9, False), (10, True), (30, True)):
        texts = made.published.texts()
        texts[:n] = [changed(t, "changed", 3) for t in made.original.texts()[:n]]
        published = with_texts(replace(made.published, labels=None), texts)
        verdict = verify_strings(published, replace(made.asked, near_copies=None), StringEvidence(made.original))
        near = next(g for g in verdict.guarantees if g.model == "near-copies")
        assert (near.holds, near.achieved) == (holds, n)
        assert near.sentence


def test_allowed_copies_are_not_called_wrong_and_their_small_number_is_not_told():
    made = Made(families(200, length=60, mutation=0.5))
    texts = [*made.original.texts()[:3], *made.published.texts()[3:]]
    published = with_texts(replace(made.published, labels=None), texts)
    evidence = StringEvidence(made.original)
    asked = replace(made.asked, copies="allow", near_copies=None)
    verdict = verify_strings(published, asked, evidence)
    assert [g.model for g in verdict.guarantees] == ["near-copies", "rare-symbols"]
    assert failing(verdict) == set()
    near = verdict.guarantees[0]
    assert near.achieved == 9
    assert "may be a person's own" in near.sentence
    assert "fewer than 10" in near.sentence
    assert failing(verify_strings(published, replace(asked, near_copies=2), evidence)) == {"near-copies"}
    assert "allowed" in verify_strings(published, asked).unverified[0]
    assert "no-copies" in failing(verify_strings(published, replace(asked, copies="redraw"), evidence))


def test_a_string_of_another_group_is_caught_by_the_groups(made):
    texts = made.published.texts()
    other = int(np.flatnonzero((made.original_groups != made.groups[0]) & (made.original_groups >= 0))[0])
    texts[0] = changed(made.original.texts()[other], "changed", 12)
    assert "string-condensation" in failing(made.verdict(published=with_texts(made.published, texts)))
