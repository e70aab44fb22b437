"""Minimality: a cut that was not made tells that diversity did not allow it.

Mondrian cuts a group wherever size and diversity allow. So whoever has the quasi-identifiers of its members tries, for
every way in which the group's sensitive values can belong to them, whether Mondrian would have cut. Ways in which it
would are ruled out, and a value that a person has in all others is known, though the group holds several.

Where all ways are few (`WHOLE` for the release, `OF_CLASS` for a group), they are all tried, and the beliefs are exact.
A release is tried as a whole, with every cut from the first on; of larger ones some groups that size alone would have
cut are tried, each by itself, which leaves out what the cuts above tell. In large groups ways are drawn at random, and
the group itself counts as one more draw, so that few draws never make anyone sure. Where rows stand for several
records, the groups are taken from `MOST_SPREAD` that are drawn, whose records alone are spread out.

A success is a belief of `SURE` or more in the true value. Control: people who are not in the release, taken for the
member with the same quasi-identifiers. Baseline: what groups tell by themselves.

References
----------
R. C.-W. Wong, A. W.-C. Fu, K. Wang, J. Pei: Minimality attack in privacy preserving data publishing, VLDB 2007.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.attack import ALL_RECORDS, Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.candidates import candidates_of
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import columns_of, read_view
from shoal.attack.tables.homogeneity import Secret, read_secret
from shoal.attack.tables.people import joint_keys, twins_of
from shoal.attack.tables.targets import n_distinct
from shoal.kernels.attack.minimality import is_cut, try_ways
from shoal.kernels.tables.diversity import LimitArrays
from shoal.kernels.tables.mondrian import Space, cut_all, scratch_for
from shoal.kinds.tables.policy import publications
from shoal.tables.encoding import Ranked, rank
from shoal.tables.limits import Limit, limits_on_table
from shoal.tables.partition.mondrian import MONDRIAN, block_arguments

WHOLE = 20_000  # ways of a whole release that are all tried
OF_CLASS = 1_000  # the same of one group; of more, so many are drawn
N_CLASSES = 50  # groups that are tried in a large release
SURE = 0.99
WIDEST = 400  # members of a group that is tried
MOST_SPREAD = 1_000  # groups whose records are spread out


@dataclass(frozen=True)
class Setting:
    """What the attacker has: people by class, and what each published record holds.

    Attributes
    ----------
    ranked : sequence of Ranked
        The quasi-identifiers of all people.
    limits : sequence of Limit
        What was required, with the codes of published records.
    people : int64 array (n_placed,)
        Those whose class is known, class by class.
    rows : int64 array (n_placed,)
        Published records, class by class: those of a class are its people's in an unknown way.
    starts : int64 array (n_classes + 1,)
        Where each class begins in both.
    tuples : int64 array (n_published,)
        The combination of sensitive values of each published record.
    is_sample : bool
        Whether there are more groups than these.
    """

    ranked: Sequence[Ranked]
    limits: Sequence[Limit]
    k: int
    people: Ints
    rows: Ints
    starts: Ints
    tuples: Ints
    is_sample: bool = False

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.starts) - 1

    @cached_property
    def limits_by_person(self) -> list[Limit]:
        """The limits with the codes of published records at the places of people, class by class in some way."""
        made = []
        for limit in self.limits:
            codes = np.zeros(len(self.ranked[0].ranks), dtype=np.int32)
            codes[self.people] = limit.codes[self.rows]
            made.append(replace(limit, codes=codes))
        return made

    def of_class(self, c: int) -> slice:
        """The part of people and rows that is one class."""
        return slice(int(self.starts[c]), int(self.starts[c + 1]))


class Minimality(Attack[TableCase]):
    """Rule out ways of having values in which Mondrian would have cut.

    Parameters
    ----------
    n_classes : int, default 50
        Groups that are tried in a release too large to be tried as a whole.
    """

    name = "minimality"
    place = 190
    title = "reasoning from cuts that were not made"
    knows = "the true quasi-identifiers of all records, the method and its parameters, and this program"
    stopped_by = "a cut that does not look at sensitive values"
    remedy = 'set diversity = "blind"'
    reference = "Wong, Fu, Wang and Pei, VLDB 2007"
    counts_by_weight = True

    def __init__(self, n_classes: int = N_CLASSES) -> None:
        self.n_classes = n_classes

    def missing(self, case: TableCase) -> str | None:
        """Needs groups that Mondrian cut by diversity."""
        if case.policy is None:
            return "How the release was made is not known, so nobody can say what would have been cut."
        method = case.policy.method
        if case.layout is not None or method.partition != MONDRIAN.name or not method.strict or method.effort != "fast":
            return "It is about groups as strict cuts of Mondrian leave them, and these are others."
        if not columns_of(case, "quasi") or not columns_of(case, "sensitive"):
            return "The release has no quasi-identifier of the original, or no sensitive attribute."
        if case.persons is not None:
            return "Groups were cut by persons, and which of those cuts were not made is not worked out."
        if not any(r.is_about_values() for r in case.policy.require):
            return "No diversity was required, so no cut was prevented by it."
        if method.diversity == "blind":
            return "Groups were made without looking at sensitive values, so no single cut was prevented by them."
        if case.rows is None and not publications()[case.publication].has_labels:
            return "Who is in which group cannot be read off its labels; the rows that were kept tell it (--keep rows)."
        if case.is_weighted and case.rows is None:
            return ALL_RECORDS
        return None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Try, and count who is known."""
        setting, spread = spread_setting(case, rng) if case.is_weighted else (setting_of(case), None)
        beliefs = beliefs_of(setting, rng, self.n_classes)
        people = np.concatenate([setting.people[:0], *(setting.people[setting.of_class(c)] for c, _ in beliefs)])
        secrets = columns_of(case, "sensitive")
        twins = twins_of(case, people)
        main = baseline = control = 0
        details = {"classes": float(len(beliefs)), "records": float(len(people))}
        before = after = 0.0
        for name in secrets:
            secret = read_secret(read_view(case, [name]))
            if spread is not None and case.rows is not None:
                secret = replace(secret, codes=secret.codes[spread], original=secret.original[case.rows[spread]])
            now, then = _about(setting, beliefs, secret)
            truth = secret.original[people]
            held = np.maximum(truth, 0)
            at = np.arange(len(people))
            before += float(np.sum(np.where(truth >= 0, then[at, held], 0.0)))
            after += float(np.sum(np.where(truth >= 0, now[at, held], 0.0)))
            main += int(np.sum((now[at, held] >= SURE) & (truth >= 0)))
            baseline += int(np.sum((then[at, held] >= SURE) & (truth >= 0)))
            if secret.control is not None and len(people):
                sure = np.where(now.max(axis=1) >= SURE, now.argmax(axis=1), -1)
                claimed = np.where(twins >= 0, sure[np.maximum(twins, 0)], -1)
                control += int(np.sum((claimed >= 0) & (claimed == secret.control)))
        n_asked = len(people) * len(secrets)
        if n_asked:
            details |= {"belief by the group": before / n_asked, "belief": after / n_asked}
        theirs = None if case.control is None else Rate(control, case.control.n_rows * len(secrets))
        return self.result(
            Rate(main, n_asked),
            f"Of {len(people):,} records in groups that were tried, the secret of {main:,} is known from cuts that "
            f"were not made ({baseline:,} by their groups alone)."
            if len(people)
            else "No group that could be tried was left uncut for the sake of diversity.",
            control=theirs,
            baseline=Rate(baseline, n_asked),
            details=details,
        )


