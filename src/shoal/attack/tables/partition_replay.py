"""Partition replay: repeat the partition from quasi-identifiers alone, and solve for the values of single people.

Methods take records of equal quasi-identifiers as they come. Up to version 0.1.0 they came sorted by the columns that
are kept, sensitive ones among them. The attacker has everybody's quasi-identifiers and this program, so
1. the partition is made again, and its groups are found in the release by their labels and sizes. Whatever the order
   of equals was, this tells how many people of each combination stand in each group;
2. if equals were sorted, those at earlier places have no greater values than those at later ones, also where a
   partition parted them. Every group says which values its members have together. Both are used to narrow the values
   of each place, in turn, until nothing changes;
3. where a group cannot be filled in that way, equals were not sorted so, and what is left is what the group itself
   tells: a value that all its records share.

A success is a person whose combination nobody else has, and whose true value is the only one left. Control: people who
are not in the release, taken for the member with the same quasi-identifiers. Baseline: what groups tell by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.attack.attack import ALL_RECORDS, Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import columns_of, read_view
from shoal.attack.tables.homogeneity import read_secret
from shoal.attack.tables.people import joint_keys, twins_of
from shoal.attack.tables.targets import by_person, n_distinct
from shoal.check.slices.sliced import numbered
from shoal.data.tables.table import row_keys
from shoal.errors import ShoalError
from shoal.kernels.attack.order import tighten
from shoal.kinds.tables.policy import ColumnPolicy, Policy, publications
from shoal.models.k_anonymity import KAnonymity
from shoal.tables.anonymize import anonymize_table
from shoal.tables.blind import rungs
from shoal.tables.record_order import secret_order

FEW = 20_000  # records whose partition every release repeats
MOST = 500  # members of a class that is solved; of larger ones nothing is concluded
ROUNDS = 100
SEED = 0  # any: groups hold the same combinations of quasi-identifiers whatever the order of equals


@dataclass(frozen=True)
class Replay:
    """The partition made again; places are those of people sorted by quasi-identifiers.

    Attributes
    ----------
    people : int64 array (n_places,)
        Somebody with the quasi-identifiers of each place: of equals it is not known who.
    runs : int64 array (n_places,)
        The combination of quasi-identifiers, ascending.
    classes : int64 array (n_places,)
        The published class of each place, -1 where none was found.
    published : int64 array (n_published,)
        The class of each published record.
    """

    people: Ints
    runs: Ints
    classes: Ints
    published: Ints

    @property
    def parted(self) -> Mask:
        """Which places are of a combination that stands in several classes."""
        there = np.flatnonzero(self.classes >= 0)
        first = np.full(int(self.runs.max(initial=-1)) + 1, -1, dtype=np.int64)
        first[self.runs[there]] = self.classes[there]
        is_other = there[self.classes[there] != first[self.runs[there]]]
        is_parted = np.zeros(len(first), dtype=bool)
        is_parted[self.runs[is_other]] = True
        return np.asarray(is_parted[self.runs])

    def alone(self, persons: Ints | None, weights: Codes | None = None) -> Mask:
        """Whose combination nobody else has: no other record, or no other person."""
        owners = None if persons is None else persons[self.people]
        n_records = None if weights is None else weights[self.people]
        n_runs = int(self.runs.max(initial=-1)) + 1
        return np.asarray(n_distinct(self.runs, owners, n_runs, n_records)[self.runs] == 1)


@dataclass(frozen=True)
class PartitionReplay(Attack[TableCase]):
    """Repeat the partition, and take equals for sorted by what they have.

    Attributes
    ----------
    repeats : bool
        Whether the partition is repeated at any cost. Else, where the owner says whose each published record is, and no
        group parts equals from each other, nothing is: who is alike stands together, whatever the order was. Where some
        are parted, it is repeated for no more than `FEW` records.
    """

    repeats: bool = True

    name = "partition-replay"
    place = 180
    title = "repeating the partition to tell equals apart"
    knows = "the true quasi-identifiers of all records, the method and its parameters, and this program"
    stopped_by = "a secret order of equal quasi-identifiers, which releases by versions after 0.1.0 have"
    remedy = "make the release again with this version, and keep the seed secret or give none"
    reference = "Shoal's own"
    counts_by_weight = True

    def missing(self, case: TableCase) -> str | None:
        """Needs classes, a secret, and a partition to repeat."""
        if case.policy is None:
            return "How the release was made is not known, so the partition cannot be repeated."
        if case.layout is not None:
            return "A table in slices has no classes whose members could be told apart."
        if not publications()[case.publication].rows_are_records:
            return "Pseudo-records are drawn at random, so groups cannot be found in them."
        if not columns_of(case, "quasi"):
            return "The release has no quasi-identifier of the original."
        if not columns_of(case, "sensitive"):
            return "No sensitive attribute is published, so there is nothing to solve for."
        is_parted = not (self.repeats and not case.is_weighted) and (case.rows is None or placed(case).parted.any())
        if is_parted and case.is_weighted:
            return ALL_RECORDS
        if is_parted and case.original.n_rows > FEW:
            return "Repeating the partition takes as long as making the release; shoal attack does it."
        return None

    def in_release(self) -> PartitionReplay:
        """Without repeating what nothing can be learned from."""
        return replace(self, repeats=False)

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Repeat, solve, and count who is known."""
        is_placed = (not self.repeats or case.is_weighted) and case.rows is not None and not placed(case).parted.any()
        replay = placed(case) if is_placed else replayed(case)
        kept = sorted(set(case.published.names) - set(columns_of(case, "quasi")))
        is_sorted, values, lower, upper = True, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
        if not is_placed:
            values = row_keys([case.published[n] for n in kept])
            lower, upper = (np.zeros(len(replay.runs), np.int64), np.full(len(replay.runs), int(values.max(initial=0))))
            is_sorted = solve(replay, values, lower, upper)
            if not is_sorted:
                lower[:], upper[:] = 0, int(values.max(initial=0))
        alone = np.flatnonzero(replay.alone(case.persons, case.original.weights))
        owners = None if case.persons is None else case.persons[replay.people[alone]]
        reached = partial(by_person, persons=owners, history=case.knows_history)
        secrets = columns_of(case, "sensitive")
        twins = twins_of(case, replay.people[alone])
        main = control = baseline = 0.0
        details = {
            "alone": float(len(alone)),
            "aligned": float(np.average(replay.classes >= 0, weights=_records(case, replay.people))),
            "sorted": float(is_sorted),
        }
        n_wrong = 0
        for name in secrets:
            secret = read_secret(read_view(case, [name]))
            truth = secret.original[replay.people[alone]]
            told = _shared(replay, secret.codes)[alone]
            known = told if is_placed else _determined(replay, values, secret.codes, lower, upper)[alone]
            n_right = float(np.sum(reached((known >= 0) & (known == truth))))
            details[f"{name}: known"] = n_right
            main += n_right
            n_wrong += int(np.sum((known >= 0) & (known != truth)))
            baseline += float(np.sum(reached((told >= 0) & (told == truth))))
            if secret.control is not None:
                claimed = np.where(twins >= 0, known[np.maximum(twins, 0)] if len(known) else -1, -1)
                won = (claimed >= 0) & (claimed == secret.control)
                control += float(np.sum(by_person(won, case.control_persons, history=case.knows_history)))
        details["wrong"] = float(n_wrong)
        n_alone = len(reached(np.zeros(len(alone))))
        ours = Rate(main, n_alone * len(secrets))
        n_others = 0 if case.control is None else len(by_person(twins >= 0, case.control_persons, history=False))
        theirs = None if case.control is None else Rate(control, n_others * len(secrets))
        told_alone = Rate(baseline, ours.attempts)
        return self.result(
            ours,
            f"Whoever repeats the partition knows the secret of {main:,.0f} of {n_alone:,} {case.noun} whose "
            f"quasi-identifiers no other has ({baseline:,.0f} by their groups alone)"
            + (
                "; records of equal quasi-identifiers stand in groups as if sorted by what was kept."
                if is_sorted and main > baseline
                else "; the order of equals tells nothing."
            ),
            control=theirs,
            baseline=told_alone,
            details=details,
        )


