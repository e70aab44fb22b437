"""Names and sentences for releases of k^m-anonymous records."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from shoal.check.guarantee import Guarantee
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.report.checked import named
from shoal.report.points import Point
from shoal.report.sparse.basket_words import cost as cost
from shoal.report.sparse.basket_words import reading as record_reading
from shoal.report.tables.words import number, percent

if TYPE_CHECKING:
    from shoal.data.sparse.written import RecordForm

NOUN = "Records"
MODELS = {
    "km-anonymity": "Anyone who knows up to m items of a record finds at least k records that fit, or none.",
    "rho-uncertainty": "Of the records with any m items, at most the share rho holds one more that is sensitive.",
    "disassociation": "Chunks reveal nothing about which subrecords belong together, and there are enough records to "
    "hide in.",
}
REASONS = {
    "empty": "empty: there is nothing to publish",
    "emptied": "no item was left: all of theirs are rare, or stand in rare combinations",
}
READINGS = {
    "disassociate": (
        "what this page measures of use and attacks is that of one way in which the records may have been, drawn from "
        "the chunks at random",
    ),
    "generalise": (
        "what this page measures of use is that of items drawn at random among those that a label stands for; attacks "
        "are on the labels",
    ),
}
CHECKED = (
    "Every guarantee was recomputed from the bytes of the published file, by a checker that is independent of the "
    "method and counts all combinations anew. Anybody who has the file can repeat it."
)
short_name = partial(
    named,
    names={
        "km-anonymity": "{k}^{m}-anonymity",
        "rho-uncertainty": "{rho}-uncertainty",
        "disassociation": "disassociation of chunks",
    },
)
_LEADS = {
    "disassociate": "records whose items were put apart: which items of a record go together is told within chunks",
    "suppress": "true records from which items were left out, so that no few items point at fewer than k records",
    "generalise": "true records whose items were replaced by more general ones, so that no few of them point at fewer "
    "than k records",
}
_TITLES = {
    "disassociate": "Disassociated records",
    "suppress": "Records with items left out",
    "generalise": "Generalised records",
}


def title(policy: SparsePolicy) -> str:
    """What the data is called."""
    return _TITLES[policy.publish]


def lead(policy: SparsePolicy) -> str:
    """What it is, in a clause."""
    return _LEADS[policy.publish]


def required(guarantee: Guarantee) -> str:
    """What was asked for."""
    if guarantee.model == "rho-uncertainty":
        return f"at most {percent(guarantee.required.get('rho', 0.0))}"
    return f"{number(guarantee.required.get('k'), 4)} records or more"


def achieved(guarantee: Guarantee) -> str:
    """What was reached."""
    return percent(guarantee.achieved) if guarantee.model == "rho-uncertainty" else number(guarantee.achieved, 4)


def reading(policy: SparsePolicy, form: RecordForm, *, has_classes: bool) -> str:
    """How the file is read, in a few sentences."""
    if policy.publish != "disassociate":
        return record_reading(form)
    between = "blanks" if form.delimiter is None else f"“{form.delimiter}”"
    label = " its class," if has_classes else ""
    return (
        f"The file is text, a line for each subrecord, with {between} between: the cluster, the number of its records,"
        f"{label} the chunk, and the items. The records of a cluster hold the subrecords of each of its chunks, one a "
        "record at most, and nothing says which belong together. A chunk called terms lists items that some records of "
        "the cluster hold. A chunk of several clusters, such as 3-4, is shared by their records."
    )


def method(policy: SparsePolicy) -> dict[str, str]:
    """How the records were made, in words, by what it is about."""
    k, m = policy.k, policy.m
    up_to = "Items" if m == 1 else f"Combinations of up to {m} items"
    told = {
        "disassociate": {
            "Rare items": f"Items that fewer than {k} records hold were left out.",
            "Clusters": f"Records were cut by their most frequent items into clusters of {k} to {policy.cluster_size} "
            "records, class by class where there are classes.",
            "Chunks": f"The items of a cluster were put into chunks in which at least {k} records hold every "
            f"combination of up to {m}, and the others into a list of terms.",
            "Shared chunks": "Items that are frequent enough only in neighbouring clusters together were put into "
            "chunks that these share.",
        },
        "suppress": {
            "Combinations": f"{up_to} that fewer than {k} records hold were broken up by leaving an item out "
            + (
                "of the records that hold them, in each the one that is in most of them."
                if policy.method.scope == "records"
                else "of all records, those first that are in most of them for each record that holds them."
            ),
        },
        "generalise": {
            "Combinations": f"Items were replaced by more general ones of a hierarchy, the same for all records, until "
            f"at least {k} records held all {up_to.lower()}.",
        },
    }[policy.publish]
    rho = policy.rho_uncertainty
    if rho is not None:
        told["Sensitive items"] = (
            f"Where more than {percent(rho.rho)} of those who hold up to {m} items hold one more that is sensitive, an "
            "item of that rule was left out of all records."
        )
    return told | {"Order": "Lines are sorted by their items, so their order reveals nothing."}


def limits(policy: SparsePolicy, has_classes: bool) -> tuple[Point, ...]:
    """What an attacker can still do."""
    points = [
        Point(
            "More than m items",
            f"Anyone who knows more than {policy.m} items of a record may find fewer than {policy.k} records, or "
            "one. The attack known-items measures it.",
        ),
        Point(
            "What those k have in common",
            "If all records that fit hold some other item, so does the one that is sought. "
            + (
                "Items that were named as sensitive are bounded by rho, for anyone who knows up to m items; no "
                "others are."
                if policy.rho_uncertainty is not None
                else "No bound on such inference is promised; rho-uncertainty is one, of suppressed and generalised "
                "records, for items that are named."
            ),
        ),
        Point(
            "Being in the data",
            "Nothing promises to hide whether a record is in the data. This is not differential privacy.",
        ),
        Point(
            "Several records of one person",
            "Records are counted: where one gave several alike that were not joined, k records may be of fewer than k.",
        ),
    ]
    points.append(
        Point(
            "Repeating the method",
            "Items of a cluster that stand in different chunks are held together by fewer than k of its records, or by "
            "none: that they were not put into one chunk reveals it.",
        )
        if policy.publish == "disassociate"
        else Point(
            "What is missing reveals something",
            "Records are true, so a combination that was there and that no record shows was rare, and one of its items "
            "was left out or replaced.",
        )
    )
    if has_classes:
        points.append(
            Point("Classes are true", "Combinations are counted within each class, and the class is published.")
        )
    return tuple(points)


def good_use(policy: SparsePolicy) -> tuple[Point, ...]:
    """What the data is for."""
    good = {
        "disassociate": "Supports of items and of frequent sets within clusters, and, with records drawn from chunks "
        "at random, what ordinary software makes of baskets.",
        "suppress": "Which sets of items are frequent: a record that shows some held them all. Their counts are too "
        "low, as items were left out.",
        "generalise": "Frequent sets and rules of more general items: what is there is true.",
    }[policy.publish]
    return (
        Point("Good for", good),
        Point(
            "Not good for",
            "Rare combinations, which are what was broken up, and counts of rare items, which are too low.",
        ),
    )


MISUSE = (
    Point("Do not look for persons", "Do not try to find out whose items a record holds."),
    Point("Do not join", "Do not join the data with others by items."),
)
