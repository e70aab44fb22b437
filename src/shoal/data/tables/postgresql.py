"""A table of a PostgreSQL server, read through duckdb's extension, which is never fetched from here.

The extension comes with ``pip install duckdb-extension-postgres-scanner`` in the version of duckdb, or once by
``INSTALL postgres`` of duckdb itself where there is a network. A password is taken from PGPASSWORD or ~/.pgpass alone:
an address is shown in messages, and kept beside the release.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

import duckdb

from shoal.data.database import connection, identifier, literal
from shoal.data.tables.files import one_of
from shoal.data.tables.format import HowToRead
from shoal.data.tables.frames import from_query
from shoal.data.tables.table import Source, Table
from shoal.errors import DataError, MissingExtra

_PACKAGE = "duckdb_extension_postgres_scanner"
_SOCKETS = Path("/var/run/postgresql")  # where most systems have them; the extension looks in /tmp
_OWN_SCHEMAS = ("pg_catalog", "information_schema")


def read_postgresql(address: str, reading: HowToRead) -> Table:
    """Read a table that an address names, ``postgresql://host/database?table=patients``.

    Raises
    ------
    MissingExtra
        If duckdb's extension is not installed.
    DataError
        If the address holds a password, the server does not answer, or it has no such table.
    """
    parts = urlsplit(_whole(address))
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    wanted = reading.table or query.pop("table", None)
    if parts.password is not None or "password" in query:
        raise DataError(
            "the address of the PostgreSQL server holds a password, which would be kept beside the release; leave it "
            "out, and put it into PGPASSWORD or ~/.pgpass"
        )
    if not parts.hostname and "host" not in query and "PGHOST" not in os.environ and _SOCKETS.is_dir():
        query["host"] = str(_SOCKETS)
    shown = _shown(parts)
    target = f"postgresql://{parts.netloc}{parts.path}{'?' if query else ''}{urlencode(query)}"
    with connection() as database:
        _load_extension(database)
        try:
            database.execute(f"ATTACH {literal(target)} AS held (TYPE postgres, READ_ONLY)")
            found = database.execute(
                "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'held' "
                "ORDER BY table_schema, table_name"
            ).fetchall()
        except duckdb.Error:  # whose text holds the address, and what the server says
            raise DataError(
                f"{shown}: the PostgreSQL server does not answer or lets nobody in; look at host, port, user and "
                "database, and put the password into PGPASSWORD or ~/.pgpass"
            ) from None
        tables = {t if s == "public" else f"{s}.{t}": (s, t) for s, t in found if s not in _OWN_SCHEMAS}
        name = one_of(Path(shown), "table", list(tables), wanted)
        try:
            table = from_query(database, f"SELECT * FROM held.{'.'.join(map(identifier, tables[name]))}", reading)
        except duckdb.Error:
            raise DataError(
                f"{shown}: the table {name!r} cannot be read; ask for the right to, or copy it to a file"
            ) from None
    return replace(table, source=Source(unquote(parts.path.strip("/")) or "data", "parquet", notes=table.source.notes))


def _whole(address: str) -> str:
    """An address with the slashes that a path loses; a single name without a user or port is a database of this host.

    >>> _whole("postgresql:/clinic?table=patients"), _whole("postgres:/ann@host/clinic")
    ('postgresql:///clinic?table=patients', 'postgresql://ann@host/clinic')
    """
    rest = re.sub(r"^postgres(?:ql)?:", "", address)
    if rest.startswith("//"):
        return f"postgresql:{rest}"
    where = rest.lstrip("/")
    is_local = not re.search("[@:/]", where.partition("?")[0])
    return f"postgresql://{'/' if is_local else ''}{where}"


def _shown(parts: SplitResult) -> str:
    """An address for messages: where, and nothing else."""
    return f"postgresql:{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _load_extension(database: duckdb.DuckDBPyConnection) -> None:
    spec = find_spec(_PACKAGE)
    packed = [
        where
        for folder in (spec.submodule_search_locations or () if spec else ())
        for where in Path(folder).glob(f"extensions/v{duckdb.__version__}/postgres_scanner.duckdb_extension")
    ]
    try:
        database.execute(f"LOAD {literal(str(packed[0]))}" if packed else "LOAD postgres_scanner")
    except duckdb.Error:
        version = duckdb.__version__
        raise MissingExtra(
            f"PostgreSQL needs duckdb's extension postgres_scanner for duckdb {version}, which is not installed: "
            f"pip install duckdb-extension-postgres-scanner=={version}, where there is one of that version; or, with a "
            "network, run INSTALL postgres in duckdb once; or copy the table to a file "
            "(psql -c '\\copy patients to patients.csv csv header')"
        ) from None
