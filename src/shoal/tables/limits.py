"""Limits on the sensitive values of each group, as plain arrays, for partition methods to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from shoal.errors import PolicyError, did_you_mean
from shoal.kernels.tables import diversity
from shoal.kernels.tables.diversity import LimitArrays, groups_violating
from shoal.tables.encoding import Ranked

if TYPE_CHECKING:
    from shoal.kinds.tables.policy import AlphaK, BetaLikeness, KAnonymity, LDiversity, TCloseness

    Requirement: TypeAlias = KAnonymity | LDiversity | TCloseness | AlphaK | BetaLikeness

_SENSES = {
    "distinct": diversity.DISTINCT,
    "probabilistic": diversity.PROBABILISTIC,
    "entropy": diversity.ENTROPY,
    "recursive": diversity.RECURSIVE,
}
_DISTANCES = {
    "equal": diversity.EQUAL,
    "ordered": diversity.ORDERED,
    "hierarchical": diversity.HIERARCHICAL,
}
_DISTANCE_OF_KIND: dict[str, str] = {
    "number": "ordered",
    "order": "ordered",
    "category": "equal",
    "tree": "hierarchical",
}


@dataclass(frozen=True)
class Limit:
    """One requirement on one sensitive attribute.

    Attributes
    ----------
    name : str
        The sensitive attribute.
    text : str
        The requirement, for messages.
    codes : int32 array (n_rows,)
        The sensitive value of each record, as its rank.
    counts : int64 array (n_values,)
        How many records of the whole table have each value; a block of records keeps those of the whole.
    model : int
        One of the constants of `shoal.kernels.tables.diversity`.
    parameter, c : float
        l, t, alpha or beta; and the c of recursive (c, l)-diversity.
    unknown : int
        Code of the missing value where it may stand for any value, else -1.
    ancestors : int32 array (n_values, height + 1), optional
        For the hierarchical distance, as in `Ranked`.
    """

    name: str
    text: str
    codes: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    model: int
    parameter: float
    c: float = 0.0
    unknown: int = -1
    ancestors: npt.NDArray[np.int32] | None = None

    @property
    def n_values(self) -> int:
        """Number of sensitive values in the whole table, the missing one included."""
        return len(self.counts)

    def of_rows(self, rows: npt.NDArray[np.integer]) -> Limit:
        """The same limit for some of the records, still measured against the whole table."""
        return replace(self, codes=self.codes[rows])

    def among(self, rows: npt.NDArray[np.integer]) -> Limit:
        """The same limit for some of the records, measured against these alone: values that no other has are gone."""
        counts = np.bincount(self.codes[rows], minlength=self.n_values)
        used = counts > 0
        place = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
        return replace(
            self,
            codes=place[self.codes[rows]],
            counts=counts[used],
            unknown=int(place[self.unknown]) if self.unknown >= 0 else -1,
            ancestors=None if self.ancestors is None else np.ascontiguousarray(self.ancestors[used]),
        )

    @property
    def is_relative(self) -> bool:
        """Whether a group is measured against the whole table, so that records left out elsewhere count for it."""
        return self.model > diversity.ALPHA

    @property
    def fewest_values(self) -> Limit | None:
        """How many different values a group must hold, whatever else is asked of it; None if that is not known.

        With v values the most frequent has a share of at least 1 / v, the entropy is at most ln v, and r_l is 0 where v
        is below l. A group that holds enough values keeps them when others join it; what this is derived from may be
        lost by that.
        """
        if self.is_relative:
            return None
        least = 1 / self.parameter if self.model == diversity.ALPHA else self.parameter
        # A bound may be weakened: 1 / alpha need not be exact, and entropies are compared with a margin.
        slack = 0.0 if self.model == diversity.DISTINCT else 1e-9
        return replace(self, model=diversity.DISTINCT, parameter=least * (1 - slack))


def limits_of(
    requirements: Iterable[Requirement],
    sensitive: Sequence[Ranked] | Mapping[str, Ranked],
    missing: Literal["value", "any"] = "value",
) -> tuple[Limit, ...]:
    """Turn the required models of diversity into limits; a requirement that names no attribute holds for all.

    Definitions, for a group of n records in which value i stands c_i times (share p_i; q_i in the whole
    table):

    - distinct l-diversity: at least l values; probabilistic: max c_i * l <= n; entropy: exp(H(p)) >= l;
      recursive (c, l): r_1 < c (r_l + ... + r_m) with the counts r in descending order (Machanavajjhala et
      al. 2007, sec. 4);
    - (alpha, k)-anonymity: max c_i <= alpha n (Wong et al. 2006);
    - t-closeness: earth mover's distance of p and q at most t. Equal: sum of (p_i - q_i) where positive;
      ordered: sum of the absolute cumulative differences over m - 1; hierarchical: sum over inner nodes of
      height / H times the lesser of positive and negative extra (Li, Li, Venkatasubramanian 2007, sec. 5);
    - beta-likeness: (p_i - q_i) / q_i <= beta wherever p_i > q_i, enhanced: <= min(beta, -ln q_i) (Cao,
      Karras 2012).

    Parameters
    ----------
    requirements : iterable of the models of `shoal.kinds.tables.policy`
        k-anonymity, and the k of (alpha, k)-anonymity, are no limits on values and passed over.
    sensitive : sequence or mapping of Ranked
        The sensitive attributes. The order of ranks is the one of the ordered distance.
    missing : {"value", "any"}
        A missing value is a value of its own, or could be any: it then counts for none of the distinct
        values, and otherwise together with the most frequent one, which is the worst case.

    Raises
    ------
    PolicyError
        If a requirement names no sensitive attribute that there is, or its distance does not suit the
        attribute.
    """
    attributes = list(sensitive.values() if isinstance(sensitive, Mapping) else sensitive)
    found = []
    for requirement in requirements:
        if requirement.model == "k-anonymity":
            continue
        if not attributes:
            raise PolicyError(f"{requirement.model} protects sensitive values; give a column the role sensitive")
        named = [r for r in attributes if requirement.sensitive in (None, r.name)]
        if not named:
            hint = did_you_mean(str(requirement.sensitive), [r.name for r in attributes])
            raise PolicyError(
                f"{requirement.model} names the column {requirement.sensitive!r}, which is not sensitive; {hint}"
            )
        found += [_limit(requirement, attribute, missing) for attribute in named]
    return tuple(found)


def _limit(requirement: Requirement, attribute: Ranked, missing: str) -> Limit:
    unknown = attribute.n_values - 1 if missing == "any" and attribute.has_missing else -1
    c = 0.0
    ancestors = None
    if requirement.model == "l-diversity":
        model, parameter = _SENSES[requirement.kind], float(requirement.l)
        text = f"{requirement.kind} {requirement.l:g}-diversity"
        if requirement.kind == "recursive":
            c = float(requirement.c)
            text = f"recursive ({c:g}, {requirement.l:g})-diversity"
    elif requirement.model == "alpha-k":
        model, parameter, text = (
            diversity.ALPHA,
            requirement.alpha,
            f"a share of at most {requirement.alpha:g}",
        )
    elif requirement.model == "t-closeness":
        distance = requirement.distance or _DISTANCE_OF_KIND[attribute.kind]
        _refuse_unsuited(distance, attribute)
        model, parameter, text = _DISTANCES[distance], requirement.t, f"{requirement.t:g}-closeness"
        ancestors = attribute.ancestors if distance == "hierarchical" else None
    elif requirement.model == "beta-likeness":
        model = diversity.ENHANCED if requirement.kind == "enhanced" else diversity.BASIC
        parameter, text = requirement.beta, f"{requirement.kind} {requirement.beta:g}-likeness"
    else:
        raise PolicyError(f"there is no limit for the model {requirement.model!r}")
    if unknown >= 0 and model > diversity.ALPHA:
        raise PolicyError(
            f"{text} has no meaning where a missing value of {attribute.name!r} may be any value; "
            'set missing = "value", or leave out the records in which it is missing'
        )
    return Limit(
        name=attribute.name,
        text=text,
        codes=np.ascontiguousarray(attribute.ranks, dtype=np.int32),
        counts=np.bincount(attribute.ranks, minlength=attribute.n_values).astype(np.int64),
        model=model,
        parameter=float(parameter),
        c=c,
        unknown=unknown,
        ancestors=ancestors,
    )


def _refuse_unsuited(distance: str, attribute: Ranked) -> None:
    if distance == "hierarchical" and attribute.ancestors is None:
        raise PolicyError(f"the hierarchical distance needs a hierarchy of {attribute.name!r}; give one, or use equal")
    if distance == "ordered" and attribute.kind == "category":
        raise PolicyError(
            f"the ordered distance needs an order of {attribute.name!r}; "
            "make its type ordinal or continuous, or use equal"
        )


def arrays_of(limits: Sequence[Limit], n_rows: int) -> LimitArrays:
    """Lay limits on n_rows records side by side, as the kernels take them."""
    below = [np.cumsum(limit.counts) for limit in limits]
    trees = [_tree(limit) for limit in limits]
    tree_sizes = [len(tree) for tree, _ in trees]
    codes = np.empty((len(limits), n_rows), dtype=np.int32)
    for j, limit in enumerate(limits):
        codes[j] = limit.codes
    return LimitArrays(
        codes=codes,
        models=np.array([limit.model for limit in limits], dtype=np.int64),
        parameters=np.array([(limit.parameter, limit.c) for limit in limits], dtype=np.float64).reshape(-1, 2),
        unknown=np.array([limit.unknown for limit in limits], dtype=np.int64),
        starts=np.cumsum([0] + [limit.n_values for limit in limits]).astype(np.int64),
        below=_joined(below, np.int64),
        below_sums=_joined([np.cumsum(b) for b in below], np.int64),
        heights=np.array([0 if t.ancestors is None else t.ancestors.shape[1] - 1 for t in limits], dtype=np.int64),
        tree_starts=np.cumsum([0] + tree_sizes)[: len(limits)].astype(np.int64),
        ancestors=_joined([tree for tree, _ in trees], np.int32),
        under=_joined([under for _, under in trees], np.int64),
    )


def _tree(limit: Limit) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Nodes above each value, and how many records of the whole table are under each of them."""
    if limit.ancestors is None:
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    under = np.empty(limit.ancestors.shape, dtype=np.int64)
    for h in range(limit.ancestors.shape[1]):
        nodes, node = np.unique(limit.ancestors[:, h], return_inverse=True)
        sums = np.zeros(len(nodes), dtype=np.int64)
        np.add.at(sums, node, limit.counts)
        under[:, h] = sums[node]
    return limit.ancestors.ravel(), under.ravel()


def _joined(parts: Sequence[npt.NDArray[Any]], dtype: type[Any]) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=dtype), *parts]).astype(dtype)


def violations(labels: npt.NDArray[np.integer], limits: Sequence[Limit]) -> npt.NDArray[np.bool_]:
    """Which groups 0 .. max(labels) violate any of the limits.

    Records with a negative label are left out; a group without records violates nothing.
    """
    labels = np.asarray(labels)
    sizes = np.bincount(labels[labels >= 0])
    rows = np.argsort(labels, kind="stable")[len(labels) - int(sizes.sum()) :].astype(np.int32)
    return groups_violating(arrays_of(limits, len(labels)), rows, np.cumsum(sizes).astype(np.int64))
