"""What a stream is cut into: windows of records, each of which is published as a whole, and what becomes of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from shoal.arrays import Codes
from shoal.errors import DataError


@dataclass(frozen=True)
class Window:
    """Some records that came in one after the other, as text.

    Attributes
    ----------
    first : int
        The number of its first record, from 1.
    text : bytes
        Its records, each with the end of its line.
    n_records : int
    n_due : int
        How many of the first may not wait for another window.
    """

    first: int
    text: bytes
    n_records: int
    n_due: int


@dataclass
class Made:
    """What a window became.

    Attributes
    ----------
    data : bytes
        What is published of it.
    n_in : int
        How many of its first records it is made of; the others go into the next window.
    n_out : int
        Records that are published.
    suppressed : dict
        How many were not, by reason.
    persons : int32 array (n_out,), optional
        Whose each published record is, numbered anew in each window. Secret.
    """

    data: bytes
    n_in: int
    n_out: int
    suppressed: dict[str, int] = field(default_factory=dict)
    persons: Codes | None = None


class StreamWindows(ABC):
    """How windows of one kind of data are published; what is remembered from one to the next is its `state`."""

    k: int
    attacker: tuple[str, ...] = ()
    """Against whom what is promised holds, a phrase each."""
    is_released = False
    """Whether each window is a release that was checked as such, of which not all can be checked again."""

    @property
    @abstractmethod
    def file_name(self) -> str:
        """The name of the data file."""

    @property
    def is_quoted(self) -> bool:
        """Whether a newline between quotes ends no record."""
        return False

    @abstractmethod
    def begin(self, line: bytes) -> int:
        """Look at the first line of the stream; how many bytes of it are a header, 0 where it is a record."""

    @abstractmethod
    def head(self) -> bytes:
        """What stands before all published records."""

    @abstractmethod
    def prepare(self, window: Window) -> Any:
        """Read a window; windows are prepared one after the other."""

    @abstractmethod
    def work(self, prepared: Any) -> Any:
        """What takes time and needs no other window; done on a thread while the next window is read."""

    @abstractmethod
    def finish(self, worked: Any) -> Made:
        """What is published; windows are finished one after the other."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What has to be remembered, JSON-ready; private."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what was remembered."""

    @abstractmethod
    def told(self) -> dict[str, Any]:
        """What a manifest says of what was published, after the last window."""

    def loss(self, n_records: int) -> dict[str, float]:
        """What the protection cost, by name."""
        return {}


class BadRecord(DataError):
    """A record that cannot be read; what is said of it quotes nothing."""

    def __init__(self, number: int, what: str) -> None:
        super().__init__(f"record {number:,}: {what}")
        self.number = number
