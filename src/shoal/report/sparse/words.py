"""Names and sentences for releases of sketches."""

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
    from shoal.utility.sparse.measure import SparseUtility

NOUN = "Records"
MODELS = {
    "delta-anonymity": "The usual estimate of an item's weight, which is right on average and takes the key, has at "
    "least that variance. Estimates that use how popular items are come nearer: see what the key tells of items.",
    "k-variance": "The similarity to each of the nearest records, as two sketches tell it, has at least the standard "
    "deviation that the threshold asks for.",
    "recovery-cap": "A sketch carries at most this share of what it takes, with the key, to pin a record down, items "
    "counted as independent of one another.",
    "k-anonymity": "A sketch is of the sum of at least k records: what it tells, even to who has the key, is told of "
    "all of them together.",
    "look-alikes": "A sketch stands there once for each record of its group: nobody's can be told from k - 1 others.",
    "max-components": "No sketch has more components than asked for.",
    "coarse-counts": "The number of components would tell how large a record is; on a coarse grid it tells less.",
    "rounding": "More digits of real components would tell which items a record has.",
    "class-size": "A class of few records would point at them.",
    "sketch-form": "The published numbers are what the method makes of the originals, and nothing else.",
}
REASONS = {
    "empty": "empty: there is nothing to sketch",
    "small_class": "class of too few records: the label alone would point at them",
    "too_short": "too few items: one component would already tell too much of an item",
    "too_distinct": "too far from all others: no component keeps its similarities blurred",
    "rare_items": "only items that fewer than k records hold",
}
BEING_IN_THE_DATA = Point(
    "Being in the data",
    "Nothing here hides whether a record is in the data from someone who has the key. This is not differential "
    "privacy.",
)
CHECKED = recomputed(", the original, the rows and the key")
short_name = partial(
    named,
    names={
        "delta-anonymity": "{delta}-anonymity",
        "k-variance": "{k}-variance anonymity",
        "recovery-cap": "recovery cap",
        "k-anonymity": "{k}-anonymity of groups",
        "look-alikes": "{k} look-alikes",
        "max-components": "length of sketches",
        "coarse-counts": "coarse lengths",
        "rounding": "rounded components",
        "class-size": "size of classes",
        "sketch-form": "true sketches",
    },
)


def required(guarantee: Guarantee) -> str:
    """What was asked for."""
    r = guarantee.required
    if guarantee.model == "delta-anonymity":
        return f"variance of {number(r.get('delta'), 4)} or more"
    if guarantee.model == "k-variance":
        return f"blur of 1 or more, for {number(r.get('k'), 4)} neighbours"
    if guarantee.model == "recovery-cap":
        return f"{percent(r.get('share', 0.5))} of it or less"
    if guarantee.model == "max-components":
        return f"{number(next(iter(r.values()), None), 4)} components or fewer"
    if guarantee.model in ("class-size", "k-anonymity", "look-alikes"):
        return f"{number(next(iter(r.values()), None), 4)} records or more"
    return "all"


def achieved(guarantee: Guarantee) -> str:
    """What was reached."""
    if guarantee.model == "recovery-cap":
        return percent(guarantee.achieved)
    if guarantee.model in ("sketch-form", "rounding"):
        return "all" if guarantee.holds else "not all"
    if guarantee.model == "coarse-counts":
        return f"{number(guarantee.achieved)} numbers" if guarantee.holds else "not all"
    return number(guarantee.achieved, 4)


def method(policy: SparsePolicy, step: float, neighbours: str | None, recall: float | None) -> dict[str, str]:
    """How sketches were made, in words, by what it is about."""
    near, is_grouped = policy.k_variance, policy.method.unit == "group"
    told = {
        "Sketches": "Each component is the sum of a record's weights with random signs, the same for all records; they "
        "come from a secret key.",
    }
    if is_grouped:
        told["Groups"] = (
            f"Near records of a class were put into groups of at least {policy.k} and added up, without items that "
            f"fewer than {policy.k} records hold; what is sketched is the sum, in the place of a record, and its "
            "sketch stands once for each record of the group."
        )
    told |= {
        "How many components": f"As many as leave a variance of {policy.delta:g} to the usual estimate of an item, and "
        f"at most {policy.method.max_components}.",
    }
    if policy.method.recovery_cap:
        told["Recovery cap"] = (
            f"At most as many as carry {percent(policy.method.recovery_share)} of the information that it takes to pin "
            "the record down, counted with the items' popularity known, and leave ten bits of it."
        )
    if near is not None:
        told["Neighbours"] = (
            f"At most as many as blur the similarity to each of the {near.k} nearest records "
            f"({policy.method.metric}) by the threshold of k-variance anonymity (reading: {near.threshold}; variance: "
            f"{near.variance})."
        )
        if neighbours == "partition":
            told["Neighbours"] += " Neighbours were looked for in parts of the data" + (
                f"; {percent(recall)} of the true ones were found, on a sample." if recall is not None else "."
            )
    if policy.method.coarse_counts:
        told["Coarse numbers"] = (
            "The number of components is lowered to 1, 2, 3, 4, 6, 8, 12, 16, 24, ..., as it would tell how large the "
            "record is."
        )
    if step != 1:
        told["Rounding"] = f"Components are rounded to multiples of {step:g}: more digits would tell the items."
    told["Order"] = "Sketches are sorted by their content, so their order reveals nothing."
    return told


