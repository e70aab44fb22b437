"""Intersection: several releases of overlapping data, each with candidates of its own, leave fewer together.

In each release the candidates of a person are the records whose labels cover the known quasi-identifiers (of plain
values the nearest ones). The person's secret is among those of the candidates in every release; where one value alone
is left, it is known. Likewise the persons whose quasi-identifiers the same labels cover are those whom the person can
be taken for, and in all releases together they are fewer than in one. A release that a person is not in tells nothing
of it, nor does one in which no label covers it, for it was left out of that. Baseline: the same from one release alone,
whichever tells most.

References
----------
S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008,
section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints, Mask
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.candidates import Candidates
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import View, columns_of, read_view
from shoal.attack.tables.targets import TableTargets, draw_targets
from shoal.data.ledger import said

MOST_CELLS = 400_000_000  # of a table of persons and boxes; more are sampled
AT_ONCE = 20_000_000
SLICED = "A row of a table in slices stands for no record, so it has no candidates to intersect."
ALONE = "There is no second release of the same data to intersect with."


@dataclass(frozen=True)
class Intersection(Attack[TableCase]):
    """Intersect the candidates' secrets of several releases."""

    n_attacks: int = 2000

    name = "intersection"
    place = 160
    title = "several releases of the same records"
    knows = "the true quasi-identifiers of a record, and the releases that it is in"
    stopped_by = "m-invariance over all releases; no guarantee that is checked on one release alone"
    remedy = "publish one release, or make each after the others (--after)"
    reference = "Ganta, Kasiviswanathan and Smith, KDD 2008"

    def missing(self, case: TableCase) -> str | None:
        """Needs a second release with the same secret."""
        if (why := _unfit(case)) is not None:
            return why
        if not _secrets(case):
            return "The releases have no sensitive attribute in common."
        return None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Candidates of a sample of people, in all."""
        names = _secrets(case)
        n_attacks = -(-self.n_attacks // len(names))
        chosen, others = draw_targets(case, n_attacks, rng)
        cases, least = [case, *case.others], _least_values(case)
        told = np.zeros(len(cases) + 1)
        n_few, held = 0.0, 0.0
        for name in names:
            codes, truth, n_values = _numbered(cases, name)
            possible = [
                _possible(c, _rows_in(case, c, chosen.rows), v, n_values) for c, v in zip(cases, codes, strict=True)
            ]
            together = np.logical_and.reduce(possible)
            own = truth[chosen.rows]
            told += [float(np.sum(chosen.best(_is_told(p, own)))) for p in (together, *possible)]
            n_few += float(np.sum(chosen.best((together.sum(axis=1) < least).astype(np.float64))))
            if others is not None:
                held += _told_of_others(case, codes, name, others)
        attempts = len(chosen) * len(names)
        main, alone = Rate(told[0], attempts), Rate(float(told[1:].max()), attempts)
        number = "Two" if len(cases) == 2 else str(len(cases))
        return self.result(
            main,
            f"{number} releases together tell the secret of {100 * main.value:.1f} % of the {case.noun} for certain; "
            f"one alone {100 * alone.value:.1f} %. Of {100 * n_few / attempts:.1f} % fewer than {least} values stay "
            "possible.",
            control=None if others is None or not _have_controls(case) else Rate(held, len(others) * len(names)),
            baseline=alone,
            details={
                "first_alone": told[1] / attempts,
                "second_alone": told[2] / attempts,
                "releases": float(len(cases)),
                "fewer_values": n_few / attempts,
            },
        )


@dataclass(frozen=True)
class IntersectedCandidates(Attack[TableCase]):
    """Intersect those whom a target can be taken for in each release."""

    n_attacks: int = 2000

    name = "intersection-candidates"
    place = 161
    title = "few candidates in several releases"
    knows = "everybody's quasi-identifiers in every release, and who is in which"
    stopped_by = "groups that are carried over from release to release"
    remedy = "make each release after the others (--after)"
    reference = "Ganta, Kasiviswanathan and Smith, KDD 2008; Xiao and Tao, SIGMOD 2007"

    def missing(self, case: TableCase) -> str | None:
        """Needs other releases whose labels cover values."""
        if (why := _unfit(case)) is not None:
            return why
        if any(all(read.is_plain for read in _view(c).labels) for c in (case, *case.others)):
            return "A release without labels leaves no set of persons to intersect."
        return None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Candidates of a sample of persons, in all releases and in each."""
        cases = [case, *case.others]
        k = 2 if case.policy is None else case.policy.k
        most = max(len(_whose(c)) * len(_view(c).boxes[1]) for c in cases)
        n_attacks = max(1, int(self.n_attacks * min(1.0, MOST_CELLS / most)))
        chosen, _ = draw_targets(case, n_attacks, rng)
        keys = np.unique(np.concatenate([_whose(c) for c in cases]))
        targets = _whose(case)[chosen.rows]
        few, alone = np.zeros(len(targets)), np.zeros((len(cases), len(targets)))
        step = max(1, AT_ONCE // max(1, len(keys)))
        for begin in range(0, len(targets), step):
            part = slice(begin, begin + step)
            left = np.ones((len(targets[part]), len(keys)), dtype=bool)
            for i, c in enumerate(cases):
                found = _alike(c, _rows_in(case, c, chosen.rows[part]), keys)
                alone[i, part] = found.sum(axis=1) < k
                left &= found
            few[part] = left.sum(axis=1) < k
        n_few = float(np.sum(chosen.best(few)))
        main = Rate(n_few, len(chosen))
        before = Rate(max(float(np.sum(chosen.best(a))) for a in alone), len(chosen))
        return self.result(
            main,
            f"{len(cases)} releases together leave {100 * main.value:.1f} % of the {case.noun} fewer than {k} whom "
            f"they can be taken for; one alone {100 * before.value:.1f} %.",
            baseline=before,
            details={"releases": float(len(cases)), "k": float(k)},
        )


def _unfit(case: TableCase) -> str | None:
    if not case.others:
        return ALONE
    if any(c.layout is not None for c in (case, *case.others)):
        return SLICED
    if not all(_quasi(c) for c in (case, *case.others)):
        return "One of the releases has no quasi-identifier of the original."
    return None


def _quasi(case: TableCase) -> list[str]:
    return [n for n in case.quasi if n in case.published.columns and n in case.original.columns]


def _secrets(case: TableCase) -> list[str]:
    shared = columns_of(case, "sensitive")
    return [n for n in shared if all(n in o.published.columns and n in o.original.columns for o in case.others)]


def _least_values(case: TableCase) -> int:
    """How many values have to stay possible: what the policy requires to differ, or two."""
    asked = [r.least_size for r in case.policy.require if r.is_about_values()] if case.policy is not None else []
    return max(2, *asked) if asked else 2


def _view(case: TableCase) -> View:
    return read_view(case, _quasi(case))


def _whose(case: TableCase) -> Ints:
    """A number for the person of each original record, the same in all releases."""
    if case.known_as is not None:
        return case.known_as
    return np.arange(case.original.n_rows) if case.persons is None else case.persons


def _rows_in(case: TableCase, other: TableCase, rows: Ints) -> Ints:
    """A record of the same person in another release; -1 where it is not in it."""
    found = rows
    if other is not case and case.known_as is not None and other.known_as is not None:
        known, first = np.unique(other.known_as, return_index=True)
        place = np.minimum(np.searchsorted(known, case.known_as[rows]), len(known) - 1)
        found = np.where(known[place] == case.known_as[rows], first[place], -1)
    return found if other.present is None else np.where((found >= 0) & other.present[found], found, -1)


def _numbered(cases: Sequence[TableCase], name: str) -> tuple[list[Ints], Ints, int]:
    """The secret of each published record, in each release, and of each original of the first, by number; how many."""
    columns = [*(c.published[name] for c in cases), cases[0].original[name]]
    texts = [np.array([*said(c), ""], dtype=object) for c in columns]
    number = {text: i for i, text in enumerate(dict.fromkeys(t for part in texts for t in part.tolist()))}
    codes = [
        np.array([number[t] for t in part.tolist()], dtype=np.int64)[np.minimum(c.codes, len(c.values))]
        for part, c in zip(texts, columns, strict=True)
    ]
    return codes[:-1], codes[-1], len(number)


def _possible(case: TableCase, rows: Ints, codes: Ints, n_values: int, people: str = "original") -> Mask:
    """Which secrets are possible of each person; all of one that is not in the release."""
    view = _view(case)
    found = np.ones((len(rows), n_values), dtype=bool)
    there = np.flatnonzero(rows >= 0)
    asked = view.control if people == "control" else view.original
    assert asked is not None
    for part, _, counts in Candidates(view).counts(asked[rows[there]], codes, n_values, cover_only=True):
        found[there[part]] = (counts > 0) | (counts.sum(axis=1) == 0)[:, None]
    return found


def _is_told(possible: Mask, truth: Ints) -> Floats:
    """Whether the true secret alone is possible."""
    own = possible[np.arange(len(truth)), truth]
    return np.asarray(own & (possible.sum(axis=1) == 1), dtype=np.float64)


def _have_controls(case: TableCase) -> bool:
    return all(_view(c).control is not None for c in (case, *case.others)) and case.known_as is None


def _told_of_others(case: TableCase, codes: Sequence[Ints], name: str, others: TableTargets) -> float:
    """For how many who are in no release the secret would be told, and be true."""
    if not _have_controls(case) or case.control is None:
        return 0.0
    cases = [case, *case.others]
    published = {t: i for c, v in zip(cases, codes, strict=True) for t, i in _texts(c, name, v)}
    held = [published.get(t, -1) for t in said(case.control[name])] + [-1]
    truth = np.array(held, dtype=np.int64)[np.minimum(case.control[name].codes, len(held) - 1)][others.rows]
    n_values = max(int(v.max()) for v in codes) + 1
    found = [_possible(c, others.rows, v, n_values, "control") for c, v in zip(cases, codes, strict=True)]
    told = _is_told(np.logical_and.reduce(found), truth) * (truth >= 0)
    return float(np.sum(others.best(told)))


def _texts(case: TableCase, name: str, codes: Ints) -> list[tuple[str, int]]:
    column = case.published[name]
    first = np.unique(column.codes, return_index=True)
    texts = said(column)
    return [(texts[c], int(codes[i])) for c, i in zip(*(a.tolist() for a in first), strict=True) if c < len(texts)]


def _alike(case: TableCase, rows: Ints, keys: Ints) -> Mask:
    """Which persons each of some can be taken for: those whom a box covers that covers the person too."""
    view = _view(case)
    of_all = case.remember("covering boxes", lambda: _covered(view))
    whose = np.searchsorted(keys, _whose(case))
    found = np.ones((len(rows), len(keys)), dtype=bool)
    there = np.flatnonzero(rows >= 0)
    shared = (of_all[rows[there]] @ of_all.T).tocoo()
    found[there] = False
    seen = slice(None) if case.present is None else case.present[shared.col]
    found[there[shared.row[seen]], whose[shared.col[seen]]] = True
    covered = np.zeros(len(there), dtype=bool)
    covered[shared.row] = True
    found[there[~covered]] = True
    return found


def _covered(view: View) -> Any:
    """Which boxes cover each person, as a sparse table of persons and boxes."""
    from scipy.sparse import csr_array, vstack

    first, n_people = view.boxes[1], len(view.original)
    per_column = []
    for place, read in enumerate(view.labels):
        values = view.original.values[place]
        labels = np.repeat(np.arange(read.n_labels), len(values))
        covers = read.covers(labels, np.tile(values, read.n_labels)).reshape(read.n_labels, len(values))
        per_column.append((covers, read.codes[first], view.original.codes[place]))
    parts, step = [], max(1, AT_ONCE // max(1, len(first)))
    for begin in range(0, n_people, step):
        some = np.ones((len(per_column[0][2][begin : begin + step]), len(first)), dtype=bool)
        for covers, of_box, codes in per_column:
            some &= covers[of_box[None, :], codes[begin : begin + step, None]]
        parts.append(csr_array(some.astype(np.int32)))
    return vstack(parts).tocsr()


TABLE_ATTACKS.register(Intersection())
TABLE_ATTACKS.register(IntersectedCandidates())
