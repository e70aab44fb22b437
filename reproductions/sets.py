"""What baskets and texts are good for after publication, and what attacks get: `python -m reproductions.sets`.

Each set is split: some records are kept back, to classify and to compare attacks on, and the rest is published as
pseudo-baskets with the defaults, and as sketches with theirs. Writes `docs/reproductions/sets.md`; every number is
computed here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import shoal
from shoal.attack.attack import Attacked, run_attacks
from shoal.attack.sparse import BASKET_ATTACKS
from shoal.attack.sparse.case import BasketCase
from shoal.data.samples.quest import Quest, generate_baskets, labelled_records
from shoal.data.sparse.records import Sparse
from shoal.errors import Infeasible
from shoal.kinds.sparse.release import SparseRelease
from shoal.sparse.pseudo_baskets import pseudo_baskets
from shoal.utility.sparse.baskets import BasketUtility, ClassesTold, compare_classifiers, measure_baskets

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data"
PAGE = ROOT / "docs" / "reproductions" / "sets.md"
K, SEED, N_ATTACKED = 10, 1, 5000

ABOUT = """# Baskets and texts, before and after

Written by `python -m reproductions.sets`. Of each set some records are kept back: classifiers are asked about them, and
attacks are compared on them. The rest is published with k = {k} as pseudo-baskets, with the defaults, which were chosen
on T10I4D100K, and as sketches. *Permuted* is what columns score that keep the supports of items and nothing else.
An error is the mean of the absolute error as a share of the true support, of the 1,000 most frequent pairs and of as
many frequent triples. *Risk added* is (members - others) / (1 - others), with its 95 % interval. Sketches show no
items, so that of them only neighbours and what is left out can be set beside, on 10,000 records. k^m-anonymity by
suppression or disassociation is not among the methods yet.
"""


@dataclass(frozen=True)
class Case:
    """A set of records, and how many are kept back."""

    name: str
    load: Callable[[], Sparse]
    n_back: int


@dataclass(frozen=True)
class Found:
    """What came of one set."""

    case: Case
    n_records: int
    seconds: float
    left_out: float
    utility: BasketUtility
    learning: tuple[ClassesTold, ...]
    attacked: Attacked[BasketCase]
    sketches: tuple[float, float] | None


CASES = (
    Case(
        "T10I4D100K",
        lambda: shoal.read_sparse(DATA / "t10i4d100k" / "T10I4D100K.dat.gz", format="baskets"),
        20_000,
    ),
    Case("T20.I4.D20K", lambda: generate_baskets(Quest.named("T20.I4.D20K"), seed=SEED).sparse(), 5000),
    Case("C20.I4.D20K", lambda: labelled_records("C20.I4.D20K", seed=SEED), 5000),
    Case("C20.I6.D20K", lambda: labelled_records("C20.I6.D20K", seed=SEED), 5000),
    Case(
        "20 newsgroups",
        lambda: shoal.read_sparse(
            DATA / "newsgroups20" / "20news_bydate.csv.gz", format="text", column="text", class_column="group"
        ),
        3000,
    ),
)


def find(case: Case) -> Found:
    """Publish, measure and attack one set."""
    records = case.load()
    order = np.random.default_rng(SEED).permutation(len(records))
    back, kept = records.take(np.sort(order[: case.n_back])), records.take(np.sort(order[case.n_back :]))
    begin = time.process_time()
    made = pseudo_baskets(kept, K, seed=SEED).baskets
    seconds = time.process_time() - begin
    attacks = [attack.of_size(N_ATTACKED) for attack in BASKET_ATTACKS]
    return Found(
        case,
        len(kept),
        seconds,
        1 - len(made) / len(kept),
        measure_baskets(kept, made),
        () if kept.labels is None else compare_classifiers(kept, made, back),
        run_attacks(attacks, BasketCase(made, kept, back), seed=SEED),
        _sketches(kept),
    )


def _sketches(records: Sparse) -> tuple[float, float] | None:
    """Of sketches: the share that is left out, and of the ten nearest among the first hundred by sketches."""
    some = records.take(np.sort(np.random.default_rng(SEED).permutation(len(records))[:10_000]))
    try:
        release = shoal.anonymize(some, shoal.SparsePolicy.of(publish="sketch", k=K), seed=SEED)
    except Infeasible:
        return None
    assert isinstance(release, SparseRelease)
    near = release.utility.neighbours
    return release.records["suppressed"] / len(some), 0.0 if near is None else near.shares[max(near.shares)]


def page(found: list[Found]) -> str:
    """The page."""
    return "\n".join([ABOUT.format(k=K), *_use(found), "", *_classes(found), "", *_attacks(found), ""])


def _use(found: list[Found]) -> Iterator[str]:
    yield "## Supports\n"
    yield (
        "| | records | items, error | pairs, error (permuted) | triples (permuted) | top pairs kept (permuted) | "
        "confidence of rules, error (permuted) | left out | CPU | sketches: left out | ten nearest kept among the "
        "first 100 |"
    )
    yield "|---" * 11 + "|"
    for f in found:
        u = f.utility
        sets = ["" if e is None else f"{100 * e.mean:.1f} % ({100 * e.permuted:.0f} %)" for e in (u.pairs, u.triples)]
        items = "" if u.items is None else f"{100 * u.items.mean:.1f} %"
        sketch = ["–", "–"] if f.sketches is None else [f"{100 * share:.1f} %" for share in f.sketches]
        cells = [
            f.case.name,
            f"{f.n_records:,}",
            items,
            *sets,
            f"{100 * u.pairs_kept:.0f} % ({100 * u.pairs_kept_permuted:.0f} %)",
            f"{u.confidence_error:.3f} ({u.confidence_error_permuted:.3f})",
            f"{100 * f.left_out:.2f} %",
            f"{f.seconds:.0f} s",
            *sketch,
        ]
        yield f"| {' | '.join(cells)} |"


def _classes(found: list[Found]) -> Iterator[str]:
    yield "## Classes told\n"
    yield "| | classifier | learned from originals | from pseudo-baskets | most frequent class |"
    yield "|---" * 5 + "|"
    for f in found:
        for c in f.learning:
            yield (
                f"| {f.case.name} | {c.classifier} | {100 * c.before:.1f} % | {100 * c.after:.1f} % | "
                f"{100 * c.baseline:.1f} % |"
            )


def _attacks(found: list[Found]) -> Iterator[str]:
    yield "## Attacks\n"
    yield "| | attack | members | others | risk added |"
    yield "|---" * 5 + "|"
    for f in found:
        for r in f.attacked.results:
            assert r.control is not None
            yield f"| {f.case.name} | {r.title} | {r.main} | {r.control} | {r.risk} |"
    above = [f"{f.case.name} ({r.attack})" for f in found for r in f.attacked.results if r.risk.high > 0.05]
    if above:
        yield (
            f"\nThe interval reaches above 0.05 for {', '.join(above)}. What is named there are items of patterns that "
            "many records share: of a set of some ten thousand records, the supports of itemsets are those of its "
            "members. A larger k and support lower it, at the cost of pairs; a larger set does so for nothing."
        )


def main() -> None:
    """Compute everything and write the page."""
    found = []
    for case in CASES:
        found.append(find(case))
        print(f"{case.name}: {found[-1].seconds:.0f} s", flush=True)
    PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
