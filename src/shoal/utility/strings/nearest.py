"""Nearest-neighbour classification of strings by edit distance."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Rows
from shoal.data.strings.strings import Strings
from shoal.engine.threads import Threads
from shoal.errors import DataError, PolicyError
from shoal.kernels.strings.edit_distance import vote_nearest

N_BINS = 1000


@dataclass(frozen=True)
class NearestStrings:
    """Classify a string as most of its nearest training strings are.

    ``d(S, T) = NW(S, T) / max(|S|, |T|)``, the alignment distance of Needleman and Wunsch with unit costs over the
    longer length, to a thousandth. The paper names neither its distance nor the number of neighbours. All training
    strings that are as near as the n-th nearest vote, so that nothing depends on their order; of classes with equal
    votes the more frequent one wins.

    Parameters
    ----------
    train : Strings
        With classes.
    n_neighbours : int
        How many vote at least.

    References
    ----------
    C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and
    Knowledge Discovery 16(3), 2008, section 5.1.
    """

    train: Strings
    n_neighbours: int = 1

    def predict(self, strings: Strings, workers: int | None = None) -> Codes:
        """The class of each string, as an index into the classes of the training strings.

        The strings are in the codes of the training strings.
        """
        train = self.train
        if self.n_neighbours < 1:
            raise PolicyError(f"{self.n_neighbours} neighbours cannot vote; give 1 or more")
        if train.labels is None or not len(train):
            raise DataError("the training strings have no classes; give each string one")
        labels, priors = train.labels, np.bincount(train.labels, minlength=len(train.classes))
        n_symbols = max(len(strings.alphabet), len(train.alphabet))

        def predict_some(rows: Rows) -> Codes:
            some = strings.take(rows)
            return vote_nearest(
                some.symbols,
                some.starts,
                train.symbols,
                train.starts,
                labels,
                priors,
                self.n_neighbours,
                N_BINS,
                n_symbols,
            )

        n_workers = workers or os.cpu_count() or 1
        parts = np.array_split(np.arange(len(strings)), max(min(n_workers, len(strings)), 1))
        with Threads(len(parts)) as pool:
            return np.concatenate(list(pool.map(predict_some, parts)))