def setting_of(case: TableCase) -> Setting:
    """Put people and published records together, class by class, where it is known who is in which."""
    assert case.policy is not None
    quasi = sorted(columns_of(case, "quasi"))
    classes = read_view(case, columns_of(case, "quasi")).boxes[0]
    own = np.full(case.original.n_rows, -1, dtype=np.int64)
    if case.rows is not None:
        own[case.rows] = classes
    else:
        own = _covering_class(case, classes)
    n_classes = int(classes.max(initial=-1)) + 1
    sizes = np.bincount(classes, minlength=n_classes)
    is_whole = sizes == np.bincount(own[own >= 0], minlength=n_classes)
    names = np.flatnonzero(is_whole & (sizes > 0))
    people = np.flatnonzero((own >= 0) & is_whole[own])
    rows = np.flatnonzero(is_whole[classes])
    secrets = sorted(n for n in case.sensitive if n in case.published.columns)
    return Setting(
        [rank(case.original[n], case.attributes[n]) for n in quasi],
        limits_on_table(case.published, case.policy.require, case.attributes, secrets, case.policy.missing),
        case.policy.k,
        people[np.argsort(own[people], kind="stable")],
        rows[np.argsort(classes[rows], kind="stable")],
        np.append(0, np.cumsum(sizes[names])).astype(np.int64),
        joint_keys([case.published], secrets)[0],
    )


