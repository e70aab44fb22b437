"""Attacks on published sketches of sparse records, each in a file that registers itself with `SPARSE_ATTACKS`."""

from shoal.attack.sparse.case import SPARSE_ATTACKS

__all__ = ["SPARSE_ATTACKS"]
