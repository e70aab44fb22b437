"""What a release cost: all measures of utility at once."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column, Table
from shoal.errors import ShoalError
from shoal.tables.encoding import rank
from shoal.tables.information_loss import information_loss
from shoal.utility.tables import loss
from shoal.utility.tables.attributes import AttributeComparison, compare
from shoal.utility.tables.classification import classification_metric, task_of
from shoal.utility.tables.correlation import Association, associate
from shoal.utility.tables.definitions import DEFINITIONS, MEASURES
from shoal.utility.tables.distortion import covered_values, iloss, minimal_distortion
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.queries import ask, enough_queries
from shoal.utility.tables.reading import Reading, ReadNumbers, read_published
from shoal.utility.tables.scale import Scale, scale_of
from shoal.utility.tables.statistics import statistics_loss

PAIRED = ("SSE/SST", "DM", "distortion", "ILoss", "IL1", "IL-mean")


@dataclass(frozen=True)
class Loss:
    """One measure of information loss.

    Attributes
    ----------
    meaning : str
        In plain words, with what the best and the worst value would be.
    formula, reference : str
        In one line, and where it is defined.
    """

    name: str
    value: float
    meaning: str
    formula: str
    reference: str

    @classmethod
    def of(cls, name: str, value: float) -> Loss:
        """A measure that `definitions` knows."""
        known = DEFINITIONS[name]
        return cls(name, value, known.meaning, known.formula, known.reference)


@dataclass(frozen=True)
class Utility:
    """How much of the original a release keeps; aggregates only.

    Attributes
    ----------
    losses : tuple of Loss
        Information loss over all quasi-identifiers, in the order of `definitions.MEASURES`.
    attributes : tuple of AttributeComparison
        Each published attribute before and after, in the order of the table.
    correlation : Association
        Associations among quasi-identifiers and sensitive attributes, before and after.
    """

    losses: tuple[Loss, ...]
    attributes: tuple[AttributeComparison, ...]
    correlation: Association

    def __getitem__(self, name: str) -> float:
        """Value of a loss by its name."""
        return {found.name: found.value for found in self.losses}[name]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "losses": [asdict(found) for found in self.losses],
            "attributes": [a.to_dict() for a in self.attributes],
            "correlation": self.correlation.to_dict(),
        }

    def __repr__(self) -> str:
        told = ", ".join(f"{found.name} {found.value:.4g}" for found in self.losses)
        return f"Utility of {len(self.attributes)} attributes: {told}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(found.name)}</td><td style='text-align:right'>{found.value:.4g}</td>"
            f"<td style='text-align:left'>{html.escape(found.meaning)}</td></tr>"
            for found in self.losses
        )
        change = self.correlation.mean_change
        return (
            "<table><thead><tr><th>Information loss</th><th>Value</th><th>Meaning</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
            f"<p>Associations between attributes changed by {change:.3f} on average.</p>"
        )


def measure(
    original: Table,
    published: Table,
    rows: npt.NDArray[np.intp],
    groups: npt.NDArray[np.int32],
    attributes: Mapping[str, Attribute],
    k: int,
    *,
    is_recoding: bool = False,
    is_paired: bool = True,
    target: str | None = None,
    persons: Ints | None = None,
) -> Utility:
    """Compare a release with the original.

    Parameters
    ----------
    original, published : Table
        Columns are matched by name; those that are not in both are passed over. Rows of the original may stand for
        several records; then each published row stands for those of one, and IL1 to IL5 are left out.
    rows : intp array (published.n_rows,)
        The original row that each published row stands for; originals that none stands for were suppressed.
    groups : int32 array (published.n_rows,)
        The group of each published row; a negative group means that the row counts as suppressed.
    attributes : mapping of str to Attribute
        The meaning of each column.
    k : int
        The least group size that was asked for.
    is_recoding : bool
        Whether a label may be wider than its group needs, because all records got one recoding. Then all records of a
        label, and not of a group, say how wide it is.
    is_paired : bool
        Whether a published row stands for its original row. Pseudo-records stand for their group alone: then measures
        that compare cell with cell, or look at labels, are left out, and the others are of groups or of the whole.
    target : str, optional
        A column of classes that the release will be used to predict, for CM.
    persons : int64 array (original.n_rows,), optional
        Whose each original record is, 0, 1, ..., for the loss of an average person.
    """
    if not len(rows) == len(groups) == published.n_rows:
        raise ShoalError(
            f"the release has {published.n_rows} rows but comes with {len(rows)} original rows and "
            f"{len(groups)} groups; give one of each for every published row"
        )
    grouping, kept = Grouping.of(original.n_records, rows, groups, original.weights)
    scales: list[Scale] = []
    readings: list[Reading] = []
    comparisons: list[AttributeComparison] = []
    penalties: list[float] = []
    of_persons: list[float] = []
    for name, column in original.columns.items():
        attribute = attributes.get(name)
        if attribute is None or attribute.role == "identifying" or name not in published.columns:
            continue
        scale = scale_of(column, attribute, original.weights)
        reading = read_published(scale, published[name], kept, grouping)
        ncp = None
        if attribute.role == "quasi":
            lost, alike = (
                _label_penalties(scale, grouping, published[name], kept)
                if is_recoding
                else (loss.penalties(scale, grouping, published[name], kept), grouping)
            )
            ncp = loss.ncp(lost, alike)
            penalties.append(ncp)
            if persons is not None:  # where rows stand for several records, each of these is another person's
                of_persons.append(ncp if original.weights is not None else loss.ncp(lost, alike, persons))
        comparisons.append(compare(scale, reading, k, ncp))
        scales.append(scale)
        readings.append(reading)
    chosen = [i for role in ("quasi", "sensitive") for i, s in enumerate(scales) if s.attribute.role == role]
    quasi = [s for s in scales if s.attribute.role == "quasi"]
    losses = [
        *_losses(grouping, scales, readings, penalties, k, is_paired),
        *([Loss.of("GCP-person", loss.gcp(of_persons))] if of_persons else []),
        *_more_losses(grouping, quasi, original, published, kept),
        *_use_losses(grouping, scales, readings, None if target is None else original[target], attributes),
    ]
    if not is_paired:
        losses = [found for found in losses if found.name not in PAIRED]
    return Utility(
        tuple(sorted(losses, key=lambda found: MEASURES.index(found.name))),
        tuple(comparisons),
        associate([scales[i] for i in chosen], [readings[i] for i in chosen], grouping),
    )


def _label_penalties(
    scale: Scale, grouping: Grouping, column: Column, kept: npt.NDArray[np.intp]
) -> tuple[Floats, Grouping]:
    """Certainty penalties of one attribute by its labels alone, whatever the groups would have needed."""
    labels = np.asarray(np.unique(column.codes[kept], return_inverse=True)[1], dtype=np.int32)
    alike = replace(grouping, labels=labels)
    if scale.ancestors is None:
        return loss.penalties(scale, alike, column, kept), alike
    covered, n_leaves = covered_values(scale, alike, column, kept)
    return (covered - 1) / max(n_leaves - 1, 1), alike


def _losses(
    grouping: Grouping,
    scales: list[Scale],
    readings: list[Reading],
    penalties: list[float],
    k: int,
    is_paired: bool,
) -> tuple[Loss, ...]:
    found = [
        Loss.of("GCP", loss.gcp(penalties)),
        Loss.of("DM", loss.discernibility(grouping)),
        Loss.of("C_avg", loss.average_class_size(grouping, k)),
    ]
    numeric = [
        (s.numbers()[grouping.rows], r.values)
        for s, r in zip(scales, readings, strict=True)
        if s.attribute.role == "quasi" and isinstance(r, ReadNumbers)
    ]
    before, after = [x for x, _ in numeric], [y for _, y in numeric]
    share = loss.squared_error_share(before, after, grouping.weights)
    if share is not None:
        found.append(Loss.of("SSE/SST", share))
    if len(numeric) > 1 and grouping.weights is None:  # which compare cell with cell
        change = statistics_loss(before, after, is_paired=is_paired)
        found += [Loss.of(f"IL{i}", getattr(change, f"il{i}")) for i in range(1, 6)]
        found.append(Loss.of("IL-mean", change.overall))
    return tuple(found)


def _more_losses(
    grouping: Grouping, quasi: list[Scale], original: Table, published: Table, kept: npt.NDArray[np.intp]
) -> list[Loss]:
    """Losses that look at labels and widths."""
    if not quasi:
        return []
    labels = {s.attribute.name: published[s.attribute.name] for s in quasi}
    ranked = [rank(original[s.attribute.name].take(grouping.rows), s.attribute) for s in quasi]
    width = information_loss(ranked, grouping.labels, grouping.weights) + grouping.n_suppressed * len(quasi)
    return [
        Loss.of("IL", width),
        Loss.of("distortion", minimal_distortion(quasi, grouping, labels, kept).share),
        Loss.of("ILoss", iloss(quasi, grouping, None, labels, kept).mean),
    ]


def _use_losses(
    grouping: Grouping,
    scales: list[Scale],
    readings: list[Reading],
    target: Column | None,
    attributes: Mapping[str, Attribute],
) -> list[Loss]:
    """Losses to those who count, and to those who predict."""
    found = []
    about = [(s, r) for s, r in zip(scales, readings, strict=True) if s.attribute.role == "quasi"]
    if about and grouping.n_rows:
        counts = ask([s for s, _ in about], [r for _, r in about], grouping, enough_queries([s for s, _ in about]))
        found += [Loss.of("query-error", counts.median_error), Loss.of("imprecision", counts.imprecision)]
    if target is not None and task_of(target, attributes[target.name]) == "classes":
        found.append(Loss.of("CM", classification_metric(np.minimum(target.codes, len(target.values)), grouping)))
    return found