def spread_setting(case: TableCase, rng: np.random.Generator) -> tuple[Setting, Ints]:
    """The records of some groups that could be tried, as a setting of their own, and the published row of each."""
    assert case.policy is not None
    assert case.rows is not None
    assert case.published.weights is not None
    weights, classes = case.published.weights, read_view(case, columns_of(case, "quasi")).boxes[0]
    sizes = n_distinct(classes, None, int(classes.max(initial=-1)) + 1, weights)
    could = np.flatnonzero((sizes >= 2 * case.policy.k) & (sizes <= WIDEST))
    is_chosen = np.zeros(len(sizes), dtype=bool)
    is_chosen[rng.permutation(could)[:MOST_SPREAD]] = True
    rows = np.flatnonzero(is_chosen[classes])
    rows = rows[np.argsort(classes[rows], kind="stable")]
    spread = np.repeat(rows, weights[rows])
    secrets = sorted(n for n in case.sensitive if n in case.published.columns)
    limits = limits_on_table(case.published, case.policy.require, case.attributes, secrets, case.policy.missing)
    everyone = np.arange(len(spread))
    setting = Setting(
        [rank(case.original[n], case.attributes[n]).take(case.rows[spread]) for n in sorted(columns_of(case, "quasi"))],
        [replace(limit.of_rows(spread), weights=None) for limit in limits],
        case.policy.k,
        everyone,
        everyone,
        np.append(0, np.cumsum(sizes[is_chosen])).astype(np.int64),
        joint_keys([case.published], secrets)[0][spread],
        is_sample=True,
    )
    return setting, spread


def _covering_class(case: TableCase, classes: Ints) -> Ints:
    """The one class whose labels cover each person, -1 where there are several."""
    view = read_view(case, columns_of(case, "quasi"))
    n_classes = int(classes.max(initial=-1)) + 1
    own = np.full(len(view.original), -1, dtype=np.int64)
    asked = candidates_of(case, columns_of(case, "quasi"))
    for part, _, counts in asked.counts(view.original[:], classes, n_classes, cover_only=True):
        there = counts > 0
        own[part] = np.where(there.sum(axis=1) == 1, there.argmax(axis=1), -1)
    return own


def beliefs_of(setting: Setting, rng: np.random.Generator, n_classes: int = N_CLASSES) -> list[tuple[int, Floats]]:
    """For some classes, the chance that each of its people has what each of its published records holds.

    An array of n x n for a class of n, in the order of the setting; its rows add up to 1.
    """
    sizes = np.diff(setting.starts)
    is_whole = not setting.is_sample and len(setting.people) == len(setting.ranked[0].ranks)
    if is_whole and _has_few_ways(setting):
        return _whole(setting)
    could = rng.permutation(np.flatnonzero((sizes >= 2 * setting.k) & (sizes <= WIDEST))).tolist()
    space, arrays, *_ = block_arguments(setting.ranked, None, setting.k, setting.limits_by_person, True)
    assert arrays is not None
    chosen = itertools.islice((c for c in could if _is_cut_by_size(setting, c, space, arrays)), n_classes)
    return [(c, _of_class(setting, c, space, arrays, rng)) for c in sorted(chosen)]


def _has_few_ways(setting: Setting) -> bool:
    """Whether all ways of the release are so few that each can be tried."""
    product = 1
    for c in range(setting.n_classes):
        product *= _ways(setting.tuples[setting.rows[setting.of_class(c)]])
        if product > WHOLE:
            return False
    return True


