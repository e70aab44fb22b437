"""What the paper does not measure: how much of a pseudo-string stands verbatim in an original."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from reproductions.string_sets import read_set, whole
from shoal.check.strings.copies import equal_strings
from shoal.check.strings.verbatim import verbatim
from shoal.data.samples.proteins import protein_families
from shoal.data.samples.quest import labelled_baskets
from shoal.data.strings.strings import Strings
from shoal.strings import Condensation
from shoal.strings.generate import generate
from shoal.utility.strings import compare_composition
from shoal.utility.strings.codes import in_one_alphabet

K = 20
ORDERS = (2, 3, 4)
SUPPORTS = (1, 2, 3, 5)
WIDTH = 12


@dataclass(frozen=True)
class Run:
    """The longest verbatim run, mean, 95th percentile and maximum; order 0 is of held-out originals.

    `unique` is the share of fragments of 12 symbols that stand in exactly one original, `whole` how many strings
    stand in an original from end to end, `copies` how many equal one, `rejected` and `dropped` what was drawn again
    and left out for it.
    """

    name: str
    order: int
    support: int
    n_strings: int
    mean: float
    percentile_95: float
    longest: int
    unique: float
    whole: int
    copies: int
    rejected: int
    dropped: int
    difference: float


@dataclass(frozen=True)
class Whole:
    """A whole data set condensed with the defaults."""

    name: str
    n_strings: int
    n_suppressed: int
    n_published: int
    n_rejected: int
    n_dropped: int
    n_copies: int


def count_copies(published: Strings, original: Strings) -> int:
    """How many published strings equal an original, by the checker and not by what made them."""
    return int(equal_strings(*in_one_alphabet(published, original)).sum())


def measure_runs(
    name: str, orders: Sequence[int] = ORDERS, supports: Sequence[int] = SUPPORTS, k: int = K
) -> Iterator[Run]:
    """Every order and support, then held-out originals."""
    chosen = read_set(name)
    control: Run | None = None
    for support in supports:
        fitted = Condensation(k, support=support, lengths="template", seed=1, generator="template").fit(chosen.strings)
        for order in orders:
            pseudo = generate(fitted.statistics_, order=order, support=support, seed=2)
            found = verbatim(pseudo.strings, chosen.strings, chosen.held_out, widths=(WIDTH,))
            ours, others = found.published, found.control
            yield Run(
                name, order, support, ours.n_strings, ours.mean, ours.percentile_95, ours.longest, ours.unique[WIDTH],
                ours.n_whole, count_copies(pseudo.strings, chosen.strings), pseudo.n_rejected, pseudo.n_dropped,
                compare_composition(chosen.strings, pseudo.strings).difference,
            )  # fmt: skip
            control = control or Run(
                name, 0, 0, others.n_strings, others.mean, others.percentile_95, others.longest, others.unique[WIDTH],
                others.n_whole, count_copies(chosen.held_out, chosen.strings), 0, 0,
                compare_composition(chosen.strings, chosen.held_out).difference,
            )  # fmt: skip
    if control is not None:
        yield control


def whole_sets() -> dict[str, Callable[[], Strings]]:
    """Every set of strings that is here, as a whole."""
    names = ("yeast", "mouse", "human", "splice", "promoters", "mtdna", "T10I4D100K")
    found: dict[str, Callable[[], Strings]] = {name: partial(whole, name) for name in names}
    for name in ("V20.I4.D100K", "V20.I6.D100K"):
        found[name] = partial(labelled_baskets, name, seed=1)
    found["protein families"] = lambda: protein_families(2000, seed=1)
    return found


def measure_whole(name: str) -> Whole:
    """Condense a whole set with the defaults and count copies."""
    strings = whole_sets()[name]()
    estimator = Condensation(K, support=3, lengths="template", seed=1, generator="template")
    published = estimator.fit_transform(strings)
    pseudo = estimator.pseudo_
    return Whole(
        name, len(strings), estimator.n_suppressed_, len(published), pseudo.n_rejected, pseudo.n_dropped,
        count_copies(published, strings),
    )  # fmt: skip


def worst_margins(rows: Sequence[Run], support: int, order: int = 2) -> tuple[float, float, int]:
    """By how much mean, 95th percentile and maximum are above those of held-out originals, at most, over all sets."""
    control = {r.name: r for r in rows if r.order == 0}
    ours = [r for r in rows if (r.order, r.support) == (order, support)]
    gaps = np.array(
        [
            (
                r.mean - control[r.name].mean,
                r.percentile_95 - control[r.name].percentile_95,
                r.longest - control[r.name].longest,
            )
            for r in ours
        ]
    )
    worst = gaps.max(axis=0)
    return float(worst[0]), float(worst[1]), int(worst[2])
