"""Arrays by what they hold, with one meaning each; the shape stands where they are used."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
"""Counts, offsets, keys."""
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
"""Places in a dictionary; labels of groups."""
Rows = npt.NDArray[np.intp]
"""Places in another array."""
Mask = npt.NDArray[np.bool_]
Singles = npt.NDArray[np.float32]
"""Floats where half the memory is enough."""
Words = npt.NDArray[np.uint64]
"""Bits, hashes, and residues of large primes."""
Signs = npt.NDArray[np.int8]
Bytes = npt.NDArray[np.uint8]