def limits(policy: SparsePolicy, is_integral: bool, has_classes: bool) -> tuple[Point, ...]:
    """What an attacker can still do."""
    points = _limits_of_groups(policy) if policy.method.unit == "group" else _limits_of_records(policy, is_integral)
    if not policy.method.recovery_cap:
        points.insert(
            0,
            Point(
                "What is sketched may be solved for",
                "The recovery cap is off: with the key, a linear programme may recover whole records, or whole sums of "
                "groups. See the attacks.",
            ),
        )
    if policy.k_variance is None and policy.method.unit == "record":
        points.insert(
            0,
            Point(
                "Neighbours play no part",
                "Only delta-anonymity is required: an unusual record gets as many components as a common one.",
            ),
        )
    if has_classes:
        points.append(Point("Classes are true", "The class of a sketch is that of its record."))
    return tuple(points)


def _limits_of_groups(policy: SparsePolicy) -> list[Point]:
    return [
        Point(
            "What a group has in common",
            "Someone who has the key can estimate how many records of a group hold an item. What all of them hold is "
            "told of each, and no bound on such inference is promised.",
        ),
        Point(
            "The key opens more",
            "Someone who has the key and a record in full may see that it is like the sum of some group. The attack "
            "group-membership measures it. Keep the key at home or throw it away; nothing published needs it.",
        ),
        Point(
            "The size of groups shows",
            "A sketch stands there once for each record of its group, and the mean square of its components estimates "
            "the squared length of the sum.",
        ),
        BEING_IN_THE_DATA,
        Point(
            "Several records of one person",
            f"Records are counted, not persons: the {policy.k} records of a group may be of fewer persons.",
        ),
    ]


def _limits_of_records(policy: SparsePolicy, is_integral: bool) -> list[Point]:
    return [
        Point(
            "The key opens more",
            "Someone who has the key can estimate items, and can test whether a record known in full is in the "
            "data. Keep the key at home or throw it away; nothing published needs it.",
        ),
        Point(
            "What the key tells of items",
            "delta bounds the variance of the usual estimate of an item, not what can be guessed. Someone who has "
            "the key and knows how popular items are makes a linear estimate of far smaller error: of T10I4D100K, "
            "with default settings, it named an item that the record holds for 26 % of the baskets, the usual "
            "estimate for 12 %; naming the most popular item is right for 7 %. The attack linear-estimate measures "
            "it.",
        ),
        Point(
            "The key hides less than it seems",
            "Signs of items that most records have follow from the mean of all sketches, others from records that "
            "differ in one item. Choose delta as though the key were known.",
        ),
        Point(
            "Items that go together",
            "The recovery cap counts items as independent. Someone who has the key and knows which items go together "
            "needs fewer components: granted the very itemsets that baskets were generated from, a search recovered "
            "3 of 20 under the default cap. A smaller recovery_share helps.",
        ),
        Point(
            "The size of a record shows",
            "The mean square of the components estimates the record's squared length"
            + (
                ", and for whole numbers every component has the parity of the sum of its weights."
                if is_integral
                else "."
            )
            + (
                " The number of components, on a coarse grid, tells its rough size too."
                if policy.method.coarse_counts
                else " The number of components tells it nearly exactly: coarse numbers are off."
            ),
        ),
        Point(
            "Known records",
            "Someone who knows some records and which sketches are theirs learns about the signs, and from enough of "
            "them about the other records. So the key is new for every release.",
        ),
        BEING_IN_THE_DATA,
        Point(
            "Several records of one person",
            "Records are counted, not persons. Similar records of one person blur one another's, and hide that person "
            "from nobody.",
        ),
    ]


GOOD_USE = (
    Point(
        "Good for",
        "Dot products, distances, lengths and centroids of records, so clustering, nearest neighbours and classifiers "
        "that work on them. Compare two records on the components that both have.",
    ),
    Point("How exact", "The error of a dot product falls with the square root of the number of common components."),
    Point(
        "Not good for",
        "Single items: estimates of them need the key, and the usual ones are as uncertain as delta says.",
    ),
)
MISUSE = (
    Point("Do not look for persons", "Do not try to find out whose records the sketches are of."),
    Point("Do not join", "Do not try to learn the signs from records that you know, or join the data with others."),
)


def cost(utility: SparseUtility, records: Mapping[str, int]) -> str:
    """What the protection of sparse records cost, in a sentence."""
    near, learned = utility.neighbours, utility.learning
    unit = "record" if utility.n_records == records["in"] else "group"
    kept = ""
    if near is not None:
        n, share = min(near.shares.items())
        kept = f"Of a {unit}'s {near.n_nearest} nearest, {percent(share)} are among the {n:,} nearest by sketches. "
    if learned is not None:
        kept += (
            f"Nearest neighbours tell the class of {percent(learned.after.mean)} of sketches, of "
            f"{percent(learned.before.mean)} of originals. "
        )
    return f"{kept}{records['suppressed']:,} of {records['in']:,} records were left out."
