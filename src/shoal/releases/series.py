"""One release in a series: what was published about whom before decides who stands with whom now."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints, Mask
from shoal.data.ledger import Digests, Labels, Ledger, hash_persons, hash_values, said
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.releases.carry import CarriedBoxes, carry
from shoal.releases.exchange import exchanged
from shoal.releases.invariance import Buckets, fill_by_panel
from shoal.secrets import KEY_BYTES
from shoal.tables.history import person_vectors
from shoal.tables.information_loss import width_points
from shoal.tables.persons import by_appearance
from shoal.tables.recoding import RecodedGroups

if TYPE_CHECKING:
    from shoal.kinds.tables.policy import Policy
    from shoal.tables.encoding import Ranked
    from shoal.tables.publish.base import PublishingTask

STEP = 2**31 + 5  # of the seed
OUTSIDE = "\U0010ffff"
"""Begins what names a counterfeit where a person would be named; it stands in no text."""


@dataclass
class Series:
    """A table that is to be released after others, or before them.

    Attributes
    ----------
    table : Table
        The records, those of counterfeits last.
    n_records : int
        How many of them are none.
    persons : void16 array (n_persons,)
        A keyed hash of each person.
    codes : int64 array (n_rows,)
        Whose each row is; counterfeits are nobody's, and numbered after all persons.
    """

    table: Table
    policy: Policy
    before: Ledger | None
    key: bytes
    persons: Digests
    codes: Ints
    n_records: int
    sensitive: str = ""
    m: int = 0
    buckets: Buckets | None = None
    value_texts: tuple[str, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict)
    values: Digests = field(default_factory=lambda: np.zeros(0, dtype="V8"))
    cohort_of: Ints | None = None

    @classmethod
    def of(cls, table: Table, policy: Policy, after: str | Path | None, seed: int | None) -> Series:
        """Take a table, and what earlier releases published about its persons.

        Raises
        ------
        PolicyError, DataError
            If persons cannot be told over releases, or the ledger is not of releases that this can follow.
        """
        attributes = attributes_of(table, policy)
        sensitive, m = _protected(policy, {n: a.role for n, a in attributes.items()})
        before = None if after is None else Ledger.read(after)
        if before is not None:
            _refuse_foreign(before, policy, sensitive, m)
        key = before.key if before is not None else _new_key(seed)
        persons, codes = hash_persons(table, policy.person, key)
        made = cls(table, policy, before, key, persons, codes, table.n_rows, sensitive, m)
        return made._with_counterfeits(seed) if m else made

    @cached_property
    def places(self) -> Ints:
        """Where each person stands in the ledger; -1 for newcomers."""
        known = np.full(len(self.persons), -1, dtype=np.int64)
        return known if self.before is None else self.before.places(self.persons)

    @cached_property
    def panels(self) -> Ints | None:
        """The panel of each person, by the first row that it has; None where the policy names no such column."""
        if self.policy.panel is None:
            return None
        column = self.table[self.policy.panel]
        codes = column.codes[: self.n_records]
        first = np.unique(self.codes[: self.n_records], return_index=True)[1]
        return np.asarray(column.ranks()[codes[first]], dtype=np.int64)

    @property
    def number(self) -> int:
        """Which release this is, from 1."""
        return 1 if self.before is None else self.before.n_releases + 1

    @property
    def checksums_before(self) -> tuple[str, ...]:
        """SHA-256 of the data of the earlier releases."""
        return () if self.before is None else self.before.checksums

    @property
    def is_counterfeit(self) -> Mask:
        """Which rows of the table are of nobody."""
        return np.arange(self.table.n_rows) >= self.n_records

    def _with_counterfeits(self, seed: int | None) -> Series:
        """Put persons into buckets, and counterfeits beside them."""
        if len(self.persons) < self.table.n_rows:
            raise PolicyError(
                "a person has several rows, and m-invariance is for one row a person in each release; keep one row of "
                "each, or require nothing of the sensitive column"
            )
        column = self.table[self.sensitive]
        if column.has_missing:
            raise DataError(
                f"the sensitive column {self.sensitive!r} has missing values, and m-invariance is for values that are "
                "known; fill them in, or leave these rows out"
            )
        spellings = {} if self.before is None else dict(self.before.spellings)
        pairs = list(zip(said(column), column.texts(), strict=False))  # of missing ones there are none
        several = {text for text, spelled in pairs if spellings.setdefault(text, spelled) != spelled}
        if several:
            raise DataError(
                f"{self.sensitive!r} has values that are spelled in several ways ({len(several):,}), in this release "
                "or over all of them, which would tell rows apart, and counterfeits from them; spell every value as in "
                "the first release"
            )
        row_of = np.empty(len(self.persons), dtype=np.int64)
        row_of[self.codes] = np.arange(self.table.n_rows)
        texts, old, signatures = said(column), np.full(len(self.persons), -1, dtype=np.int64), []
        names = list(dict.fromkeys([*texts, *(v for s in self._earlier_signatures for v in s)]))
        number = {text: i for i, text in enumerate(names)}
        of_code = np.array([number[text] for text in texts], dtype=np.int64)
        values = of_code[column.codes[row_of]]
        hashed = hash_values(column, self.key)[column.codes[row_of]]
        known = self.places >= 0
        if self.before is not None:
            self._refuse_changed(hashed, known)
            old[known] = self.before.cohorts[self.places[known]]
            signatures = [tuple(number[v] for v in s) for s in self.before.signatures]
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(STEP,)))
        order = np.argsort(rng.permutation(len(values)))  # so that no order of keys decides who fills a gap
        panels = self.panels
        found = fill_by_panel(
            values[order], old[order], signatures, self.m, rng, None if panels is None else panels[order]
        )
        of_person = np.empty(len(order), dtype=np.int64)
        of_person[order] = found.of_person
        return replace(
            self,
            buckets=replace(found, of_person=of_person),
            value_texts=tuple(names),
            spellings=spellings,
            values=hashed,
        )._augmented(row_of, of_code, rng)

    @property
    def _earlier_signatures(self) -> tuple[tuple[str, ...], ...]:
        return () if self.before is None else self.before.signatures

    def _refuse_changed(self, hashed: Digests, known: Mask) -> None:
        assert self.before is not None
        changed = int((self.before.values[self.places[known]] != hashed[known]).sum())
        if changed:
            raise DataError(
                f"{self.sensitive!r} of {changed:,} of the persons is not what it was in an earlier release, and "
                "m-invariance protects values that stay as they are; leave these persons out, or publish a column that "
                "does not change"
            )

    def _augmented(self, row_of: Ints, of_code: Ints, rng: np.random.Generator) -> Series:
        """Add a row for each counterfeit, which lies where a person of its bucket lies."""
        assert self.buckets is not None
        lacking = np.array(self.buckets.lacking, dtype=np.int64).reshape(-1, 3)
        n_more = int(lacking[:, 2].sum())
        if not n_more:
            return self
        buckets = np.repeat(lacking[:, 0], lacking[:, 2])
        values = np.repeat(lacking[:, 1], lacking[:, 2])
        members = np.argsort(self.buckets.of_person, kind="stable")
        first = np.searchsorted(self.buckets.of_person[members], buckets, "left")
        last = np.searchsorted(self.buckets.of_person[members], buckets, "right")
        like = row_of[members[first + (rng.random(n_more) * (last - first)).astype(np.int64)]]
        columns = {
            n: c.take(np.concatenate([np.arange(self.table.n_rows), like])) for n, c in self.table.columns.items()
        }
        columns[self.sensitive] = _with_values(
            columns[self.sensitive], values, of_code, self.value_texts, self.spellings
        )
        whose = self.policy.person[0]
        columns[whose] = _with_nobody(columns[whose], n_more)
        nobody = len(self.persons) + np.arange(n_more)
        extended = replace(self.buckets, of_person=np.concatenate([self.buckets.of_person, buckets]))
        return replace(
            self,
            table=replace(self.table, columns=columns),
            codes=np.concatenate([self.codes, nobody]),
            buckets=extended,
        )

    def group(
        self,
        task: PublishingTask,
        ranked: Sequence[Ranked],
        partition: Callable[[Sequence[Ranked], int], npt.NDArray[np.integer[Any]]],
    ) -> RecodedGroups:
        """The groups of the records that a task publishes, in its order."""
        raw = self.codes[task.order]
        persons = by_appearance(raw)
        first = np.unique(persons, return_index=True)[1]
        person_of = raw[first]  # in the order of the task
        if self.m:
            labels = self._split(task, ranked, person_of)
        else:
            labels = self._carry(ranked, persons, person_of, partition, task.notes.append)
        task.notes[:] = dict.fromkeys(task.notes)  # a partition that was run twice says the same
        rows = np.flatnonzero(labels[persons] >= 0)
        if not len(rows):
            raise Infeasible(
                f"nobody can be published after the earlier releases: of no group are {self.policy.k} persons left"
            )
        n_left_out = int((~self.is_counterfeit[np.delete(task.order, rows)]).sum())
        self._refuse_loss(n_left_out, task)
        n_false = int(self.is_counterfeit[task.order[rows]].sum())
        if n_false:
            task.notes.append(
                f"{n_false:,} of {len(rows):,} published records are counterfeits, which keep sensitive values equally "
                "frequent; the manifest says how many they are, and nothing says which."
            )
        return RecodedGroups(np.unique(labels[persons][rows], return_inverse=True)[1].astype(np.int32), rows)

    def _carry(
        self,
        ranked: Sequence[Ranked],
        persons: Ints,
        person_of: Ints,
        partition: Callable[[Sequence[Ranked], int], npt.NDArray[np.integer[Any]]],
        note: Callable[[str], None],
    ) -> Ints:
        points = width_points(ranked)
        order = np.argsort(persons, kind="stable")
        starts = np.searchsorted(persons[order], np.arange(len(person_of)))
        low = np.minimum.reduceat(points.points[order], starts)
        high = np.maximum.reduceat(points.points[order], starts)
        vectors = person_vectors(ranked, persons)
        places = self.places[person_of]
        cohorts = np.full(len(person_of), -1, dtype=np.int64)
        earlier = np.zeros((len(person_of), 0 if self.before is None else self.before.n_releases), dtype=bool)
        n_cohorts = 0
        if self.before is not None:
            known = places >= 0
            cohorts[known] = self.before.cohorts[places[known]]
            earlier[known] = self.before.classes[places[known]] >= 0
            n_cohorts = int(self.before.cohorts.max(initial=-1)) + 1
        boxes = CarriedBoxes(low, high, points.weights)
        found = carry(
            cohorts,
            earlier,
            boxes,
            self.policy.k,
            lambda some, k: _founded([v.take(some) for v in vectors], k, partition),
            reserve=self.policy.reserve,
            n_cohorts=n_cohorts,
            panels=None if self.panels is None else self.panels[person_of],
        )
        if self.before is not None and len(person_of) >= self.policy.k:
            anew = partition(vectors, self.policy.k).astype(np.int64)
            ours, theirs = (_mean_width(boxes, labels) for labels in (found, anew))
            if theirs > 0:
                note(
                    f"Carried over from earlier releases, the groups are {ours / theirs:.2f} times as wide as if they "
                    "were made anew."
                )
        self.cohort_of = np.full(len(self.persons), -1, dtype=np.int64)
        self.cohort_of[person_of] = found
        return found

    def _split(self, task: PublishingTask, ranked: Sequence[Ranked], row_of: Ints) -> Ints:
        """Cut buckets into groups; here every row is of one person, or of nobody."""
        from shoal.releases.split import split_buckets

        assert self.buckets is not None
        points = width_points(ranked)
        buckets = self.buckets.of_person[row_of]
        column = task.table[self.sensitive]
        texts = np.array(said(column), dtype=object)
        number = {text: i for i, text in enumerate(self.value_texts)}
        values = np.array([number[t] for t in texts], dtype=np.int64)[column.codes]
        return split_buckets(points, buckets, values, row_of < len(self.persons), self.policy.k)

    def _refuse_loss(self, n_left_out: int, task: PublishingTask) -> None:
        n_records, allowed = self.n_records, self.policy.method.suppression
        if n_left_out > int(allowed * n_records):
            raise Infeasible(
                f"{n_left_out:,} of {n_records:,} records have to be left out, as fewer than {self.policy.k} of those "
                "whom they stood with in earlier releases are in this one; allow it (suppression = "
                f"{np.ceil(1000 * n_left_out / n_records) / 1000:g})"
            )
        if n_left_out:
            task.notes.append(
                f"{n_left_out:,} records were left out, as fewer than {self.policy.k} of those whom they stood with in "
                "earlier releases are in this one."
            )

    def ledger(self, groups: npt.NDArray[np.integer[Any]], rows: Ints, labels: Labels, checksum: str) -> Ledger:
        """What all releases, this one too, published about each person.

        Parameters
        ----------
        groups, rows : int arrays (n_published,)
            The group of each published row, and the row of the table that it stands for.
        """
        real = rows < self.n_records
        whose, now = self.codes[rows[real]], np.asarray(groups[real], dtype=np.int32)
        here = np.full(len(self.persons), -1, dtype=np.int32)
        here[whose] = now
        cohorts = self.cohort_of if self.buckets is None else self.buckets.of_person[: len(self.persons)]
        assert cohorts is not None, "a ledger is kept of a release that was made"
        values = self.values if self.m else np.zeros(len(self.persons), dtype="V8")
        texts = [] if self.buckets is None else [[self.value_texts[v] for v in s] for s in self.buckets.signatures]
        new = np.flatnonzero((self.places < 0) & (here >= 0))
        before = self.before
        n_before = 0 if before is None else before.n_releases
        classes = np.full((len(new), n_before + 1), -1, dtype=np.int32)
        classes[:, -1] = here[new]
        persons, of_persons = self.persons[new], cohorts[new].astype(np.int32)
        hashed = values[new]
        if before is not None:
            now_old = np.full(len(before.persons), -1, dtype=np.int32)
            known = self.places >= 0
            now_old[self.places[known]] = here[known]
            classes = np.concatenate([np.column_stack([before.classes, now_old]), classes])
            persons = np.concatenate([before.persons, persons])
            of_persons = np.concatenate([before.cohorts, of_persons])
            hashed = np.concatenate([before.values, hashed])
        return Ledger(
            self.key,
            self.policy.person,
            self.policy.k,
            persons,
            classes,
            of_persons,
            hashed,
            self.m,
            self.sensitive,
            tuple(map(tuple, texts)),
            (*(() if before is None else before.labels), labels),
            (*(() if before is None else before.checksums), checksum),
            {text: self.spellings[text] for signature in texts for text in signature},
        )


def _founded(
    vectors: Sequence[Ranked], size: int, partition: Callable[[Sequence[Ranked], int], npt.NDArray[np.integer[Any]]]
) -> Ints:
    """New groups of persons, improved."""
    return exchanged(vectors, partition(vectors, size), size)


def _mean_width(boxes: CarriedBoxes, labels: Ints) -> float:
    """The width of the group of an average person who is in one."""
    there = labels[labels >= 0]
    dense = np.unique(there, return_inverse=True)[1]
    some = CarriedBoxes(boxes.low[labels >= 0], boxes.high[labels >= 0], boxes.weights)
    widths = some.of_groups(dense, int(dense.max(initial=-1)) + 1).widths
    return float(widths[dense].mean()) if len(dense) else 0.0


def _new_key(seed: int | None) -> bytes:
    if seed is None:
        return secrets.token_bytes(KEY_BYTES)
    drawn = np.random.SeedSequence(seed, spawn_key=(STEP, 0)).generate_state(KEY_BYTES // 4, np.uint32)
    return drawn.astype("<u4").tobytes()


def _protected(policy: Policy, roles: Mapping[str, str]) -> tuple[str, int]:
    """The sensitive column that something is required of, and among how many values each person has to stand."""
    required = [r for r in policy.require if r.is_about_values()]
    if not required:
        return "", 0
    sensitive = [n for n, role in roles.items() if role == "sensitive"]
    for r in required:
        if r.model != "l-diversity" or getattr(r, "kind", "") == "recursive":
            raise PolicyError(
                f"{r.title} cannot be kept over several releases; require l-diversity, which m-invariance keeps, or "
                "nothing of sensitive columns"
            )
    others = [n for n, role in roles.items() if role == "insensitive"]
    if len(sensitive) != 1 or others:
        more = others[0] if others else sensitive[-1] if sensitive else ""
        raise PolicyError(
            f"m-invariance publishes one sensitive column beside the quasi-identifiers: {more!r} would tie rows of two "
            "releases together; make it quasi-identifying or leave it out (--identifying)"
        )
    return sensitive[0], max(-int(-getattr(r, "l", 0) // 1) for r in required)


def _refuse_foreign(before: Ledger, policy: Policy, sensitive: str, m: int) -> None:
    """Refuse a ledger that was kept under another policy."""
    if before.person != policy.person:
        told, asked = (", ".join(map(repr, p)) or "nothing" for p in (before.person, policy.person))
        raise PolicyError(
            f"the ledger knows persons by {told}, and the policy by {asked}: take the same columns, or nobody is known "
            "again"
        )
    if policy.k > before.k:
        raise PolicyError(
            f"groups of {policy.k} are asked for, and the earlier releases were made with groups of {before.k}, which "
            f"cannot be undone; ask for k = {before.k} or less"
        )
    if (before.sensitive, before.m) != (sensitive, m):
        was = f"{before.m} values of {before.sensitive!r}" if before.m else "no sensitive column"
        now = f"{m} of {sensitive!r}" if m else "none"
        raise PolicyError(
            f"the earlier releases protect {was}, and the policy asks for {now}; require the same of the same column"
        )


def _with_values(
    column: Column, values: Ints, of_code: Ints, texts: Sequence[str], spellings: Mapping[str, str]
) -> Column:
    """The sensitive column with the values of counterfeits in its last rows."""
    code_of = np.full(len(texts), -1, dtype=np.int64)
    code_of[of_code[::-1]] = np.arange(len(of_code))[::-1]
    codes, cells = column.codes.copy(), column.values
    wanted = code_of[values]
    if (wanted < 0).any():  # of a value that nobody in this release has: spelled as the ledger does
        unseen = np.unique(values[wanted < 0])
        spelled = _as_cells(cells, [texts[v] for v in unseen], spellings)
        order = np.argsort(np.concatenate([cells, spelled]), kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        code_of[unseen] = len(cells) + np.arange(len(unseen))
        codes, cells = place[codes].astype(np.int32), np.concatenate([cells, spelled])[order]
        wanted = place[code_of[values]]
    codes[len(codes) - len(values) :] = wanted
    return Column(column.name, codes.astype(np.int32), cells, column.markers)


def _as_cells(like: npt.NDArray[Any], texts: Sequence[str], spellings: Mapping[str, str]) -> npt.NDArray[Any]:
    """Values of a column from what a ledger says of them."""
    if like.dtype == object:
        return np.array([*(spellings[text] for text in texts), None], dtype=object)[:-1]
    if like.dtype.kind in "iu":
        return np.array([int(float(t)) for t in texts], dtype=like.dtype)
    if like.dtype.kind == "f":
        return np.array([float(t) for t in texts])
    raise DataError(
        "a sensitive value of an earlier release is not in this one, and is neither text nor a number; give its column "
        "as text"
    )


def _with_nobody(column: Column, n: int) -> Column:
    """A column that names persons, with a name of its own for each of the last rows, which are nobody's."""
    codes, values = column.codes.astype(np.int64), column.values
    if values.dtype == object:
        names = np.array([f"{OUTSIDE}{i:09d}" for i in range(n)] + [None], dtype=object)[:-1]
    elif values.dtype.kind == "M":
        names = values.max() + np.arange(1, n + 1).astype("timedelta64[D]")
    else:
        names = (values.max() + np.arange(1, n + 1)).astype(values.dtype)
    codes = np.where(codes >= len(values), codes + n, codes)
    codes[len(codes) - n :] = len(values) + np.arange(n)
    return Column(column.name, codes.astype(np.int32), np.concatenate([values, names]), column.markers)
