"""Which SQL types a column may have, and what their cells become before they are fetched."""

from __future__ import annotations

from shoal.errors import DataError

INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"})
FLOATS = frozenset({"FLOAT", "DOUBLE", "DECIMAL"})
ZONED = "TIMESTAMP WITH TIME ZONE"
LOCAL_TIMES = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
TIMES = LOCAL_TIMES | {ZONED}
TEXTS = frozenset({"VARCHAR", "ENUM", "UUID"})


def refuse_type(where: str, name: str, kind: str) -> None:
    """Refuse a column without a name, or with an SQL type that is not a single value."""
    if not name.strip():
        raise DataError(f"{where}: a column has no name; give it one")
    if family(kind) not in INTEGERS | FLOATS | TIMES | TEXTS | {"BOOLEAN"}:
        raise DataError(
            f"{where}: the column {name!r} has the type {family(kind)}, which is not a single value; "
            "leave it out or turn it into text or numbers"
        )


def family(kind: str) -> str:
    """The name of an SQL type without its parameters."""
    return "LIST" if kind.endswith("]") else kind.split("(")[0].strip()


def plain(cell: str, kind: str) -> str:
    """The SQL that turns a cell into what `shoal.data.tables.parquet.to_column` takes."""
    found = family(kind)
    if found in TEXTS:
        return f"CAST({cell} AS VARCHAR)"
    if found in TIMES:
        return f"epoch_us({cell})"
    if found in FLOATS:
        return f"CAST({cell} AS DOUBLE)"
    return cell if found == "BOOLEAN" else f"CAST({cell} AS BIGINT)"


def portable(cell: str, kind: str) -> str:
    """The SQL of a cell in one of the few types that every Parquet file holds as they are."""
    found = plain(cell, kind)
    return f"make_timestamp({found})" if family(kind) in TIMES else found


def portable_type(kind: str) -> str:
    """The type of such a cell."""
    families = ((TEXTS, "VARCHAR"), (TIMES, "TIMESTAMP"), (FLOATS, "DOUBLE"), (INTEGERS, "BIGINT"))
    return next((found for some, found in families if family(kind) in some), "BOOLEAN")
