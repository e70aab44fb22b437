"""Sketches in scikit-learn's manner: one class a guarantee.

They have `fit` and `fit_transform` and, on purpose, no `transform`: how many components a record may have depends on
the records that it is published with. To compare two releases, give both the same key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

from shoal.arrays import Ints, Signs
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError
from shoal.estimator import Estimator
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.anonymize import anonymize_sparse
from shoal.sparse.signs import new_key, refuse_key

Self = TypeVar("Self", bound="_Sketch")


class _Sketch(Estimator):
    """What both have in common; a subclass says what its parameters ask for.

    Attributes
    ----------
    sketches_ : Sketches
        What can be published.
    rows_ : int64 array (n_sketches,)
        The original row of each sketch; private.
    counts_ : int64 array (n_records,)
        How many components each record got; private.
    suppressed_ : int8 array (n_records,)
        Why a record got none: an index into `shoal.sparse.anonymize.REASONS`; private.
    n_suppressed_ : int
        How many got none.
    key_ : bytes
        The key of the signs; secret.
    """

    sketches_: Sketches
    rows_: Ints
    counts_: Ints
    suppressed_: Signs
    n_suppressed_: int
    key_: bytes

    secret = frozenset({"key"})
    _model: ClassVar[str]
    key: bytes | None

    def fit(self: Self, X: Any, y: Sequence[str] | None = None) -> Self:
        """Sketch records.

        Parameters
        ----------
        X : Sparse, sparse matrix of scipy, list of lists of items, or list of dicts of weights
        y : sequence of str, optional
            The class of each record; else that of `Sparse`, or none.
        """
        asked = {name: value for name, value in self.get_params().items() if name != "key"}
        policy = SparsePolicy.of(model=self._model, **asked)
        if self.key is not None:
            refuse_key(self.key)
        self.key_ = new_key() if self.key is None else self.key
        made = anonymize_sparse(_as_records(X, y), policy, self.key_)
        self.sketches_, self.rows_ = made.sketches, made.rows
        self.counts_, self.suppressed_, self.n_suppressed_ = made.counts, made.reasons, made.n_suppressed
        return self

    def fit_transform(self, X: Any, y: Sequence[str] | None = None) -> Sketches:
        """Sketch records and return what can be published, in an order of its own; see `fit`."""
        return self.fit(X, y).sketches_


@dataclass(repr=False, eq=False)
class DeltaSketch(_Sketch):
    """Sketches under delta-anonymity: one record at a time, whatever the others are.

    Aggarwal and Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, Definitions 1
    and 2, Fig. 1.

    Parameters
    ----------
    delta : float, default 0.5
        The least variance of an attribute's estimate.
    max_components : int, default 128
        The most components of a record.
    recovery_cap : bool, default True
        Whether to stay below half of what would determine a record: see `shoal.sparse.recovery_cap`.
    coarse_counts : bool, default True
        Whether numbers of components stand on a coarse grid: see `shoal.sparse.coarse`.
    rare : int, default 5
        Records of a class with fewer of them are left out.
    key : bytes, optional
        32 secret bytes of `shoal.sparse.new_key`; else new ones.

    Notes
    -----
    **Guarantee**: the usual, unbiased estimate of an attribute has a variance of at least delta, for whoever holds the
    key. **Not protected**: estimates that know how popular attributes are (`shoal.attack.sparse.LinearEstimate`); the
    length of a record, which its components estimate, and for whole numbers the parity of its sum.

    Examples
    --------
    >>> baskets = [["beer", "nuts", "bread"], ["beer", "milk", "bread"], ["milk"]]
    >>> sketches = DeltaSketch(delta=0.3, recovery_cap=False).fit_transform(baskets)
    >>> sketches.counts
    array([6, 6])
    """

    _model = "delta"

    delta: float = 0.5
    max_components: int = 128
    recovery_cap: bool = True
    coarse_counts: bool = True
    rare: int = 5
    key: bytes | None = None


@dataclass(repr=False, eq=False)
class KVarianceSketch(_Sketch):
    """Sketches under k-variance anonymity: similarities to the k nearest records are blurred.

    Aggarwal and Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, Definition 3 and
    Fig. 2. delta-anonymity holds as well.

    Parameters
    ----------
    k : int, default 10
        How many neighbours.
    delta : float, default 0.5
        The least variance of an attribute's estimate.
    threshold : {"sqrt", "difference"}, default "sqrt"
        What the deviation of a product's estimate must reach: see `shoal.kinds.sparse.policy.KVariance`.
    variance : {"smaller", "paper", "exact"}, default "smaller"
        Which formula of the variance.
    max_components, recovery_cap, coarse_counts
        As of `DeltaSketch`.
    metric : {"cosine", "euclidean"}, default "cosine"
        What near means.
    neighbours : {"auto", "exact", "partition"}, default "auto"
        How they are found.
    rare, key
        As of `DeltaSketch`.

    Notes
    -----
    **Guarantee**: the similarity of a record to each of its k nearest, as estimated from their sketches, has at least
    the deviation that the threshold asks for. **Not protected**: what `DeltaSketch` does not protect either.

    Examples
    --------
    >>> baskets = [[a, b, "bread", "milk"] for a in ("beer", "wine", "cider") for b in ("nuts", "crisps")]
    >>> sketches = KVarianceSketch(k=2, recovery_cap=False).fit_transform(baskets)
    >>> len(sketches), int(sketches.counts.max()) <= 6
    (6, True)
    """

    _model = "k-variance"

    k: int = 10
    delta: float = 0.5
    threshold: Literal["sqrt", "difference"] = "sqrt"
    variance: Literal["smaller", "paper", "exact"] = "smaller"
    max_components: int = 128
    recovery_cap: bool = True
    coarse_counts: bool = True
    metric: Literal["cosine", "euclidean"] = "cosine"
    neighbours: Literal["auto", "exact", "partition"] = "auto"
    rare: int = 5
    key: bytes | None = None


def _as_records(X: Any, y: Sequence[str] | None) -> Sparse:
    if isinstance(X, Sparse):
        return X if y is None else X.with_labels(y)
    if hasattr(X, "tocsr"):
        return Sparse.from_csr(X, y)
    if isinstance(X, str) or not hasattr(X, "__iter__"):
        raise DataError("give records as a list of lists of items, a list of dicts, a sparse matrix, or Sparse")
    return Sparse.of(X, y)
