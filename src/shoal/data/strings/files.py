"""Open whatever a path holds as strings, and write strings into a file like the one they came from."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from shoal.data.sniff import look
from shoal.data.strings.alphabets import LEARNED, WHITE, Alphabet
from shoal.data.strings.column import column_table, read_column, split_cell
from shoal.data.strings.fasta import fasta_pieces, label_pattern, read_fasta
from shoal.data.strings.spmf import ITEM, looks_like_spmf, read_spmf, spmf_pieces
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.strings.token_lines import check_delimiter, line_pieces, read_lines, read_tokens
from shoal.data.tables.files import read_table, stem_of
from shoal.data.tables.formats.text import guarded, unguarded
from shoal.data.tables.table import Table
from shoal.data.tables.write import file_name as table_file_name
from shoal.data.tables.write import write_table
from shoal.data.whole_text import load_text
from shoal.errors import DataError, PolicyError, did_you_mean

Format = Literal["fasta", "lines", "tokens", "spmf", "column"]

_FORMATS: tuple[str, ...] = get_args(Format)
_TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq")
_SEQUENCE_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*-. \t0123456789")
_ENDS = {"fasta": "fasta", "lines": "txt", "tokens": "txt", "spmf": "spmf"}
_BLANKS = frozenset(map(chr, WHITE))


def read_strings(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    label: str | None = None,
    column: str | None = None,
    class_column: str | None = None,
    alphabet: str | Iterable[str] | None = None,
    delimiter: str | None = None,
    header: str | None = None,
) -> Strings:
    """Read strings from a file, plain or compressed with gzip.

    Parameters
    ----------
    format : {"fasta", "lines", "tokens", "spmf", "column"}, optional
        FASTA; one string of characters a line; one sequence of tokens a line; SPMF's sequences; a column of a table.
        Else told by the content: FASTA and SPMF for sure, tokens where lines hold blanks or a delimiter is given.
    label : str, optional
        For FASTA: a regular expression with one group that finds the class in a description.
    column, class_column : str, optional
        For a table: which column holds the strings, and which one their classes.
    alphabet : {"protein", "dna", "rna", "learned"} or iterable of str, optional
        The symbols that may occur. Known ones fold lower case to upper case. Else guessed for FASTA and learned for the
        others; ``"learned"`` takes what occurs, as it is spelled.
    delimiter : str, optional
        One character between tokens; else blanks. In a table it makes the cells sequences of tokens.
    header : {"first", "none"}, optional
        Of a table: as in `shoal.data.tables.files.read_table`.

    Raises
    ------
    DataError
        If the file is not there, not readable or not what it should be; with the line if possible.
    PolicyError
        If the options do not go together.
    """
    where = Path(path)
    check_delimiter(delimiter)
    label_pattern(label)
    wanted = Alphabet.of(alphabet)
    chosen = format or _guess_format(where, column, delimiter)
    if chosen not in _FORMATS:
        raise PolicyError(f"there is no format {chosen!r} of strings; {did_you_mean(chosen, _FORMATS)}")
    if label is not None and chosen != "fasta":
        raise PolicyError("an expression for the class is for FASTA descriptions; name a class column of a table")
    if chosen != "column" and (column is not None or class_column is not None):
        raise PolicyError(f"a column is for tables, and the format is {chosen!r}; leave out one of the two")
    if chosen != "column" and header is not None:
        raise PolicyError(f"a header is for tables, and the format is {chosen!r}; leave it out")
    if wanted.name is not None and (chosen in ("tokens", "spmf") or (chosen == "column" and delimiter is not None)):
        raise PolicyError(f"the alphabet {wanted.name!r} is of characters, and the symbols are tokens; list the tokens")
    source = StringSource(stem_of(where), chosen, delimiter)
    if chosen == "column":
        if column is None:
            names = read_table(where, markers=(), header=header).names
            raise DataError(f"{where}: name the column that holds the strings; {did_you_mean('', names)}")
        source = replace(source, column=column, class_column=class_column)
        return read_column(where, source, wanted, header=header)
    text = load_text(where)
    source = replace(source, gzip=text.gzipped, notes=text.notes)
    if chosen == "fasta":
        return read_fasta(text, source, None if alphabet is None else wanted, label)
    if chosen == "spmf":
        return read_spmf(text, replace(source, delimiter=None), wanted)
    if chosen == "lines":
        return read_lines(text, replace(source, delimiter=None), wanted)
    return read_tokens(text, source, wanted)


def looks_like_strings(path: str | os.PathLike[str]) -> str | None:
    """Tell from its first lines whether a file holds strings for sure: ``"fasta"``, ``"spmf"`` or None.

    A file that cannot be read is None too; who reads it will say what is wrong with it.
    """
    try:
        return _told_by(look(path).lines)
    except DataError:
        return None


def write_strings(strings: Strings, path: str | os.PathLike[str]) -> None:
    """Write strings in the format, with the delimiter and the compression of their source.

    FASTA gets neutral names; a table holds the column of the strings, and that of the classes, alone. Strings that came
    from no file are written as lines, or as tokens between blanks.

    Raises
    ------
    OSError
        If the file cannot be written. What was written stays there.
    DataError
        If the format cannot hold the strings.
    """
    kind = _written_format(strings)
    _refuse_unwritable(strings, kind)
    if kind == "column":
        write_table(column_table(strings), path)
        return
    make = {"fasta": fasta_pieces, "spmf": spmf_pieces}.get(kind, line_pieces)
    _write(make(strings), path, strings.source.gzip)


def read_strings_back(path: str | os.PathLike[str], source: StringSource, *, is_tokens: bool = False) -> Strings:
    """Read a file that `write_strings` wrote from strings of that source.

    Unlike `read_strings` it guesses nothing, and it removes the quotes that keep a spreadsheet from running a cell.

    Parameters
    ----------
    is_tokens : bool
        Whether they are tokens; told by the source unless they came from no file.
    """
    alphabet = source.alphabet or LEARNED
    if source.format != "column":
        kind = ("tokens" if is_tokens else "lines") if source.format == "list" else source.format
        return read_strings(path, format=kind, alphabet=alphabet, delimiter=source.delimiter)
    is_text = source.table is None or source.table.format != "parquet"
    spell = guarded if is_text else str
    spelled = replace(
        source,
        column=spell(source.column or "string"),
        class_column=None if source.class_column is None else spell(source.class_column),
        notes=(),
    )
    delimiter = source.table.delimiter if source.table is not None and is_text else None
    made = read_column(
        Path(path),
        spelled,
        Alphabet.of(alphabet),
        table_delimiter=delimiter,
        respell=unguarded if is_text else str,
        header="first",
    )
    return replace(
        made,
        source=replace(made.source, column=source.column, class_column=source.class_column, header=source.header),
    )


def string_file_name(strings: Strings) -> str:
    """What a file of these strings is called: data.fasta, data.txt, data.spmf, data.csv, ..., with .gz behind."""
    kind = _written_format(strings)
    if kind == "column":
        return table_file_name(Table.of([], strings.source.table))
    return f"data.{_ENDS[kind]}{'.gz' if strings.source.gzip else ''}"


def _guess_format(path: Path, column: str | None, delimiter: str | None) -> str:
    if column is not None:
        return "column"
    seen = look(path)
    suffixes = [suffix.casefold() for suffix in path.suffixes]
    if seen.is_parquet or (delimiter is None and any(suffix in _TABLES for suffix in suffixes)):
        return "column"
    told = _told_by(seen.lines)
    if told is not None:
        return told
    lines = [line for line in seen.sample.splitlines() if line.strip()]
    if next((line for line in lines if not line.startswith(b";")), b"").startswith(b">"):
        return "fasta"  # of letters that are not sure to be FASTA; but strings it is
    n_cut = sum(len(line.split()) > 1 for line in lines)
    return "tokens" if delimiter is not None or 2 * n_cut > len(lines) else "lines"


def _told_by(first: list[bytes]) -> str | None:
    lines = [line for line in first if line.strip()]
    told = [line for line in lines if not line.startswith(b";")]
    if told and told[0].startswith(b">"):
        bodies = (line for line in told if not line.startswith(b">"))
        return "fasta" if all(_SEQUENCE_BYTES.issuperset(line) for line in bodies) else None
    return "spmf" if looks_like_spmf(lines) else None


def _written_format(strings: Strings) -> str:
    if strings.source.format != "list":
        return strings.source.format
    return "tokens" if strings.is_tokens else "lines"


def _refuse_unwritable(strings: Strings, kind: str) -> None:
    """Whatever would not be read back as it is."""
    if len(strings) == 0:
        raise DataError("there are no strings to write")
    delimiter = strings.source.delimiter
    if strings.is_tokens is not (kind in ("tokens", "spmf") or (kind == "column" and delimiter is not None)):
        raise DataError(
            f"strings of {'tokens' if strings.is_tokens else 'characters'} cannot be written in the format {kind!r}"
            f"{'' if kind != 'column' else ' without a delimiter' if strings.is_tokens else ' with a delimiter'}; "
            "write them as 'tokens' or 'lines'"
        )
    if strings.labels is not None and kind not in ("fasta", "column"):
        raise DataError(f"a file of {kind} has no place for classes; write the strings as FASTA or as a table's column")
    if strings.labels is not None and kind == "column" and strings.source.class_column == strings.source.column:
        raise DataError("the strings and the classes have the same column name; give the classes another one")
    used = strings.compact()
    if any(not _holds(kind, symbol, delimiter) for symbol in used.alphabet):
        raise DataError(
            f"a symbol cannot be written in the format {kind!r}, where it would be read as something else; "
            "rename it, or choose another format"
        )
    if kind in ("lines", "tokens") and _BLANKS.issuperset(used.alphabet):
        raise DataError("there is nothing but blanks in all of the strings; such a file would be refused")
    refused = "\0" if kind == "column" else "\0\n\r"
    if any(not name.strip() or not _is_text(name, refused) for name in used.classes):
        raise DataError("a class has an empty name, or one that the format cannot hold; rename it")


def _holds(kind: str, symbol: str, delimiter: str | None) -> bool:
    """Whether a symbol comes back when it is read."""
    if not _is_text(symbol, "\0"):
        return False
    if kind == "spmf":
        return ITEM.fullmatch(symbol) is not None
    if kind == "fasta":
        return symbol not in _BLANKS and symbol not in (">", ";")
    if kind == "lines":
        return symbol not in ("\n", "\r")
    if kind == "column":
        return delimiter is None or split_cell(symbol, delimiter) == [symbol]
    if delimiter is None:
        return bool(symbol) and _BLANKS.isdisjoint(symbol)
    return _is_text(symbol, "\n\r") and split_cell(symbol, delimiter) == [symbol]


def _is_text(text: str, refused: str) -> bool:
    """Whether it holds none of some characters and no half of one."""
    return not any(c in refused or "\ud800" <= c <= "\udfff" for c in text)


def _write(pieces: Iterator[bytes], path: str | os.PathLike[str], is_gzip: bool) -> None:
    with open(path, "wb") as file:
        if not is_gzip:
            file.writelines(pieces)
            return
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            for piece in pieces:
                packed.write(piece)
