"""What a board asks for of a table: risks of three attackers, columns against Safe Harbor, techniques by name."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.check.tables.population import expected_share, population_of
from shoal.data.tables.table import Table
from shoal.data.tables.value_forms import form_of
from shoal.kinds.tables.policy import Policy
from shoal.report.board.facts import RISKS, BoardColumn, BoardFacts, suppression_of
from shoal.report.board.safe_harbor import identifier_of
from shoal.report.points import quoted
from shoal.report.tables import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.check.tables.risk import Risk
    from shoal.data.tables.attribute import Attribute
    from shoal.kinds.tables.release import TableRelease

_NO_CLASSES = "Columns stand in slices that are permuted apart, so no class of look-alikes can be counted."


def board_facts(release: TableRelease) -> BoardFacts:
    """Collect what the pages for a board are made from."""
    policy, is_sliced = release.policy, release.layout is not None
    after = None if is_sliced else release.risk_after
    return BoardFacts(
        unit="person" if policy.person else "record",
        records=release.records | ({"persons": release.risk_before.n_records} if policy.person else {}),
        techniques=techniques_of(release.attributes, policy, release.records),
        known=[name for name, a in release.attributes.items() if a.role == "quasi"],
        columns=board_columns(release._original, release.attributes, policy),
        before=_risks(release.risk_before),
        after=None if after is None else _risks(after),
        bound_by=_NO_CLASSES if is_sliced else "",
        population_known=after is not None and after.population_known,
        population=_population(release),
    )


def _population(release: TableRelease) -> dict[str, Any]:
    """What the original, which a context says to be a sample, tells of the population; of persons k-map alone."""
    n, policy = len(release._original), release.policy
    n_read = n + release.records.get("held_out", 0)
    stated = policy.context.fraction(n_read)
    if stated is None:
        return {}
    fraction = stated * n / n_read
    told = {} if release.layout is not None else {"k_map": k_map(release.risk_after, fraction)}
    if policy.person:
        return told
    quasi = [name for name, a in release.attributes.items() if a.role == "quasi"]
    return population_of(release._original, quasi, fraction, policy.missing_markers).to_dict() | told


def k_map(after: Risk, fraction: float) -> str:
    """How many of the population share the labels of the smallest group, as the sampling fraction lets expect."""
    smallest = round(1 / after.prosecutor_highest)
    chance = float(expected_share(np.array([smallest]), fraction)[0])
    return (
        f"The smallest group of the release, of {smallest:,} {after.unit}s, stands for about "
        f"{smallest / fraction:,.0f} of the population (k-map, estimated from a sample of {100 * fraction:.3g} %); who "
        f"does not know who is in the release picks the right one there with a chance of about {100 * chance:.2g} %."
    )


def _risks(risk: Risk) -> dict[str, Any]:
    told = asdict(risk)
    return {name: told[name] for name, _ in RISKS} | {"unique_share": risk.unique_share}


def techniques_of(
    attributes: Mapping[str, Attribute], policy: Policy, records: Mapping[str, int]
) -> list[tuple[str, str]]:
    """What was done, by the names of ISO/IEC 20889."""
    names = {role: [n for n, a in attributes.items() if a.role == role] for role in ("identifying", "quasi")}
    pseudonym = policy.pseudonym if policy.keep_person else ""
    removed = [n for n in names["identifying"] if n != pseudonym]
    way = policy.method.way_of_publishing
    technique = "generalization" if policy.method.is_recoding else way.technique
    found = [(technique, f"{way.help[0].lower()}{way.help[1:]} ({quoted(names['quasi'])})")]
    if removed:
        found.insert(0, ("masking", f"{quoted(removed)} {'were' if len(removed) > 1 else 'was'} removed"))
    if pseudonym:
        found.append(("pseudonymization (creation of pseudonyms)", f"{quoted([pseudonym])} by a secret key"))
    if policy.shifted:
        done = f"days of {quoted(policy.shifted)} were moved, all of one by the same secret number"
        found.append(("noise addition", done))
    return [*found, *suppression_of(records, "record")]


def board_columns(original: Table, attributes: Mapping[str, Attribute], policy: Policy) -> list[BoardColumn]:
    """Every column of the original, with the identifier of Safe Harbor that it looks like."""
    columns = []
    for name, attribute in attributes.items():
        form = form_of(original[name])
        letter, why = identifier_of(name, None if form is None else form.name)
        by_hierarchy = attribute.hierarchy is not None
        treatment = words.treatment(attribute, policy.method.publication, by_hierarchy=by_hierarchy)
        if name in policy.shifted:
            treatment = words.moved(policy.shift_days)
        elif policy.keep_person and name == policy.pseudonym:
            treatment = words.TIED
        columns.append(BoardColumn(name, words.ROLE_NAMES[attribute.role], attribute.type, treatment, letter, why))
    return columns
