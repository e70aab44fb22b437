"""Finding a person by what is known of it in each of several linked tables.

Pseudonyms tie all rows of a person together, so whoever knows something of a person in several tables looks for the
pseudonyms that fit all of it: how many rows there are in each table, and of some of these rows what stands in them. A
known row fits a pseudonym if one of its rows has labels that cover the true quasi-identifiers and, for the second
attacker, the same cells in all columns that are published as they are, the sensitive ones apart, and as many days since
the row before it where dates were moved. In tables with quasi-identifiers rows may have been left out: there a
pseudonym may have fewer than are known, and days between rows are not compared.

Where m pseudonyms fit, a guess among them is right once in m times, if that of the person is among them. Others have no
pseudonym, so there is no control; for how many of them somebody is found by mistake stands in the details. Baseline:
one pseudonym of all.

The third attacker wants a sensitive value of the person, and takes the one that most of the pseudonyms have that fit
(all, if none does). A guess is right if a row of the person, drawn at random, has it. Control: others, of whom as much
is known. Baseline: the value that most pseudonyms have.

References
----------
B. Malin, L. Sweeney, "How (not) to protect genomic data privacy in a distributed network: using trail
re-identification", Journal of Biomedical Informatics 37, 2004; A. Narayanan, V. Shmatikov, "Robust de-anonymization of
large sparse datasets", IEEE S&P 2008, for some rows of a history.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from shoal.arrays import Floats, Ints, Mask
from shoal.attack.attack import Attack
from shoal.attack.linked.case import LINKED_ATTACKS, LinkedCase
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.cells import People, View, read_view
from shoal.attack.tables.people import joint_keys
from shoal.check.finding import KNOWN_HISTORY
from shoal.check.slices.sliced import numbered
from shoal.check.tables.shift import days_of
from shoal.data.linked.linked import Linked
from shoal.data.ragged import ragged_places

_SECONDS = 86_400
FIRST, UNDATED = -1, -2


@dataclass(frozen=True)
class KnownRows(Attack[LinkedCase]):
    """By some rows in each table, with all that stands in them but what is sensitive.

    Attributes
    ----------
    n_known : int, optional
        Rows of each table that are known of a person, at most; by default all.
    n_attacks : int, default 500
        Persons attacked.
    """

    n_known: int | None = 2
    n_attacks: int = 500

    name = "linked-rows"
    place = 20
    title = "finding a person by some rows of each table"
    knows = (
        "how many rows a person has in each table and two of them, with all that is not sensitive and the days since "
        "the row before"
    )
    stopped_by = "k-anonymity over all tables, as far as columns are quasi-identifying; others are not made alike"
    remedy = "give columns that are published as they are another role (quasi or identifying), or leave a table out"
    reference = "Malin and Sweeney 2004; Narayanan and Shmatikov, IEEE S&P 2008"
    accepted_as = KNOWN_HISTORY
    knows_kept: ClassVar[bool] = True

    def missing(self, case: LinkedCase) -> str | None:
        """Needs the owner's knowledge of whose pseudonyms are."""
        if case.own is None:
            return "It is not known whose pseudonyms are, so it cannot be counted who was found; keep the rows."
        return None

    def run(self, case: LinkedCase, rng: np.random.Generator) -> AttackResult:
        """Look for a sample of the persons."""
        assert case.own is not None
        tables = self._tables(case)
        reached, left = [], []
        for target, fits in self._fitting(case.original, tables, rng, is_other=False):
            n_left, own = int(np.count_nonzero(fits)), case.own[target]
            reached.append(1 / n_left if own >= 0 and fits[own] else 0.0)
            left += [n_left] if n_left else []
        main = Rate(sum(reached), len(reached))
        median = float(np.median(left)) if left else 0.0
        details = {"median_left": median, "alone": float(np.mean(np.array(left) == 1)) if left else 0.0}
        if case.control is not None:
            mistaken = [int(f.sum()) for _, f in self._fitting(case.control, tables, rng, is_other=True)]
            details["found of others"] = float(np.mean([1 / n if n else 0.0 for n in mistaken]))
        return self.result(
            main,
            f"{100 * main.value:.1f} % of {main.attempts:,} persons are found by their pseudonyms; where some fit, "
            f"half of them leave {'nobody else' if median == 1 else f'{median:,.0f} or more to guess among'}.",
            baseline=Rate(main.attempts / max(1, len(case.published)), main.attempts),
            details=details,
            columns=[column for table in tables for column in table.columns],
            admitted=1 / case.k,
        )

    def _tables(self, case: LinkedCase) -> list[_Asked]:
        return [_Asked.of(case, name, knows_kept=self.knows_kept) for name in case.published.tables]

    def _fitting(
        self, people: Linked, tables: list[_Asked], rng: np.random.Generator, *, is_other: bool
    ) -> Iterator[tuple[int, Mask]]:
        """Some persons, and which pseudonyms fit what is known of each."""
        rows = [_rows_of(people.persons[name], len(people)) for name in people.tables]
        for target in rng.permutation(len(people))[: self.n_attacks].tolist():
            fits = np.ones(len(tables[0].counts), dtype=bool)
            for table, (order, starts) in zip(tables, rows, strict=True):
                if table.view is None and not self.knows_kept:
                    continue
                theirs = order[starts[target] : starts[target + 1]]
                fits &= table.fits_number(len(theirs))
                fits = table.fits_rows(rng.permutation(theirs)[: self.n_known].tolist(), fits, is_other=is_other)
            yield target, fits


