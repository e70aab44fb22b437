"""Sentences of the two pages that depend on how the table was published."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Telling:
    """What is said where publications differ.

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

    alike: str
    groups: str
    changed: str
    row: str
    recomputed: str
    checked: str
    classes: str
    width: tuple[str, str]


ALIKE = Telling(
    alike="By its quasi-identifiers every record looks like at least {others}.",
    groups="Groups of look-alikes",
    changed="were made equal within groups of records; all other columns are as they were",
    row="One row a record, as in the source.",
    recomputed="All guarantees can be recomputed from the data beside this page.",
    checked="Every guarantee was recomputed from the table as it is published, by a checker that is independent of the "
    "method.",
    classes="Records with the same quasi-identifiers form a class. The larger the class of a record, the harder it is "
    "to tell whose it is.",
    width=("Certainty lost", "in an average quasi-identifying cell"),
)
CONDENSED = Telling(
    alike="Its quasi-identifiers are invented: each row was drawn from statistics of a group of at least {n} records.",
    groups="Groups drawn from",
    changed="were replaced by pseudo-records, drawn from the mean, covariance and shares of groups of records; all "
    "other columns hold true values, those of one record together, beside any pseudo-record of its group",
    row="As many rows as records, but a row is no record of the source: what stands in it belongs together only as far "
    "as its group does.",
    recomputed="The guarantees are about how the rows were drawn. To recompute them the original and the groups are "
    "needed, which are not published; the owner's software did so before this data was written.",
    checked="Every guarantee was recomputed from the table as it is published, the original and the groups, by a "
    "checker that is independent of the method. Without the original nobody can recompute it.",
    classes="Before: records with the same quasi-identifiers form a class, and the larger it is, the harder it is to "
    "tell whose a record is. After: pseudo-records are nobody's, so the groups that they were drawn from are counted, "
    "as if an attacker knew them.",
    width=("Width of a group", "of the whole range, on average"),
)
SLICED = Telling(
    alike="Each bucket holds at least {n} of them.",
    groups="Buckets",
    changed="are as they were; what ties them to the columns of other slices was cut by permuting every slice within "
    "its bucket",
    row="As many rows as records, but a row is no record of the source: the columns of one slice belong together, "
    "those of two slices only as far as their bucket does. The manifest names the slices.",
    recomputed="How large buckets are can be recomputed from the data beside this page; what an attacker can conclude "
    "about a record depends on its own values, so the original is needed for the rest.",
    checked="Every guarantee was recomputed from the table as it is published and the original, for every record, by a "
    "checker that is independent of the method.",
    classes="",
    width=("Certainty lost", "in an average quasi-identifying cell"),
)
SCREENED = replace(
    SLICED,
    alike="In each slice and bucket, every published combination of quasi-identifiers stands in at least {n} rows.",
    changed="were generalised within each bucket and slice, and every slice was permuted within its bucket; the "
    "sensitive values stand in every slice",
    groups="Buckets",
)
TELLINGS = {"condense": CONDENSED, "bucketize": SLICED, "slice": SLICED, "screen": SCREENED}


def telling(publish: str) -> Telling:
    """The sentences for a way of publishing."""
    return TELLINGS.get(publish, ALIKE)
