"""What each measure of loss says: in plain words, as a formula, where it is from, and when there is none."""

from __future__ import annotations

from dataclasses import dataclass

_TORRA = "Domingo-Ferrer and Torra, DMKD 2005"
_NO_NUMBERS = "Fewer than two quasi-identifiers are published as numbers."
_NO_PAIRS = "pseudo-records stand for no single record."


@dataclass(frozen=True)
class Definition:
    """A measure of loss, 0 being the best unless the meaning says otherwise.

    Attributes
    ----------
    formula : str
        In one line; n records, p quasi-identifiers, groups G, x before and x' after.
    absent : str
        Why a release may have no such number; "" where all have one.
    is_share : bool
        Whether it reads best as a share of one hundred.
    """

    meaning: str
    formula: str
    reference: str
    absent: str = ""
    is_share: bool = False


DEFINITIONS = {
    "GCP": Definition(
        "Share of certainty lost in an average quasi-identifying cell: 0 nothing changed, 1 nothing is left.",
        "mean of NCP over all cells; NCP = width of the label / width of the domain, suppressed: 1",
        "Ghinita et al., VLDB 2007; Xu et al., KDD 2006",
        is_share=True,
    ),
    "GCP-person": Definition(
        "Share of certainty lost for an average person: each counts once, however many records they have.",
        "mean over persons of the mean of NCP over the cells of their records",
        "weights of Ghinita et al., VLDB 2007, by person",
        "No person was named: --person COLUMN, or person in the policy.",
        is_share=True,
    ),
    "query-error": Definition(
        "Random counts (“how many have …”) asked of the release are this far from the true ones: the median error.",
        "median of |estimate − true| / max(true, n / 1000); two conditions per query, which about 5 % of n meet",
        "Xiao and Tao, VLDB 2006",
        is_share=True,
    ),
    "imprecision": Definition(
        "Share of all records that the answer to such a count cannot rule out although they do not belong.",
        "mean of max(0, records of groups that overlap the query − true) / n",
        "LeFevre et al., ACM TODS 2008",
        is_share=True,
    ),
    "CM": Definition(
        "Share of records whose class is not that of most records of their group, or that were suppressed.",
        "(suppressed + records outside their group's majority class) / n",
        "Iyengar, KDD 2002",
        "No target of classes was named: --target COLUMN, or target in the policy.",
        is_share=True,
    ),
    "SSE/SST": Definition(
        "Share of the variation of numeric quasi-identifiers that is lost within groups: 0 none, 1 all.",
        "Σ((x − x') / sd)² / Σ((x − mean) / sd)² over published numbers",
        "Domingo-Ferrer and Mateo-Sanz, IEEE TKDE 2002",
        f"No quasi-identifier is published as a number, or {_NO_PAIRS}",
        is_share=True,
    ),
    "DM": Definition(
        "Sum over all records of how many each one looks like; a suppressed record looks like all.",
        "Σ|G|² + suppressed · n",
        "Bayardo and Agrawal, ICDE 2005",
        _NO_PAIRS.capitalize(),
    ),
    "C_avg": Definition(
        "Average group size over the size k that was asked for: 1 is the best possible.",
        "(published records / groups) / k",
        "LeFevre et al., ICDE 2006",
    ),
    "IL": Definition(
        "Sum over records of how wide their group is, attribute by attribute, each between 0 and 1.",
        "Σ over groups of |G| · Σ over attributes of range / domain (categories: height of the subtree / height)",
        "Byun et al., DASFAA 2007",
        "There is no quasi-identifier.",
    ),
    "distortion": Definition(
        "Share of quasi-identifying cells that were generalised, changed or suppressed.",
        "changed cells / (n · p)",
        "Samarati, IEEE TKDE 2001 (minimal distortion)",
        f"There is no quasi-identifier, or {_NO_PAIRS}",
        is_share=True,
    ),
    "ILoss": Definition(
        "Share of the values of the domain that an average published label may stand for, beyond the true one.",
        "mean over cells of (values under the label − 1) / values of the domain",
        "Xiao and Tao, SIGMOD 2006",
        f"There is no quasi-identifier, or {_NO_PAIRS}",
        is_share=True,
    ),
    "IL1": Definition(
        "Mean relative change of numeric cells.",
        "mean of |x − x'| / |x|",
        _TORRA,
        f"{_NO_NUMBERS[:-1]}, or {_NO_PAIRS}",
    ),
    "IL2": Definition(
        "Mean relative change of the means of numeric quasi-identifiers.",
        "mean of |mean − mean'| / |mean|",
        _TORRA,
        _NO_NUMBERS,
    ),
    "IL3": Definition("Mean relative change of their variances.", "mean of |var − var'| / var", _TORRA, _NO_NUMBERS),
    "IL4": Definition(
        "Mean relative change of their covariances.", "mean over pairs of |cov − cov'| / |cov|", _TORRA, _NO_NUMBERS
    ),
    "IL5": Definition("Mean change of their correlations.", "mean over pairs of |r − r'|", _TORRA, _NO_NUMBERS),
    "IL-mean": Definition(
        "One hundred times the mean of IL1 to IL5.",
        "100 · (IL1 + IL2 + IL3 + IL4 + IL5) / 5",
        _TORRA,
        f"{_NO_NUMBERS[:-1]}, or {_NO_PAIRS}",
    ),
}
MEASURES = tuple(DEFINITIONS)
