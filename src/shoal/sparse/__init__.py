"""Methods for sparse records: pseudo-baskets, and sketches of as many components as a guarantee allows.

::

    near_groups -> pseudo_baskets
    delta, recovery_cap, k_variance -> how many components        signs -> sketch        anonymize: all of them in turn
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy import lazy_names

if TYPE_CHECKING:
    from shoal.sparse.anonymize import AnonymizedSparse, anonymize_sparse
    from shoal.sparse.estimators import DeltaSketch, KVarianceSketch
    from shoal.sparse.pseudo_baskets import PseudoBaskets
    from shoal.sparse.signs import new_key
    from shoal.sparse.sketch import Sketcher, sketch_records
    from shoal.sparse.stream import join_sketches, sketch_blocks

_HOME = {
    "AnonymizedSparse": "shoal.sparse.anonymize",
    "DeltaSketch": "shoal.sparse.estimators",
    "KVarianceSketch": "shoal.sparse.estimators",
    "PseudoBaskets": "shoal.sparse.pseudo_baskets",
    "Sketcher": "shoal.sparse.sketch",
    "anonymize_sparse": "shoal.sparse.anonymize",
    "new_key": "shoal.sparse.signs",
    "join_sketches": "shoal.sparse.stream",
    "sketch_blocks": "shoal.sparse.stream",
    "sketch_records": "shoal.sparse.sketch",
}

__all__ = [
    "AnonymizedSparse",
    "DeltaSketch",
    "KVarianceSketch",
    "PseudoBaskets",
    "Sketcher",
    "anonymize_sparse",
    "join_sketches",
    "new_key",
    "sketch_blocks",
    "sketch_records",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
