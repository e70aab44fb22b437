"""What baskets and texts are good for after publication, and what attacks get: `python -m reproductions.sets [SET]`.

Of each set some records are kept back, to classify and to compare attacks on, and the rest is published in every way
that gives records of items (`pseudo`, and whatever else `shoal.kinds.sparse.policy.Publication` names) with the
defaults, and as sketches. A set that is named is measured and kept in `results/sets.json`; without names, all. Then
`docs/reproductions/sets.md` is written from what is kept there; every number of it was computed here.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

import shoal
from shoal.attack.attack import run_attacks
from shoal.attack.result import AttackResult
from shoal.attack.sparse import SPARSE_ATTACKS
from shoal.attack.sparse.case import BasketCase
from shoal.data.samples.quest import labelled_records
from shoal.data.sparse.records import Sparse
from shoal.errors import ShoalError
from shoal.kinds.sparse.policy import Publication, SparsePolicy
from shoal.kinds.sparse.release import SparseRelease
from shoal.utility.sparse.baskets import binary_matrix, compare_classifiers, measure_baskets

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data"
RESULTS = ROOT / "reproductions" / "results" / "sets.json"
PAGE = ROOT / "docs" / "reproductions" / "sets.md"
K, SEED, N_SKETCHED, LIMIT = 10, 1, 4000, 0.05
NAMES = {"pseudo": "pseudo-baskets"}
CLASSIFIERS = "naive Bayes, nearest neighbours, and logistic regression by stochastic gradient (scikit-learn)"

ABOUT = """# Baskets and texts, before and after