@dataclass(frozen=True)
class KnownQuasi(KnownRows):
    """By the quasi-identifiers of all rows, which are made alike."""

    n_known: int | None = None

    name = "linked-quasi"
    place = 10
    title = "finding a person by quasi-identifiers of all tables"
    knows = "the true quasi-identifiers of all rows of a person in all tables, and how many such rows there are"
    stopped_by = "k-anonymity over all tables together: at most one in k is found"
    remedy = "raise k"
    reference = "Malin and Sweeney 2004"
    accepted_as = ""
    knows_kept = False


class KnownSecret(KnownRows):
    """A sensitive value, by some rows in each table."""

    name = "linked-secret"
    place = 30
    title = "guessing a secret by some rows of each table"
    needs_others = True
    stopped_by = "l-diversity and t-closeness, as far as columns are quasi-identifying; others are not made alike"
    remedy = "give columns that are published as they are another role, or require l-diversity or t-closeness"
    reference = "Malin and Sweeney 2004; Giomi et al., PoPETs 2023(2), for the way of counting"

    def missing(self, case: LinkedCase) -> str | None:
        """Needs secrets, and others to compare with."""
        if not self._secrets(case):
            return "No sensitive attribute is published, so there is nothing to infer."
        return None

    def _secrets(self, case: LinkedCase) -> list[tuple[str, str]]:
        return [(name, column) for name in case.published.tables for column in case.names(name, "sensitive")]

    def run(self, case: LinkedCase, rng: np.random.Generator) -> AttackResult:
        """Guess the secrets of a sample of persons, and of others."""
        tables = self._tables(case)
        secrets = [_Secret.of(case, name, column) for name, column in self._secrets(case)]
        sides = [(case.original, False), *([] if case.control is None else [(case.control, True)])]
        right: list[dict[str, list[tuple[bool, bool]]]] = [{s.name: [] for s in secrets} for _ in sides]
        for found, (people, is_other) in zip(right, sides, strict=True):
            rows = [_rows_of(people.persons[s.table], len(people)) for s in secrets]
            for target, fits in self._fitting(people, tables, rng, is_other=is_other):
                for secret, (order, starts) in zip(secrets, rows, strict=True):
                    theirs = order[starts[target] : starts[target + 1]]
                    if len(theirs):
                        truth = secret.values[is_other][rng.choice(theirs)]
                        found[secret.name].append((secret.guess(fits) == truth, secret.usual == truth))
        main, *control = (_rate([hit for hits in found.values() for hit, _ in hits]) for found in right)
        usually = _rate([usual for hits in right[0].values() for _, usual in hits])
        worst = max(right[0], key=lambda name: np.mean([hit for hit, _ in right[0][name]] or [False]))
        return self.result(
            main,
            f"{100 * main.value:.1f} % of the guesses at {'a secret' if len(secrets) == 1 else 'secrets'} of persons "
            "in the release are right"
            + (
                f", and {100 * control[0].value:.1f} % for others."
                if control
                else f" ({100 * usually.value:.1f} % by always taking the most frequent value)."
            ),
            control=control[0] if control else None,
            baseline=usually,
            columns=(worst,),
        )


