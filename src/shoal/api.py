"""The Python face: each function here is one command of the command line, without the printing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from shoal.check import folder as checked_folder
from shoal.check.evidence import Evidence
from shoal.check.folder import FolderCheck
from shoal.check.profile import Profile, profile_table
from shoal.data.files import read_table
from shoal.data.frames import from_frame
from shoal.data.meaning import attributes_of
from shoal.data.table import MARKERS, Table
from shoal.engine.executors import open_executor
from shoal.errors import PolicyError
from shoal.policy import Policy
from shoal.release import Release, verified
from shoal.tables.anonymize import Anonymized, anonymize_table

Progress = Callable[[str, int, int], None]


def load(source: Any, markers: tuple[str, ...] = MARKERS) -> Table:
    """Read a file, or take a frame."""
    if isinstance(source, str | Path):
        return read_table(source, markers=markers)
    return from_frame(source, markers=markers)


def profile(source: Any, *, sweep: bool = True, progress: Progress | None = None) -> Profile:
    """Guess what the columns of a file or frame mean, measure the risk as it stands, and propose a method.

    Parameters
    ----------
    source : path, or frame of pandas, polars or arrow, or dict of columns
        The original records.
    sweep : bool
        Whether to try methods on a sample of at most 5,000 records, for the `proposal`.
    progress : callable, optional
        Called with (what is being done, releases done, releases in all).

    Examples
    --------
    >>> import shoal
    >>> found = shoal.profile({"age": [31, 32, 47], "disease": ["flu", "flu", "cold"]})
    >>> found.attributes["age"].role, found.attributes["disease"].role
    ('quasi', 'sensitive')
    """
    table = load(source)
    found = profile_table(table)
    if not sweep:
        return found
    from shoal.proposal import propose

    return replace(found, proposal=propose(table, found.attributes, progress))


def anonymize(
    source: Any,
    policy: Policy | None = None,
    *,
    seed: int | None = None,
    workers: int = 1,
    pool: Literal["threads", "processes"] = "threads",
    cluster: str | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Release:
    """Make a release and check it.

    Parameters
    ----------
    source : path, or frame of pandas, polars or arrow, or dict of columns
        The original records.
    policy : Policy, optional
        Roles, guarantees and method; by default guessed roles and groups of five.
    seed : int, optional
        Makes the release repeatable where random numbers are drawn: at effort "best", and for pseudo-records. Who knows
        it can draw the same numbers, so keep it to yourself.
    workers, pool, cluster
        Where independent blocks are worked on: that many threads or processes here, or a dask scheduler's address. The
        result does not depend on it.
    progress : callable, optional
        Called with (what is being done, blocks done, blocks in all).
    stop : callable, optional
        Asked every few seconds while groups are improved (effort "balanced" or "best"); True ends that and keeps the
        best groups so far, with a note, as the release is then not repeatable.

    Returns
    -------
    Release
        Whose guarantees all hold; nothing is written before its `save`.

    Raises
    ------
    PolicyError, DataError, Infeasible, NotVerified
        See `shoal.errors`.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [31, 32, 47, 48], "disease": ["flu", "cold", "flu", "ulcer"]}
    >>> release = shoal.anonymize(people, shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=2))
    >>> list(release.data["age"])
    ['[31..32]', '[31..32]', '[47..48]', '[47..48]']
    """
    policy = policy or Policy()
    if not isinstance(policy, Policy):
        raise PolicyError(
            "the policy is not a Policy; make one with Policy.of(...), or read a file with Policy.read(path)"
        )
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise PolicyError(f"the seed must be a whole number of 0 or more, not {seed!r}")
    table = load(source, policy.missing_markers)
    if policy.target is not None:
        from shoal.utility.target import check_target

        check_target(table, attributes_of(table, policy), policy.target, policy.method.publication)
    with open_executor(workers, pool, cluster) as executor:
        made = anonymize_table(table, policy, seed=seed, executor=executor, progress=progress, stop=stop)
    if progress is not None:
        progress("checking the release", 0, 0)
    return release_of(table, made, policy, None if isinstance(source, str | Path) else source)


def release_of(table: Table, made: Anonymized, policy: Policy, like: Any = None) -> Release:
    """Check what the methods made of a table; `NotVerified` unless all guarantees hold."""
    return Release(
        table=made.table,
        guarantees=verified(
            made.table, policy, made.attributes, Evidence.of(table, made.rows, made.groups), made.layout
        ),
        policy=policy,
        attributes=made.attributes,
        notes=made.notes,
        _original=table,
        _rows=made.rows,
        _groups=made.groups,
        layout=made.layout,
        _sources=made.sources,
        _like=like,
    )


def check_folder(
    path: str | Path, original: Any = None, policy: Policy | None = None, private: str | Path | None = None
) -> FolderCheck:
    """Recompute the guarantees of a published folder, which another tool may have edited."""
    markers = policy.missing_markers if policy is not None else checked_folder.markers_of(path)
    return checked_folder.check_folder(path, None if original is None else load(original, markers), policy, private)