Written by `python -m reproductions.sets`. Of each set some records are kept back: classifiers are asked about them, and
attacks are compared on them. The rest is published with k = {k} and the defaults in every way that gives records of
items: {methods}. *Permuted* is what columns score that keep the supports of items and nothing else. An error is the
mean of the absolute error as a share of the true support, of the 1,000 most frequent items, pairs and triples. *Rules*
is the mean absolute error of the confidence of the 1,000 most frequent ones. *Risk added* is (members - others) /
(1 - others), with its 95 % interval; above {limit} it is bold. Sketches show no items, so that of them only neighbours,
classes and what is left out stand here, on a sample of {sketched:,} records. Sets that are not listed were not measured
in the run that wrote this page.
"""


@dataclass(frozen=True)
class Case:
    """A set of records, and how many are kept back."""

    load: Callable[[], Sparse]
    n_back: int


def _quest(name: str, n_back: int) -> Case:
    return Case(lambda: labelled_records(name, seed=SEED), n_back)


CASES = {
    "C20.I4.D20K": _quest("C20.I4.D20K", 5000),
    "C20.I6.D20K": _quest("C20.I6.D20K", 5000),
    "T10I4D100K": Case(lambda: shoal.read_sparse(DATA / "t10i4d100k" / "T10I4D100K.dat.gz", format="baskets"), 25_000),
    "20 newsgroups": Case(
        lambda: shoal.read_sparse(
            DATA / "newsgroups20" / "20news_bydate.csv.gz", format="text", column="text", class_column="group"
        ),
        3000,
    ),
    "C20.I4.D200K": _quest("C20.I4.D200K", 50_000),
    "C20.I6.D200K": _quest("C20.I6.D200K", 50_000),
}


def publications() -> list[str]:
    """The ways to publish records of items that there are."""
    return [name for name in get_args(Publication) if name != "sketch"]


def find(case: Case) -> dict[str, Any]:
    """Publish one set in every way, measure and attack it."""
    records = case.load()
    order = np.random.default_rng(SEED).permutation(len(records))
    back, kept = records.take(np.sort(order[: case.n_back])), records.take(np.sort(order[case.n_back :]))
    found = {name: told for name in publications() if (told := _published(name, kept, back)) is not None}
    return {"records": len(kept), "others": len(back), "published": found, "sketches": _sketches(kept, back)}


def _published(name: str, kept: Sparse, back: Sparse) -> dict[str, Any] | None:
    begin = time.process_time()
    try:
        release = shoal.anonymize(kept, SparsePolicy.of(publish=name, k=K), seed=SEED)
    except ShoalError as refused:
        print(f"  {name}: {refused}", flush=True)
        return None
    seconds, made = time.process_time() - begin, release.published
    attacks = [attack for attack in SPARSE_ATTACKS.values() if attack.fits(BasketCase(made, kept, back))]
    use = measure_baskets(kept, made).to_dict()
    told: list[dict[str, Any]] = []
    if kept.labels is not None:
        told = [vars(c) for c in compare_classifiers(kept, made, back)] + _logistic(kept, made, back)
    return {
        "cpu": seconds,
        "left_out": 1 - len(made) / len(kept),
        "use": use,
        "classes": told,
        "attacks": run_attacks(attacks, BasketCase(made, kept, back), seed=SEED).to_dict()["attacks"],
    }


def _logistic(kept: Sparse, made: Sparse, back: Sparse) -> list[dict[str, Any]]:
    """The share of others told by logistic regression, where scikit-learn is at hand."""
    try:
        from sklearn.linear_model import SGDClassifier
    except ImportError:
        return []
    names = [kept.names[i] for i in np.flatnonzero(kept.supports).tolist()]
    asked = binary_matrix(back, names)
    scores = []
    for side in (kept, made):
        assert side.labels is not None
        assert back.labels is not None
        learned = SGDClassifier(loss="log_loss", random_state=SEED, max_iter=20, tol=None)
        learned.fit(binary_matrix(side, names), np.array(side.classes)[side.labels])
        scores.append(float((learned.predict(asked) == np.array(back.classes)[back.labels]).mean()))
    return [{"classifier": "logistic regression", "before": scores[0], "after": scores[1], "baseline": None}]


def _sketches(kept: Sparse, back: Sparse) -> dict[str, float] | None:
    """Of sketches of a sample: what is left out, the ten nearest among the first hundred, and classes told."""
    from shoal.sparse import new_key
    from shoal.sparse.mining import SketchKNeighbors

    rng = np.random.default_rng(SEED)
    some = kept.take(np.sort(rng.permutation(len(kept))[:N_SKETCHED]))
    policy, key = SparsePolicy.of(publish="sketch", k=K), new_key(SEED)
    try:
        release = shoal.anonymize(some, policy, key=key)
        assert isinstance(release, SparseRelease)
        near = release.utility.neighbours
        told = {
            "left_out": release.records["suppressed"] / len(some),
            "neighbours": 0.0 if near is None else near.shares[max(near.shares)],
        }
        if kept.labels is not None:
            test = shoal.anonymize(back.take(np.arange(min(len(back), 1000))), policy, key=key)
            told["classes"] = float(SketchKNeighbors().fit(release.published).score(test.published))
    except ShoalError as refused:
        print(f"  sketches: {refused}", flush=True)
        return None
    return told


def page(found: dict[str, Any]) -> str:
    """The page."""
    methods = ", ".join(NAMES.get(name, name) for name in publications())
    about = ABOUT.format(k=K, methods=methods, limit=LIMIT, sketched=N_SKETCHED)
    rows = [(name, way, told) for name, f in found.items() for way, told in f["published"].items()]
    parts = [about, *_use(found, rows), "", *_classes(found, rows), "", *_attacks(rows), "", *_sketch_rows(found), ""]
    return "\n".join(parts)


def _percent(share: float | None, digits: int = 1) -> str:
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def _use(found: dict[str, Any], rows: list[Any]) -> Iterator[str]:
    yield "## Supports\n"
    heads = "| | published as | records | items | pairs (permuted) | triples (permuted) | top pairs kept (permuted) | "
    yield heads + "rules (permuted) | left out | CPU |"
    yield "|---" * 10 + "|"
    for name, way, told in rows:
        use = told["use"]
        sets = [
            "–" if use[of] is None else f"{_percent(use[of]['mean'])} ({_percent(use[of]['permuted'], 0)})"
            for of in ("pairs", "triples")
        ]
        cells = [
            name,
            NAMES.get(way, way),
            f"{found[name]['records']:,}",
            _percent(None if use["items"] is None else use["items"]["mean"]),
            *sets,
            f"{_percent(use['pairs_kept'], 0)} ({_percent(use['pairs_kept_permuted'], 0)})",
            f"{use['confidence_error']:.3f} ({use['confidence_error_permuted']:.3f})",
            _percent(told["left_out"], 2),
            f"{told['cpu']:.0f} s",
        ]
        yield f"| {' | '.join(cells)} |"
    yield "\nCPU is that of the release with its check."


def _classes(found: dict[str, Any], rows: list[Any]) -> Iterator[str]:
    yield f"## Classes told\n\nBy {CLASSIFIERS}, of originals that were kept back.\n"
    yield "| | published as | classifier | learned from originals | from what was published | points lost |"
    yield "|---" * 6 + "|"
    for name, way, told in rows:
        for c in told["classes"]:
            lost = f"{100 * (c['before'] - c['after']):.1f}"
            cells = [name, NAMES.get(way, way), c["classifier"], _percent(c["before"]), _percent(c["after"]), lost]
            yield f"| {' | '.join(cells)} |"


def _attacks(rows: list[Any]) -> Iterator[str]:
    yield "## Attacks\n"
    yield "| | published as | attack | members | others | risk added |"
    yield "|---" * 6 + "|"
    above = []
    for name, way, told in rows:
        for r in map(AttackResult.from_dict, told["attacks"]):
            risk = f"**{r.risk}**" if r.risk.high > LIMIT else str(r.risk)
            yield f"| {name} | {NAMES.get(way, way)} | {r.attack} | {r.main} | {r.control} | {risk} |"
            above += [(name, r.attack)] if way == "pseudo" and r.risk.high > LIMIT else []
    if above:
        told = ", ".join(f"{name} ({attack})" for name, attack in above)
        yield (
            f"\nOf pseudo-baskets the interval reaches above {LIMIT} for {told}. One more item follows from patterns "
            "that records share: a pattern of some ten records is told a little better of the members among them, "
            "whatever the groups, and of a set of few records more patterns are such. A larger support lowers it at "
            "the cost of pairs; a larger set does so for nothing. Where few records are kept back the interval alone "
            "may reach so far."
        )


def _sketch_rows(found: dict[str, Any]) -> Iterator[str]:
    yield "## Sketches\n"
    yield "| | left out | ten nearest kept among the first 100 | classes told by nearest sketches |"
    yield "|---" * 4 + "|"
    for name, f in found.items():
        told = f["sketches"]
        cells = ["–"] * 3 if told is None else [_percent(told.get(n)) for n in ("left_out", "neighbours", "classes")]
        yield f"| {name} | {' | '.join(cells)} |"


def main(names: list[str]) -> None:
    """Measure the named sets, or all, and write the page."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in names or list(CASES):
        begin = time.process_time()
        kept[name] = find(CASES[name])
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {time.process_time() - begin:.0f} s CPU", flush=True)
    PAGE.write_text(page({name: kept[name] for name in CASES if name in kept}), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
