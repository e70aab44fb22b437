"""Mining on published sketches: needs the Parquet file alone; estimates of attributes need the key besides.

::

    read_sketches -> dot_products, squared_lengths, distances, centroid        SketchKMeans, SketchKNeighbors
                  -> attribute_estimates, reconstruct (with the key)

Two records are compared on the components that both have. See section 3.3 of C. C. Aggarwal, P. S. Yu, "On
privacy-preservation of text and sparse binary data with sketches", SDM 2007.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy import lazy_names

if TYPE_CHECKING:
    from shoal.sparse.mining.estimates import (
        Estimate,
        attribute_estimates,
        centroid,
        distances,
        dot_products,
        squared_distances,
        squared_lengths,
    )
    from shoal.sparse.mining.k_means import SketchKMeans
    from shoal.sparse.mining.neighbours_classifier import SketchKNeighbors
    from shoal.sparse.mining.reconstruction import reconstruct

_HOME = {
    "Estimate": "estimates",
    "SketchKMeans": "k_means",
    "SketchKNeighbors": "neighbours_classifier",
    "attribute_estimates": "estimates",
    "centroid": "estimates",
    "distances": "estimates",
    "dot_products": "estimates",
    "reconstruct": "reconstruction",
    "squared_distances": "estimates",
    "squared_lengths": "estimates",
}

__all__ = [
    "Estimate",
    "SketchKMeans",
    "SketchKNeighbors",
    "attribute_estimates",
    "centroid",
    "distances",
    "dot_products",
    "reconstruct",
    "squared_distances",
    "squared_lengths",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
