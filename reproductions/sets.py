"""What baskets and texts are good for after publication, and what attacks get: `python -m reproductions.sets [SET]`.

Of each set some records are kept back, to classify and to compare attacks on, and the rest is published with the
defaults as pseudo-baskets, disassociated, suppressed, and as sketches; sets of full size as pseudo-baskets alone. A set
that is named is measured and kept in `results/sets.json`; without names, all; ``NAME:pseudo`` is one way of a set,
``reasons`` is why texts lose classes, and ``page`` measures nothing. Then `docs/reproductions/sets.md` is written from
what is kept there; every number of it was computed here.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import shoal
from reproductions.sets_measures import (
    class_names,
    clusters,
    dealt_freely,
    logistic,
    told_by_components,
    told_by_settings,
    without_items,
)
from reproductions.sets_page import NAMES, PAGE, RESULTS, page
from reproductions.string_sets import DATA
from shoal.attack.attack import run_attacks
from shoal.attack.sparse import SPARSE_ATTACKS
from shoal.attack.sparse.case import BasketCase
from shoal.data.samples.quest import labelled_records
from shoal.data.sparse.records import Sparse
from shoal.errors import ShoalError
from shoal.kinds.sparse.baskets import BasketRelease
from shoal.kinds.sparse.km import KMRelease
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.release import SparseRelease
from shoal.sparse.pseudo_baskets import SUPPORT, pseudo_baskets
from shoal.utility.sparse.baskets import compare_classifiers, measure_baskets

SEED, N_ASKED = 1, 3000
K = SparsePolicy.of(publish="pseudo").k
FEWER = (2, 1)
"""Supports below the default one, of which it is measured what they would keep of texts."""
TEXTS = "20 newsgroups"
WAYS = ("pseudo", "disassociate", "suppress")


@dataclass(frozen=True)
class Case:
    """A set of records, how many are kept back, and how many are published at most: a sample, where there are more.

    Sets of full size are published in one way alone.
    """

    load: Callable[[], Sparse]
    n_back: int
    most: int = 20_000
    ways: tuple[str, ...] = tuple(NAMES)


def _baskets() -> Sparse:
    return shoal.read_sparse(DATA / "t10i4d100k" / "T10I4D100K.dat.gz", format="baskets")


def _texts() -> Sparse:
    path = DATA / "newsgroups20" / "20news_bydate.csv.gz"
    return shoal.read_sparse(path, format="text", column="text", class_column="group")


def _quest(name: str, n_back: int) -> Case:
    return Case(lambda: labelled_records(name, seed=SEED), n_back)


def _whole(load: Callable[[], Sparse], n_back: int) -> Case:
    return Case(load, n_back, 200_000, ("pseudo",))


CASES = {
    "T10I4D100K": Case(_baskets, 10_000),
    "C20.I4.D20K": _quest("C20.I4.D20K", 5000),
    "C20.I6.D20K": _quest("C20.I6.D20K", 5000),
    TEXTS: Case(_texts, 2000, 6000),
    "T10I4D100K, whole": _whole(_baskets, 10_000),
    "C20.I4.D200K": _whole(lambda: labelled_records("C20.I4.D200K", seed=SEED), 20_000),
    "C20.I6.D200K": _whole(lambda: labelled_records("C20.I6.D200K", seed=SEED), 20_000),
    f"{TEXTS}, whole": _whole(_texts, 2000),
}


def find(case: Case, keep: Callable[[dict[str, Any]], None], only: str = "") -> None:
    """Publish one set in every way, or in one, measure and attack it, and keep each as soon as it is measured."""
    kept, back, n_records = _split(case)
    ways: dict[str, Callable[[], dict[str, Any]]] = {way: lambda way=way: _published(way, kept, back) for way in WAYS}
    found: dict[str, Any] = {}
    for name, measure in (ways | {"sketch": lambda: _sketched(kept, back)}).items():
        if name not in case.ways or only not in ("", name):
            continue
        begin = time.process_time()
        try:
            found[name] = measure()
        except ShoalError as refused:
            found[name] = {"refused": str(refused)}
        print(f"  {name}: {time.process_time() - begin:.0f} s CPU", flush=True)
        keep({"records": len(kept), "others": len(back), "of": n_records, "published": found})


def find_reasons(case: Case) -> dict[str, Any]:
    """What classifiers lose by items that no pseudo-basket can hold, by the pools of the others, and set otherwise."""
    kept, back, _ = _split(case)
    asked = back.take(np.arange(min(N_ASKED, len(back))))
    pools = {support: _dealt_with(support, kept, back, asked) for support in FEWER}
    freely = {}
    for support in (1, SUPPORT):
        made = dealt_freely(kept, K, support, SEED)
        freely[support] = [vars(c) for c in compare_classifiers(kept, made, asked)] + logistic(kept, made, asked)
    without = without_items(kept, asked, K, SUPPORT)
    release = shoal.anonymize(kept, SparsePolicy.of(publish="pseudo"), seed=SEED)
    assert isinstance(release, BasketRelease)
    settings = told_by_settings(kept, release.baskets, asked)
    return {"k": K, "support": SUPPORT, "without": without, "pools": pools, "freely": freely, "settings": settings}


def _dealt_with(support: int, kept: Sparse, back: Sparse, asked: Sparse) -> dict[str, Any]:
    """What is told of classes, and by attacks, where fewer of a pool need to hold a word; with 1, a pool is a group."""
    made = pseudo_baskets(kept, K, support=support, together=1, seed=SEED).baskets
    case = BasketCase(made, kept, back)
    attacks = [SPARSE_ATTACKS[name] for name in ("one-more-item", "nearest-baskets")]
    return {
        "classes": [vars(c) for c in compare_classifiers(kept, made, asked)] + logistic(kept, made, asked),
        "attacks": list(run_attacks(attacks, case, seed=SEED, in_release=False).to_dict()["attacks"]),
    }


def _split(case: Case) -> tuple[Sparse, Sparse, int]:
    """The records to publish, those kept back, and how many there are in all."""
    records = case.load()
    order = np.random.default_rng(SEED).permutation(len(records))[: case.n_back + case.most]
    back, kept = records.take(np.sort(order[: case.n_back])), records.take(np.sort(order[case.n_back :]))
    return kept, back, len(records)


def _published(way: str, kept: Sparse, back: Sparse) -> dict[str, Any]:
    begin = time.process_time()
    release = shoal.anonymize(kept, SparsePolicy.of(publish=way), seed=SEED)
    seconds = time.process_time() - begin
    assert isinstance(release, BasketRelease | KMRelease)
    made, asked = release.baskets, back.take(np.arange(min(N_ASKED, len(back))))
    classes: list[dict[str, Any]] = []
    if kept.labels is not None:
        classes = [vars(c) for c in compare_classifiers(kept, made, asked)] + logistic(kept, made, asked)
    return {
        "cpu": seconds,
        "left_out": 1 - len(made) / len(kept),
        "places_left_out": 1 - len(made.items) / len(kept.items),
        "use": measure_baskets(kept, made).to_dict(),
        "clusters": clusters(kept, made, SEED),
        "classes": classes,
        "attacks": _attacked(release, back, in_release=False),
    }


def _sketched(kept: Sparse, back: Sparse) -> dict[str, Any]:
    from shoal.sparse import new_key
    from shoal.sparse.mining import SketchKNeighbors

    policy, key = SparsePolicy.of(publish="sketch"), new_key(SEED)
    begin = time.process_time()
    release = shoal.anonymize(kept, policy, key=key)
    seconds = time.process_time() - begin
    assert isinstance(release, SparseRelease)
    use = release.utility
    classes: list[dict[str, Any]] = []
    if kept.labels is not None:
        tested = shoal.anonymize(back.take(np.arange(min(N_ASKED, len(back)))), policy, key=key).published
        by_nearest = SketchKNeighbors().fit(release.published).predict(tested)
        guessed = [("nearest neighbours", np.array(release.published.classes)[by_nearest])]
        guessed += told_by_components(release.published, tested)
        classes = [{"classifier": n, "after": float((g == class_names(tested)).mean())} for n, g in guessed]
    return {
        "cpu": seconds,
        "left_out": release.records["suppressed"] / len(kept),
        "neighbours": None if use.neighbours is None else use.neighbours.to_dict(),
        "clusters": None if use.clusters is None else use.clusters.to_dict(),
        "classes": classes,
        "attacks": _attacked(release, back, in_release=True),
    }


def _attacked(release: Any, back: Sparse, *, in_release: bool) -> list[dict[str, Any]]:
    """All attacks that are made for it; on sketches as every release runs them, as they take longer."""
    case = replace(release.case, control=back)
    attacks = [attack for attack in SPARSE_ATTACKS.values() if attack.fits(case)]
    return list(run_attacks(attacks, case, seed=SEED, in_release=in_release).to_dict()["attacks"])


def _missing(measured: dict[str, Any]) -> list[str]:
    """The sets that are not measured, and the ways to publish that are not of the others."""
    told = [name for name in CASES if name not in measured]
    for name, found in measured.items():
        ways = [NAMES[way] for way in CASES[name].ways if way not in found["published"]]
        told += [f"{name} ({', '.join(ways)})"] if ways else []
    return told


def _keep(name: str, found: dict[str, Any]) -> None:
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    before = kept.get(name, {})  # of which something is measured again
    published = before.get("published", {}) | found.get("published", {})
    found = before | found | {"published": published}
    RESULTS.write_text(json.dumps(kept | {name: found}, indent=1) + "\n", encoding="utf-8")


def main(names: list[str]) -> None:
    """Measure the named sets, or all, and write the page."""
    unknown = [name for name in names if name.partition(":")[0] not in (*CASES, "page", "reasons")]
    if unknown:
        known = ", ".join(map(repr, CASES))
        sys.exit(f"no set is called {unknown[0]!r}; name some of {known}, or reasons, or page")
    for name in names or [*CASES, "reasons"]:
        if name == "page":
            continue
        print(name, flush=True)
        if name == "reasons":
            for texts in (TEXTS, f"{TEXTS}, whole"):
                _keep(texts, {"reasons": find_reasons(CASES[texts])})
            continue
        of_set, _, only = name.partition(":")
        find(CASES[of_set], lambda found, of_set=of_set: _keep(of_set, found), only)
    kept = json.loads(RESULTS.read_text())
    measured = {name: kept[name] for name in CASES if name in kept}
    PAGE.write_text(page(measured, _missing(measured)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