@dataclass(frozen=True)
class _Secret:
    """A sensitive column, ready to be guessed at.

    Attributes
    ----------
    whose, held : int64 arrays
        All pairs of a pseudonym and a value that it has, each once.
    values : pair of int64 arrays
        What each original row has, and each row of others.
    totals : int64 array
        How many pseudonyms have each value.
    """

    table: str
    name: str
    whose: Ints
    held: Ints
    values: tuple[Ints, Ints]
    totals: Ints

    @classmethod
    def of(cls, case: LinkedCase, table: str, column: str) -> _Secret:
        """Read a column of all sides."""
        sides = [case.published, case.original, *([] if case.control is None else [case.control])]
        shown, ours, *others = joint_keys([side.tables[table] for side in sides], [column])
        n_values = 1 + max(int(ids.max(initial=0)) for ids in (shown, ours, *others))
        pairs = np.unique(case.published.persons[table] * n_values + shown)
        whose, held = np.divmod(pairs, n_values)
        values = (ours, others[0] if others else ours[:0])
        return cls(table, f"{table}.{column}", whose, held, values, np.bincount(held, minlength=n_values))

    @property
    def usual(self) -> int:
        """What most pseudonyms have."""
        return int(np.argmax(self.totals))

    def guess(self, fits: Mask) -> int:
        """What most of the pseudonyms have that fit; of equally frequent values the one that most of all have."""
        counts = np.bincount(self.held[fits[self.whose]], minlength=len(self.totals))
        return int(np.argmax(counts + self.totals / (self.totals.sum() + 1.0)))


def _rate(hits: Sequence[bool]) -> Rate:
    return Rate(float(np.sum(hits)), len(hits))


