"""Open whatever a path holds as strings, and write strings into a file like the one they came from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.data.sniff import look
from shoal.data.strings.alphabets import LEARNED, Alphabet
from shoal.data.strings.blocks import IN_BLOCKS, StringBlocks
from shoal.data.strings.format import FORMATS, HowToReadStrings, StringFormat, TextFormat, is_text
from shoal.data.strings.formats.fasta import label_pattern
from shoal.data.strings.formats.lines import check_delimiter
from shoal.data.strings.on_disk import SomeStrings, StringsOnDisk
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.tables.files import stem_of
from shoal.data.tables.unchanged import unchanged
from shoal.errors import DataError, PolicyError, did_you_mean

_JSON_LINES = (".jsonl", ".ndjson")
_TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq")


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
    person: Sequence[str] = (),
    time: str | None = None,
    columns: Sequence[str] = (),
    rare: int = 0,
    sites: Sequence[str] = (),
) -> Strings:
    """Read strings from a file, plain or compressed with gzip.

    Parameters
    ----------
    format : str, optional
        The name of a file in `shoal.data.strings.formats`: FASTA, FASTQ, PHYLIP, VCF, SPMF, JSON lines, a column or the
        rows of a table, one string of characters a line (``"lines"``), or one sequence of tokens a line
        (``"tokens"``). Else told by the content, tokens where lines hold blanks or a delimiter is given.
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
    person : sequence of str
        For a table of events: the columns that tell who. Then a string is the events of a person.
    time : str, optional
        For a table of events: the column that tells when; else they are in the order of the file.
    columns : sequence of str
        For a table of which each row is a string: the columns that are its places, by name or by pattern (``rs*``).
    rare : int
        Of variants, and of such columns: leave out those of which fewer persons carry an allele, or a second value.
    sites : sequence of str
        Of variants, and of such columns: read these alone, however many persons carry them.

    Raises
    ------
    DataError
        If the file is not there, not readable or not what it should be; with the line if possible.
    PolicyError
        If the options do not go together.
    """
    known, where, source, how = _chosen(
        path,
        format=format,
        label=label,
        column=column,
        class_column=class_column,
        alphabet=alphabet,
        delimiter=delimiter,
        header=header,
        person=person,
        time=time,
        columns=columns,
        rare=rare,
        sites=sites,
    )
    with unchanged(where):
        return known.read(where, source, how)


def string_blocks(path: str | os.PathLike[str], **options: Any) -> StringBlocks:
    """A file of strings that is read in blocks, as often as it takes; the options are those of `read_strings`.

    Raises
    ------
    DataError, PolicyError
        As `read_strings` does; also if its format is not one of those that are read in blocks.
    """
    known, where, source, how = _chosen(path, **options)
    if not isinstance(known, TextFormat) or known.name not in IN_BLOCKS:
        raise PolicyError(
            f"with a bound on memory only FASTA, one string a line and one sequence of tokens a line are read, and "
            f"{where} is {known.name!r}: leave memory out, or write its strings in such lines"
        )
    return StringBlocks(where, source, how, known)


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
    known = _written_format(strings.source, strings.is_tokens)
    _refuse_unwritable(strings, known)
    known.write(strings, path)


def write_strings_on_disk(strings: StringsOnDisk, path: str | os.PathLike[str]) -> None:
    """The same of strings in a file, in a format that is read in blocks; see `string_blocks`."""
    known = FORMATS[strings.source.format]
    assert isinstance(known, TextFormat)
    _refuse_unwritable(strings, known)
    known.write_pieces(known.pieces(strings), strings.source, path)


def blocks_back(path: str | os.PathLike[str], source: StringSource) -> StringBlocks:
    """The strings of a file that `write_strings_on_disk` wrote, read in blocks; nothing is guessed."""
    known = FORMATS[source.format]
    assert isinstance(known, TextFormat)
    how = HowToReadStrings(Alphabet.of(source.alphabet or LEARNED))
    return StringBlocks(Path(path), replace(source, notes=()), how, known)


def read_strings_back(path: str | os.PathLike[str], source: StringSource, *, is_tokens: bool = False) -> Strings:
    """Read a file that `write_strings` wrote from strings of that source.

    Unlike `read_strings` it guesses nothing, and it removes the quotes that keep a spreadsheet from running a cell.

    Parameters
    ----------
    is_tokens : bool
        Whether they are tokens; told by the source unless they came from no file.
    """
    return _written_format(source, is_tokens).read_back(path, source, Alphabet.of(source.alphabet or LEARNED))


def string_file_name(strings: Strings) -> str:
    """What a file of these strings is called: data.fasta, data.txt, data.spmf, data.csv, ..., with .gz behind."""
    return _written_format(strings.source, strings.is_tokens).file_name(strings.source)


FOREIGN = {
    b"CLUSTAL": "a Clustal alignment",
    b"#NEXUS": "a NEXUS file",
    b"# STOCKHOLM": "a Stockholm alignment",
    b"LOCUS ": "a GenBank file",
    b"ID   ": "an EMBL or UniProt entry",
    b"@HD\t": "a SAM file of reads",
    b"@SQ\t": "a SAM file of reads",
    b"##gff-version": "a GFF file of features",
    b"##maf": "a MAF alignment",
}
PACKED = {b"BAM\1": "a BAM file of reads", b"BCF": "a BCF file", b"CRAM": "a CRAM file of reads"}


def refuse_foreign(path: Path, raw: bytes, lines: list[bytes]) -> None:
    """Refuse, by its name, a file of sequences in a format that is not read here."""
    first = next((line for line in lines if line.strip()), b"")
    known = [name for start, name in FOREIGN.items() if first.startswith(start)]
    known += [name for start, name in PACKED.items() if raw.startswith(start) or first.startswith(start)]
    if known:
        raise DataError(f"{path}: is {known[0]}, which is not read here; convert it to FASTA, PHYLIP or VCF")


def _chosen(
    path: str | os.PathLike[str],
    *,
    format: str | None,
    label: str | None,
    column: str | None,
    class_column: str | None,
    alphabet: str | Iterable[str] | None,
    delimiter: str | None,
    header: str | None,
    person: Sequence[str],
    time: str | None,
    columns: Sequence[str],
    rare: int = 0,
    sites: Sequence[str] = (),
) -> tuple[StringFormat, Path, StringSource, HowToReadStrings]:
    """The format of a file, and how it is read; what does not go together is refused."""
    where = Path(path)
    check_delimiter(delimiter)
    label_pattern(label)
    chosen = format or ("events" if person else "matrix" if columns else _guess_format(where, column, delimiter))
    if chosen not in FORMATS:
        raise PolicyError(f"there is no format {chosen!r} of strings; {did_you_mean(chosen, list(FORMATS))}")
    known = FORMATS[chosen]
    if label is not None and not known.takes_label:
        raise PolicyError("an expression for the class is for FASTA descriptions; name a class column of a table")
    if not known.is_table and (column is not None or class_column is not None):
        raise PolicyError(f"a column is for tables, and the format is {chosen!r}; leave out one of the two")
    if not known.is_table and header is not None:
        raise PolicyError(f"a header is for tables, and the format is {chosen!r}; leave it out")
    if chosen != "events" and (person or time is not None):
        raise PolicyError(f"who and when are for a table of events, and the format is {chosen!r}; leave them out")
    if chosen != "matrix" and columns:
        raise PolicyError(f"columns are the places of a table's rows, and the format is {chosen!r}; leave them out")
    source = StringSource(
        stem_of(where),
        chosen,
        delimiter,
        column=column,
        class_column=class_column,
        person=tuple(person),
        time=time,
        columns=tuple(columns),
    )
    how = HowToReadStrings(Alphabet.of(alphabet), alphabet is not None, label, header, rare, tuple(sites))
    return known, where, source, how


def _guess_format(path: Path, column: str | None, delimiter: str | None) -> str:
    suffixes = [suffix.casefold() for suffix in path.suffixes]
    if any(suffix in _JSON_LINES for suffix in suffixes):
        return "jsonl"
    if column is not None:
        return "column"
    seen = look(path)
    refuse_foreign(path, seen.raw, seen.lines)
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
    return next((known.name for known in FORMATS.values() if known.is_told(lines)), None)


def _written_format(source: StringSource, is_tokens: bool) -> StringFormat:
    if source.format != "list":
        return FORMATS[source.format]
    return FORMATS["tokens" if is_tokens else "lines"]


def _refuse_unwritable(strings: SomeStrings, known: StringFormat) -> None:
    """Whatever would not be read back as it is."""
    if len(strings) == 0:
        raise DataError("there are no strings to write")
    if strings.is_tokens is not known.holds_tokens(strings.source):
        between = " without a delimiter" if strings.is_tokens else " with a delimiter"
        raise DataError(
            f"strings of {'tokens' if strings.is_tokens else 'characters'} cannot be written in the format "
            f"{known.name!r}{between if known.is_table else ''}; write them as 'tokens' or 'lines'"
        )
    known.refuse_unwritable(strings)
    used = strings.compact().alphabet
    if any(not is_text(symbol, "\0") or not known.holds(symbol, strings.source) for symbol in used):
        raise DataError(
            f"a symbol cannot be written in the format {known.name!r}, where it would be read as something else; "
            "rename it, or choose another format"
        )
