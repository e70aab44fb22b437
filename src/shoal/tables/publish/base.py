"""What every publication offers: what it makes of records in groups, and what policy, report and terminal ask of it.

A publication is one file in this folder, and its check in `shoal.check.tables.publications`. The file registers a
`Publication` with `PUBLICATIONS`. No loop must be compiled to read a policy, so such a file imports kernels,
and whatever needs them, inside its functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from shoal.arrays import Codes, Ints, Mask, Rows
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column, Table
from shoal.progress import Progress
from shoal.registry import Registry
from shoal.report.points import Point
from shoal.tables.encoding import Ranked
from shoal.tables.groups import Groups

if TYPE_CHECKING:
    from shoal.kinds.tables.policy import Method, Policy
    from shoal.releases.series import Series
    from shoal.resume import StepFolder
    from shoal.tables.anonymize import Anonymized


@dataclass(frozen=True)
class Telling:
    """What the pages say where publications differ.

    Attributes
    ----------
    alike : str
        After the number of records, for a smallest group of ``{n}``; "" where nothing is to be said.
    groups : str
        What the groups are called.
    changed : str
        What became of the quasi-identifiers, beginning with a verb.
    row : str
        What a row is.
    recomputed : str
        Who can recompute the guarantees.
    checked : str
        How they were recomputed before the release was written.
    classes : str
        What the figures of risk count.
    width : str
        What the share of certainty lost (GCP) is of.
    """

    alike: str = "By its quasi-identifiers every record looks like at least {others}."
    groups: str = "Groups of look-alikes"
    changed: str = "were made equal within groups of records; all other columns are as they were"
    row: str = "One row per record, as in the source."
    recomputed: str = "All guarantees can be recomputed from the data beside this page."
    checked: str = (
        "Every guarantee was recomputed from the table as it is published, by a checker that is independent of the "
        "method."
    )
    classes: str = (
        "Records with the same quasi-identifiers form a class. The larger the class of a record, the harder it is "
        "to tell whose it is."
    )
    width: tuple[str, str] = ("Certainty lost", "in an average quasi-identifying cell")


@dataclass(frozen=True)
class PublishingTask:
    """A table to be published.

    Attributes
    ----------
    table : Table
        Without identifying columns, rows in an order that depends on their content and on a secret.
    order : intp array (n_rows,)
        The row of the original that each of them is.
    attributes, policy
        What the columns mean, and what is asked.
    notes : list of str
        Takes sentences for the user.
    seed, executor, progress, stop
        As for `anonymize_table`.
    persons : int64 array (n_rows,), optional
        Whose each row is, where persons count.
    providers : int64 array (n_rows,), optional
        From whom each row is, where several provide rows.
    series : Series, optional
        What decides who stands with whom, where the table is one of several releases.
    steps : StepFolder, optional
        Where groups are kept for a run that follows if this one is killed.
    """

    table: Table
    order: Rows
    attributes: Mapping[str, Attribute]
    policy: Policy
    notes: list[str]
    seed: int | None = None
    executor: Executor | None = None
    progress: Progress | None = None
    stop: Callable[[], bool] | None = None
    persons: Ints | None = None
    providers: Ints | None = None
    series: Series | None = None
    steps: StepFolder | None = None


@dataclass(frozen=True)
class GroupedRecords:
    """Records in groups, for a publication to put something in their place.

    Attributes
    ----------
    table : Table
        The records that are published.
    everyone : Table
        Those that were suppressed too.
    ranked : sequence of Ranked
        The quasi-identifiers of the table.
    groups : Groups
    levels : tuple of int, optional
        Where all records get one recoding, the level of each quasi-identifier.
    persons, everyones : int64 arrays, optional
        Whose each record is, of the table and of everyone, where some persons have several.
    failing : callable, optional
        Which groups fail what is required by persons, which the union of two groups that meet it may do.
    """

    table: Table
    everyone: Table
    ranked: Sequence[Ranked]
    groups: Groups
    attributes: Mapping[str, Attribute]
    policy: Policy
    seed: int | None
    note: Callable[[str], None]
    levels: tuple[int, ...] | None = None
    persons: Ints | None = None
    everyones: Ints | None = None
    failing: Callable[[Codes], Mask] | None = None


class PublishedGroups(NamedTuple):
    """The quasi-identifiers as they are published, and the groups that they are of in the end."""

    columns: dict[str, Column]
    groups: Groups


class Publication:
    """What stands in the place of records, and what is said of it.

    What is below is true of publications whose records look alike in groups; the others say otherwise.
    """

    name: str
    """What a policy calls it by."""
    help: str
    """What it does, in a sentence without its full stop."""
    place: int = 100
    """Where it stands in lists."""
    parameters: tuple[str, ...] = ()
    """The keys of the policy's method that no other publication has."""
    rows_are_records: bool = True
    """Whether a published row stands for one record."""
    is_sliced: bool = False
    """Whether columns stand in slices that are permuted apart."""
    is_bounded: bool = False
    """Whether it can be made of distinct rows, by whatever makes groups of these."""
    has_labels: bool = False
    """Whether quasi-identifiers become labels that cover several values."""
    can_recode: bool = False
    """Whether it publishes one recoding of all records."""
    holds_without_providers: bool = False
    """Whether what its groups meet can be shown of the rest too, when some providers know their own rows."""
    loses_order: str = ""
    """Why no row has a place in the original, where the policy asks for its order; else ""."""
    done_to_quasi: str = "made alike in groups"
    """What became of the quasi-identifiers, for the terminal."""
    kept: str = "so published as they are"
    """What became of sensitive columns of which nothing is required, for the terminal."""
    technique: str = "local generalization"
    """What ISO/IEC 20889 calls it."""
    telling: Telling = Telling()
    """What the pages say."""
    means: tuple[str, ...] = ()
    """Where privacy models say what else they mean here: "slices" for `Model.means_in_slices`, and so on."""

    def refuse(self, method: Method) -> None:
        """Raise ValueError, in a sentence, for what cannot be asked together with it."""

    def make(self, task: PublishingTask) -> Anonymized:
        """From a table to what is published: here, from groups by the partition that the policy names."""
        from shoal.tables.anonymize import publish_groups

        return publish_groups(task, self)

    def publish(self, records: GroupedRecords) -> PublishedGroups:
        """Put something in the place of every group's quasi-identifiers; not asked where `make` is its own."""
        raise NotImplementedError(f"{self.name} neither publishes groups nor makes a table of its own")

    def words(self, method: Method) -> Mapping[str, str]:
        """What the report says of its own parameters, by a heading each."""
        return {}

    def treatment(self, attribute: Attribute, *, by_hierarchy: bool) -> str:
        """What became of a quasi-identifier."""
        return "put in place by group"

    def treatment_of_others(self, attribute: Attribute) -> str:
        """What became of a column that is neither identifying nor quasi-identifying."""
        return "kept as it was"

    def not_protected(self, kept: Sequence[str]) -> list[Point]:
        """What an attacker can still do with it; ``kept`` are the columns that were published as they are."""
        return []

    def good_use(self, has_kept: bool) -> list[Point]:
        """How it is analysed properly."""
        return [KEPT_EXACT] if has_kept else []


KEPT_EXACT = Point("Columns kept as they were", "are exact, record by record, apart from suppressed records.")
MEMBERS_ARE_REAL = "Members of sets are real"


def labels_tell(of: str) -> Point:
    """What labels still tell of the records of a group, or whatever they are of."""
    return Point(
        MEMBERS_ARE_REAL,
        f"The members of a published set are values of records of the {of}. So are the ends of ranges if exact ends "
        "were asked for, or if a column has two ordered categories; otherwise ranges of numbers and dates end at round "
        "numbers, and those of ordered categories on a grid of several.",
    )


PUBLICATIONS: Registry[Publication] = Registry("shoal.tables.publish")
