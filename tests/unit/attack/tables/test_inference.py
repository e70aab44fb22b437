"""Guessing secrets: right for everybody on the raw table, no better than for others on a coarse one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.tables.case import TableCase
from shoal.attack.tables.inference import BayesInference, Inference
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Table, encode_cells


@pytest.mark.parametrize("attack", [Inference(), BayesInference(), Inference(votes=False)])
def test_raw_secrets_are_read_off(raw, rng, attack):
    result = attack.run(raw, rng)
    assert result.main.value > 0.99
    assert result.control.value < 0.4
    assert result.succeeds


@pytest.mark.parametrize("attack", [Inference(), BayesInference()])
def test_large_groups_tell_what_is_true_of_others_too(coarse, rng, attack):
    result = attack.run(replace(coarse, sensitive=["diagnosis"]), rng)
    assert result.main.value < 0.4
    assert result.risk.low < 0.06


@pytest.mark.parametrize("publish", ["bucketize", "slice", "screen"])
def test_slices_are_guessed_by_their_posterior(release, rng, publish):
    case = release(l=3, publish=publish)
    result = Inference(secrets=["diagnosis"]).run(case, rng)
    # not diverse enough to hide the likeliest of three
    assert result.main.value > result.control.value + 0.1
    assert result.main.value < 0.7


def buckets(n, rng):
    """Pairs of two people at random, one of each sex, whose diagnoses go with sex and age but for one in ten."""
    sex = np.tile(["f", "m"], n // 2).astype(object)
    age = rng.uniform(20, 80, n)
    old = np.where(age > 50, "old", "young")
    usual = np.array([f"{s} {o}" for s, o in zip(sex, old, strict=True)], dtype=object)
    strange = rng.random(n) < 0.1
    secret = np.where(strange, rng.permutation(usual), usual)
    return Table.of(
        [encode_cells("sex", sex), encode_cells("age", age), encode_cells("secret", np.array(secret, dtype=object))]
    )


def test_bayes_learns_who_in_a_bucket_has_which_secret():
    rng = np.random.default_rng(2)
    original, control = buckets(800, rng), buckets(400, rng)
    layout = Layout.of([["sex", "age"], ["secret"]])
    bucket = np.arange(800) // 2
    swapped = np.arange(800) ^ rng.integers(0, 2, 400)[bucket]
    published = Table.of(
        [
            encode_cells("bucket", bucket.astype(np.int64)),
            original["sex"],
            original["age"],
            original["secret"].take(swapped),
        ]
    )
    attributes = {
        "sex": Attribute("sex", "nominal", "quasi"),
        "age": Attribute("age", "continuous", "quasi"),
        "secret": Attribute("secret", "nominal", "sensitive"),
    }
    case = TableCase(published, original, control, ["sex", "age"], ["secret"], attributes, "bucketize", layout)
    plain = Inference().run(case, rng)
    learned = BayesInference().run(case, rng)
    assert plain.main.value < 0.75  # one of two, mostly
    assert learned.main.value > 0.85


def test_what_is_missing(raw):
    assert "nothing to infer" in Inference().missing(replace(raw, sensitive=()))
    assert "no quasi-identifier" in Inference().missing(replace(raw, quasi=()))
