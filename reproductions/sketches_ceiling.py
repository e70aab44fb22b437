"""How well classes can be told from m components: `python -m reproductions.sketches_ceiling [SET ...]`.

C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, Figs 4 and
5. Every record gets m components, no rule is applied, and a kernel classifier names the class of others: the sum of
``exp(-beta |s - t|^2)`` over the known sketches of each class, with beta chosen on records apart. Its accuracy tends to
that of the best classifier there is as known records grow (L. Devroye, A. Krzyzak, "An equivalence theorem for L1
convergence of the kernel regression estimate", 1989), so it is measured for more and more of them. What is measured is
kept in `results/sketches-ceiling.json`; then `docs/reproductions/sketches-ceiling.md` and its picture are written.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from reproductions.sparse_readings import KEY
from reproductions.string_sets import ROOT
from shoal.arrays import Singles
from shoal.data.samples.quest import labelled_records
from shoal.data.sparse.records import Sparse
from shoal.sparse.mining.similarity import component_matrix
from shoal.sparse.sketch import sketch_records

RESULTS = ROOT / "reproductions" / "results" / "sketches-ceiling.json"
FOLDER = ROOT / "docs" / "reproductions"
SEED = 1
N_TESTED, N_TRIED, AT_ONCE = 1000, 250, 20_000
COMPONENTS = (12, 16, 24, 32, 48, 64)
BETAS = (1.0, 2.0, 4.0, 8.0)  # in units of 1 / (twice the mean squared distance)
KNOWN = dict.fromkeys(("C20.I4", "C20.I6"), (4_200, 13_300, 42_000, 133_000))  # the paper has 133,000


def measure(name: str) -> list[dict[str, Any]]:
    """The accuracy for each number of components and of known records."""
    sizes = KNOWN[name]
    records = labelled_records(f"{name}.D{max(sizes) + N_TESTED + N_TRIED}", seed=SEED)
    assert records.labels is not None
    tested, tried = np.split(np.arange(N_TESTED + N_TRIED), [N_TESTED])
    asked = _components(records.take(np.arange(N_TESTED + N_TRIED)))
    scores = {(m, beta): np.zeros((len(asked), 2)) for m in COMPONENTS for beta in BETAS}
    nearest = {m: np.full(len(asked), np.inf) for m in COMPONENTS}
    named = {m: np.zeros(len(asked), np.int64) for m in COMPONENTS}
    found, begin = [], N_TESTED + N_TRIED
    for n_known in sizes:
        end = N_TESTED + N_TRIED + n_known
        for low in range(begin, end, AT_ONCE):
            rows = np.arange(low, min(low + AT_ONCE, end))
            _add(asked, _components(records.take(rows)), records.labels[rows], scores, nearest, named)
        begin = end
        for m in COMPONENTS:
            labels = records.labels
            right = {b: scores[m, b].argmax(axis=1) == labels[: len(asked)] for b in BETAS}
            best = max(BETAS, key=lambda b: right[b][tried].mean())
            by_one = float((named[m] == labels[: len(asked)])[tested].mean())
            told = {"m": m, "known": n_known, "accuracy": float(right[best][tested].mean()), "beta": best}
            found.append(told | {"by_nearest": by_one})
    return found


def _components(records: Sparse) -> Singles:
    return component_matrix(sketch_records(records, np.full(len(records), max(COMPONENTS)), KEY))


def _add(asked: Singles, known: Singles, labels: Any, scores: Any, nearest: Any, named: Any) -> None:
    """Add what some known records say."""
    member = np.eye(2, dtype=np.float32)[labels]
    for m in COMPONENTS:
        one, other = asked[:, :m], known[:, :m]
        distances = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)[None, :] - 2 * (one @ other.T)
        np.maximum(distances, 0, out=distances)
        closest = distances.argmin(axis=1)
        least = distances[np.arange(len(asked)), closest]
        is_nearer = least < nearest[m]
        nearest[m] = np.where(is_nearer, least, nearest[m])
        named[m] = np.where(is_nearer, labels[closest], named[m])
        # A typical squared distance is 2 m |x|, with 20 items of a record on average.
        lowest = np.exp(-distances * np.float32(BETAS[0] / (2 * m * 20 / 8)))
        for beta in BETAS:
            scores[m, beta] += lowest @ member
            np.square(lowest, out=lowest)  # the next beta is twice as large


def originals(name: str) -> float:
    """Nearest neighbours among originals, on fewer records."""
    from shoal.utility.sparse.baskets import compare_classifiers

    records = labelled_records(f"{name}.D{N_TESTED + KNOWN[name][0]}", seed=SEED)
    test, train = records.take(np.arange(N_TESTED)), records.take(np.arange(N_TESTED, len(records)))
    return next(c.before for c in compare_classifiers(train, train, test) if c.classifier == "nearest neighbours")


def main(names: list[str]) -> None:
    """Measure the named sets, or all, and write the page."""
    from reproductions.sketches_ceiling_page import draw, page

    for name in names or list(KNOWN):
        if name == "page":
            continue
        begin = time.process_time()
        found = {"rows": measure(name), "originals": originals(name)}
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        kept[name] = found | {"cpu": time.process_time() - begin}
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {kept[name]['cpu']:.0f} s CPU", flush=True)
    kept = json.loads(RESULTS.read_text())
    (FOLDER / "sketches-ceiling.md").write_text(page(kept), encoding="utf-8")
    draw(kept, FOLDER / "sketches-ceiling.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