def _whole(setting: Setting) -> list[tuple[int, Floats]]:
    """Try every way of the whole release, and keep those that give its very groups."""
    space, arrays, k, strict = block_arguments(setting.ranked, None, setting.k, setting.limits_by_person, True)
    assert arrays is not None
    place = np.repeat(np.arange(setting.n_classes), np.diff(setting.starts))[np.argsort(setting.people)]
    parts = [setting.of_class(c) for c in range(setting.n_classes)]
    ways = [_arrangements(setting.tuples[setting.rows[part]]) for part in parts]
    counts = [np.zeros((w.shape[1], w.shape[1])) for w in ways]
    at = np.argsort(setting.people)
    for chosen in itertools.product(*ways):
        order = np.concatenate([part.start + way for part, way in zip(parts, chosen, strict=True)])
        # Codes of the arrays are those of `rows` in the order of people; `order` says whose stand where.
        codes = np.ascontiguousarray(arrays.codes[:, setting.people[order]][:, at])
        rows, ends = cut_all(space, arrays._replace(codes=codes), k, strict, 0)
        if len(ends) == setting.n_classes and np.all(np.isin(np.flatnonzero(np.diff(place[rows])), ends - 1)):
            for count, way in zip(counts, chosen, strict=True):
                count[np.arange(len(way)), way] += 1
    if not counts[0].any():  # the release was made in another way: groups alone tell
        return [(c, np.full(count.shape, 1 / len(count))) for c, count in enumerate(counts)]
    return [(c, _spread(count, setting.tuples[setting.rows[parts[c]]])) for c, count in enumerate(counts)]


def _is_cut_by_size(setting: Setting, c: int, space: Space, arrays: LimitArrays) -> bool:
    """Whether a class would be cut if nothing but size mattered: else the cuts that were not made tell nothing."""
    people = setting.people[setting.of_class(c)].astype(np.int32)
    return is_cut(space, arrays, setting.k, people)


def _of_class(setting: Setting, c: int, space: Space, arrays: LimitArrays, rng: np.random.Generator) -> Floats:
    """Try ways of one class, and keep those in which it would not be cut."""
    part = setting.of_class(c)
    people, tuples = setting.people[part].astype(np.int32), setting.tuples[setting.rows[part]]
    n = len(people)
    is_exact = _ways(tuples) <= OF_CLASS
    ways = _arrangements(tuples) if is_exact else rng.permuted(np.tile(np.arange(n), (OF_CLASS, 1)), axis=1)
    is_uncut = np.empty(len(ways), dtype=bool)
    codes = np.ascontiguousarray(arrays.codes[:, people])
    try_ways(space, arrays, setting.k, people, codes, ways, scratch_for(space, arrays, n), is_uncut)
    places = np.arange(n) * n + ways[is_uncut]
    count = np.bincount(places.ravel(), minlength=n * n).reshape(n, n).astype(np.float64)
    if not is_exact or not count.any():
        count += 1 / n
    return _spread(count, tuples)


def _ways(tuples: Ints) -> int:
    """In how many different ways the records can belong to people."""
    return math.factorial(len(tuples)) // math.prod(map(math.factorial, np.unique(tuples, return_counts=True)[1]))


def _arrangements(tuples: Ints) -> Ints:
    """Every different way: for each person the place of a record; of equal records the first ones come first."""
    _, kinds, counts = np.unique(tuples, return_inverse=True, return_counts=True)
    begins = np.cumsum(counts) - counts
    places = np.argsort(kinds, kind="stable")
    ways, used = np.zeros((1, 0), dtype=np.int64), np.zeros((1, len(counts)), dtype=np.int64)
    for _ in range(len(tuples)):
        way, kind = np.nonzero(used < counts)
        ways = np.column_stack([ways[way], places[begins[kind] + used[way, kind]]])
        used = used[way]
        used[np.arange(len(way)), kind] += 1
    return ways


def _spread(count: Floats, tuples: Ints) -> Floats:
    """Chances from counts, those of equal records shared among them."""
    _, kinds = np.unique(tuples, return_inverse=True)
    same = (kinds[:, None] == kinds[None, :]).astype(np.float64)
    shared = count @ same / same.sum(axis=0)
    return np.asarray(shared / shared.sum(axis=1, keepdims=True))


def _about(setting: Setting, beliefs: Sequence[tuple[int, Floats]], secret: Secret) -> tuple[Floats, Floats]:
    """What is believed of a secret, value by value, of the people of all classes; and what their groups alone tell."""
    now, then = [np.zeros((0, secret.n_values))], [np.zeros((0, secret.n_values))]
    for c, chances in beliefs:
        values = np.zeros((len(chances), secret.n_values))
        values[np.arange(len(chances)), secret.codes[setting.rows[setting.of_class(c)]]] = 1.0
        now.append(chances @ values)
        then.append(np.repeat(values.mean(axis=0, keepdims=True), len(chances), axis=0))
    return np.concatenate(now), np.concatenate(then)


TABLE_ATTACKS.register(Minimality())
