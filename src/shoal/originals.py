"""Originals as the commands take them: a path or data in memory, of whatever kind, and without what was held out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from shoal.check.tables.folder import published_folder
from shoal.data.sparse.records import Sparse
from shoal.data.strings.strings import Strings
from shoal.data.tables.files import read_table
from shoal.data.tables.frames import from_frame
from shoal.data.tables.table import MARKERS, Table
from shoal.errors import PolicyError
from shoal.held_out import FILE_NAME as HELD_OUT_FILE
from shoal.held_out import held_out_rows, split_rows
from shoal.kinds.policies import KINDS, AnyPolicy
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.tables.manifest import read_content

Data = TypeVar("Data", Table, Strings, Sparse)


def load(source: Any, markers: tuple[str, ...] = MARKERS, header: str | None = None) -> Table:
    """Read a file, or take a frame."""
    if isinstance(source, str | Path):
        return read_table(source, markers=markers, header=header)
    return from_frame(source, markers=markers, header=header)


def load_strings(source: Any, policy: StringPolicy) -> Strings:
    """Read a file, or take strings, as the policy's input says."""
    if isinstance(source, str | Path):
        from shoal.data.strings.files import read_strings

        return read_strings(source, **policy.input.model_dump())
    if isinstance(source, Strings):
        return source
    if isinstance(source, dict) or not hasattr(source, "__iter__"):
        raise PolicyError(
            "the policy is for strings; give a path, a list of text, a list of lists of tokens, or Strings"
        )
    alphabet = policy.input.alphabet
    if isinstance(alphabet, str):
        from shoal.data.strings.alphabets import Alphabet

        return Strings.of(source, alphabet=Alphabet.of(alphabet).symbols)
    return Strings.of(source, alphabet=alphabet)


def load_sparse(source: Any, policy: SparsePolicy) -> Sparse:
    """Read a file or folder, or take sparse records, as the policy's input says."""
    if isinstance(source, str | Path):
        from shoal.data.sparse.files import read_sparse

        return read_sparse(source, **policy.input.model_dump())
    if isinstance(source, Sparse):
        return source
    if hasattr(source, "tocsr"):
        return Sparse.from_csr(source)
    if isinstance(source, list | tuple):
        return Sparse.of(source)
    raise PolicyError(
        "the policy is for sparse records; give a path, a list of lists of items, a sparse matrix of scipy, or Sparse"
    )


def split_original(path: str | Path, data: Data, private: str | Path | None) -> tuple[Data, Data | None]:
    """The records that a release was made from, and those that were held out of it."""
    content = read_content(published_folder(path))
    records = content.get("records") if isinstance(content, dict) else None
    if not isinstance(records, dict) or not records.get("held_out"):  # a number, or a range where it tells of few
        return data, None
    n_records = data.n_rows if isinstance(data, Table) else len(data)
    rows = held_out_rows(private, n_records)
    if rows is None:
        raise PolicyError(
            "records were held out of this release; give its private folder too (--private), which says "
            "which ones, so that they are left out of the comparison"
        )
    kept, held_out = split_rows(data, rows, n_records)
    return kept, held_out.records


def kept_secrets(private: str | Path | None, *names: str) -> Path | None:
    """The private folder, unless it was given for nothing but the records that were held out."""
    if private is None:
        return None
    folders = (Path(private), Path(private) / "private")
    is_kept = any((f / name).is_file() for f in folders for name in names)
    is_held_out = any((f / HELD_OUT_FILE).is_file() for f in folders)
    return None if is_held_out and not is_kept else Path(private)


def kind_of_release(path: str | Path, policy: AnyPolicy | None) -> str:
    """What kind of data a folder holds, which has to be what the policy is for."""
    content = read_content(published_folder(path))
    kind = content.get("kind") if isinstance(content, dict) else None
    kind = kind if isinstance(kind, str) and kind in KINDS else "table"
    if policy is not None and policy.kind != kind:
        words = {"table": "a table", "strings": "strings", "sparse": "sketches of sparse records"}
        raise PolicyError(
            f"the folder holds {words[kind]}, and the policy is for {words[policy.kind]}; give one for {words[kind]}"
        )
    return kind
