"""Hardening of tables: which roles, sizes of groups, requirements and publications answer which attack.

- Singling out and membership come from columns that are published as they are: these are made quasi-identifying, those
  with most information first, half of them at a time; then groups are made larger, then such columns are left out.
- Linkage comes from small groups: they are made larger.
- What tells a secret (inference, homogeneity and the like): l-diversity or t-closeness of the columns at which it
  succeeds, where it is about groups that agree; else larger groups; then the secret is left out.
- Reading values off the ends of labels: another way of publishing. Cuts that were not made: cuts that are blind.

A guarantee of the policy is never given up: a column about whose values something is required stays sensitive, or is
left out. A column that was sensitive and is made quasi-identifying is still attacked as a secret.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables import TABLE_ATTACKS
from shoal.attack.tables.case import TableCase
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.table import Table
from shoal.errors import PolicyError
from shoal.harden.ladder import Ladder, because, rungs_above, rungs_between
from shoal.harden.step import Candidate, Step
from shoal.held_out import HeldOut
from shoal.kinds.tables.policy import Method, Policy, partitions, publications
from shoal.kinds.tables.release import TableRelease
from shoal.kinds.tables.sweep import table_checksum
from shoal.tables.anonymize import anonymize_table
from shoal.tables.partition.base import usually_narrowest

OF_KEPT_COLUMNS = ("singling-out-univariate", "singling-out", "membership")
OF_SMALL_GROUPS = ("linkage", "linkage-partial", "linkage-rank", "linkability", "uniqueness", "intersection")
OF_LABELS = ("downcoding",)
OF_CUTS = ("minimality",)
OF_EQUAL_SECRETS: Mapping[str, Mapping[str, Any]] = {
    "homogeneity": {"model": "l-diversity", "l": 2, "kind": "distinct"},
    "skewness": {"model": "t-closeness", "t": 0.3},
    "similarity": {"model": "t-closeness", "t": 0.3},
}
FEWEST_GROUPS = 10  # that the largest k leaves
WIDE = 0.6  # of a column's certainty is lost: leaving it out may keep more of the others
MOST_WIDE = 3
MANY_TIMES = 4  # as large groups as were asked for: only then is a column with a guarantee left out for smaller ones


class TableLadder(Ladder):
    """Roles, k, requirements, methods and publications of a table."""

    measure = "certainty lost in an average cell of the columns that the policy would publish; a column left out: all"

    def __init__(self, table: Table, policy: Policy) -> None:
        self.table = table
        self.attributes = attributes_of(table, policy)
        self.published = [n for n, a in self.attributes.items() if a.role != "identifying"]
        self.secrets = [n for n, a in self.attributes.items() if a.role == "sensitive"]
        columns = {n: {"role": a.role, "type": a.type, "order": a.order} for n, a in self.attributes.items()}
        self.start = Candidate(policy.changed(columns=columns))
        self.notes = {
            "method.partition": "unchanged",
            **{f"columns.{n}": f"unchanged; {a.why}" for n, a in self.attributes.items()},
        }
        about = [r.column for r in policy.require if r.is_about_values()]
        self.guarded = set(self.secrets) if None in about else set(about)
        self._spread = {n: _spread(table, n) for n in self.published}

    def checksum(self) -> str:
        """Names, cells, and the meaning of columns."""
        meaning = [
            (a.name, a.type, a.role, a.order, a.hierarchy and a.hierarchy.rows) for a in self.attributes.values()
        ]
        text = json.dumps([table_checksum(self.table), meaning])
        return hashlib.sha256(text.encode()).hexdigest()

    def ways(self) -> list[Candidate]:
        """Other publications with the same groups, then one recoding for all."""
        given = self.start.policy.method
        partition = Method().partition if given.is_recoding else given.partition
        asked = [(partition, p.name) for p in publications().values() if not p.is_sliced]
        asked += [(p.name, p.publication) for p in partitions().values() if p.is_recoding][-1:]
        found = []
        for way, publish in asked:
            if (way, publish) != (given.partition, given.publication):
                why = {"method.publish": f"was {given.publication}; this way lost least of those that held"}
                if way != given.partition:
                    why["method.partition"] = f"was {given.partition}; this way lost least of those that held"
                found += self._changed(self.start, why, partition=way, publish=publish)
        return found

    def release(self, data: Table, policy: Policy, seed: int, held_out: HeldOut[Table]) -> TableRelease:
        """Group, publish and check in memory."""
        made = anonymize_table(data, policy, seed=seed)
        return TableRelease.of(data, made, policy, held_out=held_out, in_memory=True, is_tried=True)

    def findings(self, release: TableRelease) -> list[AttackResult]:
        """Columns that single out more than the policy's limit."""
        n_records = release.table.n_rows
        attack = TABLE_ATTACKS["singling-out"]
        return [
            AttackResult(
                attack.name,
                attack.title,
                attack.knows,
                Rate(round(f.share * n_records), n_records),
                sentence=f.sentence,
                columns=f.columns,
            )
            for f in release.findings
            if f.is_serious
        ]

    def loss(self, release: TableRelease) -> float:
        """Of an average cell: what its label lost, all of a cell that is not published."""
        return float(np.mean([*self._losses(release).values()])) if self.published else 0.0

    def measured(self, release: TableRelease) -> dict[str, dict[str, float]]:
        """What each column lost, and the values of kept columns that one published record has."""
        kept = [] if release.layout is not None else self._kept(release.policy)
        alone = {n: float(np.sum(release.table[n].counts() == 1)) for n in kept}
        return {"loss": self._losses(release), "alone": {n: v for n, v in alone.items() if v}}

    def _losses(self, release: TableRelease) -> dict[str, float]:
        missing = release.records["suppressed"] / max(1, release.records["in"])
        compared = {a.name: a.ncp for a in release.utility.attributes}
        found = {n: compared.get(n, 1.0) for n in self.published}
        return {n: missing if v is None else float(v) for n, v in found.items()}

    def cases(
        self, release: TableRelease, attacks: Sequence[Attack[Any]]
    ) -> Iterator[tuple[TableCase, Sequence[Attack[Any]]]]:
        """The release as it is, and the same with what was a secret still taken for one."""
        case = release.case
        yield case, attacks
        shown = [n for n in self.secrets if n in case.published.columns]
        if release.layout is not None or set(shown) == set(case.sensitive):
            return
        known = [n for n in case.quasi if n not in shown]
        still = replace(case, quasi=known, sensitive=shown, policy=None)
        without = replace(still, sensitive=())
        yield still, [a for a in attacks if a.missing(still) is None and a.missing(without) is not None]

    def harder(self, candidate: Candidate, step: Step, failing: Sequence[AttackResult], risk: float) -> list[Candidate]:
        """All that the failing attacks ask for at once; see the module."""
        policy, found = candidate.policy, {r.attack: r for r in reversed(failing)}
        if any(name in found for name in OF_LABELS):
            return []
        change: dict[str, Any] = {}
        reasons: dict[str, str] = {}
        first = failing[0]
        if (cut := _first(found, OF_CUTS)) is not None and policy.method.diversity != "blind":
            change |= {"diversity": "blind"}
            reasons |= {"method.diversity": because(cut)}
        of_columns = _first(found, OF_KEPT_COLUMNS)
        moved = [] if of_columns is None else self._to_move(policy, step, found)
        if of_columns is not None and moved:
            change["columns"] = {n: {"role": "quasi"} for n in moved}
            reasons |= {f"columns.{n}": f"was {self.attributes[n].role}; {because(of_columns)}" for n in moved}
        groups = [r for n, r in found.items() if n in OF_SMALL_GROUPS]
        if groups or not change:
            worst = max(groups, key=lambda r: r.risk.high, default=first)
            size = self._larger(policy.k, worst.risk.high / risk if groups else 1.0)
            if size is not None:
                why = f"k was {self.start.policy.k}; {because(worst)}"
                larger = change | self._with_k(policy, size), reasons | {"require.k": why}
                asked = self._requirements(policy, found) if not change else []
                if asked:
                    told = {
                        f"require.{r['model']}": f"{r['model']} of {r['sensitive']}: {because(first)}" for r in asked
                    }
                    alternatives = self._changed(candidate, told, require=[*policy.require, *asked])
                    return [*alternatives, *self._changed(candidate, larger[1], **larger[0])]
                change, reasons = larger
        if not change:
            return self._without(candidate, self._blamed(policy, first), because(first))
        return self._changed(candidate, reasons, **change)

    def milder(self, candidate: Candidate, step: Step) -> Iterable[Candidate]:
        """Columns back to what they were, smaller groups, fewer requirements, other groups, without wide columns."""
        policy, start = candidate.policy, self.start.policy
        moved = [n for n in self.published if self._role(policy, n) != self.attributes[n].role]
        moved = sorted((n for n in moved if self._role(policy, n) == "quasi"), key=lambda n: self._spread[n])
        n_back = -(-len(moved) // 2)
        while n_back:
            back = moved[:n_back]
            yield from self._changed(
                candidate, dict.fromkeys((f"columns.{n}" for n in back), ""),
                columns={n: {"role": self.attributes[n].role} for n in back},
            )  # fmt: skip
            n_back //= 2
        for size in rungs_between(start.k, policy.k):
            reason = candidate.reasons.get("require.k", "") if size > start.k else ""
            yield from self._changed(candidate, {"require.k": reason}, **self._with_k(policy, size))
        added = [r for r in policy.require if r.is_about_values() and r not in start.require]
        for one in added:
            rest = [r for r in policy.require if r != one]
            yield from self._changed(candidate, {f"require.{one.model}": ""}, require=rest)
        yield from self._other_groups(candidate)
        wide = sorted((v, n) for n, v in step.measured["loss"].items() if self._role(policy, n) == "quasi" and v > WIDE)
        for lost, name in wide[: -MOST_WIDE - 1 : -1]:
            why = f"{100 * lost:.0f} % of its certainty was lost, and the other columns keep more without it"
            yield from self._without(candidate, [name], why)
        for name in self._kept(policy):
            if name in self.guarded and policy.k >= MANY_TIMES * start.k:
                why = f"with it groups of {policy.k} were needed"
                for without in self._without(candidate, [name], why):
                    for size in sorted({start.k, *rungs_between(start.k, policy.k)}):
                        reason = candidate.reasons.get("require.k", "") if size > start.k else ""
                        smaller = self._with_k(without.policy, size)
                        yield from self._changed(without, {"require.k": reason}, **smaller)

    def asked(self, policy: Policy) -> dict[str, Any]:
        """Method, publication, k, what else is required, and the roles that are not as they were."""
        roles = {n: self._role(policy, n) for n in self.published}
        return {
            "partition": policy.method.partition,
            "publish": policy.method.publication,
            "k": policy.k,
            "require": [
                f"{r.title}{f' of {r.column}' if r.column else ''}" for r in policy.require if r.is_about_values()
            ],
            "roles": {n: role for n, role in roles.items() if role != self.attributes[n].role},
        }

    def advice(self, failing: Sequence[AttackResult]) -> str:
        """Leave columns out."""
        names = list(dict.fromkeys(n for r in failing for n in self._blamed(self.start.policy, r)))
        shown = ", ".join(names[:5])
        return f"leave columns out that others may not need ({shown})" if names else ""

    def _role(self, policy: Policy, name: str) -> str:
        role = policy.columns[name].role
        assert role is not None
        return role

    def _kept(self, policy: Policy) -> list[str]:
        """The columns that are published as they are."""
        return [n for n in self.published if self._role(policy, n) in ("sensitive", "insensitive")]

    def _to_move(self, policy: Policy, step: Step, found: Mapping[str, AttackResult]) -> list[str]:
        """Kept columns that are to be made alike in groups: with values of one record, and half of the others."""
        kept = sorted((n for n in self._kept(policy) if n not in self.guarded), key=lambda n: -self._spread[n])
        alone = step.measured["alone"] if OF_KEPT_COLUMNS[0] in found else {}
        others = [n for n in kept if n not in alone]
        is_joint = any(n in found for n in OF_KEPT_COLUMNS[1:])
        half = others[: -(-len(others) // 2)] if is_joint or not alone else []
        return [n for n in kept if n in alone or n in half]

    def _larger(self, k: int, times: float) -> int | None:
        """The next size of groups but one, or one so many times as large; None where that leaves too few groups."""
        above = rungs_above(k, self.table.n_rows // FEWEST_GROUPS)
        enough = [r for r in above[1:] if r >= k * times]
        return next(iter(enough or above[-1:]), None)

    def _with_k(self, policy: Policy, k: int) -> dict[str, Any]:
        require = [r.model_copy(update={"k": k}) if "k" in type(r).model_fields else r for r in policy.require]
        return {"require": require, "k": k}

    def _requirements(self, policy: Policy, found: Mapping[str, AttackResult]) -> list[dict[str, Any]]:
        """What is asked of secrets that groups have in common, where nothing like it is asked yet."""
        asked = []
        for attack, model in OF_EQUAL_SECRETS.items():
            secrets = [n for n in self.secrets if self._role(policy, n) == "sensitive"]
            if attack in found and secrets:
                name = max(secrets, key=lambda n: found[attack].details.get(n, 0.0))
                if not any(r.model == model["model"] and r.column in (None, name) for r in policy.require):
                    asked.append({**model, "sensitive": name})
        return asked[:1]

    def _blamed(self, policy: Policy, result: AttackResult) -> list[str]:
        """The published column that an attack owes most to: by its own figures, else that with most information."""
        shown = [n for n in self.published if self._role(policy, n) != "identifying"]
        tried = [n for n in shown if n in self.secrets or n in result.columns]
        told = {n: result.details.get(f"{n}: main", result.details.get(n, 0.0)) for n in tried}
        gains = {n: v - result.details.get(f"{n}: control", 0.0) for n, v in told.items()}
        if any(gains.values()):
            return [max(gains, key=lambda n: gains[n])]
        kept = self._kept(policy) or shown
        return [max(kept, key=lambda n: self._spread[n])] if kept else []

    def _without(self, candidate: Candidate, names: Sequence[str], why: str) -> list[Candidate]:
        """The same without some columns, and what was required of them."""
        roles = {n: self._role(candidate.policy, n) for n in self.published} | dict.fromkeys(names, "identifying")
        left = [n for n, role in roles.items() if role != "identifying"]
        if not names or len(left) < 2:
            return []
        secrets = [n for n in left if roles[n] == "sensitive"]
        require = [
            r for r in candidate.policy.require
            if not r.is_about_values() or (r.column in secrets if r.column is not None else secrets)
        ]  # fmt: skip
        reasons = {f"columns.{n}": f"was {self.attributes[n].role}; left out: {why}" for n in names}
        columns = {n: {"role": "identifying"} for n in names}
        return self._changed(candidate, reasons, columns=columns, require=require)

    def _other_groups(self, candidate: Candidate) -> Iterator[Candidate]:
        """The same by the method that usually loses least."""
        policy = candidate.policy
        quasi = [a for n, a in self.attributes.items() if n in self.published and self._role(policy, n) == "quasi"]
        better = usually_narrowest(is_numeric=all(a.type in ("continuous", "date") for a in quasi))
        is_quick = better.most_records is None or self.table.n_rows <= better.most_records
        if is_quick and not policy.method.is_recoding and policy.method.partition != better.name:
            why = f"was {policy.method.partition}; this one loses less"
            yield from self._changed(candidate, {"method.partition": why}, partition=better.name)

    def _changed(self, candidate: Candidate, reasons: Mapping[str, str], **change: Any) -> list[Candidate]:
        """The candidate with something asked otherwise; none where that cannot be asked."""
        publication = publications()[change.get("publish") or candidate.policy.method.publication]
        if "publish" not in change and "partition" in change:
            change["publish"] = publication.name
        try:
            policy = candidate.policy.changed(**change)
        except PolicyError:
            return []
        if all(self._role(policy, n) != "quasi" for n in self.published):  # then nothing is hidden among others
            return []
        kept = dict(candidate.reasons) | dict(reasons)
        return [Candidate(policy, {n: why for n, why in kept.items() if why})]


def _first(found: Mapping[str, AttackResult], names: Sequence[str]) -> AttackResult | None:
    """The worst result of some attacks."""
    return max((found[n] for n in names if n in found), key=lambda r: r.risk.high, default=None)


def _spread(table: Table, name: str) -> float:
    """The information in a column: the entropy of its values, in bits."""
    counts = table[name].counts()
    shares = counts[counts > 0] / max(1, table.n_rows)
    return float(-np.sum(shares * np.log2(shares)))
