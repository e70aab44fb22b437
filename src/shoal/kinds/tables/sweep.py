"""What a sweep of tables tries and measures: every method with every parameter, each as a policy of its own."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from shoal.data.memory import bounded
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.table import Table, spell
from shoal.errors import PolicyError, did_you_mean
from shoal.kind import Kind
from shoal.kinds.tables.large import in_order, load_distinct
from shoal.kinds.tables.policy import Policy
from shoal.kinds.tables.release import TableRelease
from shoal.models import Model, by_option
from shoal.policy import LEAST_BYTES
from shoal.sweep.cell import Cell, Figure, Status, Varied, finite  # noqa: F401  older versions of pydantic look for Status here
from shoal.sweep.trials import AskedCell, Trials, combinations, guaranteed, several, sizes_of
from shoal.tables.anonymize import anonymize_table
from shoal.tables.partition.base import PARTITIONS
from shoal.tables.publish.base import PUBLICATIONS
from shoal.utility.tables.classification import SCORES
from shoal.utility.tables.definitions import DEFINITIONS
from shoal.utility.tables.target import TargetLearning, check_target

ASSOCIATIONS = "associations"
SCORE_NAMES = tuple(name for names in SCORES.values() for name in names)
SHOWN = ("GCP", "query-error", "C_avg", "DM", "IL", "SSE/SST", ASSOCIATIONS)
MOST_LEARNED = 5000  # records that each cell's models are trained on
AXES = {
    "GCP": "certainty lost (GCP)",
    "GCP-person": "certainty lost of a person (GCP)",
    "query-error": "median error of counts",
}
BOUNDED_METHODS = ("mondrian", "full-domain")  # where memory is bounded, and no method is named
PICKED = "Someone who knows that a record is in the table picks it with this chance"


@dataclass(frozen=True, kw_only=True)
class TableCell(Cell):
    """One method with its parameters on a table.

    Attributes
    ----------
    partition, publish, effort, suppression, l, t
        What was tried; l and t are None where diversity or closeness is not required.
    risk_highest, risk_average : float or None
        The prosecutor's chance of picking the right record, at worst and for an average record.
    association_change : float or None
        Mean absolute change of the associations between attributes.
    """

    settings: ClassVar[Mapping[str, Varied]] = {
        "partition": Varied("--method", "How groups were made.", head="method"),
        "publish": Varied("--publish", "What is published in place of a group."),
        "effort": Varied("--effort", "How hard better groups were looked for."),
        "suppression": Varied(
            "--suppression",
            "Share of the records that may be left out.",
            head="may leave out",
            in_words="leaving out ≤ {}",
            is_share=True,
        ),
        "l": Varied("-l", "Distinct sensitive values that every group must have.", in_words="l = {}"),
        "t": Varied("-t", "How far a group's sensitive values may be from the whole table's.", in_words="t = {}"),
    }
    risks: ClassVar[Mapping[str, Figure]] = {
        "risk_highest": Figure(f"{PICKED}, at worst.", head="risk, worst"),
        "risk_average": Figure(
            f"{PICKED}, in the mean over all records.",
            head="risk, mean",
            axis="average risk of re-identification (prosecutor)",
            is_log=True,
            in_words="an average risk of {}",
        ),
    }
    measures: ClassVar[Mapping[str, Figure]] = {
        **{n: Figure(d.meaning, axis=AXES.get(n, ""), is_share=d.is_share) for n, d in DEFINITIONS.items()},
        ASSOCIATIONS: Figure(
            "Mean change of the strength with which two attributes belong together.",
            head="assoc.",
            axis="change of associations",
            is_share=False,
            digits=2,
        ),
        "accuracy": Figure(
            "Share of tested originals whose class the best model trained on this release predicts.",
            axis="accuracy lost",
        ),
        "AUC": Figure(
            "Chance that the best model trained on this release ranks two records of different classes rightly.",
            axis="AUC lost",
        ),
        "R2": Figure(
            "Share of the target's variance that the best model trained on this release predicts.", axis="R² lost"
        ),
    }

    partition: str
    publish: str
    effort: str = "fast"
    suppression: float = 0.0
    l: float | None = None  # noqa: E741  the paper's name
    t: float | None = None
    risk_highest: float | None = None
    risk_average: float | None = None
    association_change: float | None = None

    @property
    def gcp(self) -> float:
        """Share of certainty lost; infinite where there is no release."""
        return self.loss("GCP")

    def loss(self, measure: str) -> float:
        """A loss by its name, the change of associations among them."""
        if measure == ASSOCIATIONS:
            return math.inf if self.association_change is None else self.association_change
        return super().loss(measure)


class TableTrials(Trials):
    """Methods, ways of publishing and requirements."""

    cell = TableCell
    sizes = (2, 5, 10, 20)
    methods = ("mondrian", "mdav")
    shown: tuple[str, ...] = SHOWN

    table: Table
    attributes: Mapping[str, Attribute]

    def __init__(self, policy: Policy, target: str | None = None) -> None:
        self.policy = policy
        self.given = policy if target is None else policy.changed(target=target)
        self.target = self.given.target
        self._publications: set[str] = set()
        self._of_target: tuple[str, ...] | None = None

    def load(self, source: Any, kind: Kind, workers: int) -> Table:
        """With a bound on memory, distinct rows, of which each of the workers may hold its share."""
        policy = self.policy
        if policy.n_bytes is None:
            return cast(Table, kind.load(source, policy))
        if workers > 1:
            policy = policy.changed(memory=self._share(policy.n_bytes // workers, workers))
        return load_distinct(source, policy, spills=False)

    def _share(self, n_bytes: int, workers: int) -> str:
        if n_bytes < LEAST_BYTES:
            raise PolicyError(
                f"{workers} releases at once share {self.policy.memory}, which leaves less than 500 MB to each; raise "
                "memory, or take fewer workers"
            )
        return f"{n_bytes // 1000} kB"

    def grid(self, k: int | Iterable[int] | None, settings: Mapping[str, Any]) -> list[AskedCell]:
        """See the function of this name."""
        self.refuse(settings)
        methods = settings.get("partition")
        usual = self.methods if self.policy.memory is None else BOUNDED_METHODS
        methods, k = usual if methods is None else methods, self.sizes if k is None else k
        asked = grid(self.given, methods, k, settings)
        methods_asked = [a.policy.method for a in asked]
        held = [f"method = {m.partition}" for m in methods_asked if m.is_in_ranges]
        held += [f"publish = {m.publication}" for m in methods_asked if m.way_of_publishing.is_sliced]
        if self.policy.memory is not None and held:
            raise PolicyError(f"{held[0]} needs all records in memory: leave memory out")
        self._publications = {a.policy.method.publication for a in asked}
        return asked

    def take(self, data: Table) -> None:
        """All records, of which a row may stand for several."""
        data = data if data.weights is None else in_order(data)
        self.table, self.attributes = data, attributes_of(data, self.policy)
        self.title, self.n_records, self.n_in = data.source.name, data.n_records, data.n_records
        if self.target is not None:
            for publication in sorted(self._publications):
                task = check_target(data, self.attributes, self.target, publication)
            self._of_target = (*(["CM"] if task == "classes" else []), *SCORES[task])
            self.shown = (*SHOWN[:2], *self._of_target, *SHOWN[2:])

    def choose(self, measures: str | Iterable[str] | None) -> tuple[str, ...]:
        """Those of a target only where it has them."""
        names = super().choose(measures)
        for name in names:
            if name not in ("CM", *SCORE_NAMES):
                continue
            if self.target is None:
                raise PolicyError(f"the measure {name!r} needs a column to predict; name it as the target")
            if self._of_target is not None and name not in self._of_target:
                raise PolicyError(f"the target has no measure {name!r}; it has {', '.join(self._of_target)}")
        return names

    def checksum(self) -> str:
        """Of names, cells in their order, and the columns' meaning."""
        meaning = [
            (a.name, a.type, a.role, a.order, a.hierarchy and a.hierarchy.rows) for a in self.attributes.values()
        ]
        return json.dumps([table_checksum(self.table), meaning])

    def asked(self, policy: Policy) -> Any:
        """All but the columns, whose meaning counts, and the bound on memory, which changes nothing."""
        return policy.model_dump(exclude={"columns", "memory"}, mode="json")

    def settled(self, policy: Policy) -> dict[str, Any]:
        """See `settings_of`."""
        return settings_of(policy)

    def meets(self, asked: Policy) -> bool:
        """See the function of this name."""
        return meets(self.policy, asked)

    def rank(self, asked: AskedCell, cell: TableCell) -> int:
        """Slices leave labels narrow and part them instead, so that their loss is of another kind."""
        return int(asked.policy.method.way_of_publishing.is_sliced)

    def options(self, asked: AskedCell) -> tuple[str, ...]:
        """What was set, as an option each."""
        method, given = asked.policy.method, self.policy.method
        options = ["--method", method.partition]
        if asked.policy.k != self.policy.k:
            options += ["-k", str(asked.k)]
        if method.publish not in (None, given.publish):
            options += ["--publish", method.publish]
        if method.effort != given.effort:
            options += ["--effort", method.effort]
        if method.suppression != given.suppression:
            options += ["--suppression", f"{method.suppression:g}"]
        for name in ("l", "t"):
            if name in asked.changes:
                options += [TableCell.settings[name].option, f"{asked.changes[name]:g}"]
        if asked.policy.target != self.policy.target and asked.policy.target is not None:
            options += ["--target", asked.policy.target]
        return tuple(options)

    def measured(self, policy: Policy) -> dict[str, Any]:
        """Make one release and measure it."""
        with bounded(policy.n_bytes):
            release = TableRelease.of(self.table, anonymize_table(self.table, policy), policy, in_memory=True)
            risk, utility = release.risk_after, release.utility
        return {
            "status": "holds",
            "sentence": "",
            "n_out": release.records["out"],
            "guarantees": guaranteed(release.guarantees),
            "risk_highest": risk.prosecutor_highest,
            "risk_average": risk.prosecutor_average,
            "losses": {found.name: finite(found.value) for found in utility.losses},
            "association_change": finite(utility.correlation.mean_change),
            **_learned(release),
        }


