"""What a sweep asks of a kind of data: what can be tried, and what comes of it."""

from __future__ import annotations

import hashlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

from shoal._version import __version__
from shoal.check.guarantee import Guarantee
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError, did_you_mean
from shoal.kernels.compile_time import seconds_compiled_here
from shoal.kind import Kind
from shoal.sweep.cell import Cell, Status

_STATUS: dict[type[ShoalError], Status] = {
    Infeasible: "infeasible",
    PolicyError: "refused",
    DataError: "refused",
    NotVerified: "fails",
}


@dataclass(frozen=True)
class AskedCell:
    """One cell before it is tried.

    Attributes
    ----------
    policy
        What `anonymize` would be asked for.
    k : int or None
        The k of this cell, which other requirements may raise.
    settings : mapping of str to value
        All that tells this cell from others besides k, whether set by the sweep or by the policy.
    changes : mapping of str to value
        What the caller of the sweep set of them.
    """

    policy: Any
    k: int | None
    settings: Mapping[str, Any]
    changes: Mapping[str, Any] = field(default_factory=dict)


class Trials(ABC):
    """The releases that can be made of some data under variants of one policy.

    Attributes
    ----------
    policy
        What every cell has in common.
    target : str or None
        What is to be predicted.
    title, n_records : str, int
        Name of the data, and records in all.
    n_in : int
        Records that a release is made from.
    """

    title: str
    n_records: int
    n_in: int

    cell: ClassVar[type[Cell]]
    """What comes of one."""
    noun: ClassVar[str] = "records"
    sizes: ClassVar[tuple[int, ...]]
    """Every k to try, where the caller names none."""
    methods: ClassVar[tuple[str, ...]]
    """Every method to try, where the caller names none; () for the policy's own."""
    shown: tuple[str, ...]
    """The losses to be shown, where the caller names none; the first decides."""
    note: str = ""
    """What is to be said of how risk and loss were measured."""

    def __init__(self, policy: Any, target: str | None = None) -> None:
        self.policy, self.target = policy, target
        if target is not None:
            raise PolicyError("a target is a column of a table; leave it out")

    def load(self, source: Any, kind: Kind, workers: int) -> Any:
        """Read the records, once for all releases, of which so many are made at a time; by default as any."""
        return kind.load(source, self.policy)

    @abstractmethod
    def take(self, data: Any) -> None:
        """The records that releases are made from."""

    @abstractmethod
    def checksum(self) -> str:
        """Of the records, and of what they are taken to mean."""

    @abstractmethod
    def measured(self, policy: Any) -> dict[str, Any]:
        """Make one release in memory, check it, and measure it: what a cell says of it."""

    @abstractmethod
    def settled(self, policy: Any) -> dict[str, Any]:
        """What a policy says of all settings of a cell."""

    def changed(self, k: int, changes: Mapping[str, Any]) -> Any:
        """The policy with another k and other settings."""
        return self.policy.changed(k=k, **changes)

    def meets(self, asked: Any) -> bool:
        """Whether what a cell requires is at least what the policy requires."""
        return bool((asked.k or 0) >= (self.policy.k or 0))

    def rank(self, asked: AskedCell, cell: Any) -> int:
        """Which cells are proposed before others, whatever they lose."""
        return 0

    def options(self, asked: AskedCell) -> tuple[str, ...]:
        """What makes `shoal anonymize` with the policy do as a cell does."""
        given, options = self.settled(self.policy), []
        for name, setting in self.cell.settings.items():
            if asked.settings[name] not in (None, given[name]):
                options += [setting.option, f"{asked.settings[name]}"]
        return tuple(options if asked.policy.k == self.policy.k else [*options, "-k", str(asked.k)])

    def known_measures(self) -> tuple[str, ...]:
        """The losses that the data has; those of a target where one is named."""
        return tuple(self.cell.measures)

    def choose(self, measures: str | Iterable[str] | None) -> tuple[str, ...]:
        """The losses to be shown."""
        if measures is None:
            return self.shown
        names, known = several(measures), self.known_measures()
        for name in names:
            if name not in known:
                raise PolicyError(f"there is no measure {name!r}; {did_you_mean(name, known)}")
        if not names:
            raise PolicyError(f"no measure was named; the choices are {', '.join(known)}")
        return tuple(names)

    def grid(self, k: int | Iterable[int] | None, settings: Mapping[str, Any]) -> list[AskedCell]:
        """Every combination of settings with every k, the method first, k ascending.

        Parameters
        ----------
        settings : mapping
            A value of each, or several to try; None for what the policy says.
        """
        self.refuse(settings)
        method = next(iter(self.cell.settings))
        if settings.get(method) is None and self.methods:
            settings = {**settings, method: self.methods}
        found: dict[tuple[Any, ...], AskedCell] = {}
        for changes in combinations(self.cell.settings, settings):
            for size in sizes_of(self.sizes if k is None else k):
                policy = self.changed(size, changes)
                asked = AskedCell(policy, policy.k, self.settled(policy), changes)
                found.setdefault((asked.k, *asked.settings.values()), asked)
        return list(found.values())

    def refuse(self, settings: Mapping[str, Any]) -> None:
        """Refuse what cannot be tried on this kind of data, rather than forget it."""
        for name, value in settings.items():
            if value is not None and name not in self.cell.settings:
                known = ", ".join(("k", *self.cell.settings))
                raise PolicyError(f"{name} cannot be tried on {self.policy.plural}; the choices are {known}")

    def key(self, asked: AskedCell, checksum: str) -> str:
        """Name of a cell by all that it follows from: the records, their meaning, what is required, the method."""
        text = json.dumps([__version__, checksum, self.asked(asked.policy), asked.k, self.note], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:40]

    def asked(self, policy: Any) -> Any:
        """What of a policy a cell follows from."""
        return policy.model_dump(mode="json")

    def attempt(self, asked: AskedCell) -> Cell:
        """Make one release in memory, check it, measure it and let it go."""
        began, compiled = time.perf_counter(), seconds_compiled_here()
        try:
            found = self.measured(asked.policy)
        except (Infeasible, PolicyError, DataError, NotVerified) as error:
            found = {"status": _STATUS[type(error)], "sentence": str(error), "n_out": 0}
        about = {**asked.settings, "k": asked.k, "group_size": asked.policy.k or 1, "n_in": self.n_in}
        took = time.perf_counter() - began - (seconds_compiled_here() - compiled)
        return self.cell(**about, **found, seconds=round(max(took, 0.0), 3))


def guaranteed(guarantees: Sequence[Guarantee]) -> tuple[dict[str, Any], ...]:
    """What holds, without the worst classes, which show published values."""
    return tuple({n: v for n, v in g.to_dict().items() if n not in ("worst", "sentence")} for g in guarantees)


def combinations(names: Iterable[str], settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the values that are given of some settings."""
    varied = {n: several(settings[n]) for n in names if settings.get(n) is not None}
    for name, values in varied.items():
        if not values:
            raise PolicyError(f"no {name} was given to try; name one or more, or leave it to the policy")
    return [dict(zip(varied, chosen, strict=True)) for chosen in product(*varied.values())]


def several(values: Any) -> list[Any]:
    """One value as a list of it; none twice."""
    given = [values] if isinstance(values, str | int | float) else list(values)
    return list(dict.fromkeys(given))


def sizes_of(k: int | Iterable[int]) -> Sequence[int]:
    """Every k, ascending."""
    sizes = [k] if isinstance(k, int) else list(k)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int) or size < 2:
            raise PolicyError(f"k = {size} cannot be tried; give whole numbers of 2 or more")
    if not sizes:
        raise PolicyError("no k was given; give whole numbers of 2 or more, such as 2,5,10")
    return sorted(set(sizes))
