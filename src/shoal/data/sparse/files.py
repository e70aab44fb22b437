"""Open whatever a path holds as sparse records, at once or in blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from shoal.data.line_blocks import line_blocks, text_blocks
from shoal.data.sniff import look
from shoal.data.sparse.baskets import read_baskets
from shoal.data.sparse.item_lists import ItemCells, read_cells, read_item_lists
from shoal.data.sparse.raw_text import folder_texts, read_texts
from shoal.data.sparse.records import Sparse, SparseSource
from shoal.data.sparse.svmlight import looks_like_svmlight, read_svmlight
from shoal.data.strings.formats.lines import check_delimiter
from shoal.data.tables.files import stem_of
from shoal.data.whole_text import WholeText, load_text
from shoal.errors import DataError, PolicyError, did_you_mean

Format = Literal["baskets", "svmlight", "column", "text", "folder"]
Weighting = Literal["binary", "counts", "tfidf"]

_FORMATS: tuple[str, ...] = get_args(Format)
_WEIGHTINGS: tuple[str, ...] = get_args(Weighting)
_STOP_WORDS = ("english", "none")
_MOST_NGRAMS = 5
_FEWEST_LINES = 4
_TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq")


def read_sparse(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    column: str | None = None,
    class_column: str | None = None,
    delimiter: str | None = None,
    weights: str = "binary",
    stop_words: str = "english",
    ngrams: int = 1,
    header: str | None = None,
    person: Sequence[str] = (),
) -> Sparse:
    """Read sparse records from a file, plain or compressed with gzip, or from a folder of texts.

    Parameters
    ----------
    format : {"baskets", "svmlight", "column", "text", "folder"}, optional
        One basket a line; SVMlight; a column of item lists of a table; a column of raw text; a folder with a text a
        file, whose subfolders are classes. Else told by the content: SVMlight for sure; a column is raw text unless a
        delimiter is given, or its cells are lists or whole numbers between blanks; baskets otherwise.
    column, class_column : str, optional
        For a table: which column holds the items or the text, and which one the classes.
    delimiter : str, optional
        One character between the items of a basket or a cell; else blanks, or brackets and commas.
    weights : {"binary", "counts", "tfidf"}
        Whether an item or a word that is repeated counts once or as often as it occurs; for text also times its inverse
        document frequency (see `shoal.data.sparse.raw_text`). An SVMlight file has weights of its own, which stay.
    stop_words : {"english", "none"}
        Which words of text are left out.
    ngrams : int
        The longest run of words of text that is an attribute of its own, 1 to 5.
    header : {"first", "none"}, optional
        Of a table: as in `shoal.data.tables.files.read_table`.
    person : sequence of str
        Of a table: the columns that say whose a record is, where a person may have several.

    Returns
    -------
    Sparse
        Weights that are all whole numbers are integers. What was chosen is in its source.

    Raises
    ------
    DataError
        If the file is not there, not readable or not what it should be; with the line or row if possible.
    PolicyError
        If the options do not go together.
    MissingExtra
        If raw text is to be read without scikit-learn.
    """
    where = Path(path)
    check_delimiter(delimiter)
    _refuse_choices(weights, stop_words, ngrams)
    chosen, cells = format, None
    if chosen is None:
        chosen, cells = _guess_format(where, column, class_column, delimiter, header, person)
    _refuse_options(chosen, column, class_column, delimiter, weights)
    if chosen not in ("column", "text") and header is not None:
        raise PolicyError(f"a header is for tables, and the format is {chosen!r}; leave it out")
    if chosen not in ("column", "text") and person:
        raise PolicyError(
            f"person names a column of a table, and the format is {chosen!r}; leave it out, or give a table with a row "
            "for each record"
        )
    source = SparseSource(stem_of(where), chosen, delimiter)
    if chosen in ("column", "text"):
        cells = cells or read_cells(where, column, class_column, header, person)
        made_as: Literal["csv", "parquet"] = "parquet" if look(where).is_parquet else "csv"
        source = replace(source, column=column, class_column=class_column, table=made_as)
        if chosen == "column":
            return read_item_lists(where, cells, source, _repeats(weights))
        source = replace(source, notes=cells.notes, gzip=cells.gzip)
        made = _vectorised(where, cells.all_texts(), cells.classes, source, weights, stop_words, ngrams)
        return replace(made, persons=cells.persons)
    if chosen == "folder":
        if not where.is_dir():
            look(where)
            raise DataError(f"{where}: is a file; give the folder, or the format of the file")
        texts, classes, notes = folder_texts(where)
        source = replace(source, name=where.resolve().name or "folder", notes=notes)
        return _vectorised(where, texts, classes, source, weights, stop_words, ngrams)
    text = load_text(where)
    source = replace(source, gzip=text.gzipped, notes=text.notes)
    if chosen == "baskets":
        return read_baskets(text, source, _repeats(weights))
    made = read_svmlight(text, source)
    if not len(made):
        raise DataError(f"{where}: holds nothing but comments; there is nothing to read")
    return made


def read_blocks(
    path: str | os.PathLike[str],
    *,
    format: str,
    delimiter: str | None = None,
    weights: str = "binary",
    records: int = 100_000,
    n_bytes: int | None = None,
    most: int | None = None,
) -> Iterator[Sparse]:
    """Read baskets or an SVMlight file in blocks of records, in order, with no more than a block in memory.

    Every block has names and classes of its own: an item is known by its name, not by its number. The weights of a
    block are integers if they are whole numbers in it and in all blocks before. The options are those of `read_sparse`,
    but a file that is neither UTF-8 nor UTF-16 with a mark is refused.

    Parameters
    ----------
    records : int
        The most records of a block.
    n_bytes, most : int, optional
        Instead, about how many bytes of text a block has; and how many it may have where a record is longer.

    Raises
    ------
    DataError, PolicyError
        As `read_sparse` does; of the data when the block is reached.
    """
    check_delimiter(delimiter)
    _refuse_choices(weights, "none", 1)
    _refuse_options(format, None, None, delimiter, weights)
    if format not in ("baskets", "svmlight"):
        raise PolicyError(f"the format {format!r} is not read in blocks; the choices are 'baskets' and 'svmlight'")
    if records < 1:
        raise PolicyError(f"blocks of {records} records cannot be; give 1 or more")
    where = Path(path)
    texts = line_blocks(where, records)
    if n_bytes is not None:
        texts = ((text, text.first_line) for text in text_blocks(where, n_bytes, most=most))
    return _blocks(where, texts, format, delimiter, weights)


def format_of(path: str | os.PathLike[str], delimiter: str | None = None) -> str:
    """The format that a file is taken for where none is stated; of a table "column", whatever its columns hold."""
    where = Path(path)
    if where.is_dir():
        return "folder"
    suffixes = [suffix.casefold() for suffix in where.suffixes]
    if look(where).is_parquet or (delimiter is None and any(suffix in _TABLES for suffix in suffixes)):
        return "column"
    return "svmlight" if delimiter is None and looks_like_svmlight(look(where).lines) else "baskets"


def looks_like_sparse(path: str | os.PathLike[str]) -> str | None:
    """Tell from its first lines whether a file holds sparse records for sure: ``"svmlight"`` or None.

    A file that cannot be read is None too; who reads it will say what is wrong with it.
    """
    try:
        return "svmlight" if looks_like_svmlight(look(path).lines) else None
    except DataError:
        return None


def looks_like_item_lists(path: str | os.PathLike[str]) -> bool:
    """Whether the first lines of a file are lists of items with blanks between, more of them on some than on others.

    The items are whole numbers; or words of a file that is not named as a table, with no word twice on a line and all
    words of the first line, which would be the header, on other lines too. Such a file is no table: it would have a
    record for its header. A file that cannot be read is not such a one.
    """
    try:
        lines = [line.split() for line in look(path).lines if line.strip()]
    except DataError:
        return False
    if len({len(line) for line in lines}) < 2:
        return False
    if all(token.isdigit() for line in lines for token in line):
        return True
    if any(suffix.casefold() in _TABLES for suffix in Path(path).suffixes) or len(lines) < _FEWEST_LINES:
        return False
    words = {word for line in lines[1:] for word in line}
    is_plain = not any(mark in token for line in lines for token in line for mark in (b",", b";", b"|", b'"', b">"))
    return is_plain and all(len(set(line)) == len(line) for line in lines) and set(lines[0]) <= words


def _blocks(
    path: Path, texts: Iterator[tuple[WholeText, int]], format: str, delimiter: str | None, weights: str
) -> Iterator[Sparse]:
    is_real = is_found = False
    for text, first_line in texts:
        source = SparseSource(stem_of(path), format, delimiter, text.gzipped)
        if format == "baskets":
            yield read_baskets(text, source, _repeats(weights))
            continue
        made = read_svmlight(text, source, first_line)
        is_real = is_real or not made.is_integral
        is_found = is_found or len(made) > 0
        if len(made):
            yield replace(made, weights=made.weights.astype(np.float64)) if is_real else made
    if format == "svmlight" and not is_found:
        raise DataError(f"{path}: holds nothing but comments; there is nothing to read")


def _vectorised(
    path: Path,
    texts: list[str],
    classes: list[str] | None,
    source: SparseSource,
    weights: str,
    stop_words: str,
    ngrams: int,
) -> Sparse:
    try:
        made = read_texts(texts, source, weights=weights, stop_words=stop_words, ngrams=ngrams)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    return made if classes is None else made.with_labels(classes)


def _repeats(weights: str) -> Literal["once", "sum"]:
    return "once" if weights == "binary" else "sum"


def _refuse_choices(weights: str, stop_words: str, ngrams: int) -> None:
    if weights not in _WEIGHTINGS:
        raise PolicyError(f"there are no weights {weights!r}; {did_you_mean(weights, _WEIGHTINGS)}")
    if stop_words not in _STOP_WORDS:
        raise PolicyError(f"there are no stop words {stop_words!r}; {did_you_mean(stop_words, _STOP_WORDS)}")
    if not 1 <= ngrams <= _MOST_NGRAMS:
        raise PolicyError(f"runs of {ngrams} words cannot be attributes; give ngrams from 1 to {_MOST_NGRAMS}")


def _refuse_options(
    format: str, column: str | None, class_column: str | None, delimiter: str | None, weights: str
) -> None:
    if format not in _FORMATS:
        raise PolicyError(f"there is no format {format!r} of sparse records; {did_you_mean(format, _FORMATS)}")
    if format not in ("column", "text") and (column is not None or class_column is not None):
        raise PolicyError(f"a column is for tables, and the format is {format!r}; leave out one of the two")
    if format not in ("baskets", "column") and delimiter is not None:
        raise PolicyError(f"a delimiter is for baskets and item lists, and the format is {format!r}; leave it out")
    if format not in ("text", "folder") and weights == "tfidf":
        raise PolicyError(f"the weights 'tfidf' are for text, and the format is {format!r}; choose 'counts'")


def _guess_format(
    path: Path,
    column: str | None,
    class_column: str | None,
    delimiter: str | None,
    header: str | None = None,
    person: Sequence[str] = (),
) -> tuple[str, ItemCells | None]:
    """The format, and the cells of a table where they had to be read to tell."""
    if path.is_dir():
        return "folder", None
    if column is not None and delimiter is not None:
        return "column", None
    found = format_of(path, delimiter)
    if column is not None or class_column is not None or found == "column":
        cells = read_cells(path, column, class_column, header, person)
        return "column" if cells.look_like_lists() or cells.look_like_numbers() else "text", cells
    return found, None
