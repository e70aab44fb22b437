"""The Python face: each function here is one command of the command line, without the printing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from shoal.check import folder as checked_folder
from shoal.check.folder import FolderCheck
from shoal.check.profile import Profile, profile_table
from shoal.data.files import read_table
from shoal.data.frames import from_frame
from shoal.data.table import MARKERS, Table
from shoal.engine.executors import open_executor
from shoal.errors import PolicyError
from shoal.policy import Policy
from shoal.release import Release, verified
from shoal.tables.anonymize import anonymize_table

Progress = Callable[[str, int, int], None]


def load(source: Any, markers: tuple[str, ...] = MARKERS) -> Table:
    """Read a file, or take a frame."""
    if isinstance(source, str | Path):
        return read_table(source, markers=markers)
    return from_frame(source, markers=markers)


def profile(source: Any) -> Profile:
    """Guess what the columns of a file or frame mean, and measure the risk as it stands.

    Examples
    --------
    >>> import shoal
    >>> found = shoal.profile({"age": [31, 32, 47], "disease": ["flu", "flu", "cold"]})
    >>> found.attributes["age"].role, found.attributes["disease"].role
    ('quasi', 'sensitive')
    """
    return profile_table(load(source))


def anonymize(
    source: Any,
    policy: Policy | None = None,
    *,
    seed: int | None = None,
    workers: int = 1,
    pool: Literal["threads", "processes"] = "threads",
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Release:
    """Make a release and check it.

    Parameters
    ----------
    source : path, or frame of pandas, polars or arrow, or dict of columns
        The original records.
    policy : Policy, optional
        Roles, guarantees and method; by default guessed roles and groups of five.
    seed : int, optional
        Makes the release repeatable where random numbers are drawn, which for tables is at effort "best" only.
    workers, pool, cluster
        Where independent blocks are worked on: that many threads or processes here, or a dask scheduler's address. The
        result does not depend on it.
    progress : callable, optional
        Called with (what is being done, blocks done, blocks in all).

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
    with open_executor(workers, pool, cluster) as executor:
        made = anonymize_table(table, policy, seed=seed, executor=executor, progress=progress)
    if progress is not None:
        progress("checking the release", 0, 0)
    return Release(
        table=made.table,
        guarantees=verified(made.table, policy, made.attributes),
        policy=policy,
        attributes=made.attributes,
        notes=made.notes,
        _original=table,
        _rows=made.rows,
        _groups=made.groups,
        _like=None if isinstance(source, str | Path) else source,
    )


def check_folder(path: str | Path, original: Any = None, policy: Policy | None = None) -> FolderCheck:
    """Recompute the guarantees of a published folder, which another tool may have edited."""
    markers = policy.missing_markers if policy is not None else MARKERS
    return checked_folder.check_folder(path, None if original is None else load(original, markers), policy)
