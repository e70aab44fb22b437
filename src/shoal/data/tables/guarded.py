"""Texts that a spreadsheet would run, made safe in text files.

A text, or a column's name, that begins with ``=``, ``+``, ``-``, ``@`` (also in their full-width forms), a
tab or a line end, and that is not a plain number, would be run as a formula by a spreadsheet that opens the
text file. It is written there with a single quote in front. Parquet says that a text is a text, so there it
stays as it is.
"""

from __future__ import annotations

import re

_RISKY_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_PLAIN_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?")


def guarded(text: str) -> str:
    """The text, with a single quote in front if a spreadsheet would run it.

    A text that only looks guarded gets one more quote, so that `unguarded` gives every text back.

    >>> guarded("=1+1"), guarded("-1.5"), guarded("a=b"), guarded("'=1")
    ("'=1+1", '-1.5', 'a=b', "''=1")
    """
    return "'" + text if _is_risky(text.lstrip("'")) else text


def unguarded(text: str) -> str:
    """The text that was guarded.

    >>> unguarded("'=1+1"), unguarded("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and _is_risky(text.lstrip("'")) else text


def _is_risky(text: str) -> bool:
    return text.startswith(_RISKY_STARTS) and not _PLAIN_NUMBER.fullmatch(text)
