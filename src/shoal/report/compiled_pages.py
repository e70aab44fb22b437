"""Templates as they were compiled before, kept beside them where that is possible, and never a reason to fail."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket

from shoal._version import __version__


class CompiledPages(FileSystemBytecodeCache):
    """Compiled templates in a folder, which is made if it can be.

    Compiling the pages of one release takes longer than drawing them. What is kept is known by the template's text and
    by the versions of Jinja, Python and Shoal.

    Parameters
    ----------
    folder : path
        Trusted as the `__pycache__` of the package is.
    """

    def __init__(self, folder: Path) -> None:
        with suppress(OSError):  # installed where nothing can be written
            folder.mkdir(exist_ok=True)
        super().__init__(str(folder), f"%s-{__version__}.page")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read what was kept; nothing where it cannot be read."""
        try:
            super().load_bytecode(bucket)
        except (OSError, EOFError, ValueError, TypeError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        with suppress(OSError):
            super().dump_bytecode(bucket)
