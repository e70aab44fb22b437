"""Bucketize, slice and screen: three publications of one machine, `shoal.tables.publish.slices.slice_table`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from shoal.data.tables.attribute import Attribute
from shoal.errors import PolicyError
from shoal.report.points import Point
from shoal.tables.publish.base import PUBLICATIONS, Publication, PublishingTask, Telling, labels_tell

if TYPE_CHECKING:
    from shoal.kinds.tables.policy import Method
    from shoal.tables.anonymize import Anonymized
    from shoal.tables.publish.slices.plan import Form

_SLICED = Telling(
    alike="Each bucket holds at least {n} of them.",
    groups="Buckets",
    changed="are as they were; what ties them to the columns of other slices was cut by permuting every slice within "
    "its bucket",
    row="As many rows as records, but a row is not a record of the source: the columns of one slice belong together, "
    "those of two slices only as far as their bucket does. The manifest names the slices.",
    recomputed="How large buckets are can be recomputed from the data beside this page; what an attacker can conclude "
    "about a record depends on its own values, so the original is needed for the rest.",
    checked="Every guarantee was recomputed from the table as it is published and the original, for every record, by a "
    "checker that is independent of the method.",
    classes="",
)


class InSlices(Publication):
    """Columns in slices that are permuted within buckets."""

    form: ClassVar[Form]
    parameters: tuple[str, ...] = ("slices", "jointly")
    rows_are_records = False
    technique = "anatomization with permutation"
    is_sliced = True
    loses_order = "slices are permuted, so no row has a place in the original"
    kept = "kept in slices"
    telling = _SLICED
    means: tuple[str, ...] = ("slices",)
    covered = "."
    between = ", and only what differs between buckets relates them."

    def refuse(self, method: Method) -> None:
        """Buckets are its own, and cut by sensitive values."""
        fields = type(method).model_fields
        others = ("partition", "effort", "suppression", "restore_variance")
        if any(getattr(method, n) != fields[n].default for n in others):
            raise ValueError(
                f"publish = {self.name} makes its own buckets: leave partition, effort, suppression and "
                "restore_variance out"
            )
        if method.diversity != "local":
            raise ValueError(f"publish = {self.name} cuts buckets by sensitive values: leave diversity out")

    def make(self, task: PublishingTask) -> Anonymized:
        """Choose slices, make buckets, permute."""
        from shoal.tables.anonymize import Anonymized
        from shoal.tables.publish.slices.slice_table import slice_table

        if task.table.weights is not None:
            raise PolicyError(f"publish = {self.name} draws single records for one release alone: leave memory out")
        made = slice_table(task.table, task.attributes, seed=task.seed, **self.asked(task))
        return Anonymized(
            made.table,
            task.attributes,
            task.order[made.rows],
            made.buckets,
            tuple(task.notes),
            made.layout,
            tuple(task.order[rows] for rows in made.sources),
        )

    def asked(self, task: PublishingTask) -> dict[str, Any]:
        """What `shoal.tables.publish.slices.slice_table.cut_slices` is to make of a table."""
        from shoal.tables.persons import repeat

        policy, method = task.policy, task.policy.method
        persons = task.persons if repeat(task.persons) else None
        if persons is not None and self.has_labels:
            raise PolicyError(
                f"publish = {self.name} cannot count persons, of whom some have several records: whoever joins its "
                "slices pairs rows, also two of one person; bucketize, slice, or generalise"
            )
        return {
            "form": self.form,
            "k": policy.k,
            "require": policy.require,
            "columns": method.slices,
            "strict": method.strict,
            "missing": policy.missing,
            "ends": method.ends,
            "jointly": method.jointly,
            "block_rows": method.block_rows,
            "note": task.notes.append,
            "executor": task.executor,
            "progress": task.progress,
            "persons": persons,
        }

    def treatment(self, attribute: Attribute, *, by_hierarchy: bool) -> str:
        """As every other column."""
        return self.treatment_of_others(attribute)

    def treatment_of_others(self, attribute: Attribute) -> str:
        """It moved with its slice."""
        return "kept as it was, permuted within its bucket together with its slice"

    def not_protected(self, kept: Sequence[str]) -> list[Point]:
        """More knowledge, and what stands as it is."""
        return [
            Point(
                "More knowledge narrows it down",
                "The guarantees hold for an attacker who knows all quasi-identifiers of a record and joins the slices. "
                "One who also knows other members of a bucket, or that some sensitive value is impossible for the "
                "record, can strike out rows and be left with fewer than was required.",
            ),
            Point(
                "Quasi-identifiers are published as they are",
                "Whoever knows a record's values finds them in the table if they stand in one slice, so it tells that "
                "the record is in it. What was cut is which sensitive value belongs to them.",
            ),
        ]

    def good_use(self, has_kept: bool) -> list[Point]:
        """Within slices, and across."""
        return [
            Point("Within a slice", f"columns belong together: count and relate them as in any table{self.covered}"),
            Point(
                "Across slices",
                "rows do not belong together. Work bucket by bucket: inside a bucket slices are unrelated"
                f"{self.between} shoal.read_slices gives one frame a slice, shoal.sample_records plausible full "
                "records.",
            ),
        ]


class Bucketization(InSlices):
    """Quasi-identifiers in one slice, sensitive values in another."""

    name = form = "bucketize"
    is_bounded = True
    help = "Bucketization: quasi-identifiers as they are, sensitive values in a slice of their own, permuted"
    place = 3
    done_to_quasi = "published as they are, apart from the sensitive values"


class Slicing(InSlices):
    """Correlated columns in slices."""

    name = form = "slice"
    is_bounded = True
    help = "Slicing: correlated columns stay together in slices, and every slice is permuted within its bucket"
    place = 4
    done_to_quasi = "published as they are, in slices permuted apart"


class Screening(InSlices):
    """Generalised quasi-identifiers in slices, sensitive values in each."""

    name = form = "screen"
    help = "Screening: slices with generalised quasi-identifiers and the sensitive values in each, permuted"
    place = 5
    parameters = (*InSlices.parameters, "ends")
    has_labels = True
    done_to_quasi = "made alike within slices and buckets"
    telling = replace(
        _SLICED,
        alike="In each slice and bucket, every published combination of quasi-identifiers stands in at least {n} rows.",
        changed="were generalised within each bucket and slice, and every slice was permuted within its bucket; the "
        "sensitive values stand in every slice",
    )
    means = ("slices", "screens")
    covered = ", each label in equal parts for all that it covers."
    between = ", but for the sensitive value that stands in each; join them on it."

    def treatment(self, attribute: Attribute, *, by_hierarchy: bool) -> str:
        """A label."""
        return PUBLICATIONS["generalise"].treatment(attribute, by_hierarchy=by_hierarchy)

    def not_protected(self, kept: Sequence[str]) -> list[Point]:
        """k is of one slice."""
        return [
            super().not_protected(kept)[0],
            Point(
                "k holds slice by slice",
                "Within a slice at least k rows fit a record. Whoever joins the slices on the sensitive value may be "
                "left with fewer rows that fit in all of them; how much those tell of the value is what the diversity "
                "guarantees bound.",
            ),
            labels_tell("bucket"),
        ]


for _publication in (Bucketization(), Slicing(), Screening()):
    PUBLICATIONS.register(_publication)
