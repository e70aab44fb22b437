"""k-anonymity: every combination of published quasi-identifiers stands in at least k records.

**Guarantee.** Whoever knows all quasi-identifiers of a record finds at least k records that could be it. Where
one person has several records, k records may be of fewer than k persons, unless persons are counted: then records of at
least k different persons could be it ((X, Y)-anonymity of Wang and Fung, KDD 2006).
**Not protected.** The sensitive values of a class may all be the same; see l-diversity and t-closeness.

References
----------
L. Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty, Fuzziness and
Knowledge-Based Systems 10(5), 2002.
"""

from __future__ import annotations

from shoal.check.guarantee import Guarantee, Reached, count, number
from shoal.check.tables.classes import Classes
from shoal.check.tables.models import Check, checks
from shoal.models.k_anonymity import KAnonymity


def k_anonymity(classes: Classes, k: int) -> Guarantee:
    """Recompute k-anonymity: achieved is the size of the smallest class."""
    return _told(_reached(classes, k), k, _unique_histories(classes))


def judge_sizes(classes: Classes, k: int, holds: str, fails: str) -> Guarantee:
    """The guarantee that no class has fewer than k members, in one of two sentences."""
    return _judged(_reached(classes, k), k, holds, fails, {})


def _reached(classes: Classes, k: int) -> Reached:
    return Reached.of(classes, classes.sizes, classes.sizes < k, low_is_worse=True)


def _judged(reached: Reached, k: int, holds: str, fails: str, details: dict[str, float]) -> Guarantee:
    sentences = (holds, f"k-anonymity fails {reached.failing_groups}: {fails}")
    return reached.guarantee("k-anonymity", {"k": k}, sentences, details=details)


def _told(reached: Reached, k: int, unique_histories: float | None) -> Guarantee:
    """In words. Where one record is known of each person, it is told what all records would tell."""
    others, wanted = reached.smallest - 1, f"(required: {k - 1})"
    if reached.noun == "record":
        few = "no other" if others == 0 else f"only {count(others, 'other')}"
        shared = "published quasi-identifiers with"
        holds = f"Every record shares its {shared} at least {count(others, 'other')} {wanted}."
        return _judged(reached, k, holds, f"some records share their {shared} {few} {wanted}.", {})
    least = count(others, "other person")
    few = f"only {least}" if others else "no other person"
    shown = "published quasi-identifiers"
    details: dict[str, float] = {}
    if reached.are_histories:
        holds = f"The {shown} of all records of a person are those of at least {least} too {wanted}."
        fails = f"the records of some persons, taken together, are like those of {few} {wanted}."
    else:
        holds = f"Each record of a person shares its {shown} with records of at least {least} {wanted}."
        fails = f"some records of a person share their {shown} with those of {few} {wanted}."
        if unique_histories is not None:
            details["unique_histories"] = unique_histories
            holds += f" {_all_known(unique_histories)}"
    return _judged(reached, k, holds, fails, details)


def _unique_histories(classes: Classes) -> float | None:
    """The share of persons with a published history of their own; None where each has one record, or it is known."""
    if classes.persons is None or classes.are_histories:
        return None
    alike = classes.of_histories(classes.persons)
    return float((alike.sizes == 1).sum() / alike.n_members) if alike.n_members < alike.n_rows else None


def _all_known(share: float) -> str:
    """What the strict model would show."""
    known = "This is for attackers who know one record of a person; to one who knows all of them,"
    if not share:
        return f"{known} nobody has a published history of their own either."
    told = "less than 0.01" if share < 1e-4 else number(round(100 * share, 2))
    return f"{known} {told} % of the persons have a published history of their own."


@checks("k-anonymity")
class KAnonymityCheck(Check[KAnonymity]):
    """Of classes, and of the rows that a bucket or region has."""

    def of_sizes(self, required: KAnonymity, classes: Classes) -> Guarantee:
        """See `k_anonymity`."""
        return k_anonymity(classes, required.k)

    def reach_sizes(self, required: KAnonymity, classes: Classes) -> Reached:
        """The sizes."""
        return _reached(classes, required.k)

    def tell_sizes(self, required: KAnonymity, reached: Reached) -> Guarantee:
        """Of parts of a table in which nobody has two records."""
        return _told(reached, required.k, None)

    def least_rows(self, required: KAnonymity) -> int:
        """The k."""
        return required.k
