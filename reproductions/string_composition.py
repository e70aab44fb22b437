"""Figs 4 to 9 of the paper: composition, and the order of distances between groups, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reproductions.string_sets import read_set
from shoal.strings import Condensation
from shoal.strings.generate import Lengths
from shoal.utility.strings import compare_composition, compare_distances

K = 20
SIZES = (5, 10, 20, 30, 40, 50)
N_SEEDS = 3  # of groups and draws, at K
DEFAULT = 3
SETTINGS: tuple[tuple[int, Lengths], ...] = (
    (1, "template"),
    (DEFAULT, "template"),
    (1, "spread"),
    (DEFAULT, "spread"),
)


@dataclass(frozen=True)
class Kept:
    """What is kept of one set at one setting; `seed` is of groups and draws."""

    name: str
    k: int
    support: int
    lengths: str
    seed: int
    n_strings: int
    n_suppressed: int
    n_groups: int
    difference: float
    kept: float | None
    kept_by_mean: float | None
    n_pairs: int


@dataclass(frozen=True)
class Bars:
    """Shares of symbols in per cent, originals and pseudo-strings; Figs 4 to 7."""

    name: str
    symbols: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    after_default: tuple[float, ...]


def measure_kept(
    name: str, k: int, support: int, lengths: Lengths = "template", seed: int = 1, n_pairs: int = 100, eps: float = 1.5
) -> Kept:
    """Condense one set and compare composition (Eq. 5) and the order of distances (Eq. 6)."""
    strings = read_set(name).strings
    estimator = Condensation(k, eps=eps, support=support, lengths=lengths, seed=seed, generator="template")
    published = estimator.fit_transform(strings)
    order = None
    if estimator.n_groups_ >= 3:
        order = compare_distances(
            strings, estimator.labels_, published, estimator.pseudo_.groups, n_pairs=n_pairs, n_strings=20
        )
    return Kept(
        name, k, support, lengths, seed, len(strings), estimator.n_suppressed_, estimator.n_groups_,
        compare_composition(strings, published).difference,
        order.kept if order else None, order.kept_by_mean if order else None, order.n_pairs if order else 0,
    )  # fmt: skip


def measure_bars(name: str, k: int = K) -> Bars:
    """The shares of all symbols, most frequent first."""
    strings = read_set(name).strings
    found = [
        compare_composition(
            strings,
            Condensation(k, support=support, lengths="template", seed=1, generator="template").fit_transform(strings),
        )
        for support in (1, DEFAULT)
    ]
    shown = [i for i, share in enumerate(found[0].before) if share >= 0.0005]
    return Bars(
        name,
        tuple(found[0].symbols[i] for i in shown),
        *(tuple(100 * shares[i] for i in shown) for shares in (found[0].before, *(f.after for f in found))),
    )


def measure_composition(proteins: Sequence[str], dna: Sequence[str]) -> Iterator[Kept]:
    """Every set and k: the paper's setting, the default support, and lengths that are spread."""
    for name in proteins:
        for k in SIZES:
            for support, lengths in SETTINGS:
                for seed in range(1, 1 + (N_SEEDS if k == K else 1)):
                    yield measure_kept(name, k, support, lengths, seed)
    for name in dna:
        for k in (10, 20):
            for support in (1, DEFAULT):
                for seed in range(1, 1 + N_SEEDS):
                    yield measure_kept(name, k, support, seed=seed)
