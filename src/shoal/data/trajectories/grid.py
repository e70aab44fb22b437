"""The round grid that boxes stand on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints


@dataclass(frozen=True)
class Grid3D:
    """The round grid that ends of boxes stand on, whatever the data: degrees of a cell, and seconds of a slot."""

    cell: float
    slot: int

    def cells(self, latitude: Floats, longitude: Floats, time: Ints) -> Ints:
        """The cell of each point: three columns, from south to north, from west to east, and in time."""
        return np.stack(
            [np.floor(latitude / self.cell), np.floor(longitude / self.cell), time // self.slot], axis=1
        ).astype(np.int64)
