"""What sketches are still good for: dot products, lengths, neighbours, classification, clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy import lazy_names

if TYPE_CHECKING:
    from shoal.utility.sparse.classification import SketchAccuracy, SketchLearning, learn
    from shoal.utility.sparse.clustering import ClusterQuality, compare_clusters
    from shoal.utility.sparse.dot_products import Agreement, compare_dot_products, compare_squared_lengths
    from shoal.utility.sparse.measure import ComponentCounts, SparseUtility, measure_sketches
    from shoal.utility.sparse.neighbours_kept import NeighboursKept, count_neighbours_kept

_HOME = {
    "SketchAccuracy": "classification",
    "Agreement": "dot_products",
    "ClusterQuality": "clustering",
    "ComponentCounts": "measure",
    "NeighboursKept": "neighbours_kept",
    "SketchLearning": "classification",
    "SparseUtility": "measure",
    "compare_clusters": "clustering",
    "compare_dot_products": "dot_products",
    "compare_squared_lengths": "dot_products",
    "count_neighbours_kept": "neighbours_kept",
    "learn": "classification",
    "measure_sketches": "measure",
}

__all__ = [
    "Agreement",
    "ClusterQuality",
    "ComponentCounts",
    "NeighboursKept",
    "SketchAccuracy",
    "SketchLearning",
    "SparseUtility",
    "compare_clusters",
    "compare_dot_products",
    "compare_squared_lengths",
    "count_neighbours_kept",
    "learn",
    "measure_sketches",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
