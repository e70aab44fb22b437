"""Attacks on published tables, each in a file that registers itself with `TABLE_ATTACKS`."""

from shoal.attack.tables.case import TABLE_ATTACKS

__all__ = ["TABLE_ATTACKS"]
