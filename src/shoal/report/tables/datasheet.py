"""The public datasheet: what the data is, how it was protected, how to use it.

It stands beside the data, so it is made from the published table alone: nothing that was measured on the
original, and no cell of fewer than k records.
"""

from __future__ import annotations

from typing import Any

from shoal.check.tables.publication import needs_original
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import attributes_held
from shoal.data.tables.table import Columns
from shoal.kinds.tables.policy import publications
from shoal.report.page import N_PICTURES, render
from shoal.report.points import public_points
from shoal.report.tables import pictures, words
from shoal.report.tables.context import ReportContext
from shoal.report.tables.domain import OTHER, Domain, domain_of
from shoal.report.tables.limits import MISUSE, good_use
from shoal.report.tables.words import percent, short_name

MOSTLY_OTHER = 0.5


PERSONS_TOLD = (
    "Persons were counted, of whom one may have several records. What is said of records can be recomputed from the "
    "data beside this page; how many persons a group has, only the owner can recount, who knows whose each record is."
)
"""In place of who can recompute the guarantees."""
TIED_TOLD = (
    "Persons were counted, of whom one may have several records, which a pseudonym ties together; so all guarantees "
    "can be recomputed from the data beside this page. Pseudonyms were drawn for this release, by a secret key, and do "
    "not say who it is."
)
"""The same where records of a person are tied together."""
PERSONS_BEHIND = (
    "Persons were counted, of whom one may have several records; the owner alone knows whose each record is."
)
"""Beside it, where the original is needed for that."""

PROVIDERS_TOLD = (
    "The records are from several providers. What is left of a group without the rows of some of them, only the owner "
    "can recount, who knows from whom each record is."
)
"""Beside it, where a provider may know its own records."""


def render_datasheet(context: ReportContext, table: Columns | None = None, *, is_drawn: bool = True) -> str:
    """Write the datasheet as one HTML page.

    Parameters
    ----------
    context : ReportContext
        Of it the risk before and the utility, which come from the original, and the notes are not used.
    table : Columns, optional
        The published table, of which columns by themselves suffice; without it the columns are named but not described.
    is_drawn : bool
        Whether to draw the pictures; else their places are empty.
    """
    columns = []
    for name, original_name in attributes_held(context.attributes, context.layout).items():
        attribute = context.attributes[original_name]
        if attribute.role == "identifying" or (table is not None and name not in table.columns):
            continue
        domain = None
        if table is not None:
            column, weights = table.marginal(name)
            domain = domain_of(column, attribute, context.k, weights)
        treatment = words.treatment(attribute, context.publish, by_hierarchy=original_name in context.by_hierarchy)
        if name in context.shifted:
            treatment = words.moved(context.shift_days)
        columns.append((name, attribute, treatment, domain))
    if context.pseudonym:
        tie = Attribute(context.pseudonym, "nominal", "identifying")
        columns.insert(0, (tie.name, tie, words.TIED, None))
    described = [(name, domain) for name, _, _, domain in columns[:N_PICTURES] if domain is not None]
    figures = [(name, _picture(name, domain, is_drawn)) for name, domain in described]
    return render(
        "datasheet.html",
        about=public_points(context.context),
        c=context,
        told=publications()[context.publish].telling,
        persons_told=_persons_told(context) if context.counts_persons or context.coalition else "",
        removed=[n for n, a in context.attributes.items() if a.role == "identifying" and n != context.pseudonym],
        guarantees=[(g, short_name(g), words.required(g), words.achieved(g)) for g in context.guarantees],
        models=words.models(context.publish),
        columns=columns,
        role_names=words.ROLE_NAMES,
        figures=[(name, picture) for name, picture in figures if picture is not None],
        n_left_out=len(columns) - N_PICTURES,
        limits=context.not_protected,
        uses=good_use(
            context.publish,
            any(a.role in ("sensitive", "insensitive") for _, a, _, _ in columns),
            context.n_counterfeits,
        ),
        misuses=MISUSE,
        n_smallest=_smallest(context),
        n_groups=context.risk_after.n_classes if context.risk_after else None,
    )


def _persons_told(context: ReportContext) -> str:
    if needs_original(context.publish):
        return f"{PERSONS_BEHIND} {publications()[context.publish].telling.recomputed}"
    told = TIED_TOLD if context.pseudonym else PERSONS_TOLD
    return " ".join([told] * context.counts_persons + [PROVIDERS_TOLD] * bool(context.coalition))


def _smallest(context: ReportContext) -> int:
    """The least number of records that hide together, 0 where nothing is said of it."""
    if context.risk_after:
        return round(1 / context.risk_after.prosecutor_highest)
    return next((int(g.achieved) for g in context.guarantees if g.model == "k-anonymity"), 0)


def _picture(name: str, domain: Domain, is_drawn: bool) -> Any:
    if not domain.shares or (domain.labels and domain.labels[-1] == OTHER and domain.shares[-1] > MOSTLY_OTHER):
        return None
    if not is_drawn:
        return ""
    if domain.edges:
        alt = f"Histogram of the published values of {name}."
        return pictures.histogram(domain.edges, domain.shares, None, is_date=domain.is_date, alt=alt)
    told = ", ".join(f"{label} {percent(s)}" for label, s in zip(domain.labels, domain.shares, strict=True))
    return pictures.bars(domain.labels, domain.shares, None, alt=f"Shares of the published values of {name}: {told}.")
