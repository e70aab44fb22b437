"""The privacy models that there are, and what they say of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal.models
from shoal.check.tables.models import check_of
from shoal.models import by_option, registered
from shoal.models.alpha_k import AlphaK
from shoal.models.base import of_kind
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness

ALL = (
    KAnonymity(k=5),
    LDiversity(l=3),
    LDiversity(l=3, kind="recursive", c=2.5),
    TCloseness(t=0.2),
    AlphaK(alpha=0.5, k=4),
    BetaLikeness(beta=2),
)


def test_every_file_of_the_folder_is_a_model_and_has_a_check():
    (folder,) = shoal.models.__path__
    files = {f.stem for f in Path(folder).glob("*.py")} - {"__init__", "base"}
    assert files == {name.replace("-", "_") for name in registered()}
    assert all(check_of(model) for model in ALL)
    assert {type(model) for model in ALL} == set(registered().values())


def test_those_asked_for_in_short_come_first():
    assert list(registered()) == ["k-anonymity", "l-diversity", "t-closeness", "alpha-k", "beta-likeness"]
    assert by_option() == {"k": KAnonymity, "l": LDiversity, "t": TCloseness}


@pytest.mark.parametrize("model", ALL, ids=str)
def test_each_says_what_it_is(model):
    kind = getattr(model, "kind", "")
    for facts in (model.main, model.called, model.means):
        assert of_kind(facts, kind)
    assert {*model.main.values(), *model.at_least} <= set(type(model).model_fields)
    assert {*model.means_in_slices, *model.means_in_screens} <= set(model.means)
    assert model.reference.endswith(".")
    assert all(guard.stops and guard.leaves for guard in model.guards)


def test_titles_have_the_parameters():
    titles = ["5-anonymity", "distinct 3-diversity", "recursive (2.5, 3)-diversity", "0.2-closeness"]
    assert [m.title for m in ALL] == [*titles, "(0.5, 4)-anonymity", "enhanced 2-likeness"]


def test_the_size_of_groups_that_is_implied():
    assert [m.least_size for m in ALL] == [5, 3, 3, 2, 4, 2]
    assert LDiversity(l=2.3, kind="entropy").least_size == 3


@pytest.mark.parametrize(
    ("stricter", "looser"),
    [
        (KAnonymity(k=2), KAnonymity(k=5)),  # sizes are compared apart
        (LDiversity(l=4), LDiversity(l=3)),
        (LDiversity(l=3, kind="probabilistic"), LDiversity(l=3)),  # a share of at most 1 / 3 takes three values
        (LDiversity(l=3, kind="entropy"), LDiversity(l=3)),
        (LDiversity(l=3), LDiversity(l=3, sensitive="salary")),
        (TCloseness(t=0.1), TCloseness(t=0.2)),
        (AlphaK(alpha=0.4, k=2), AlphaK(alpha=0.5, k=4)),
        (BetaLikeness(beta=2), BetaLikeness(beta=2)),
    ],
)
def test_a_stricter_one_covers_a_looser_one(stricter, looser):
    assert stricter.covers(looser)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LDiversity(l=3), LDiversity(l=4)),
        (LDiversity(l=4), LDiversity(l=3, kind="entropy")),
        (LDiversity(l=4, kind="recursive"), LDiversity(l=3)),
        (LDiversity(l=2.5, kind="entropy"), LDiversity(l=3)),
        (LDiversity(l=4, sensitive="salary"), LDiversity(l=3)),
        (TCloseness(t=0.2), TCloseness(t=0.1)),
        (TCloseness(t=0.1, distance="equal"), TCloseness(t=0.2)),
        (AlphaK(alpha=0.5, k=4), AlphaK(alpha=0.4, k=4)),
        (AlphaK(alpha=0.5, k=4), KAnonymity(k=4)),
        (BetaLikeness(beta=1), BetaLikeness(beta=2)),
    ],
)
def test_others_do_not(one, other):
    assert not one.covers(other)