def grid(
    policy: Policy, partitions: str | Iterable[str], k: int | Iterable[int], settings: Mapping[str, Any]
) -> list[AskedCell]:
    """Every method with every setting and every k, method by method, k ascending.

    What one recoding for all records cannot have is left out for those methods, unless nothing else is asked of them.

    Parameters
    ----------
    settings : mapping
        Of the names in `TableCell.settings`, a value or several to try; None for what the policy says.
    """
    varied = combinations([n for n in TableCell.settings if n != "partition"], settings)
    found: dict[tuple[Any, ...], AskedCell] = {}
    for partition in _methods(partitions):
        made, refused = 0, None
        for changes in varied:
            for size in sizes_of(k):
                try:
                    changed = _cell_policy(policy, partition, size, changes)
                except PolicyError as error:
                    if not PARTITIONS[partition].is_recoding:
                        raise
                    refused = error
                    continue
                made += 1
                asked = AskedCell(changed, size, settings_of(changed), changes)
                found.setdefault((size, *asked.settings.values()), asked)
        if refused is not None and not made:
            raise refused
    return list(found.values())


def settings_of(policy: Policy) -> dict[str, Any]:
    """All that tells a cell from others besides k, whether set by the sweep or by the policy."""
    method = policy.method
    return {
        "partition": method.partition,
        "publish": method.publication,
        "effort": method.effort,
        "suppression": method.suppression,
        **{option: _strictest(policy, model) for option, model in by_option().items() if option in TableCell.settings},
    }


