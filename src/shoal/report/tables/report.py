"""The owner's report: original and release side by side. It stays at home; aggregates only, never a record."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from shoal.check.guarantee import Guarantee
from shoal.check.tables.risk import Risk
from shoal.kinds.tables.policy import publications
from shoal.report.content import ReportContent, draw_page, picture
from shoal.report.page import N_PICTURES, judged, points
from shoal.report.tables import slices, words
from shoal.report.tables.context import ReportContext
from shoal.report.tables.learning import section
from shoal.report.tables.words import number, percent, short_name
from shoal.report.verdict import Grounds
from shoal.utility.tables.attributes import AttributeComparison
from shoal.utility.tables.correlation import Association
from shoal.utility.tables.definitions import DEFINITIONS
from shoal.utility.tables.measure import Utility

MOSTLY_OTHER = 0.9
HEADLINE = ("GCP", "GCP-person", "query-error", "CM", "SSE/SST")
OF_PERSONS = "GCP-person"


def render_report(context: ReportContext) -> str:
    """Write the report as one HTML page."""
    return draw_page(report_content(context), context.attacked)


def report_content(context: ReportContext) -> ReportContent:
    """Collect what the report shows."""
    utility = context.utility
    comparisons = utility.attributes if utility else ()
    shown, left_out = comparisons[:N_PICTURES], comparisons[N_PICTURES:]
    before, after = context.risk_before, context.risk_after
    told = publications()[context.publish].telling
    is_of_persons = after is not None and after.unit == "person"
    return ReportContent.of(
        "table",
        title=context.title,
        n_in=context.n_in,
        n_suppressed=context.n_suppressed,
        method=context.method,
        notes=context.notes,
        missing_meaning=context.missing_meaning,
        population_known=after is None or after.population_known,
        verdict=_grounds(context).to_dict(),
        told={"checked": told.checked, "classes": told.classes + (_PERSONS if told.classes and is_of_persons else "")},
        facts=_facts(context),
        guarantees=judged(context.guarantees, short_name, words.required, words.achieved),
        tightest=[(short_name(g), words.required(g), _worst(g)) for g in context.guarantees if g.worst],
        models=words.models(context.publish),
        limits=points(context.not_protected),
        sizes=picture(
            "class_sizes", before=before.records_by_class_size, after=after.records_by_class_size, unit=after.unit
        )
        if before and after
        else None,
        risks=_risks(before, after) if before and after else (),
        attributes=[(_compared(a), _picture(a)) for a in shown],
        left_out=[_compared(a) for a in left_out],
        association=_association(utility.correlation) if utility else None,
        losses=_losses(utility) if utility else (),
        headline=[n for n in HEADLINE if n != OF_PERSONS or (utility and any(x.name == n for x in utility.losses))],
        learning=section(context.learning) if context.learning else None,
        columns=_columns(context),
        slices=asdict(slices.section(context.layout, context.exposure))
        if context.layout and context.exposure
        else None,
    )


def _grounds(context: ReportContext) -> Grounds:
    """What the verdict rests on besides attacks."""
    counts = {"in": context.n_in, "suppressed": context.n_suppressed}
    cost = words.cost(context.utility, counts, context.publish) if context.utility else ""
    names = [short_name(g) for g in context.guarantees]
    return Grounds.of(context.guarantees, names, cost, context.findings, context.sampled)


def _facts(context: ReportContext) -> list[tuple[str, str, str]]:
    facts = [("Records published", f"{context.n_out:,}", f"of {context.n_in:,}")]
    if context.risk_after:
        sizes = context.risk_after
        facts.append(
            (
                "Smallest group",
                f"{round(1 / sizes.prosecutor_highest):,}",
                f"{sizes.unit}s, among {sizes.n_classes:,} groups",
            )
        )
    if context.exposure:
        held = context.exposure
        facts.append(("Buckets", f"{held.n_buckets:,}", f"of {held.smallest:,} to {held.largest:,} records"))
        if held.joined:
            likeliest = f"for the likeliest value; {percent(held.joined.average)} on average"
            facts.append(("Highest belief", percent(held.joined.highest), likeliest))
    if context.risk_before and context.risk_after:
        alone = percent(context.risk_before.unique_share)
        if (n_copies := _copies(context)) is not None:
            whose = "originals" if context.risk_before.unit == "record" else "persons"
            facts.append(("Copies of originals", number(n_copies), f"{alone} of the {whose} stand alone"))
        else:
            after = percent(context.risk_after.unique_share)
            facts.append(
                (f"{context.risk_after.unit.capitalize()}s that stand alone", after, f"{alone} in the original")
            )
    if context.utility:
        gcp = next((found.value for found in context.utility.losses if found.name == "GCP"), None)
        if gcp is not None:
            name, of = publications()[context.publish].telling.width
            facts.append((name, percent(gcp), of))
    return facts


def _copies(context: ReportContext) -> float | None:
    return next((g.details["copies"] for g in context.guarantees if g.model == "no-copies"), None)


_PERSONS = " Persons are counted, each in the smallest of the classes that their records are in."


def _risks(before: Risk, after: Risk) -> list[tuple[str, str, str, str]]:
    unit = after.unit
    whose = f"{'whose' if unit == 'record' else 'of whom a record has'} quasi-identifiers"
    rows = [
        (
            f"{unit.capitalize()}s that stand alone",
            "unique_share",
            f"Share of {unit}s {whose} {'that ' if unit == 'person' else ''}no other {unit} has.",
        ),
        (
            "Prosecutor, highest",
            "prosecutor_highest",
            f"The attacker knows that the {unit} is in the table: chance of picking it, worst case.",
        ),
        ("Prosecutor, average", "prosecutor_average", f"The same, for an average {unit}."),
        (
            "Journalist, highest",
            "journalist_highest",
            f"The attacker does not know whether the {unit} is in the table: chance of picking it, worst case.",
        ),
        ("Journalist, average", "journalist_average", f"The same, for an average {unit}."),
        ("Marketer", "marketer", f"The attacker matches every {unit} at once: share of right matches to be expected."),
    ]
    return [(name, percent(getattr(before, f)), percent(getattr(after, f)), what) for name, f, what in rows]


def _worst(guarantee: Guarantee) -> list[tuple[list[tuple[str, str]], int, str]]:
    return [(list(w.values.items()), w.size, number(w.achieved)) for w in guarantee.worst]


def _compared(a: AttributeComparison) -> dict[str, Any]:
    """What is said of a column beside its picture."""
    names = ("name", "role", "type", "kind", "distance", "n_values", "missing_before", "missing_after")
    moments = ("mean_before", "mean_after", "sd_before", "sd_after")
    return {name: getattr(a, name) for name in (*names, *moments)}


def _picture(a: AttributeComparison) -> Any:
    if not any(a.before) or (a.labels and a.labels[-1] == "(other)" and a.before[-1] > MOSTLY_OTHER):
        return None
    told = f"{a.name} before and after: total variation distance {number(a.distance)}"
    if a.edges:
        told += f", mean {number(a.mean_before)} before and {number(a.mean_after)} after" if a.kind == "number" else ""
        is_date, alt = a.kind == "date", f"Histogram of {told}."
        return picture("histogram", edges=a.edges, before=a.before, after=a.after, is_date=is_date, alt=alt)
    alt = f"Shares of the values of {told}."
    return picture("bars", labels=a.labels, before=a.before, after=a.after, alt=alt)


def _association(found: Association) -> dict[str, Any] | None:
    if len(found.names) < 2:
        return None
    sides = [
        (title, [[(_coefficient(v), min(10, round(abs(v) * 10))) for v in row] for row in matrix])
        for title, matrix in (("Before", found.before), ("After", found.after))
    ]
    return {"names": found.names, "sides": sides, "change": found.mean_change, "left_out": found.left_out}


def _coefficient(value: float) -> str:
    text = f"{abs(value):.2f}"
    return ("−" if value <= -0.005 else "") + ("1" if text == "1.00" else text.removeprefix("0"))


def _losses(utility: Utility) -> list[tuple[str, dict[str, Any], str]]:
    """Every measure there is with its value, "" where this release has none; of persons only where these count."""
    values = {found.name: found.value for found in utility.losses}
    return [
        (name, asdict(known), "" if name not in values else (percent if known.is_share else number)(values[name]))
        for name, known in DEFINITIONS.items()
        if name in values or name != OF_PERSONS
    ]


def _columns(context: ReportContext) -> list[dict[str, Any]]:
    ncp = {a.name: a.ncp for a in context.utility.attributes} if context.utility else {}
    return [
        {
            "name": name,
            "role": words.ROLE_NAMES[a.role],
            "type": "taxonomy" if a.type == "nominal" and a.hierarchy is not None else a.type,
            "treatment": words.moved(context.shift_days)
            if name in context.shifted
            else words.TIED
            if name == context.pseudonym
            else words.treatment(a, context.publish, by_hierarchy=a.hierarchy is not None),
            "why": a.why,
            "ncp": "–" if ncp.get(name) is None else percent(ncp[name]),
        }
        for name, a in context.attributes.items()
    ]
