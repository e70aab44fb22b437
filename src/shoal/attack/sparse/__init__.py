"""Attacks on published sparse records, pseudo-baskets and sketches, each in a file that registers itself."""

from shoal.attack.sparse.case import SPARSE_ATTACKS

__all__ = ["SPARSE_ATTACKS"]
