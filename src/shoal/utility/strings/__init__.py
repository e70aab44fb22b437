"""What condensed strings are still good for: composition, k-mers, positions, distances, classification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy import lazy_names

if TYPE_CHECKING:
    from shoal.utility.strings.classification import Accuracy, compare_classifiers
    from shoal.utility.strings.composition import Composition, compare_composition
    from shoal.utility.strings.distances import DistanceOrder, compare_distances
    from shoal.utility.strings.k_mers import KMers, compare_k_mers
    from shoal.utility.strings.nearest import NearestStrings
    from shoal.utility.strings.positions import Positions, compare_positions
    from shoal.utility.strings.wav_rule import WavRule

_HOME = {
    "Accuracy": "classification",
    "compare_classifiers": "classification",
    "Composition": "composition",
    "compare_composition": "composition",
    "DistanceOrder": "distances",
    "compare_distances": "distances",
    "KMers": "k_mers",
    "compare_k_mers": "k_mers",
    "NearestStrings": "nearest",
    "Positions": "positions",
    "compare_positions": "positions",
    "WavRule": "wav_rule",
}

__all__ = [
    "Accuracy",
    "Composition",
    "DistanceOrder",
    "KMers",
    "NearestStrings",
    "Positions",
    "WavRule",
    "compare_classifiers",
    "compare_composition",
    "compare_distances",
    "compare_k_mers",
    "compare_positions",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
