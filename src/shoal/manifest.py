"""The manifest of a release: what was published, how, and what it promises. It goes out with the data.

What every kind of data has stands here, and each kind adds its own entries, `TableManifest` and the like, in `kinds/`.
Nothing in it tells more about single originals than the data does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationError, field_validator

from shoal._version import __version__
from shoal.check.guarantee import Guarantee
from shoal.context import Context
from shoal.data.published_file import MOST_MANIFEST, read_json
from shoal.errors import DataError, ShoalError
from shoal.metadata.files import METADATA_FILES
from shoal.told_counts import Count, Span, n_published, read_count, write_count

FILE_NAME = "manifest.json"
DATASHEET = "datasheet.html"


def _count(told: Any) -> Count:
    return told if isinstance(told, Span) else read_count(told)


Told = Annotated[Any, BeforeValidator(_count), PlainSerializer(write_count)]
"""A number of records, or the range that it is told as."""


class Entries(BaseModel):
    """A part of a manifest: frozen; what it does not know is left to `shoal.check.claims.unread_entries`."""

    model_config = ConfigDict(frozen=True, extra="ignore", arbitrary_types_allowed=True)


class Manifest(Entries):
    """What `publish/manifest.json` says of data of any kind.

    Attributes
    ----------
    shoal : str
        The version that wrote it.
    kind : str
        What kind of data it is.
    data : str
        The name of the data file.
    records : mapping
        How many records came in, went out, were suppressed and, if any, held out; few are told as a range, see
        `shoal.told_counts`.
    require : tuple
        What the policy required.
    guarantees : tuple of mappings
        What was recomputed before the release.
    method : mapping
        How it was made.
    context : mapping, optional
        What the publisher says of the release besides, as far as it is public; see `shoal.context`.
    checksums : mapping
        SHA-256 of the other files, by name.
    """

    private: ClassVar[tuple[str, ...]] = ("worst",)
    """What of a guarantee is for the owner alone."""
    optional: ClassVar[tuple[str, ...]] = ("header",)
    """Entries that are left out where they are None."""

    shoal: str = __version__
    kind: str
    data: str
    records: dict[str, Told]
    require: tuple[Any, ...] = Field(min_length=1)
    guarantees: tuple[dict[str, Any], ...]
    method: dict[str, Any]
    header: Literal["first", "none"] | None = None
    context: dict[str, str] | None = None
    checksums: dict[str, str]

    @field_validator("records")
    @classmethod
    def _counted(cls, records: dict[str, Count]) -> dict[str, Count]:
        names = ("in", "out", "suppressed", "held_out", "counterfeits")
        if isinstance(records["out"], Span):  # what anybody can count
            raise ValueError("the number of published records is a range")
        n_false = records.get("counterfeits", 0)
        if isinstance(n_false, Span) or n_false > records["out"]:
            raise ValueError("the number of counterfeits is none")
        return {name: records[name] for name in names if name in records or name not in names[3:]}

    @field_validator("context")
    @classmethod
    def _public(cls, context: dict[str, str] | None) -> dict[str, str] | None:
        if context is not None and Context(**context).public() != context:
            raise ValueError("the context says what is not public")
        return context

    @field_validator("data")
    @classmethod
    def _plain_name(cls, data: str) -> str:
        if Path(data).name != data or "\\" in data:
            raise ValueError("the data is not a file of the folder")
        return data

    @property
    def files(self) -> tuple[str, ...]:
        """The files that hold the data."""
        return (self.data,)

    @property
    def published_columns(self) -> dict[str, dict[str, str]]:
        """The columns of each file and whether they hold numbers or texts; of data without columns none."""
        return {}

    @property
    def metadata(self) -> tuple[str, ...]:
        """The files for machines that stand beside the data."""
        return tuple(name for name in METADATA_FILES if name in self.checksums)

    @property
    def counts_persons(self) -> bool:
        """Whether persons were counted whose records no reader can tell: what was kept in private says who is who."""
        return False

    @property
    def n_published(self) -> int:
        """How many records went out."""
        return n_published(self.records)

    @property
    def is_of_this_version(self) -> bool:
        """Whether this version wrote it, whose words and entries are known."""
        return self.shoal == __version__

    @classmethod
    def claims(cls, guarantees: Sequence[Guarantee]) -> tuple[dict[str, Any], ...]:
        """Guarantees as a manifest states them."""
        return tuple({n: v for n, v in g.to_dict().items() if n not in cls.private} for g in guarantees)

    @classmethod
    def parse(cls, content: Any, folder: Path) -> Any:
        """From what the file of a published folder holds.

        Raises
        ------
        DataError
            If that is no manifest of this kind.
        """
        try:
            if not {"shoal", "kind", "data"} <= set(content):  # a release says so itself; a default is said by nobody
                raise ValueError
            return cls.model_validate(content)
        except (KeyError, TypeError, AttributeError, ValueError, ValidationError, ShoalError):
            raise DataError(
                f"{folder / FILE_NAME} is not the manifest of a Shoal release; restore it from the release"
            ) from None

    @classmethod
    def read(cls, folder: Path) -> Any:
        """Read and check the manifest of a published folder."""
        return cls.parse(read_content(folder), folder)

    def content(self) -> dict[str, Any]:
        """What the file holds."""
        told = self.model_dump(mode="json")
        optional = ("context", *self.optional)
        return {name: value for name, value in told.items() if value is not None or name not in optional}

    def to_json(self) -> str:
        """The text of the file, if a check would read it."""
        text = json.dumps(self.content(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if len(text.encode(errors="replace")) > MOST_MANIFEST:
            raise DataError(
                f"the manifest would be larger than {MOST_MANIFEST >> 20} MiB; give sensitive columns shorter orders "
                "and hierarchies"
            )
        return text


def read_content(folder: Path) -> Any:
    """What the manifest of a published folder holds, of whatever kind."""
    path = folder / FILE_NAME
    try:
        return read_json(path)
    except FileNotFoundError:
        raise DataError(f"{folder} has no {FILE_NAME}; give the publish/ folder of a release") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not valid JSON of a size that a manifest has"
        raise DataError(f"{path} cannot be read ({reason}); restore it from the release") from None


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
