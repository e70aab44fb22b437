"""Names and sentences for releases of pseudo-baskets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from shoal.check.guarantee import Guarantee
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.report.checked import named, recomputed
from shoal.report.points import Point
from shoal.report.tables.words import number, percent

if TYPE_CHECKING:
    from shoal.data.sparse.written import RecordForm
    from shoal.utility.sparse.baskets import BasketUtility

MANY = 0.1  # of the items of a record, left out: then it is told
NOUN = "Records"
MODELS = {
    "k-anonymity": "Items were dealt out again among the records of a group, or of several neighbouring ones: a "
    "pseudo-record is nobody's in particular.",
    "item-support": "An item that few hold would point at them, so it is left out.",
    "pool-support": "An item that one record of a pool holds would be dealt as that record's own.",
    "sizes": "How many items a pseudo-record has is taken from some record of its group, or is less where fewer than k "
    "have so many.",
    "rare-copies": "A whole basket that few hold would be theirs.",
    "pool-weights": "The weight of a single record would be its own, and so would a mean that one record makes large.",
}
REASONS = {
    "empty": "empty: there is nothing to publish",
    "small_class": "class of too few records: the label alone would point at them",
    "rare_items": "only items that too few hold: nothing is left of them",
    "emptied": "no item was left for a pseudo-record in their place",
    "copies": "a pseudo-record in their place stayed a copy of a record that few hold",
}
CHECKED = recomputed(", the original and the groups")
short_name = partial(
    named,
    names={
        "k-anonymity": "groups of {k}",
        "item-support": "items that {k} hold",
        "pool-support": "items that {support} of a pool hold",
        "sizes": "sizes of the group",
        "rare-copies": "no copies of rare baskets",
        "pool-weights": "mean weights",
    },
)


def required(guarantee: Guarantee) -> str:
    """What was asked for."""
    asked = {"k-anonymity": "k", "item-support": "k", "pool-support": "support"}.get(guarantee.model)
    if asked is not None:
        return f"{number(guarantee.required.get(asked), 4)} records or more"
    return "none" if guarantee.model == "rare-copies" else "all"


def achieved(guarantee: Guarantee) -> str:
    """What was reached."""
    if guarantee.model in ("sizes", "pool-weights"):
        return "all" if guarantee.holds else "not all"
    if guarantee.model == "rare-copies":
        return "none" if guarantee.holds else number(guarantee.achieved, 4)
    return number(guarantee.achieved, 4)


def method(policy: SparsePolicy) -> dict[str, str]:
    """How pseudo-baskets were made, in words, by what it is about."""
    together = policy.method.together
    told = {
        "Groups": f"Records were put into groups of at least {policy.k} near ones, class by class where there are "
        "classes, and the groups into the order of a tree.",
        "Items": "An item was dealt out again to as many pseudo-records of the group as held it, or of the smallest "
        f"run of 2, 4, 8, ... neighbouring groups in which at least {policy.method.support} did, but no more than "
        "half of its records, unless as large a share of all records did.",
        "Sizes": f"The numbers of items were permuted within each group, and cut to what {policy.k} have.",
        "Copies": f"Items were swapped until no pseudo-record was one that fewer than {policy.k} hold.",
        "Order": "Pseudo-records are sorted by their items, so their order reveals nothing.",
    }
    if together is not None and together > 1:
        told["Together"] = (
            f"Up to {together} items that {policy.k} records hold together, three times as often as by chance or more, "
            "were dealt as one."
        )
    return told


def limits(has_classes: bool) -> tuple[Point, ...]:
    """What an attacker can still do."""
    points = [
        Point(
            "What a whole group has in common",
            "An item that most records of a group hold is in most of its pseudo-records: anyone who knows that a "
            "person is like these learns that the person probably has it. No bound on such inference is promised; "
            "the attacks measure it.",
        ),
        Point(
            "Being in the data",
            "Nothing promises to hide whether a record is in the data; the attack nearest-baskets measures it. This "
            "is not differential privacy.",
        ),
        Point(
            "Items that k hold are shown",
            "Every item that at least k records hold is published, whatever it is: leave out what nobody should read.",
        ),
        Point(
            "Several records of one person",
            "Unless you say whose they are (person), records are counted: where one person has several, groups may "
            "hold fewer than k persons.",
        ),
    ]
    if has_classes:
        points.append(Point("Classes are true", "The class of a pseudo-record is that of all records of its group."))
    return tuple(points)


GOOD_USE = (
    Point(
        "Good for",
        "Supports of items, pairs and larger sets, association rules, clusters, and, where there are many records, "
        "classifiers that learn from many at once.",
    ),
    Point(
        "Not good for",
        "Single records: none of them is anybody's, and anyone who goes by the nearest one or few is misled. Rare "
        "combinations are partly lost.",
    ),
)
MISUSE = (
    Point("Do not look for persons", "Do not try to find out whose items a record holds."),
    Point("Do not join", "Do not join the data with others by items."),
)


def reading(form: RecordForm) -> str:
    """How the file is read, in a sentence or two."""
    between = {None: "blanks", " ": "blanks", "\t": "tabs"}.get(form.delimiter, f"“{form.delimiter}”")
    told = {
        "baskets": f"The file is text with one record per line, its items separated by {between}.",
        "svmlight": "The file is SVMlight (libsvm): a class, or 0 for none, then number:weight of each item.",
        "column": f"The file is a table ({'Parquet' if form.table == 'parquet' else 'CSV'}). The column "
        f"{form.column!r} holds the items of a record, separated by {between}"
        + (f", and {form.class_column!r} its class." if form.class_column else "."),
    }[form.format]
    return told + (" An item is repeated as often as it counts." if form.counts else "")


def cost(utility: BasketUtility, records: Mapping[str, int]) -> str:
    """What the protection cost, in a sentence."""
    pairs = utility.pairs
    told = (
        ""
        if pairs is None
        else f"The supports of the {pairs.n_sets:,} most frequent pairs are off by {percent(pairs.mean)} on average "
        f"({percent(pairs.permuted)} if columns were permuted). "
    )
    for found in utility.learning[:1]:
        told += (
            f"A classifier ({found.classifier}) is right for {percent(found.after)} of records, and for "
            f"{percent(found.before)} when it learns from originals. "
        )
    if utility.mean_size_published < (1 - MANY) * utility.mean_size:
        told += (
            f"A record has {number(utility.mean_size_published)} items on average, of {number(utility.mean_size)} "
            "before. "
        )
    return f"{told}{records['suppressed']:,} of {records['in']:,} records were left out."
