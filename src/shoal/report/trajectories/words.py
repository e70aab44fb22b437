"""Names and sentences for releases of trajectories."""

from __future__ import annotations

from shoal.check.guarantee import Guarantee
from shoal.kinds.trajectories.policy import TrajectoryPolicy
from shoal.report.checked import recomputed
from shoal.report.points import Point

NOUN = "Trajectories"
MODELS = {
    "k-anonymity": "Whoever knows where someone was finds at least k persons who fit equally well.",
    "k-tau-eps": "Whoever knows where someone was for tau minutes in one go finds at least k trajectories that fit "
    "equally well, and learns for sure at most as many minutes more.",
    "box-size": "No box is larger than was allowed.",
    "boxes-cover": "Boxes hold the points that they stand for, and every member of the group was in each of them.",
}
REASONS = {"alone": "fewer than k persons were near enough to share a trajectory"}
CHECKED = recomputed(", the original and the groups", publicly=True)


def short_name(guarantee: Guarantee) -> str:
    """What a guarantee is called: ``5-anonymity``."""
    return {
        "k-anonymity": f"{guarantee.required.get('k', 0):g}-anonymity of trajectories",
        "k-tau-eps": f"{guarantee.required.get('k', 0):g}^(tau, eps)-anonymity with "
        f"{guarantee.required.get('tau', 0):g} minutes",
        "box-size": "boxes within the limits",
        "boxes-cover": "boxes that hold what they stand for",
    }.get(guarantee.model, guarantee.model)


def required(guarantee: Guarantee) -> str:
    """What was asked for."""
    asked = guarantee.required
    if guarantee.model == "box-size":
        return f"up to {asked['metres']:,.0f} m and {asked['minutes']:g} minutes"
    return f"{asked['k']:g} persons or more"


def achieved(guarantee: Guarantee) -> str:
    """What was reached."""
    return f"{guarantee.achieved:,.0f} m" if guarantee.model == "box-size" else f"{guarantee.achieved:,.0f}"


def method(policy: TrajectoryPolicy) -> dict[str, str]:
    """How the boxes were made, in words, by what it is about."""
    m = policy.method
    if m.tau is not None:
        square = policy.k**2
        return {
            "Groups": f"In each period of {m.tau:g} minutes {square} persons share their boxes. Sets of {policy.k} of "
            "them shared the period before, and others go on together into the next (k^(tau, eps)).",
            "Boxes": "Each box holds at least one point of every person who shares it.",
            "Left out": "Periods of persons who could not go on together, and points that would stretch a box beyond "
            f"{m.metres:,.0f} m or {m.minutes:g} minutes.",
            "Grid": f"The sides of boxes lie on a grid of {m.cell:g} degrees and {m.slot:g} minutes, whatever the "
            "group.",
        }
    cut = {
        "Pieces": f"Trips were cut at every {m.piece or 0:g} minutes of the clock (UTC), and each piece was published "
        "by itself: nothing says which pieces are of one trip. Origins and destinations, lengths and durations are "
        "those of pieces."
    }
    return {
        **({} if m.piece is None else cut),
        "Groups": f"{policy.many.capitalize()} of {policy.k} persons or more whose routes are near one another form a "
        f"group (GLOVE), never two {policy.many} of one person.",
        "Boxes": "The points of a group are cut into boxes, each of which holds at least one point of every "
        f"{policy.one} of the group.",
        "Left out": f"Points that would stretch a box beyond {m.metres:,.0f} m or {m.minutes:g} minutes are left out, "
        f"and those that would stretch one most, up to {100 * m.suppression:g} % of all in the end; and {policy.many} "
        "for which no group is left.",
        "Grid": f"The sides of boxes lie on a grid of {m.cell:g} degrees and {m.slot:g} minutes, whatever the group.",
    }


def limits(policy: TrajectoryPolicy) -> tuple[Point, ...]:
    """What an attacker can still do."""
    tau = policy.method.tau
    more = Point(
        "Knowing more than a while",
        f"Anyone who knows more of a person's day than {tau or 0:g} minutes in one go, such as home, work and a shop, "
        "may single out the trajectory; nothing is promised against that.",
    )
    return (
        *(() if tau is None else (more,)),
        *(() if policy.method.piece is None else (_PIECES,)),
        Point(
            "What a group has in common",
            "If all of a group were at one place, that place is published. Anyone who knows that someone is in the "
            "group learns that they were in each of its boxes.",
        ),
        Point(
            "Being in the data",
            "Nothing here hides whether a trajectory is in the data, nor that one was so unlike others that it was "
            "left out. This is not differential privacy.",
        ),
        Point(
            "Several trips of one person",
            "Trips of one person are published in different groups and are not tied to one another; whoever can tie "
            "them by other means knows more.",
        )
        if policy.input.unit == "trip"
        else Point(
            "One trajectory per person", "All points of a person are one trajectory, and are protected together."
        ),
        Point(
            "Several releases",
            "A second release of the same data has other groups; both together tell more than either.",
        ),
    )


_PIECES = Point(
    "Knowing several pieces",
    "Each published piece is shared by k persons. Nothing is promised against someone who knows points in several "
    "pieces of a person: whoever ties pieces together, because a trip continues as it began, learns the places of "
    "all of them. The attack next-piece measures how often that works, where persons were held out.",
)
GOOD_USE = (
    Point("Good for", "Flows between areas, density by hour, typical routes and their durations."),
    Point("Not good for", "Single stops, speeds, and routes through streets: a box is as large as its group needs."),
)
MISUSE = (
    Point("Do not look for persons", "Do not try to find out whose trajectories the data was made from."),
    Point("Do not join", "Do not join boxes with other data about places and times to learn about persons."),
)

MEANINGS = {
    "Stretch, metres": "Longer side of the box of a point: median, and what 95 of 100 do not pass.",
    "Stretch, minutes": "Duration of the box of a point: median, and what 95 of 100 do not pass.",
    "Displacement, metres": "From a point to the middle of its box: median, and what 95 of 100 do not pass.",
    "Length, km": "Median route of a trajectory before, and of its boxes after.",
    "Duration, minutes": "Median duration before, and of the boxes after.",
    "Origins and destinations": "Share of trips that would have to change for both sides to agree, in cells of "
    "0.01 degrees.",
    "Heat map": "Correlation of the numbers of points in cells of 0.01 degrees; 1 is the same picture.",
    "Counts in ranges": "Median relative error of 200 counts in ranges, scaled by the points left out.",
}
"""What the measures of the report mean."""
