"""Requirements of a policy as limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells
from shoal.errors import PolicyError
from shoal.kernels.tables import diversity
from shoal.models.alpha_k import AlphaK
from shoal.models.base import Bound
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from shoal.tables.encoding import Ranked
from shoal.tables.limits import arrays_of, limits_of, limits_on_table, violations

TREE = np.array([[0, 4, 6], [1, 4, 6], [2, 5, 6], [3, 5, 6]], dtype=np.int32)


def ranked(name="disease", kind="category", codes=(0, 1, 2, 3, 3), ancestors=None, has_missing=False):
    codes = np.array(codes, dtype=np.int32)
    return Ranked(name, kind, codes, np.arange(codes.max() + 1.0), ancestors, has_missing)


@pytest.mark.parametrize(
    ("requirement", "model", "parameter"),
    [
        (LDiversity(l=2), diversity.DISTINCT, 2),
        (LDiversity(l=2.5, kind="probabilistic"), diversity.PROBABILISTIC, 2.5),
        (LDiversity(l=2, kind="entropy"), diversity.ENTROPY, 2),
        (LDiversity(l=2, kind="recursive", c=4), diversity.RECURSIVE, 2),
        (AlphaK(alpha=0.5, k=3), diversity.ALPHA, 0.5),
        (TCloseness(t=0.2), diversity.EQUAL, 0.2),
        (TCloseness(t=0.2, distance="equal"), diversity.EQUAL, 0.2),
        (BetaLikeness(beta=2), diversity.ENHANCED, 2),
        (BetaLikeness(beta=2, kind="basic"), diversity.BASIC, 2),
    ],
)
def test_each_model_becomes_one_limit(requirement, model, parameter):
    (limit,) = limits_of([KAnonymity(k=5), requirement], [ranked()])
    assert (limit.model, limit.parameter, limit.name) == (model, parameter, "disease")
    assert limit.counts.tolist() == [1, 1, 1, 2]
    assert limit.c == (4 if model == diversity.RECURSIVE else 0)


def test_distance_follows_the_kind_of_attribute():
    kinds = [ranked("a", "number"), ranked("b", "order"), ranked("c", "tree", ancestors=TREE), ranked("d")]
    limits = limits_of([TCloseness(t=0.2)], {r.name: r for r in kinds})
    wanted = [diversity.ORDERED, diversity.ORDERED, diversity.HIERARCHICAL, diversity.EQUAL]
    assert [limit.model for limit in limits] == wanted


def test_requirement_may_name_its_attribute():
    both = [ranked("disease"), ranked("salary")]
    assert [t.name for t in limits_of([LDiversity(l=2, sensitive="salary")], both)] == ["salary"]
    assert [t.name for t in limits_of([LDiversity(l=2)], both)] == ["disease", "salary"]
    with pytest.raises(PolicyError, match="did you mean 'salary'"):
        limits_of([LDiversity(l=2, sensitive="salery")], both)
    with pytest.raises(PolicyError, match="role sensitive"):
        limits_of([LDiversity(l=2)], [])


def test_unsuited_distances_are_refused():
    with pytest.raises(PolicyError, match="needs a hierarchy"):
        limits_of([TCloseness(t=0.2, distance="hierarchical")], [ranked()])
    with pytest.raises(PolicyError, match="needs an order"):
        limits_of([TCloseness(t=0.2, distance="ordered")], [ranked()])


def test_missing_value_of_its_own_or_any():
    attribute = ranked(codes=(0, 2, 0, 1, 2, 2), has_missing=True)
    labels = np.array([0, 0, 1, 1, 2, 2])
    requirement = [LDiversity(l=2)]
    assert violations(labels, limits_of(requirement, [attribute])).tolist() == [False, False, True]
    assert violations(labels, limits_of(requirement, [attribute], "any")).tolist() == [True, False, True]
    shares = [AlphaK(alpha=0.5, k=2)]
    assert violations(labels, limits_of(shares, [attribute], "any")).tolist() == [True, False, True]
    for closeness in (TCloseness(t=0.5), BetaLikeness(beta=1)):
        with pytest.raises(PolicyError, match="may be any value"):
            limits_of([closeness], [attribute], "any")


def test_some_rows_keep_the_distribution_of_all():
    (limit,) = limits_of([TCloseness(t=0.2)], [ranked()])
    part = limit.of_rows(np.array([3, 4]))
    assert part.codes.tolist() == [3, 3]
    assert part.counts.tolist() == limit.counts.tolist()


class Several(LDiversity):
    """Distinct l-diversity by a formula of its own."""

    def bound(self, values):
        return Bound()

    def fails(self, counts):
        assert counts.sizes.tolist() == np.add.reduceat(counts.counts, counts.starts).tolist()
        return np.bincount(counts.groups) < self.l


def test_a_formula_of_the_model_s_own_is_asked_like_a_compiled_one():
    rng = np.random.default_rng(5)
    for _ in range(20):
        labels = rng.integers(-1, 9, 30).astype(np.int32)
        labels[labels == 4] = 5  # an empty group
        attribute = Ranked("s", "category", rng.integers(0, 4, 30).astype(np.int32), np.arange(4.0))
        compiled, own = (violations(labels, limits_of([m(l=3)], [attribute])) for m in (LDiversity, Several))
        assert own.tolist() == compiled.tolist()
    (limit,) = limits_of([Several(l=3)], [attribute])
    assert limit.fewest_values is None
    assert limit.text == "distinct 3-diversity"
    assert len(arrays_of([limit], 30).models) == 0


@pytest.mark.parametrize(
    "requirement",
    [
        LDiversity(l=2),
        LDiversity(l=1.5, kind="probabilistic"),
        LDiversity(l=2, kind="entropy"),
        LDiversity(l=2, kind="recursive", c=2),
        AlphaK(alpha=0.6, k=2),
        TCloseness(t=0.3),
        BetaLikeness(beta=1),
    ],
)
def test_rows_that_stand_for_several_records_meet_what_these_meet(requirement):
    rng = np.random.default_rng(3)
    n_broken = 0
    for _ in range(20):
        weights = rng.integers(1, 6, 60).astype(np.int32)
        each = np.repeat(np.arange(60), weights)
        table = Table.of([encode_cells("s", rng.integers(0, 3, 60)), encode_cells("q", np.arange(60))])
        labels = np.unique(rng.integers(0, 12, 60), return_inverse=True)[1]
        meant = {"s": Attribute("s", "nominal", "sensitive")}
        few = limits_on_table(replace(table, weights=weights), [requirement], meant, ["s"], "value")
        many = limits_on_table(table.take(each), [requirement], meant, ["s"], "value")
        assert few[0].counts.tolist() == many[0].counts.tolist()
        broken = violations(labels, few)
        assert broken.tolist() == violations(labels[each], many).tolist()
        some = np.arange(0, 60, 2)
        assert few[0].of_rows(some).weights.tolist() == weights[some].tolist()
        n_broken += broken.any() and not broken.all()
    assert n_broken > 5
