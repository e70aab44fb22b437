"""The check of pseudo-records, in both directions: true draws pass, and everything that is none is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.check.evidence import Evidence
from shoal.check.tables.alongside import alongside
from shoal.check.tables.condensation import condensation, condensed
from shoal.check.verdict import Asked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import MARKERS, Table, encode_cells
from shoal.errors import DataError, PolicyError
from shoal.models.alpha_k import AlphaK
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness


def column(name: str, cells) -> object:
    """Texts with None for missing, or numbers."""
    if not any(isinstance(c, str) or c is None for c in cells):
        return encode_cells(name, np.asarray(cells))
    objects = np.empty(len(cells), dtype=object)
    objects[:] = cells
    return encode_cells(name, objects)


def table(**columns) -> Table:
    return Table.of([column(n, c) for n, c in columns.items()])


def attributes(**types: str) -> dict[str, Attribute]:
    return {n: Attribute(n, t, "quasi") for n, t in types.items()}  # type: ignore[arg-type]


def pairs(published: Table, original: Table, **types: str):
    return alongside(published, original, list(types), MARKERS, attributes(**types))


def release():
    """Two groups of five, drawn by hand: x in 3 +- 2.4 and 103 +- 2.4."""
    original = table(x=[1, 2, 3, 4, 5, 101, 102, 103, 104, 105], w=list("aabbbccddd"), s=list("pqpqpqpqpq"))
    published = table(x=[2, 2, 3, 4, 4, 102, 102, 103, 104, 104], w=list("bbaaaddccc"), s=list("qpqpppqqqp"))
    groups = np.repeat([0, 1], 5)
    return published, original, groups


def asked(*more, k: int = 5, missing: str = "value") -> Asked:
    types = attributes(x="continuous", w="nominal")
    known = {**types, "s": Attribute("s", "nominal", "sensitive")}
    return Asked([KAnonymity(k=k), *more], ["x", "w"], ["s"], missing, MARKERS, known)  # type: ignore[arg-type]


def verdict(published, original, groups, *more, original_groups=None, **how):
    theirs = groups if original_groups is None else original_groups
    evidence = Evidence(original, np.asarray(theirs, dtype=np.int64), np.asarray(groups, dtype=np.int64))
    return condensed(published, asked(*more, **how), evidence)


def test_a_sound_release_passes() -> None:
    found = verdict(*release(), LDiversity(l=2))
    assert found.holds
    assert [g.model for g in found.guarantees] == ["condensation", "no-copies", "l-diversity"]
    assert (found.guarantees[0].achieved, found.guarantees[0].n_classes) == (5, 2)
    assert "that pseudo-records were drawn from" in found.guarantees[2].sentence
    assert "look alike" not in found.guarantees[2].sentence


def test_what_is_wrong_is_found() -> None:
    published, original, groups = release()

    def failing(*given, **how) -> list[str]:
        found = verdict(*given, **how)
        return [g.model for g in found.guarantees if not g.holds]

    assert failing(published, original, groups, k=6) == ["condensation"]  # groups too small
    swapped = groups.copy()
    swapped[[0, 9]] = swapped[[9, 0]]
    assert failing(published, original, swapped, original_groups=groups) == ["condensation"]
    uneven = np.where(np.arange(10) == 9, 0, groups)
    assert failing(published, original, uneven, original_groups=groups) == ["condensation"]
    assert failing(published, original, np.where(groups == 1, 7, 0), original_groups=groups) == ["condensation"]
    copied = published.with_columns({"w": column("w", list("aaaaaddccc"))})
    assert failing(copied, original, groups) == ["no-copies"]
    foreign = published.with_columns({"w": column("w", list("zbaaaddccc"))})
    assert failing(foreign, original, groups) == ["condensation"]
    moved = published.with_columns({"x": column("x", [7, 2, 3, 4, 4, 102, 102, 103, 104, 104])})
    found = verdict(moved, original, groups)
    assert (found.guarantees[0].n_failing, found.guarantees[0].details["outside"]) == (1, 1)
    assert "1 published record cannot have been drawn" in found.guarantees[0].sentence


def test_models_of_sensitive_values_are_about_groups() -> None:
    published, original, groups = release()
    same = published.with_columns({"s": column("s", list("pppppqqqqq"))})
    for model in (LDiversity(l=2), TCloseness(t=0.2), AlphaK(alpha=0.9, k=5)):
        found = verdict(same, original, groups, model)
        assert [g.holds for g in found.guarantees] == [True, True, False]


def test_without_evidence_it_is_said_what_is_needed() -> None:
    published, original, groups = release()
    alone = condensed(published, asked(LDiversity(l=2)), Evidence())
    assert (alone.guarantees, alone.holds) == ((), False)
    assert len(alone.unverified) == 3
    assert "--original" in alone.unverified[0]
    beside = condensed(published, asked(LDiversity(l=2)), Evidence(original))
    assert [g.model for g in beside.guarantees] == ["no-copies"]
    assert not beside.holds
    assert "--private" in beside.unverified[0]
    other = condensed(published, asked(), Evidence(original, groups, groups[:-1]))
    assert not other.holds
    assert "another release" in other.unverified[0]
    with pytest.raises(PolicyError, match="quasi-identifier"):
        condensed(published, replace(asked(), quasi=[]), Evidence(original))
    with pytest.raises(DataError, match="no rows"):
        condensed(published.take(np.zeros(0, dtype=np.intp)), asked(), Evidence(original))


def test_a_group_without_originals_fails_whatever_it_holds() -> None:
    published, original, groups = release()
    found = condensation(
        pairs(published, original, x="continuous", w="nominal"),
        np.full(10, 4, dtype=np.int64),
        groups.astype(np.int64),
        k=5,
    )
    assert (found.achieved, found.holds, found.n_classes, found.n_failing) == (0, False, 3, 3)
