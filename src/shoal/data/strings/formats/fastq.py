"""FASTQ: a name after ``@``, the sequence, a line with ``+``, and a line of qualities.

Qualities are a record's own, so they are not read; pseudo-strings have none and are written as FASTA.
"""

from __future__ import annotations

from dataclasses import replace

from shoal.data.strings.format import FORMATS, HowToReadStrings
from shoal.data.strings.formats.fasta import Fasta
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.whole_text import WholeText
from shoal.errors import DataError

_NOTE = "the qualities of the FASTQ file were not read; what is published is FASTA"


class Fastq(Fasta):
    """Reads with qualities come in, FASTA goes out."""

    name = "fastq"
    place = 1
    help = "FASTA, from FASTQ; names are numbers and mean nothing"

    def is_told(self, lines: list[bytes]) -> bool:
        """Four lines, the first with ``@``, the third with ``+``, the others of one length."""
        if len(lines) < 4 or not lines[0].startswith(b"@") or not lines[2].startswith(b"+"):
            return False
        return len(lines[1].strip()) == len(lines[3].strip())

    def parse(self, text: WholeText, source: StringSource, reading: HowToReadStrings) -> Strings:
        """Read sequences; what was published is FASTA already."""
        if text.data.startswith(b">"):
            return super().parse(text, source, reading)
        bare = replace(text, data=_without_qualities(text))
        return super().parse(bare, replace(source, notes=(*source.notes, _NOTE)), reading)


def _without_qualities(text: WholeText) -> bytes:
    """The same lines as FASTA, with blank ones in place of the qualities, so that lines keep their numbers."""
    lines = text.data.rstrip(b"\n").split(b"\n")
    for i in range(0, len(lines), 4):
        record = [line.strip() for line in lines[i : i + 4]]
        if len(record) < 4:
            raise DataError(f"{text.path}, line {i + 1}: the last record is cut short; each has four lines")
        if not record[0].startswith(b"@") or not record[2].startswith(b"+"):
            raise DataError(
                f"{text.path}, line {i + 1}: no FASTQ record; each has four lines, a name after '@', the sequence, "
                "'+', and the qualities"
            )
        if len(record[1]) != len(record[3]):
            raise DataError(f"{text.path}, line {i + 4}: there are not as many qualities as letters; mend the record")
        lines[i : i + 4] = [b">" + record[0][1:], record[1], b"", b""]
    return b"\n".join(lines) + b"\n"


FORMATS.register(Fastq())
