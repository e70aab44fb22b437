"""Attacks on linked tables, each in a file that registers itself with `LINKED_ATTACKS`."""

from shoal.attack.linked.case import LINKED_ATTACKS

__all__ = ["LINKED_ATTACKS"]