def _records(case: TableCase, people: Ints) -> Codes | None:
    return None if case.original.weights is None else case.original.weights[people]


def placed(case: TableCase) -> Replay:
    """Everybody in the class that the owner knows, which tells nothing of the order of those who are parted."""
    return cast(Replay, case.remember("placed", lambda: _placed(case)))


def _placed(case: TableCase) -> Replay:
    view = read_view(case, columns_of(case, "quasi"))
    runs = numbered(view.original.codes)[0]
    classes = np.full(case.original.n_rows, -1, dtype=np.int64)
    classes[case.rows] = view.boxes[0]
    return Replay(np.arange(len(runs)), runs, classes, view.boxes[0])


def replayed(case: TableCase) -> Replay:
    """Make the partition again from quasi-identifiers alone, and find its groups in the release."""
    assert case.policy is not None
    quasi = sorted(columns_of(case, "quasi"))
    known = case.original.select(quasi)
    order = secret_order(known, quasi, quasi, SEED)
    runs = row_keys([c.take(order) for c in known.select(quasi).columns.values()])
    published = joint_keys([case.published], quasi)[0]
    classes = np.full(case.original.n_rows, -1, dtype=np.int64)
    try:
        made = anonymize_table(known, _policy_of(case, quasi, published), seed=SEED)
    except ShoalError:  # nothing like it can be made from this original
        return Replay(order.astype(np.int64), runs, classes[order], published)
    again, published = joint_keys([made.table, case.published], quasi)
    n_keys = int(max(again.max(initial=-1), published.max(initial=-1))) + 1
    is_found = np.bincount(again, minlength=n_keys) == np.bincount(published, minlength=n_keys)
    classes[made.rows] = np.where(is_found[again], again, -1)
    return Replay(order.astype(np.int64), runs, classes[order], published)


