"""What a release cost: all measures of utility at once."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.attribute import Attribute
from shoal.data.table import Column, Table
from shoal.errors import ShoalError
from shoal.tables.encoding import rank
from shoal.tables.information_loss import information_loss
from shoal.utility import loss
from shoal.utility.attributes import AttributeComparison, compare
from shoal.utility.correlation import Association, associate
from shoal.utility.distortion import covered_values, iloss, minimal_distortion
from shoal.utility.grouping import Grouping
from shoal.utility.reading import Numbers, Reading, read_published
from shoal.utility.scale import Scale, scale_of
from shoal.utility.statistics import statistics_loss


@dataclass(frozen=True)
class Loss:
    """One measure of information loss.

    Attributes
    ----------
    meaning : str
        In plain words, with what the best and the worst value would be.
    reference : str
        Where it is defined.
    """

    name: str
    value: float
    meaning: str
    reference: str


@dataclass(frozen=True)
class Utility:
    """How much of the original a release keeps; aggregates only.

    Attributes
    ----------
    losses : tuple of Loss
        Information loss over all quasi-identifiers.
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
) -> Utility:
    """Compare a release with the original.

    Parameters
    ----------
    original, published : Table
        Columns are matched by name; those that are not in both are passed over.
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
    """
    if not len(rows) == len(groups) == published.n_rows:
        raise ShoalError(
            f"the release has {published.n_rows} rows but comes with {len(rows)} original rows and "
            f"{len(groups)} groups; give one of each for every published row"
        )
    grouping, kept = Grouping.of(original.n_rows, rows, groups)
    scales: list[Scale] = []
    readings: list[Reading] = []
    comparisons: list[AttributeComparison] = []
    penalties: list[float] = []
    for name, column in original.columns.items():
        attribute = attributes.get(name)
        if attribute is None or attribute.role == "identifying" or name not in published.columns:
            continue
        scale = scale_of(column, attribute)
        reading = read_published(scale, published[name], kept, grouping)
        ncp = None
        if attribute.role == "quasi":
            if is_recoding:
                ncp = _label_penalty(scale, grouping, published[name], kept)
            else:
                ncp = loss.ncp(loss.penalties(scale, grouping), grouping)
            penalties.append(ncp)
        comparisons.append(compare(scale, reading, k, ncp))
        scales.append(scale)
        readings.append(reading)
    chosen = [i for role in ("quasi", "sensitive") for i, s in enumerate(scales) if s.attribute.role == role]
    quasi = [s for s in scales if s.attribute.role == "quasi"]
    return Utility(
        (*_losses(grouping, scales, readings, penalties, k), *_more_losses(grouping, quasi, original, published, kept)),
        tuple(comparisons),
        associate([scales[i] for i in chosen], [readings[i] for i in chosen], grouping),
    )


def _label_penalty(scale: Scale, grouping: Grouping, column: Column, kept: npt.NDArray[np.intp]) -> float:
    """The normalised certainty penalty of one attribute by its labels alone, whatever the groups would have needed."""
    labels = np.asarray(np.unique(column.codes[kept], return_inverse=True)[1], dtype=np.int32)
    alike = replace(grouping, labels=labels)
    if scale.ancestors is None:
        return loss.ncp(loss.penalties(scale, alike), alike)
    covered, n_leaves = covered_values(scale, alike, column, kept)
    return loss.ncp((covered - 1) / max(n_leaves - 1, 1), alike)


def _losses(
    grouping: Grouping, scales: list[Scale], readings: list[Reading], penalties: list[float], k: int
) -> tuple[Loss, ...]:
    found = [
        Loss("GCP", loss.gcp(penalties), *_WORDS["GCP"]),
        Loss("DM", loss.discernibility(grouping), *_WORDS["DM"]),
        Loss("C_avg", loss.average_class_size(grouping, k), *_WORDS["C_avg"]),
    ]
    numeric = [
        (s.numbers()[grouping.rows], r.values)
        for s, r in zip(scales, readings, strict=True)
        if s.attribute.role == "quasi" and isinstance(r, Numbers)
    ]
    share = loss.squared_error_share([x for x, _ in numeric], [y for _, y in numeric])
    if share is not None:
        found.append(Loss("SSE/SST", share, *_WORDS["SSE/SST"]))
    if len(numeric) > 1:
        change = statistics_loss(np.column_stack([x for x, _ in numeric]), np.column_stack([y for _, y in numeric]))
        found += [Loss(f"IL{i}", getattr(change, f"il{i}"), *_WORDS[f"IL{i}"]) for i in range(1, 6)]
    return tuple(found)


def _more_losses(
    grouping: Grouping, quasi: list[Scale], original: Table, published: Table, kept: npt.NDArray[np.intp]
) -> list[Loss]:
    """Losses that look at labels and widths."""
    if not quasi:
        return []
    labels = {s.attribute.name: published[s.attribute.name] for s in quasi}
    ranked = [rank(original[s.attribute.name].take(grouping.rows), s.attribute) for s in quasi]
    width = information_loss(ranked, grouping.labels) + grouping.n_suppressed * len(quasi)
    return [
        Loss("IL", width, *_WORDS["IL"]),
        Loss("distortion", minimal_distortion(quasi, grouping, labels, kept).share, *_WORDS["distortion"]),
        Loss("ILoss", iloss(quasi, grouping, None, labels, kept).mean, *_WORDS["ILoss"]),
    ]


_TORRA = "Domingo-Ferrer and Torra, DMKD 2005"
_WORDS = {
    "GCP": (
        "Share of certainty lost in an average quasi-identifying cell: 0 nothing changed, 1 nothing is left.",
        "Ghinita et al., VLDB 2007; Xu et al., KDD 2006",
    ),
    "DM": (
        "Sum over all records of how many each one looks like; a suppressed record looks like all.",
        "Bayardo and Agrawal, ICDE 2005",
    ),
    "C_avg": (
        "Average group size over the size k that was asked for: 1 is the best possible.",
        "LeFevre et al., ICDE 2006",
    ),
    "IL": (
        "Sum over records of how wide their group is, attribute by attribute, each between 0 and 1.",
        "Byun et al., DASFAA 2007",
    ),
    "distortion": (
        "Share of quasi-identifying cells that were generalised, changed or suppressed.",
        "Samarati, IEEE TKDE 2001",
    ),
    "ILoss": (
        "Share of the values of the domain that an average published label may stand for, beyond the true one.",
        "Xiao and Tao, SIGMOD 2006",
    ),
    "IL1": ("Mean relative change of numeric cells.", _TORRA),
    "IL2": ("Mean relative change of the means of numeric quasi-identifiers.", _TORRA),
    "IL3": ("Mean relative change of their variances.", _TORRA),
    "IL4": ("Mean relative change of their covariances.", _TORRA),
    "IL5": ("Mean change of their correlations.", _TORRA),
    "SSE/SST": (
        "Share of the variation of numeric quasi-identifiers that is lost within groups: 0 none, 1 all.",
        "Domingo-Ferrer and Mateo-Sanz, IEEE TKDE 2002",
    ),
}