def meets(policy: Policy, asked: Policy) -> bool:
    """Whether what a cell requires is at least what the policy requires.

    Suppression and effort are no requirements: a value that the caller of the sweep named may be proposed.
    """
    return asked.k >= policy.k and all(any(c.covers(r) for c in asked.require) for r in policy.require)


def table_checksum(table: Table) -> str:
    """A checksum of names and cells in their order, and of how many records each row stands for."""
    total = hashlib.sha256()
    for column in table.columns.values():
        head = [column.name, column.values.dtype.str, column.markers, spell(column.values), len(column.codes)]
        total.update(json.dumps(head).encode())
        total.update(column.codes.tobytes())
    if table.weights is not None:
        total.update(table.weights.tobytes())
    return total.hexdigest()


def _strictest(policy: Policy, model: type[Model]) -> Any:
    """The strictest value that is required of the parameter by which a model is asked for in short."""
    values = [getattr(r, model.option) for r in policy.require if isinstance(r, model)]
    return (max if model.option in model.at_least else min)(values, default=None)


def _methods(partitions: str | Iterable[str]) -> tuple[str, ...]:
    known = list(PARTITIONS)
    names = tuple(several(partitions))
    for name in names:
        if name not in known:
            raise PolicyError(f"there is no method {name!r}; {did_you_mean(name, known)}")
    if not names:
        raise PolicyError(f"no method was named; the choices are {', '.join(known)}")
    return names


def _cell_policy(policy: Policy, partition: str, k: int, changes: Mapping[str, Any]) -> Policy:
    """The policy with another method, k and settings."""
    method: dict[str, Any] = {"partition": partition}
    way, publish = PARTITIONS[partition], policy.method.publish
    if way.is_recoding:
        changes = {**changes, "effort": "fast"}
        if publish is not None and not PUBLICATIONS[publish].can_recode:
            method["publish"] = way.publication
    elif policy.provider and publish is None and not PUBLICATIONS[way.publication].holds_without_providers:
        method["publish"] = Policy().method.publication
    require = [r.model_copy(update={"k": k}) if "k" in type(r).model_fields else r for r in policy.require]
    return policy.changed(require=require, k=k, **{**method, **changes})


def _learned(release: TableRelease) -> dict[str, Any]:
    """The best scores for the target; none where no model can be trained, which does not spoil the cell."""
    target = release.policy.target
    if target is None:
        return {}
    found = TargetLearning.of(target, lambda: release.compare_learning(target, most_rows=MOST_LEARNED)).comparison
    if found is None:
        return {}
    return {
        "scores": {n: finite(found.best(n, "after")) for n in found.scores},
        "scores_before": {n: finite(found.best(n, "before")) for n in found.scores},
    }
