"""A kind of data: tables, strings, sparse records, and whatever comes. Nothing outside `kinds/` asks which one it is.

A kind is its own rooms (`data/`, `check/`, `attack/`, `utility/`, `report/`, each with a folder for it), wired together
by one class in `kinds/`, and one line in `shoal.kinds.HOMES`.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

from shoal.errors import PolicyError
from shoal.kinds import HOMES
from shoal.shown import Grid, Shown

if TYPE_CHECKING:
    from shoal.arrays import Ints
    from shoal.attack.attack import Attack
    from shoal.check.folder import FolderCheck, PublishedFolder
    from shoal.harden.ladder import Ladder
    from shoal.held_out import HeldOut
    from shoal.manifest import Manifest
    from shoal.progress import Progress
    from shoal.release import Release
    from shoal.report.board.facts import BoardFacts
    from shoal.resume import StepFolder
    from shoal.secrets import PrivateFolder
    from shoal.stream.windows import StreamWindows
    from shoal.sweep.trials import Trials

SMALL = 200
"""Records that are few: to compile a method takes 10 to 30 s, to interpret it on so many about one."""

R_co = TypeVar("R_co", covariant=True)
P_co = TypeVar("P_co", covariant=True)


class Dataset(Protocol):
    """Records of some kind, original or published: a table, strings, sparse records, sketches."""

    def __len__(self) -> int:
        """Number of records."""

    def take(self, rows: Any) -> Any:
        """Some of the records."""


class Asks(Protocol[R_co, P_co]):
    """A policy, which asks for a release of some kind; what is here tells a type checker so, and is never called."""

    def _release(self) -> R_co: ...

    def _profile(self) -> P_co: ...


class Profiled(Shown):
    """What is known of data before a policy is written."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """As JSON."""

    @abstractmethod
    def to_toml(self) -> str:
        """A policy to edit."""


@dataclass(frozen=True)
class Run:
    """How a release is to be made, apart from what it is to be; see `shoal.anonymize`."""

    seed: int | None = None
    key: bytes | None = None
    workers: int = 1
    pool: Literal["threads", "processes"] = "threads"
    cluster: str | None = None
    progress: Progress | None = None
    stop: Callable[[], bool] | None = None
    after: str | Path | None = None
    resume: str | Path | None = None
    steps: StepFolder | None = None
    """Where that is, once it is open."""

    @property
    def asked(self) -> dict[str, str]:
        """What is asked for beyond the defaults, by the name that `Kind.takes` knows it by, in words."""
        words = {
            "key": ("a key", self.key is not None),
            "stop": ("stop", self.stop is not None),
            "after": ("an earlier release (after)", self.after is not None),
            "resume": ("a folder for what is finished (resume)", self.resume is not None),
            "cluster": ("cluster", self.cluster is not None),
            "pool": (f"pool = {self.pool!r}", self.pool != "threads"),
            "workers": (f"workers = {self.workers}", self.workers != 1),
        }
        return {name: word for name, (word, is_asked) in words.items() if is_asked}


class ColumnPlace(NamedTuple):
    """Where a column is: its name, and its table where there are several.

    >>> ColumnPlace("age").told, ColumnPlace("age", "patients").told
    ('age', 'patients.age')
    """

    name: str
    table: str = ""

    @property
    def told(self) -> str:
        """For a person."""
        return f"{self.table}.{self.name}" if self.table else self.name


class HierarchyLook(NamedTuple):
    """What a hierarchy of a column has to know, and one that could be made.

    Attributes
    ----------
    values : list of str
        The distinct values, or some of them.
    n_values : int
        How many there are.
    bands : list of tuple of str
        A row a value, from fine to coarse, of what can be made of them without being told; empty where nothing can.
    """

    values: list[str]
    n_values: int
    bands: list[tuple[str, ...]]


class Kind(ABC):
    """How one kind of data is read, released, checked, attacked and shown."""

    name: ClassVar[str]
    """As policies and manifests call it."""
    published: ClassVar[str]
    """What its releases hold, in words."""
    report_template: ClassVar[str]
    pictures: ClassVar[Mapping[str, str]]
    """The functions that draw the pictures of its report, each with the module that it stands in."""
    takes: ClassVar[Mapping[str, str]]
    """What of a run, a check or an attack means something for it, and what for; the rest is refused."""

    @property
    @abstractmethod
    def policy(self) -> type[Any]:
        """What a release can be asked to be."""

    @property
    @abstractmethod
    def manifest(self) -> type[Manifest]:
        """What is told of a release."""

    @abstractmethod
    def recognises(self, source: Any) -> bool:
        """Whether a source is of this kind for sure."""

    def refuse_other(self, source: Any) -> None:
        """Refuse a source that is surely not of this kind, though none claims it; by default none is."""
        del source

    @abstractmethod
    def load(self, source: Any, policy: Any) -> Any:
        """The original records of a file, or of an object."""

    def load_to_release(self, source: Any, policy: Any, run: Run) -> Any:
        """The original records for a release that is made as `run` says; by default as any."""
        return self.load(source, policy)

    def steps(self, source: Any, policy: Any, run: Run) -> StepFolder | None:
        """Where a run keeps what it has finished for another one; by default nowhere."""
        return None

    @abstractmethod
    def load_again(
        self, source: Any, manifest: Any, policy: Any = None, *, label: str | None = None, header: str | None = None
    ) -> Any:
        """The original records of a release, read as they were for it."""

    def bytes_to_check(
        self, manifest: Any, policy: Any, memory: str | None, *, beside: Sequence[Any] = ()
    ) -> int | None:
        """In how many bytes a folder is to be checked without holding it; None holds it."""
        return None

    def bytes_to_attack(self, manifest: Any, memory: str | None, *, others: Sequence[Any] = ()) -> int | None:
        """In how many bytes a folder is to be attacked without holding it; None holds it."""
        return None

    def load_others(self, source: Any, data: Any, load: Callable[[], Any]) -> Any:
        """Records of another file to compare attacks on; by default read as any."""
        return load()

    @abstractmethod
    def profile(self, data: Any, policy: Any, *, sweep: bool, progress: Progress | None) -> Any:
        """What is known of data before a policy is written."""

    @abstractmethod
    def release(self, data: Any, policy: Any, run: Run, *, like: Any, held_out: HeldOut[Any] | None) -> Release[Any]:
        """Make a release and check it."""

    @abstractmethod
    def check(
        self, folder: PublishedFolder, manifest: Any, original: Any, policy: Any, private: PrivateFolder | None
    ) -> FolderCheck:
        """Recompute the guarantees of a published folder."""

    @property
    @abstractmethod
    def attacks(self) -> Sequence[Attack[Any]]:
        """All attacks on it."""

    @abstractmethod
    def case(
        self,
        folder: PublishedFolder,
        manifest: Any,
        original: Any,
        control: Any,
        private: PrivateFolder | None,
        **granted: Any,
    ) -> Any:
        """What attacks on a published folder work on."""

    def profile_source(self, source: Any, policy: Any, *, sweep: bool, progress: Progress | None) -> Any:
        """Load records, and say what they are."""
        from shoal.kernels.compile import interpreted

        data = self.load(source, policy)
        with interpreted(self.is_small(data)):
            return self.profile(data, policy, sweep=sweep, progress=progress)

    def is_small(self, data: Any, policy: Any = None) -> bool:
        """Whether loops over so little data are interpreted sooner than they are compiled.

        With a policy, those of a release by it, which may be good for more records than others.
        """
        return len(data) <= SMALL

    def ladder(self, data: Any, policy: Any) -> Ladder:
        """What hardening can make of a policy; by default nothing."""
        raise PolicyError(f"no way is known to harden a policy for {self.policy.plural}; change it by hand")

    def windows(self, policy: Any, *, seed: int | None, key: bytes | None) -> StreamWindows:
        """How records are published while they come in; by default in no way."""
        raise PolicyError(f"no way is known to publish {self.policy.plural} while they come in; use shoal anonymize")

    def stream_line(self, record: Any) -> bytes:
        """A record of an iterator as a line; by default a text, or items with blanks between."""
        text = record if isinstance(record, str) else " ".join(map(str, record))
        return text.replace("\n", " ").encode() + b"\n"

    def stream_records(self, data: bytes, windows: Any) -> list[Any]:
        """Published lines as what an iterator over a stream gives; by default texts."""
        return data.decode().splitlines()

    def trials(self, policy: Any, target: str | None = None) -> Trials:
        """What a sweep can try; by default nothing."""
        raise PolicyError(
            f"no way is known to compare many releases of {self.policy.plural}; make them one by one, and attack each"
        )

    def shown(self, release: Any, *, report: bool = True) -> tuple[list[str], list[str]]:
        """What became of the data, a line each, for a terminal: what stands before the guarantees, and what after."""
        records = release.records
        counts = f"{records['out']:,} of {records['in']:,} records published, {records['suppressed']:,} suppressed."
        return [counts], []

    def board(self, release: Any) -> BoardFacts:
        """What a board asks for beyond what the report shows; by default numbers of records, and nothing else."""
        from shoal.report.board.facts import BoardFacts

        return BoardFacts("record", release.records)

    def first_rows(self, records: Any, n: int) -> Grid:
        """The first records, original or published, for their owner to look at; by default none."""
        return Grid((), [])

    def paired_rows(self, release: Any, n: int) -> tuple[Grid, Grid, bool]:
        """Some records before and after, and whether those of a line belong together; by default the first of both."""
        return self.first_rows(release._original, n), self.first_rows(release.published, n), False

    def first_tables(self, records: Any, n: int) -> dict[str, Grid]:
        """The same of each table, by name; of one alone, that of no name."""
        return {"": self.first_rows(records, n)}

    def paired_tables(self, release: Any, n: int) -> dict[str, tuple[Grid, Grid, bool]]:
        """Some records of each table before and after, as of one."""
        return {"": self.paired_rows(release, n)}

    def offered(self, source: Any, policy: Any) -> dict[str, list[str]]:
        """What keys that say how files are read can be, as found in them, by key; by default nothing is looked for."""
        return {}

    def columns_of(self, data: Any) -> tuple[ColumnPlace, ...]:
        """The columns that a policy can say something of; by default none."""
        return ()

    def told_apart_by(self, data: Any, policy: Any) -> dict[ColumnPlace, float]:
        """What each column adds to the share of records that others can tell from all others; by default unknown."""
        return {}

    def hierarchies(self, data: Any, policy: Any, most: int) -> dict[ColumnPlace, HierarchyLook]:
        """What hierarchies of columns have to know, by column, of some values where there are more than `most`."""
        return {}

    def persons(self, data: Any, policy: Any) -> Ints | None:
        """Whose each record is, numbered from 0, if the policy says that a person may have several."""
        return None

    def refuse(self, asked: Mapping[str, str]) -> None:
        """Refuse what means nothing for this kind, rather than forget it."""
        from shoal.report.points import listed

        for name, word in asked.items():
            if name not in self.takes:
                others = [k for k in kinds() if name in k.takes]
                meant = listed([k.policy.plural for k in others])
                why = others[0].takes[name] if others else ""
                raise PolicyError(f"{word} is for {meant}{why and f', {why}'}; leave it out for {self.policy.plural}")


def kind_named(name: str) -> Kind:
    """The kind of a name."""
    kind: Kind = importlib.import_module(HOMES[name]).KIND
    return kind


def kinds() -> list[Kind]:
    """All kinds."""
    return [kind_named(name) for name in HOMES]


def default_kind() -> Kind:
    """What data is taken for that nothing says otherwise of."""
    return kind_named(next(iter(HOMES)))


def kind_of(source: Any) -> Kind:
    """The kind that a source holds for sure, or the default."""
    return next((kind for kind in kinds() if kind.recognises(source)), default_kind())


def kind_of_policy(policy: Any) -> Kind:
    """The kind that a policy is for."""
    found = next((kind for kind in kinds() if isinstance(policy, kind.policy)), None)
    if found is None:
        raise PolicyError(
            "the policy is not a Policy; make one with Policy.of(...), or give a dict or the path of a policy file"
        )
    return found


def kind_of_folder(folder: PublishedFolder, policy: Any = None) -> Kind:
    """The kind that a published folder holds, which has to be what the policy is for."""
    kind = kind_named(folder.kind) if folder.kind in HOMES else default_kind()
    if policy is not None and (meant := kind_of_policy(policy)) is not kind:
        raise PolicyError(
            f"the folder holds {kind.published}, and the policy is for {meant.published}; give one for {kind.published}"
        )
    return kind


def meant_policy(policy: Any, kind: Kind) -> Any:
    """A policy, whether it is one, the path of one, or what would be written into one, for a kind unless it says."""
    if isinstance(policy, str | Path):
        return read_policy(policy)
    if isinstance(policy, Mapping):
        kind = kind_of_content({"kind": kind.name, **policy}) or kind
        return kind.policy.of(**{name: asked for name, asked in policy.items() if name != "kind"})
    return policy


def fitting_policy(source: Any, policy: Any | None) -> tuple[Kind, Any]:
    """The policy for a source and its kind: the defaults where none is given; never the default kind's for another.

    Raises
    ------
    PolicyError
        If it is no policy, or if it is for a table and the source holds strings or sparse records.
    DataError
        If it is for a table and the file is none, and may hold strings or sparse records.
    """
    policy = meant_policy(policy, kind_of(source)) if isinstance(policy, str | Path | Mapping) else policy
    found = kind_of(source) if policy is None or kind_of_policy(policy) is default_kind() else kind_of_policy(policy)
    if policy is None:
        policy = found.policy()
    kind = kind_of_policy(policy)
    if kind is not found:
        raise PolicyError(
            f"the data is {found.policy.noun}, and the policy is for {kind.policy.noun}; ask for kind = "
            f'"{found.name}", or give none'
        )
    kind.refuse_other(source)
    return kind, policy


def read_policy(path: str | Path) -> Any:
    """Read a policy file of whatever kind it says to be."""
    from shoal.policy import read_toml

    content, text = read_toml(path)
    return (kind_of_content(content) or default_kind()).policy.from_content(content, text, Path(path))


def kind_of_content(content: Mapping[str, Any]) -> Kind | None:
    """The kind that the content of a policy file is for; None if it names one that does not exist."""
    name = content.get("kind", default_kind().name)
    return kind_named(name) if isinstance(name, str) and name in HOMES else None


def without_held_out(data: Any, manifest: Manifest, private: PrivateFolder | None) -> tuple[Any, Any]:
    """The records that a release was made from, and those that were held out of it."""
    from shoal.held_out import split_rows

    if not manifest.records.get("held_out", 0):
        return data, None
    rows = None if private is None else private.held_out(len(data))
    if rows is None:
        raise PolicyError(
            "records were held out of this release; give its private folder too (--private), which says "
            "which ones, so that they are left out of the comparison"
        )
    kept, held_out = split_rows(data, rows)
    return kept, held_out.records
