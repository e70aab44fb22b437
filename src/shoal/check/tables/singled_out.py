"""Which columns, published as they are, tell how many records from all others: alone, in pairs, in triples.

A record is singled out by some columns if no other record has the same cells there; where persons are known, a person
is, if one of its records has cells that no other person has. Counted exactly: cells become one integer a record, and
integers are counted.

**Bounded work.** Every column alone, and every pair and triple of the `n_looked_at` columns that tell most (all of
them, but for many columns or very many records): a pair singles out at least as many as each of its columns, a triple
as each of its pairs. So if all columns together stay within the limit, no pair or triple is looked at, and the search
ends with the fewest columns that exceed it.

**Sensitive columns** are what others are taken not to know beside the labels, and what a group tells of them is for
l-diversity and its like; so they count alone and beside each other, and what they tell together with the labels is
told, and stops nothing. In fewer than 20 records, where one alone is more than the usual limit and most values are
somebody's own by chance, they do not count. All other columns count in any number of records, and with the labels too.

References
----------
T. Dalenius, "Finding a needle in a haystack, or identifying anonymous census records", Journal of Official Statistics
2(3), 1986; A. M. Manning, D. J. Haglin, J. A. Keane, "A recursive search algorithm for statistical disclosure
assessment", Data Mining and Knowledge Discovery 16, 2008 (special uniques).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.check.finding import KNOWN_SENSITIVE, SINGLED_OUT, Finding
from shoal.check.guarantee import number
from shoal.check.tables.cells import published
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout, SlicesApart, attributes_held
from shoal.data.tables.table import MARKERS, Column, Table, count_codes, counted

LIMIT = 0.05
"""The share of the records that may be singled out, unless the policy says otherwise."""
FEWEST = 20
"""Records from which sensitive columns count."""
MOST = 3  # columns of a combination
MOST_COLUMNS = 20
MOST_CELLS = 10**8  # records times combinations that are looked at
_DENSE = 4  # keys of up to so many times the records are counted without sorting them


@dataclass(frozen=True)
class Combination:
    """Some columns, and the share of the records or persons that they single out."""

    columns: tuple[str, ...]
    share: float


def n_looked_at(n_rows: int) -> int:
    """How many columns are looked at in pairs and triples.

    >>> n_looked_at(1000), n_looked_at(100_000), n_looked_at(500_000)
    (20, 18, 10)
    """
    fitting = (m for m in range(MOST_COLUMNS, 2, -1) if n_rows * (comb(m, 2) + comb(m, 3)) <= MOST_CELLS)
    return next(fitting, 2)


class Counted(ABC):
    """Columns, and some that are known in any case, to count who is alone in what.

    Attributes
    ----------
    names : tuple of str
        What is looked at.
    n_rows : int
        Records.
    """

    names: tuple[str, ...]
    n_rows: int

    @abstractmethod
    def share(self, names: Sequence[str]) -> float:
        """The share of all that some columns single out."""

    @abstractmethod
    def n_agreeing(self, name: str) -> int:
        """How many pairs of records agree in a column, each record with itself too."""

    def each(self) -> tuple[Combination, ...]:
        """What every column singles out by itself."""
        return tuple(Combination((name,), self.share([name])) for name in self.names)

    def of_size(self, names: Sequence[str], size: int) -> Iterator[Combination]:
        """What so many of some columns single out, in the order of the columns."""
        for chosen in combinations(names, size):
            yield Combination(chosen, self.share(chosen))

    def most_telling(self, limit: float = 1.0) -> Combination | None:
        """The fewest columns, at most three, that single out more than a limit; else those that single out most.

        Of as many columns the worst; of those that are as bad the first by name, whatever their order in the table.
        Where all columns together stay within the limit, the worst one alone. None without columns.
        """
        if not self.names:
            return None
        worst = min(self.each(), key=lambda t: (-t.share, t.columns))
        if worst.share > limit or self.share(self.names) <= max(worst.share, limit):
            return worst
        looked_at = self._widest(n_looked_at(self.n_rows))
        for size in range(2, MOST + 1):
            for found in self.of_size(looked_at, size):
                if found.share > worst.share:
                    worst = found
            if worst.share > limit:
                break
        return worst

    def _widest(self, n_columns: int) -> list[str]:
        """The columns in which the fewest pairs of records agree, by name."""
        agreeing = {name: self.n_agreeing(name) for name in self.names}
        return sorted(sorted(self.names, key=lambda name: (agreeing[name], name))[:n_columns])


class Uniques(Counted):
    """The columns of a table as integers.

    Parameters
    ----------
    columns : sequence of Column
        What is looked at.
    beside : sequence of Column
        What is known in any case, such as the labels.
    persons : integer array of n_rows, optional
        Whose each record is.
    weights : int32 array of n_rows, optional
        How many records each row stands for, if persons count then each another person's; else each is one.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        beside: Sequence[Column] = (),
        persons: npt.NDArray[np.integer] | None = None,
        weights: Codes | None = None,
    ) -> None:
        self.names = tuple(c.name for c in columns)
        n_rows = len(columns[0].codes) if columns else 0
        self.n_rows = n_rows if weights is None or not columns else int(weights.sum(dtype=np.int64))
        self._keys = {c.name: _dense(c.ranks()[c.codes]) for c in columns}
        self._base = np.zeros(n_rows, dtype=np.int64)
        self._weights = weights
        for column in beside:
            self._base = _joined(self._base, _dense(column.ranks()[column.codes]))
        self._base = _dense(self._base)
        self._persons = None if persons is None or weights is not None else _dense(np.asarray(persons))
        self.n_units = self.n_rows if self._persons is None else int(self._persons.max(initial=-1)) + 1

    def share(self, names: Sequence[str]) -> float:
        """The share of all that some columns single out."""
        return self._share(self._key(names))

    def _key(self, names: Sequence[str], base: Ints | None = None) -> Ints:
        key = self._base if base is None else base
        for name in names:
            key = _joined(key, self._keys[name])
        return key

    def _share(self, key: Ints) -> float:
        return _n_alone(key, self._persons, self._weights) / self.n_units if self.n_units else 0.0

    def added_by_each(self) -> dict[str, float]:
        """By how much less all columns together would single out, were one of them not known; by column."""
        ahead, behind = [self._base], [np.zeros_like(self._base)]
        for name in self.names:
            ahead.append(_joined(ahead[-1], self._keys[name]))
        for name in reversed(self.names):
            behind.append(_joined(behind[-1], self._keys[name]))
        of_all, n = self._share(ahead[-1]), len(self.names)
        return {
            name: of_all - self._share(_joined(ahead[i], _dense(behind[n - 1 - i])))
            for i, name in enumerate(self.names)
        }

    def of_size(self, names: Sequence[str], size: int) -> Iterator[Combination]:
        """The same, with what all but the last column tell counted once."""
        for first in combinations(names, size - 1):
            base = self._key(first)
            for name in names[names.index(first[-1]) + 1 :]:
                yield Combination((*first, name), self._share(self._key([name], base)))

    def n_agreeing(self, name: str) -> int:
        """By the number of records with each cell."""
        return int((count_codes(self._keys[name], self._weights) ** 2).sum())


