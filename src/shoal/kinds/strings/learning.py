"""Whether classes can still be told from pseudo-strings: a second, small release, tested on strings that it never saw.

The release itself was made from all strings, so none is left to test on fairly. Some are held out here, the others are
condensed in the same way, and classifiers learn from either side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.data.strings.strings import Strings
from shoal.errors import ShoalError
from shoal.kinds.strings.policy import StringPolicy
from shoal.utility.strings.measure import sample

if TYPE_CHECKING:
    from shoal.utility.strings.classification import Accuracy

MOST_STRINGS = 3000
MOST_SYMBOLS = 300_000
HELD_OUT = 0.2
FEWEST_TESTED = 10


def learn_classes(strings: Strings, policy: StringPolicy, seed: int = 0) -> tuple[Accuracy, ...]:
    """Accuracies of classifiers trained on originals and on pseudo-strings; none where that cannot be measured.

    Parameters
    ----------
    strings : Strings
        The originals.
    policy : StringPolicy
        How the others are condensed.
    seed : int
        Of the sample and of what is held out.
    """
    if strings.labels is None:
        return ()
    from shoal.kinds.strings.release import drawn_again
    from shoal.utility.strings.classification import compare_classifiers

    rng = np.random.default_rng(seed)
    some = strings.take(np.flatnonzero(strings.lengths > 0))
    if len(some) > MOST_STRINGS:
        some = some.take(np.sort(rng.permutation(len(some))[:MOST_STRINGS]))
    some = sample(some, MOST_SYMBOLS, rng)
    rows = rng.permutation(len(some))
    tested, kept = rows[: round(HELD_OUT * len(rows))], rows[round(HELD_OUT * len(rows)) :]
    if len(tested) < FEWEST_TESTED:
        return ()
    train = some.take(np.sort(kept))
    try:
        made = drawn_again(policy, train, seed)
        assert some.labels is not None
        present = np.intersect1d(some.labels[kept], [strings.classes.index(c) for c in made.classes])
        tested = tested[np.isin(some.labels[tested], present)]
        if len(present) < 2 or len(tested) < FEWEST_TESTED:
            return ()
        return compare_classifiers(train, made, some.take(np.sort(tested)), workers=1)
    except ShoalError:  # a class too small for k in the sample
        return ()
