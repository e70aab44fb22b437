"""The statistics of groups of strings: what is kept to generate pseudo-strings, again and again.

The statistics of order s count, over the members of a group, how often symbols q_1 .. q_s stand at positions r ..
r+s-1 (Eq. 4); order 1 is Fs (Eq. 2) and order 2 is Sc (Eq. 1). Tables of them grow with 2^s, and to draw from them
only the members' templates are needed, or their strings where symbols are drawn from windows. So the object holds
both, group by group, and makes tables of any order on request.

**Private.** Who has this object has the strings that it was made from, group by group, but for rare symbols. It also
holds fingerprints of the originals that fewer than k share, suppressed ones too, so that what is generated later can be
kept apart from them; with these one can test whether a guessed string was among the data. It holds no names and no row
numbers, and members stand in an order that depends on their content. It belongs into ``private/`` and nowhere else.

References
----------
C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and Knowledge
Discovery 16(3), 2008, Eq. (1), (2), (4) and section 4.6. The conditional probability printed there is off by one: for
the symbol at position i+1 the context stands at i-s+2 .. i, and that is where both statistics begin.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Words
from shoal.data.strings.strings import take_strings
from shoal.errors import DataError, PolicyError
from shoal.strings.templates import Templates, TemplatesOnDemand

FORMAT = 2
_ARRAYS = ("starts", "features", "weights", "feature_symbols", "position_starts", "lengths")


@dataclass(frozen=True)
class OrderTable:
    """The non-zero statistics of order s of one group, sorted by position and symbols.

    Attributes
    ----------
    positions : int64 array
        Where the first of the s symbols stands, from 0 on.
    symbols : int32 array (n, s)
        Symbol codes.
    values : float64 array
        ``O_s(q_1 .. q_s, r, G)``, the sum of the products of shares over all members.
    carriers : int64 array
        In how many members all these symbols have a share, however small.
    """

    positions: Ints
    symbols: Codes
    values: Floats
    carriers: Ints


@dataclass(frozen=True)
class SegmentStatistics:
    """The groups of one segment.

    Attributes
    ----------
    label : int
        The class, an index into `GroupStatistics.classes`; 0 where there are none.
    templates : Templates or TemplatesOnDemand
        The members' templates, group by group.
    group_starts : int64 array (n_groups + 1,)
        Where each group begins.
    symbols, starts : arrays
        The members' strings themselves, group by group, without rare symbols; windows are drawn from these.
    """

    label: int
    templates: Templates | TemplatesOnDemand
    group_starts: Ints
    symbols: Codes = field(default_factory=lambda: np.zeros(0, np.int32))
    starts: Ints = field(default_factory=lambda: np.zeros(1, np.int64))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.group_starts) - 1

    @property
    def length(self) -> int:
        """That of the templates."""
        return self.templates.length

    @property
    def lengths(self) -> Ints:
        """Those of the members, group by group."""
        return self.templates.lengths

    def members(self, first: int, end: int) -> tuple[Codes, Ints]:
        """The strings of some groups, from one to before another."""
        return take_strings(self.symbols, self.starts, np.arange(self.group_starts[first], self.group_starts[end]))


@dataclass(frozen=True)
class GroupStatistics:
    """The statistics of all groups of a data set; see the module for what they reveal.

    Attributes
    ----------
    segments : tuple of SegmentStatistics
        Groups are numbered through from segment to segment.
    alphabet : tuple of str
        The symbols that the codes stand for.
    is_tokens : bool
        Whether symbols are tokens.
    classes : tuple of str
        Names of the classes; empty where strings have none.
    originals : uint64 array
        Fingerprints of the originals, of all classes, that may not be published, ascending; see
        `shoal.strings.generate.fingerprint_originals`.
    """

    segments: tuple[SegmentStatistics, ...]
    alphabet: tuple[str, ...]
    is_tokens: bool = False
    classes: tuple[str, ...] = ()
    originals: Words = field(default_factory=lambda: np.zeros(0, np.uint64))

    @property
    def sizes(self) -> Ints:
        """n(G): the number of strings of each group."""
        return np.concatenate([np.zeros(0, np.int64), *(np.diff(s.group_starts) for s in self.segments)])

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return sum(s.n_groups for s in self.segments)

    def __repr__(self) -> str:
        return f"<GroupStatistics of {self.n_groups} groups of {int(self.sizes.sum())} strings; private>"

    def group(self, group: int) -> Templates:
        """The templates of one group."""
        segment, within = self._locate(group)
        return segment.templates.take(np.arange(segment.group_starts[within], segment.group_starts[within + 1]))

    def table(self, group: int, order: int) -> OrderTable:
        """The statistics of one group: Fs for order 1, Sc for order 2, O_s for order s."""
        return tabulate(self.group(group), order)

    def conditional(self, group: int, position: int, context: Sequence[int]) -> dict[int, float]:
        """The probability of each symbol at a position (from 0 on) after the given symbols, by Eq. (4).

        ``O_s(context q) / O_(s-1)(context)``, both from where the context begins. Empty if no member has it.
        """
        begin = position - len(context)
        if begin < 0:
            raise PolicyError(f"{len(context)} symbols do not stand before position {position}; give fewer")
        whole = self.table(group, len(context) + 1)
        rows = (whole.positions == begin) & (whole.symbols[:, :-1] == np.asarray(context, np.int32)).all(axis=1)
        if not context:
            below = float(len(self.group(group)))
        else:
            shorter = self.table(group, len(context))
            match = (shorter.positions == begin) & (shorter.symbols == np.asarray(context, np.int32)).all(axis=1)
            below = float(shorter.values[match].sum())
        return dict(zip(whole.symbols[rows, -1].tolist(), (whole.values[rows] / (below or 1.0)).tolist(), strict=True))

    @classmethod
    def merge(cls, parts: Iterable[GroupStatistics]) -> GroupStatistics:
        """All groups of several objects, with one alphabet and one list of classes."""
        listed = list(parts)
        if not listed:
            raise DataError("there are no statistics to merge; give one at least")
        if len({p.is_tokens for p in listed}) > 1:
            raise DataError("statistics of characters and of tokens do not merge; keep them apart")
        if len({bool(p.classes) for p in listed}) > 1:
            raise DataError("statistics with classes and without do not merge; keep them apart")
        alphabet = tuple(sorted(set().union(*(p.alphabet for p in listed))))
        classes = tuple(sorted(set().union(*(p.classes for p in listed))))
        code_of = {symbol: code for code, symbol in enumerate(alphabet)}
        segments = []
        for part in listed:
            codes = np.array([code_of[s] for s in part.alphabet], dtype=np.int32)
            for segment in part.segments:
                whole = segment.templates.whole()
                templates = replace(whole, feature_symbols=codes[whole.feature_symbols])
                label = classes.index(part.classes[segment.label]) if classes else 0
                segments.append(replace(segment, label=label, templates=templates, symbols=codes[segment.symbols]))
        originals = np.unique(np.concatenate([p.originals for p in listed]))
        return cls(tuple(segments), alphabet, listed[0].is_tokens, classes, originals)

    def merge_groups(self, group: int, other: int) -> GroupStatistics:
        """Make one group of two of the same segment; it stands where the first of them stood."""
        low, high = sorted((group, other))
        segment, first = self._locate(low)
        of_high, second = self._locate(high)
        if low == high or segment is not of_high:
            raise PolicyError("only two different groups of one segment, so of one class and length, can be merged")
        starts = segment.group_starts
        rows = np.arange(len(segment.templates))
        moved = rows[starts[second] : starts[second + 1]]
        others = np.delete(rows, moved)
        at = int(starts[first + 1])
        sizes = np.delete(np.diff(starts), second)
        sizes[first] += len(moved)
        order = np.concatenate([others[:at], moved, others[at:]])
        symbols, string_starts = take_strings(segment.symbols, segment.starts, order)
        merged = replace(
            segment,
            templates=segment.templates.take(order),
            group_starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            symbols=symbols,
            starts=string_starts,
        )
        return replace(self, segments=tuple(merged if s is segment else s for s in self.segments))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a NumPy archive that only its owner may read. It is private: see the module."""
        arrays: dict[str, npt.NDArray[np.generic]] = {
            "format": np.array(FORMAT),
            "is_tokens": np.array(self.is_tokens),
            "originals": self.originals,
            **_pack("alphabet", self.alphabet),
            **_pack("classes", self.classes),
            "labels": np.array([s.label for s in self.segments], dtype=np.int64),
            "template_lengths": np.array([s.templates.length for s in self.segments], dtype=np.int64),
        }
        for i, segment in enumerate(self.segments):
            arrays[f"{i}.group_starts"] = segment.group_starts
            arrays[f"{i}.symbols"], arrays[f"{i}.string_starts"] = segment.symbols, segment.starts
            whole = segment.templates.whole()
            arrays.update({f"{i}.{name}": getattr(whole, name) for name in _ARRAYS})
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.chmod(path, 0o600)
        with open(descriptor, "wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # numpy's stub takes the names for options

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GroupStatistics:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as arrays:
                if int(arrays["format"]) != FORMAT:
                    raise DataError(f"{Path(path).name} was written by another version of Shoal; make it anew")
                segments = tuple(
                    SegmentStatistics(
                        int(label),
                        Templates(int(length), *(arrays[f"{i}.{name}"] for name in _ARRAYS)),
                        arrays[f"{i}.group_starts"],
                        arrays[f"{i}.symbols"],
                        arrays[f"{i}.string_starts"],
                    )
                    for i, (label, length) in enumerate(zip(arrays["labels"], arrays["template_lengths"], strict=True))
                )
                alphabet, classes = _unpack("alphabet", arrays), _unpack("classes", arrays)
                return cls(segments, alphabet, bool(arrays["is_tokens"]), classes, arrays["originals"])
        except FileNotFoundError:
            raise DataError(f"there is no file {Path(path).name}; check the path") from None
        except (KeyError, ValueError, EOFError, zipfile.BadZipFile):
            raise DataError(
                f"{Path(path).name} does not hold group statistics; give a file that save() wrote"
            ) from None

    def _locate(self, group: int) -> tuple[SegmentStatistics, int]:
        left = group
        for segment in self.segments:
            if 0 <= left < segment.n_groups:
                return segment, left
            left -= segment.n_groups
        raise PolicyError(f"there is no group {group}; they are numbered from 0 to {self.n_groups - 1}")


def tabulate(templates: Templates, order: int) -> OrderTable:
    """The statistics of order s over all given templates, Eq. (4); sparse, about n 2^s values a position at most."""
    if order < 1:
        raise PolicyError(f"order = {order} is not possible; give 1 or more")
    n, L = len(templates), templates.length
    positions = np.searchsorted(templates.position_starts, templates.features, side="right") - 1
    symbols = templates.feature_symbols[templates.features]
    weights = templates.weights.astype(np.float64) if len(templates.weights) else np.ones(len(symbols))
    cell = np.repeat(np.arange(n), np.diff(templates.starts)) * L + positions  # a position of a member
    cell_starts = np.searchsorted(cell, np.arange(n * L + 1))
    last = np.arange(len(symbols))
    first, shown, values = positions, symbols[:, None], weights
    for _ in range(order - 1):
        going = np.flatnonzero(positions[last] < L - 1)
        following = cell[last[going]] + 1
        counts = cell_starts[following + 1] - cell_starts[following]
        source = np.repeat(going, counts)
        run = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
        last = np.repeat(cell_starts[following], counts) + run
        first, values = first[source], values[source] * weights[last]
        shown = np.column_stack([shown[source], symbols[last]])
    by = np.lexsort((*shown.T[::-1], first))
    first, shown, values = first[by], shown[by], values[by]
    is_new = np.ones(len(first), bool)
    is_new[1:] = (first[1:] != first[:-1]) | (shown[1:] != shown[:-1]).any(axis=1)
    heads = np.flatnonzero(is_new)
    sums = np.add.reduceat(values, heads) if len(heads) else values
    carriers = np.diff(np.append(heads, len(first)))
    return OrderTable(first[heads].astype(np.int64), shown[heads].astype(np.int32), sums, carriers.astype(np.int64))


def _pack(name: str, texts: Sequence[str]) -> dict[str, npt.NDArray[np.generic]]:
    encoded = [t.encode("utf-8", errors="surrogatepass") for t in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return {name: np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{name}_ends": ends}


def _unpack(name: str, arrays: np.lib.npyio.NpzFile) -> tuple[str, ...]:
    whole, ends = arrays[name].tobytes(), arrays[f"{name}_ends"].tolist()
    return tuple(whole[a:b].decode("utf-8", errors="surrogatepass") for a, b in pairwise(ends))
