"""Protein-like families: lengths, letters, and that members are nearer to their own than to others."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.samples.proteins import protein_families
from shoal.errors import PolicyError


def test_families_are_alike_inside() -> None:
    proteins = protein_families(60, n_families=3, mean_length=200, insertion=0.0, deletion=0.0, seed=2)
    assert proteins.labels is not None
    assert np.bincount(proteins.labels).tolist() == [20, 20, 20]
    texts = proteins.texts()

    def alike(c: int, d: int) -> float:
        one, two = (np.flatnonzero(proteins.labels == f) for f in (c, d))
        pairs = [(texts[i], texts[j]) for i in one[:8] for j in two[-8:] if i != j]
        return float(np.mean([np.mean([a == b for a, b in zip(x, y, strict=False)]) for x, y in pairs]))

    assert all(alike(c, c) > 0.4 for c in range(3))
    assert all(alike(c, d) < 0.15 for c in range(3) for d in range(3) if c != d)


def test_letters_lengths_and_first_letter() -> None:
    proteins = protein_families(3000, n_families=1000, mean_length=120, seed=1)
    assert proteins.lengths.min() >= 1
    assert proteins.lengths.mean() == pytest.approx(120 * (1 + 0.01 * 5.5 - 0.01), rel=0.06)
    assert np.log(proteins.lengths).std() == pytest.approx(0.5, abs=0.05)
    assert all(text[0] == "M" for text in proteins.texts())
    shares = np.bincount(proteins.symbols, minlength=20) / len(proteins.symbols)
    assert shares[proteins.alphabet.index("L")] == pytest.approx(0.0995, abs=0.005)
    assert shares[proteins.alphabet.index("W")] == pytest.approx(0.012, abs=0.003)


def test_members_without_changes_are_their_ancestor() -> None:
    still = protein_families(40, n_families=2, substitution=0.0, insertion=0.0, deletion=0.0, seed=3)
    assert len(set(still.texts())) == 2  # type: ignore[arg-type]  # they are characters
    longer = protein_families(40, n_families=2, substitution=0.0, insertion=0.2, deletion=0.0, seed=3)
    shorter = protein_families(40, n_families=2, substitution=0.0, insertion=0.0, deletion=0.2, seed=3)
    before = still.lengths.mean()
    assert longer.lengths.mean() == pytest.approx(before * (1 + 0.2 * 5.5), rel=0.05)
    assert shorter.lengths.mean() == pytest.approx(before * 0.8, rel=0.05)


def test_a_deletion_leaves_the_rest_in_order() -> None:
    whole = protein_families(2, n_families=1, substitution=0.0, insertion=0.0, deletion=0.0, seed=3).texts()[0]
    for part in protein_families(30, n_families=1, substitution=0.0, insertion=0.0, deletion=0.3, seed=3).texts():
        rest = iter(whole)
        assert all(letter in rest for letter in part)


def test_the_seed_decides() -> None:
    one, two, other = (protein_families(20, seed=s) for s in (1, 1, 2))
    assert one.texts() == two.texts()
    assert one.texts() != other.texts()


def test_more_families_than_strings() -> None:
    assert protein_families(2, n_families=9, seed=1).classes == ("family 1", "family 2")


def test_numbers_that_make_no_sense() -> None:
    for options in ({"n_families": 0}, {"substitution": 1.0}, {"deletion": -0.1}, {"spread": -1.0}, {"mean_length": 0}):
        with pytest.raises(PolicyError):
            protein_families(10, **options)  # type: ignore[arg-type]  # keyword options of several types
    with pytest.raises(PolicyError):
        protein_families(0)
