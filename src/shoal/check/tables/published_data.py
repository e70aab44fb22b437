"""The data of a published folder as a check reads it: held, in a database, or slice by slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from shoal.check.folder import PublishedFolder
from shoal.check.slices.alignment import step_of_buckets
from shoal.check.tables.publication import PublishedRows
from shoal.data.memory import bound
from shoal.data.tables.coded_rows import CodedRows, coded_rows
from shoal.data.tables.room import TooManyDistinct, refuse_too_many_held
from shoal.data.tables.slices_apart import read_apart
from shoal.data.tables.table import Table
from shoal.data.tables.write import is_text, read_back
from shoal.errors import PolicyError
from shoal.kinds.tables.manifest import TableManifest


@contextmanager
def published_rows(
    folder: PublishedFolder,
    manifest: TableManifest,
    markers: Sequence[str],
    n_most: int | None,
    n_beside: int,
    *,
    is_weighed: bool,
) -> Iterator[PublishedRows]:
    """The data that a manifest names: held or, where its distinct rows do not fit, in a database.

    Where memory is bounded, a table in slices is held slice by slice.
    """
    if manifest.layout is not None and bound() is not None:
        path = folder.data_file(manifest, n_most, len(manifest.attributes))
        if is_text(path.name):
            raise PolicyError("a table in slices is checked in bounded memory from Parquet alone: leave memory out")
        yield read_apart(path, manifest.layout, markers=markers, step=step_of_buckets)
        return
    try:
        table = published_table(folder, manifest, markers, n_most, is_weighed=is_weighed)
    except TooManyDistinct:
        if not is_weighed:
            raise
    else:
        yield table
        return
    with published_in_parts(folder, manifest, markers, n_most, n_beside) as rows:
        yield rows


def published_in_parts(
    folder: PublishedFolder, manifest: TableManifest, markers: Sequence[str], n_most: int | None, n_beside: int
) -> AbstractContextManager[CodedRows]:
    """The same in a database, beside so many others that are open."""
    path, names = folder.data_file(manifest, n_most, len(manifest.attributes)), list(manifest.attributes)
    return coded_rows(path, names, markers=markers, delimiter=manifest.delimiter, n_beside=n_beside)


def published_table(
    folder: PublishedFolder,
    manifest: TableManifest,
    markers: Sequence[str] | None = None,
    n_most: int | None = None,
    *,
    is_weighed: bool = False,
) -> Table:
    """The data that a manifest names, if it is a plain file of a size that so many rows may have.

    Parameters
    ----------
    n_most : int, optional
        No more rows than these are believed in.
    is_weighed : bool
        Whether to read every distinct row once, with the number of its records.
    """
    path = folder.data_file(manifest, n_most, len(manifest.attributes))
    if not is_weighed:
        refuse_too_many_held(path, manifest.n_published, len(manifest.attributes), 0, "each is looked at")
    spelled = manifest.missing_markers if markers is None else markers
    names = [*([] if manifest.pseudonym is None else [manifest.pseudonym]), *manifest.attributes]
    return read_back(path, names, markers=spelled, delimiter=manifest.delimiter, is_weighed=is_weighed)