def findings_of(
    table: Table | SlicesApart,
    attributes: Mapping[str, Attribute],
    *,
    has_labels: bool,
    layout: Layout | None = None,
    markers: Sequence[str] = MARKERS,
    limit: float = LIMIT,
    accepted: Mapping[str, str] | None = None,
    persons: npt.NDArray[np.integer] | None = None,
) -> tuple[Finding, ...]:
    """What the columns single out that a table publishes as they are.

    Parameters
    ----------
    table : Table or SlicesApart
        What is published.
    attributes : mapping of str to Attribute
        What its columns mean; of a table in slices, those of the original.
    has_labels : bool
        Whether a row stands for a record, so that labels and kept columns of a row belong together.
    layout : Layout, optional
        Of a table in slices; columns of one slice belong together.
    markers : sequence of str
        Texts that mean "missing".
    limit : float
        The share that may be singled out.
    accepted : mapping, optional
        What the policy takes, by the name of the finding, with the reason.
    persons : integer array of n_rows, optional
        Whose each record is.
    """
    slices = [table.names] if layout is None else [s.columns for s in layout.slices]

    def look(names: Sequence[str], beside: Sequence[str]) -> Uniques:
        held = table if isinstance(table, Table) else table.holding([*names, *beside])
        columns, known = ([published(held[n], markers) for n in some] for some in (names, beside))
        return Uniques(columns, known, persons, held.weights)

    return findings_among(
        [[n for n in names if n in table.columns] for names in slices],
        {c: attributes[a] for c, a in attributes_held(attributes, layout).items()},
        look,
        n_records=table.n_records,
        has_labels=has_labels and layout is None,
        limit=limit,
        accepted=accepted,
        noun="records" if persons is None else "persons",
    )


