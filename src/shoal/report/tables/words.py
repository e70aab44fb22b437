"""Numbers and names in plain words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from shoal.check.guarantee import Guarantee
from shoal.data.tables.attribute import Attribute
from shoal.kinds.tables.policy import publications
from shoal.models import registered
from shoal.models.base import of_kind

if TYPE_CHECKING:
    from shoal.told_counts import Count
    from shoal.utility.tables.measure import Utility

ROLE_NAMES = {
    "identifying": "identifying",
    "quasi": "quasi-identifying",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}
_OF_DRAWS = {
    "condensation": "What is published about quasi-identifiers depends on groups of at least k records, through "
    "statistics and random numbers.",
    "no-copies": "No published record has all quasi-identifiers of an original one, unless k or more share them.",
    "k-candidates": "Whoever lays all releases side by side, and knows who is in which, still finds at least k who "
    "were in the same group in each of them.",
    "m-invariance": "In every release the same sensitive values stay possible, at least m, none more frequent than the "
    "others: all releases together tell no more than one of them.",
}


def models(publish: str) -> dict[str, str]:
    """What each model means for a way of publishing; where that depends on its kind, the kind stands behind it."""
    meanings = dict(_OF_DRAWS)
    for name, model in registered().items():
        means = dict(model.means)
        for where in publications()[publish].means:
            means |= getattr(model, f"means_in_{where}")
        meanings |= {f"{name} {kind}".strip(): text for kind, text in means.items()}
    return meanings


SYMBOLS = {"alpha": "α", "beta": "β"}


def number(value: float | None, digits: int = 3) -> str:
    """A number with few significant digits.

    >>> number(1234567), number(0.012345), number(38.5), number(0), number(None)
    ('1,234,567', '0.0123', '38.5', '0', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size >= 15 or size < -5:
        return f"{value:.{digits - 1}e}"
    if size >= digits - 1:
        return f"{value:,.0f}"
    return f"{value:,.{digits - 1 - size}f}".rstrip("0").rstrip(".")


def percent(share: float | None) -> str:
    """A share of one hundred; what is not zero never reads 0, and what is not all never reads 100.

    >>> percent(0.1234), percent(0.00001), percent(0.99999), percent(0), percent(0.034)
    ('12 %', '<0.1 %', '>99.9 %', '0 %', '3.4 %')
    """
    if share is None or math.isnan(share):
        return "–"
    if 0 < share < 0.001:
        return "<0.1 %"
    if 0.999 < share < 1:
        return ">99.9 %"
    value = 100 * share
    return f"{value:.1f} %".replace(".0 %", " %") if value < 10 or 99 < value < 100 else f"{value:.0f} %"


def compact(value: float) -> str:
    """A number for an axis.

    >>> compact(25000), compact(1.5e6), compact(0.25), compact(-3)
    ('25k', '1.5M', '0.25', '-3')
    """
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size <= abs(value) < 1e15:
            return f"{value / (1e3 if letter == 'k' else size):.3g}{letter}"
    return f"{value:.4g}"


def cost(utility: Utility, records: Mapping[str, Count], publish: str) -> str:
    """What the protection of a table cost, in a sentence."""
    losses = {found.name: found.value for found in utility.losses}
    lost, of_person = losses.get("GCP"), losses.get("GCP-person")
    name, of = publications()[publish].telling.width
    by_person = "" if of_person is None else f" ({percent(of_person)} for an average person)"
    told = f"{name} {of}: {percent(lost)}{by_person}. " if lost is not None else ""
    return f"{told}{records['suppressed']:,} of {records['in']:,} records were left out."


def short_name(guarantee: Guarantee) -> str:
    """The usual name of a guarantee with its parameters: ``5-anonymity``, ``entropy 3-diversity of disease``."""
    values = {n: number(v, 4) for n, v in guarantee.required.items()}
    if guarantee.model in registered():
        name = registered()[guarantee.model].titled(guarantee.kind, values)
    else:
        name = {
            "condensation": f"condensation of {values.get('k', 'k')}",
            "no-copies": "no copies",
            "k-candidates": f"{values.get('k', 'k')} candidates over all releases",
            "m-invariance": f"{values.get('m', 'm')}-invariance",
        }.get(guarantee.model, guarantee.model)
    name = f"{name} of {guarantee.sensitive}" if guarantee.sensitive else name
    coalition = int(guarantee.details.get("coalition", 0))
    return f"{name} without {any_providers(coalition)}" if coalition else name


def any_providers(coalition: int) -> str:
    """Whose rows may be taken away.

    >>> any_providers(1), any_providers(3)
    ('any one provider', 'any 3 providers')
    """
    return "any one provider" if coalition == 1 else f"any {coalition} providers"


def required(guarantee: Guarantee) -> str:
    """What was asked for: ``k ≥ 5``."""
    model = registered().get(guarantee.model)
    at_least = model.at_least if model is not None else ("k", "m")
    return ", ".join(
        f"{SYMBOLS.get(n, n)} {'≥' if n in at_least else '≤'} {number(v, 4)}" for n, v in guarantee.required.items()
    )


def achieved(guarantee: Guarantee) -> str:
    """What the worst class reaches: ``k = 5``."""
    model = registered().get(guarantee.model)
    main = of_kind(model.main, guarantee.kind) if model is not None else next(iter(guarantee.required), "k")
    told = {
        n: v for n, v in guarantee.details.items() if n not in ("unique_histories", "coalition", "releases")
    }  # which it tells
    reached = {main: guarantee.achieved, **told}
    return ", ".join(f"{SYMBOLS.get(n, n)} = {number(v, 4)}" for n, v in reached.items())


TIED = "replaced by a pseudonym, the same in all records of a person"
"""What became of the column that says whose a record is, where records of a person are tied together."""


def moved(shift_days: int) -> str:
    """What became of days that were moved by person."""
    return (
        f"moved by a secret whole number of days, from {shift_days:,} earlier to {shift_days:,} later, one for all "
        "records of a person; days between them are exact"
    )


def treatment(attribute: Attribute, publish: str, *, by_hierarchy: bool = False) -> str:
    """What became of a column."""
    if attribute.role == "identifying":
        return "removed"
    way = publications()[publish]
    return (
        way.treatment(attribute, by_hierarchy=by_hierarchy)
        if attribute.role == "quasi"
        else way.treatment_of_others(attribute)
    )
