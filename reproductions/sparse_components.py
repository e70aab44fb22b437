"""Where the accuracy goes: sketches of equally many components, no rule applied, and other classifiers on them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from reproductions.sparse_learning import Scored, Sizes, labels_of, score_made
from reproductions.sparse_readings import KEY
from reproductions.sparse_sets import read_set
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.sparse.mining.similarity import component_matrix
from shoal.sparse.sketch import sketch_records

ALIKE = "equally many"
NUMBERS = (8, 16, 32, 64, 128, 256)
OTHERS = ("linear discriminants", "quadratic discriminants", "neural network")


@dataclass(frozen=True)
class Other:
    """The accuracy of another classifier, whose input are the components."""

    name: str
    classifier: str
    n_components: int
    accuracy: float


def score_components(name: str, n_components: int, sizes: Sizes) -> Scored:
    """Nearest neighbours and clusters with so many components for every record."""
    made = _both(name, n_components, sizes.records)
    return score_made((name, f"{ALIKE}: {n_components}", 0, 0.0), read_set(name, sizes.records), *made, sizes)


def score_other(name: str, classifier: str, n_components: int, sizes: Sizes) -> Other:
    """Another classifier on the same."""
    found = read_set(name, sizes.records)
    known, tested = (component_matrix(side) for side in _both(name, n_components, sizes.records))
    scale = known.std()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the network stops by its number of rounds
        model = _model(classifier).fit(known / scale, labels_of(found.train))
    guessed = model.predict(tested / scale)
    return Other(name, classifier, n_components, float((guessed == labels_of(found.test)).mean()))


@lru_cache(maxsize=1)
def _both(name: str, n_components: int, most: int | None) -> tuple[Sketches, Sketches]:
    found = read_set(name, most)
    return _alike(found.train, n_components), _alike(found.test, n_components)


def _alike(records: Sparse, n_components: int) -> Sketches:
    return sketch_records(records, np.full(len(records), n_components), KEY)


def _model(classifier: str) -> Any:
    discriminants, networks = (import_module(f"sklearn.{n}") for n in ("discriminant_analysis", "neural_network"))
    if classifier == OTHERS[0]:
        return discriminants.LinearDiscriminantAnalysis()
    if classifier == OTHERS[1]:
        return discriminants.QuadraticDiscriminantAnalysis()
    return networks.MLPClassifier((256, 64), max_iter=12, batch_size=512, random_state=0)