@dataclass(frozen=True)
class _Asked:
    """A published table, ready to be asked whose rows fit a known one.

    Attributes
    ----------
    columns : tuple of str
        What is compared, with the table's name.
    view : View, optional
        Of the quasi-identifiers; None where there are none.
    order, starts : int64 arrays
        The published rows by their other cells, and where those of each number of such begin.
    own_keys, keys : int64 array, pair of int64 arrays
        This number of each published row; of each original row, and of each row of others.
    shown : int64 array (n_published,)
        Whose each row is.
    counts : int64 array (n_pseudonyms,)
        Rows of each.
    """

    columns: tuple[str, ...]
    view: View | None
    order: Ints
    starts: Ints
    own_keys: Ints
    keys: tuple[Ints, Ints]
    shown: Ints
    counts: Ints

    @classmethod
    def of(cls, case: LinkedCase, name: str, *, knows_kept: bool) -> _Asked:
        """Read one of the tables, of the originals and of others too."""
        quasi = case.names(name, "quasi")
        sides = [case.published, case.original, *([] if case.control is None else [case.control])]
        tables = [side.tables[name] for side in sides]
        kept = [n for n in case.names(name, "insensitive") if all(n in t.columns for t in tables)] if knows_kept else []
        moved = list(case.shifted[name]) if knows_kept and not quasi else []
        codes = [np.concatenate(joint_keys(tables, kept))] if kept else []
        for column in moved:
            gaps = [_gaps(s.persons[name], days_of(s.tables[name], [column], case.markers).get(column)) for s in sides]
            codes.append(np.unique(np.concatenate(gaps), return_inverse=True)[1])
        sizes = np.cumsum([t.n_rows for t in tables])
        ids = numbered(codes)[0] if codes else np.zeros(int(sizes[-1]), dtype=np.int64)
        shown, ours, *others = np.split(ids, sizes[:-1])
        order = np.argsort(shown, kind="stable")
        starts = np.searchsorted(shown[order], np.arange(int(ids.max(initial=0)) + 2))
        whose = case.published.persons[name]
        return cls(
            tuple(f"{name}.{n}" for n in (*quasi, *kept, *moved)),
            read_view(case.as_table(name), quasi) if quasi and tables[0].n_rows else None,
            order,
            starts.astype(np.int64),
            shown,
            (ours, others[0] if others else ours[:0]),
            whose,
            np.bincount(whose, minlength=len(case.published)).astype(np.int64),
        )

    def fits_number(self, n_rows: int) -> Mask:
        """Which pseudonyms may have so many rows."""
        return np.asarray(self.counts == n_rows if self.view is None else self.counts <= n_rows)

    def fits_rows(self, known: Sequence[int], fits: Mask, *, is_other: bool) -> Mask:
        """Which of some pseudonyms have, for each of these original rows, or rows of others, one that it may be."""
        left: Ints | None = None  # rows of the pseudonyms that still fit
        for row in known:
            key = self.keys[is_other][row]
            rows = self.order[self.starts[key] : self.starts[key + 1]]
            if left is not None and len(left) < len(rows):
                rows = left[self.own_keys[left] == key]
            if self.view is not None and len(rows):
                people = self.view.control if is_other else self.view.original
                assert people is not None
                rows = self._covering(people, row, rows)
            has_one = np.zeros(len(self.counts), dtype=bool)
            has_one[self.shown[rows]] = True
            fits = fits & has_one
            left = self._rows_that_fit(fits) if left is None else left[fits[self.shown[left]]]
        return fits

    def _rows_that_fit(self, fits: Mask) -> Ints:
        """All rows of some pseudonyms."""
        order, starts = self._by_pseudonym
        return order[ragged_places(starts, np.flatnonzero(fits))[0]]

    @cached_property
    def _by_pseudonym(self) -> tuple[Ints, Ints]:
        return _rows_of(self.shown, len(self.counts))

    def _covering(self, people: People, row: int, rows: Ints) -> Ints:
        """Which published rows have labels that cover what a row of people has."""
        assert self.view is not None
        box, first = self.view.boxes
        asked = rows if len(rows) < len(first) else first
        covered = np.ones(len(asked), dtype=bool)
        for place, read in enumerate(self.view.labels):
            codes, is_few = read.codes[asked], len(asked) < read.n_labels
            labels: Ints = codes.astype(np.int64) if is_few else np.arange(read.n_labels, dtype=np.int64)
            value: Floats = np.full(len(labels), people[row : row + 1, place][0])
            covered &= read.covers(labels, value) if is_few else read.covers(labels, value)[codes]
        return np.asarray(rows[covered if asked is rows else covered[box[rows]]])


def _rows_of(persons: Ints, n_persons: int) -> tuple[Ints, Ints]:
    """The rows of each person beside each other, and where they begin; those of nobody known come before all."""
    order = np.argsort(persons, kind="stable")
    return order, np.searchsorted(persons[order], np.arange(n_persons + 1)).astype(np.int64)


def _gaps(persons: Ints, days: Floats | None) -> Ints:
    """Seconds since the row before it of the same person."""
    gaps = np.full(len(persons), UNDATED, dtype=np.int64)
    if days is None:
        return gaps
    there = np.flatnonzero(~np.isnan(days))
    order = there[np.lexsort((days[there], persons[there]))]
    since = np.round(np.diff(days[order], prepend=0.0) * _SECONDS).astype(np.int64)
    is_first = np.diff(persons[order], prepend=-2) != 0
    gaps[order] = np.where(is_first, FIRST, since)
    return gaps


LINKED_ATTACKS.register(KnownQuasi())
LINKED_ATTACKS.register(KnownRows())
LINKED_ATTACKS.register(KnownSecret())