def _policy_of(case: TableCase, quasi: Sequence[str], classes: Ints) -> Policy:
    """What was asked, without what is asked of sensitive values."""
    assert case.policy is not None
    k = case.policy.k
    if case.policy.method.diversity == "blind":  # which size was taken is told by the smallest class
        smallest = int(np.bincount(classes).min(initial=case.original.n_rows))
        k = max([k, *(size for size in rungs(k, case.original.n_rows) if size <= smallest)])
    columns = {}
    for name in quasi:
        a = case.attributes[name]
        columns[name] = ColumnPolicy(role="quasi", type=a.type, order=a.order, hierarchy=a.hierarchy)
    return Policy(
        columns=columns,
        missing=case.policy.missing,
        missing_markers=case.policy.missing_markers,
        require=(KAnonymity(k=k),),
        method=case.policy.method,
    )


def solve(replay: Replay, values: Ints, lower: Ints, upper: Ints) -> bool:
    """Narrow the values of each place, if equals were sorted by them; False if they cannot have been.

    Parameters
    ----------
    values : int64 array (n_published,)
        What each published record has, as a number that ascends as records were sorted.
    lower, upper : int64 arrays (n_places,)
        Bounds of each place, changed in place; sound as far as they were narrowed.
    """
    # Only in classes that parted equals stand in is there anything to narrow beyond what the class itself tells.
    is_touched = np.isin(replay.classes, replay.classes[replay.parted])
    members = np.flatnonzero((replay.classes >= 0) & is_touched)
    members = members[np.argsort(replay.classes[members], kind="stable")].astype(np.int64)
    names, starts = np.unique(replay.classes[members], return_index=True)
    rows = np.flatnonzero(np.isin(replay.published, names))
    held = values[rows[np.lexsort((values[rows], replay.published[rows]))]]
    ends = np.append(starts, len(members)).astype(np.int64)
    step = replay.runs * (int(values.max(initial=0)) + 1)
    for _ in range(ROUNDS):
        before = lower.copy(), upper.copy()
        if not tighten(ends, members, held, lower, upper, MOST):
            return False
        lower[:] = np.maximum.accumulate(lower + step) - step
        upper[:] = np.minimum.accumulate((upper + step)[::-1])[::-1] - step
        if np.any(lower > upper):
            return False
        if np.array_equal(before[0], lower) and np.array_equal(before[1], upper):
            break
    return True


def _shared(replay: Replay, codes: Ints) -> Ints:
    """The secret of each place that all records of its class share; else -1."""
    one = np.full(int(max(replay.published.max(initial=-1), replay.classes.max(initial=-1))) + 2, -1, dtype=np.int64)
    one[replay.published] = codes
    one[replay.published[codes != one[replay.published]]] = -1
    return one[replay.classes]  # class -1 finds the last entry, which is none


def _determined(replay: Replay, values: Ints, codes: Ints, lower: Ints, upper: Ints) -> Ints:
    """The secret of each place, where all values left for it go with one; else -1."""
    rows = np.lexsort((values, replay.published))
    width = int(values.max(initial=0)) + 1
    keys = replay.published[rows] * width + values[rows]
    classes = np.maximum(replay.classes, 0)
    first = np.searchsorted(keys, classes * width + lower, side="left")
    last = np.searchsorted(keys, classes * width + upper, side="right")
    sorted_codes = codes[rows]
    changes = np.cumsum(np.append(0, sorted_codes[1:] != sorted_codes[:-1]))
    some = (replay.classes >= 0) & (first < last)
    at, end = np.minimum(first, len(rows) - 1), np.clip(last - 1, 0, len(rows) - 1)
    return np.where(some & (changes[at] == changes[end]), sorted_codes[at], -1).astype(np.int64)


TABLE_ATTACKS.register(PartitionReplay())
