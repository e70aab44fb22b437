"""Whether every record of a file is another person's, found in SQL without holding a key.

Two keys are one person's if they say the same (`shoal.data.tables.sense`). So every key is brought into a form that is
the same for all spellings of one thing, and maybe for some things that differ: where as many forms are found as
records, there are as many persons. Where keys are spelled in a way that this form does not cover, it is not known.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import duckdb

from shoal.data.database import literal

_EASY = "[0-9A-Za-z_.:/+#@-]+"
"""Texts whose sense is that of their letters and digits: the case does not matter, nor how many dashes stand in a row.
Blanks, quotes, accents and whatever else has several spellings are not among them."""
_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf(inity)?"  # in lower case


def is_one_each(
    database: duckdb.DuckDBPyConnection, scan: str, cells: Sequence[tuple[str, bool]], markers: Collection[str]
) -> bool:
    """Whether no two records of a scan have the same key, and none lacks it; False also where that is not known.

    Parameters
    ----------
    cells : sequence of (str, bool)
        The SQL of each column of the key, and whether it is of texts.
    markers : collection of str
        Texts that mean that the key is missing.

    Examples
    --------
    >>> database = duckdb.connect(":memory:")
    >>> told = [database.execute(f"CREATE OR REPLACE TABLE t AS SELECT unnest({keys}) AS c") and
    ...         is_one_each(database, "t", [("c", True)], ["?"])
    ...         for keys in (["7", "8"], ["7", "007"], ["a1", "A1"], ["7", "?"], ["x y", "z"])]
    >>> told
    [True, False, False, False, False]
    """
    missing, forms = [], []
    for cell, is_text in cells:
        missing.append(f"{cell} IS NULL")
        if not is_text:
            forms.append(cell)
            continue
        missing.append(f"{cell} IN ({', '.join(map(literal, markers)) or 'NULL'})")
        missing.append(f"NOT regexp_full_match({cell}, {literal(_EASY)})")
        shown = f"regexp_replace(lower({cell}), '-+', '-', 'g')"  # first: two dashes may stand before a number
        is_number = f"regexp_full_match({shown}, {literal(_NUMBER)})"
        number = f"TRY_CAST({shown} AS DOUBLE)"
        missing.append(f"{is_number} AND ({number} IS NULL OR NOT isfinite({number}))")
        forms += [f"CASE WHEN {is_number} THEN {number} + 0.0 END", f"CASE WHEN NOT {is_number} THEN {shown} END"]
    named = ", ".join(f"{form} AS f{i}" for i, form in enumerate(forms))
    told = ", ".join(f"f{i}" for i in range(len(forms)))
    unknown = " OR ".join(f"coalesce({test}, false)" for test in missing)
    found = database.execute(f"SELECT count(*), count(*) FILTER ({unknown}) FROM {scan}").fetchone()
    if found is None or found[1]:
        return False
    counted = database.execute(
        f"SELECT count(*) FROM (SELECT {told} FROM (SELECT {named} FROM {scan}) GROUP BY {told})"
    )
    return counted.fetchone() == (found[0],)
