"""What a manifest says, in the terms that catalogues ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.manifest import Manifest

MEDIA_TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".gz": "application/gzip",
    ".fasta": "text/x-fasta",
    ".vcf": "text/x-vcf",
    ".geojson": "application/geo+json",
}
UNTITLED = "Data published by Shoal"


@dataclass(frozen=True)
class Description:
    """A release in the terms that catalogues ask for.

    Attributes
    ----------
    title, text : str
        What it is called, and what it is.
    method : str
        How it was protected, in a sentence.
    files : mapping of name to SHA-256
        The data.
    columns : mapping of file to mapping of column to type
        "number" or "text"; of data without columns none.
    context : mapping
        What the publisher says of it.
    version : str
        Of the program.
    """

    title: str
    text: str
    method: str
    files: Mapping[str, str]
    columns: Mapping[str, Mapping[str, str]]
    context: Mapping[str, str]
    version: str

    @classmethod
    def of(cls, manifest: Manifest) -> Description:
        """Of a manifest; its checksums of files that are no data are not used."""
        context = manifest.context or {}
        promised = " ".join(str(claim["sentence"]) for claim in manifest.guarantees)
        purpose = f" Purpose: {context['purpose']}." if "purpose" in context else ""
        return cls(
            context.get("title", UNTITLED),
            f"{manifest.n_published:,} records. {promised}{purpose}",
            promised,
            {name: manifest.checksums[name] for name in manifest.files},
            manifest.published_columns,
            context,
            manifest.shoal,
        )

    def media_type(self, name: str) -> str:
        """What kind of file it is."""
        return next((kind for end, kind in MEDIA_TYPES.items() if name.endswith(end)), "text/plain")
