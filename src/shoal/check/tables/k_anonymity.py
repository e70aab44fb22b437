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

from shoal.check.guarantee import Guarantee, count, failing_groups, judge, number
from shoal.check.tables.classes import Classes
from shoal.check.tables.models import Check, checks
from shoal.models.k_anonymity import KAnonymity


def k_anonymity(classes: Classes, k: int) -> Guarantee:
    """Recompute k-anonymity: achieved is the size of the smallest class."""
    others = int(classes.sizes.min()) - 1
    few = "no other" if others == 0 else f"only {count(others, 'other')}"
    shared = "published quasi-identifiers with"
    if classes.persons is not None:
        return _of_persons(classes, k)
    return judge_sizes(
        classes,
        k,
        f"Every record shares its {shared} at least {count(others, 'other')} (required: {k - 1}).",
        f"some records share their {shared} {few} (required: {k - 1}).",
    )


def judge_sizes(classes: Classes, k: int, holds: str, fails: str, details: dict[str, float] | None = None) -> Guarantee:
    """The guarantee that no class has fewer than k members, in one of two sentences."""
    failing = classes.sizes < k
    return judge(
        classes,
        classes.sizes,
        failing,
        low_is_worse=True,
        model="k-anonymity",
        required={"k": k},
        sentences=(holds, f"k-anonymity fails {failing_groups(failing)}: {fails}"),
        details=details,
    )


def _of_persons(classes: Classes, k: int) -> Guarantee:
    """The same of persons. Where one record is known of each, it is told what all records would tell."""
    others = int(classes.sizes.min()) - 1
    least = count(others, "other person")
    few = f"only {least}" if others else "no other person"
    wanted = f"(required: {k - 1})"
    shown = "published quasi-identifiers"
    details: dict[str, float] = {}
    if classes.are_histories:
        holds = f"The {shown} of all records of a person are those of at least {least} too {wanted}."
        fails = f"the records of some persons, taken together, are like those of {few} {wanted}."
    else:
        assert classes.persons is not None
        holds = f"Each record of a person shares its {shown} with records of at least {least} {wanted}."
        fails = f"some records of a person share their {shown} with those of {few} {wanted}."
        alike = classes.of_histories(classes.persons)
        if alike.n_members < alike.n_rows:  # some have several records
            details["unique_histories"] = float((alike.sizes == 1).sum() / alike.n_members)
            holds += f" {_all_known(details['unique_histories'])}"
    return judge_sizes(classes, k, holds, fails, details)


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

    def least_rows(self, required: KAnonymity) -> int:
        """The k."""
        return required.k