def findings_among(
    slices: Sequence[Sequence[str]],
    meant: Mapping[str, Attribute],
    look: Callable[[Sequence[str], Sequence[str]], Counted],
    *,
    n_records: int,
    has_labels: bool,
    limit: float,
    accepted: Mapping[str, str] | None,
    noun: str,
) -> tuple[Finding, ...]:
    """The same of columns that are counted in any way.

    Parameters
    ----------
    slices : sequence of sequences of str
        Columns that belong together.
    look : callable
        Counts who is alone in some columns, of whom some others are known.
    n_records : int
        How many there are.
    noun : str
        What is counted.
    """
    taken = accepted or {}
    found: list[tuple[Combination, bool]] = []
    for names in slices:
        known = [n for n in names if n in meant]
        others = [n for n in known if meant[n].role not in ("quasi", "sensitive")]
        kept = [n for n in known if meant[n].role != "quasi"] if n_records >= FEWEST else others
        alone = look(kept, ()).most_telling(limit)
        if alone is not None:
            found.append((alone, False))
        labels = [n for n in known if meant[n].role == "quasi"]
        if has_labels and others:
            with_labels = look(others, labels).most_telling(limit)
            assert with_labels is not None
            found.append((with_labels, True))
    findings = []
    if found:
        # Above the limit rather without labels: that is by fewer columns.
        worst, is_with_labels = min(
            found, key=lambda f: (f[0].share <= limit, f[1] and f[0].share > limit, -f[0].share)
        )
        findings.append(_singled_out(worst, is_with_labels, limit, taken.get(SINGLED_OUT), noun))
    if has_labels:
        known = [n for names in slices for n in names if n in meant]
        findings += _known_sensitive(known, meant, look, noun)
    return tuple(findings)


def records_behind(original: Table, rows: npt.NDArray[np.intp], names: Sequence[str], layout: Layout | None) -> Table:
    """The cells of some originals as a publication that moves them calls them, to count whose they are.

    What is kept as it is stands in the published table as often as here, but slices were permuted, and pseudo-records
    are nobody's.
    """
    held = attributes_held([n for n in names if n in original.columns], layout)
    return Table.of([replace(original[a], name=c) for c, a in held.items()]).take(rows)


def _singled_out(worst: Combination, is_with_labels: bool, limit: float, reason: str | None, noun: str) -> Finding:
    names = _listed(worst.columns)
    those = "it" if len(worst.columns) == 1 else "them"
    knowing = f"{names} and the published labels" if is_with_labels else names
    return Finding(
        SINGLED_OUT,
        worst.columns,
        worst.share,
        limit,
        f"Whoever knows {knowing} finds {_percent(worst.share)} of the {noun}, as no other has the same, and "
        f"{'it is' if len(worst.columns) == 1 else 'they are'} published unchanged (the limit is {_percent(limit)}).",
        f"give {those} the role quasi or identifying, or raise the limit (singled_out), or accept it with a reason: "
        f'[accept] {SINGLED_OUT} = "..." in the policy, or --accept {SINGLED_OUT}=REASON',
        reason,
    )


def _known_sensitive(
    names: Sequence[str],
    meant: Mapping[str, Attribute],
    look: Callable[[Sequence[str], Sequence[str]], Counted],
    noun: str,
) -> list[Finding]:
    """What stops nothing: what sensitive columns, which nobody is taken to know, would tell with the labels."""
    sensitive = tuple(n for n in names if meant[n].role == "sensitive")
    if not sensitive:
        return []
    share = look(sensitive, [n for n in names if meant[n].role == "quasi"]).share(sensitive)
    them, their = ("it", "its") if len(sensitive) == 1 else ("them", "their")
    return [
        Finding(
            KNOWN_SENSITIVE,
            sensitive,
            share,
            1.0,
            f"Whoever knows {_listed(sensitive)} and the published labels finds {_percent(share)} of the {noun}; "
            f"{their} role says that nobody knows {them}.",
            f"give {them} the role quasi if others may know {them}",
        )
    ]


def _n_alone(key: Ints, persons: Ints | None, weights: Codes | None) -> int:
    """How many records are alone with their key, or how many persons have one that is theirs alone."""
    if persons is None:
        return int((_counts(key, weights) == 1).sum())
    key = _dense(key)
    pairs = np.unique(key * (int(persons.max(initial=0)) + 1) + persons)
    of_key, person = np.divmod(pairs, int(persons.max(initial=0)) + 1)
    return len(np.unique(person[np.bincount(of_key)[of_key] == 1]))


def _counts(key: Ints, weights: Codes | None) -> Ints:
    is_dense = len(key) > 0 and int(key.max()) < _DENSE * len(key)
    return count_codes(key, weights) if is_dense else counted(key, weights)[1]


def _dense(codes: npt.NDArray[np.integer]) -> Ints:
    """The same codes, numbered from 0 without gaps."""
    return np.asarray(np.unique(codes, return_inverse=True)[1], dtype=np.int64)


def _joined(key: Ints, codes: Ints) -> Ints:
    """One number for two, made dense before it could overflow."""
    width = int(codes.max(initial=0)) + 1
    if int(key.max(initial=0)) >= 2**62 // width:
        key = _dense(key)
    return key * width + codes


def _listed(names: Sequence[str]) -> str:
    quoted = [repr(n) for n in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _percent(share: float) -> str:
    return "less than 0.01 %" if 0 < share < 1e-4 else f"{number(round(100 * share, 2))} %"
