"""Attacks on published strings, each in a file that registers itself with `STRING_ATTACKS`."""

from shoal.attack.strings.case import STRING_ATTACKS

__all__ = ["STRING_ATTACKS"]
