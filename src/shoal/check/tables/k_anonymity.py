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

from shoal.check.guarantee import Guarantee, count, failing_groups, judge
from shoal.check.tables.classes import Classes
from shoal.check.tables.models import Check, checks
from shoal.models.k_anonymity import KAnonymity


def k_anonymity(classes: Classes, k: int) -> Guarantee:
    """Recompute k-anonymity: achieved is the size of the smallest class."""
    others = int(classes.sizes.min()) - 1
    failing = classes.sizes < k
    few = "no other" if others == 0 else f"only {count(others, 'other')}"
    shared = "published quasi-identifiers with"
    if classes.persons is not None:
        few += " person" if others < 2 else " persons"
        return judge(
            classes,
            classes.sizes,
            failing,
            low_is_worse=True,
            model="k-anonymity",
            required={"k": k},
            sentences=(
                f"Every person shares the {shared} at least {count(others, 'other person')} in each of their records "
                f"(required: {k - 1}).",
                f"k-anonymity fails {failing_groups(failing)}: some persons share their {shared} {few} in a record "
                f"(required: {k - 1}).",
            ),
        )
    return judge(
        classes,
        classes.sizes,
        failing,
        low_is_worse=True,
        model="k-anonymity",
        required={"k": k},
        sentences=(
            f"Every record shares its {shared} at least {count(others, 'other')} (required: {k - 1}).",
            f"k-anonymity fails {failing_groups(failing)}: some records share their {shared} {few} "
            f"(required: {k - 1}).",
        ),
    )


@checks("k-anonymity")
class KAnonymityCheck(Check[KAnonymity]):
    """Of classes, and of the rows that a bucket or region has."""

    def of_sizes(self, required: KAnonymity, classes: Classes) -> Guarantee:
        """See `k_anonymity`."""
        return k_anonymity(classes, required.k)

    def least_rows(self, required: KAnonymity) -> int:
        """The k."""
        return required.k
