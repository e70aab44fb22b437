"""The Python face: each function here is one command of the command line, without the printing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from shoal.check import folder as checked_folder
from shoal.check.evidence import Evidence
from shoal.check.folder import FolderCheck
from shoal.check.profile import Profile, profile_table
from shoal.data.files import read_table
from shoal.data.frames import from_frame
from shoal.data.meaning import attributes_of
from shoal.data.strings import Strings
from shoal.data.table import MARKERS, Table
from shoal.engine.executors import open_executor
from shoal.errors import PolicyError
from shoal.manifest import read_content
from shoal.policy import Policy
from shoal.release import Release, verified
from shoal.string_policy import StringPolicy
from shoal.tables.anonymize import Anonymized, anonymize_table

if TYPE_CHECKING:
    from shoal.string_profile import StringProfile
    from shoal.string_release import StringRelease

Progress = Callable[[str, int, int], None]


def load(source: Any, markers: tuple[str, ...] = MARKERS) -> Table:
    """Read a file, or take a frame."""
    if isinstance(source, str | Path):
        return read_table(source, markers=markers)
    return from_frame(source, markers=markers)


def load_strings(source: Any, policy: StringPolicy) -> Strings:
    """Read a file, or take strings, as the policy's input says."""
    if isinstance(source, str | Path):
        from shoal.data.string_files import read_strings

        return read_strings(source, **policy.input.model_dump())
    if isinstance(source, Strings):
        return source
    if isinstance(source, dict) or not hasattr(source, "__iter__"):
        raise PolicyError(
            "the policy is for strings; give a path, a list of text, a list of lists of tokens, or Strings"
        )
    alphabet = policy.input.alphabet
    if isinstance(alphabet, str):
        from shoal.data.alphabets import Alphabet

        return Strings.of(source, alphabet=Alphabet.of(alphabet).symbols)
    return Strings.of(source, alphabet=alphabet)


def is_strings(source: Any) -> bool:
    """Whether a source holds strings for sure: a FASTA or SPMF file, `Strings`, or a list of text or of lists."""
    if isinstance(source, str | Path):
        from shoal.data.string_files import looks_like_strings

        return looks_like_strings(source) is not None
    if isinstance(source, list | tuple):
        return bool(source) and isinstance(source[0], str | list | tuple)
    return isinstance(source, Strings)


def profile_strings(source: Any, policy: StringPolicy | None = None) -> StringProfile:
    """Count strings, lengths, symbols and classes of a file or list, and propose a policy.

    Parameters
    ----------
    source : path, list of str or of lists of tokens, or Strings
    policy : StringPolicy, optional
        How a file is read.
    """
    from shoal.string_profile import profile_of

    policy = policy or StringPolicy()
    return profile_of(load_strings(source, policy), policy)


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


@overload
def anonymize(
    source: Any,
    policy: Policy,
    *,
    seed: int | None = ...,
    workers: int = ...,
    pool: Literal["threads", "processes"] = ...,
    cluster: str | None = ...,
    progress: Progress | None = ...,
    stop: Callable[[], bool] | None = ...,
) -> Release: ...


@overload
def anonymize(
    source: Any,
    policy: StringPolicy,
    *,
    seed: int | None = ...,
    workers: int = ...,
    pool: Literal["threads", "processes"] = ...,
    cluster: str | None = ...,
    progress: Progress | None = ...,
    stop: Callable[[], bool] | None = ...,
) -> StringRelease: ...


@overload
def anonymize(
    source: Any,
    policy: Policy | StringPolicy | None = None,
    *,
    seed: int | None = ...,
    workers: int = ...,
    pool: Literal["threads", "processes"] = ...,
    cluster: str | None = ...,
    progress: Progress | None = ...,
    stop: Callable[[], bool] | None = ...,
) -> Release | StringRelease: ...


def anonymize(
    source: Any,
    policy: Policy | StringPolicy | None = None,
    *,
    seed: int | None = None,
    workers: int = 1,
    pool: Literal["threads", "processes"] = "threads",
    cluster: str | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Release | StringRelease:
    """Make a release and check it.

    Parameters
    ----------
    source : path, or frame of pandas, polars or arrow, or dict of columns; list of str or of lists of str, or Strings
        The original records. Lists, `Strings`, FASTA and SPMF files are strings, and other files if the policy says so.
    policy : Policy or StringPolicy, optional
        Roles, guarantees and method; by default guessed roles and groups of five, and of strings groups of twenty.
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
    Release, or StringRelease for strings
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
    if policy is None:
        policy = StringPolicy() if is_strings(source) else Policy()
    if not isinstance(policy, Policy | StringPolicy):
        raise PolicyError(
            "the policy is not a Policy; make one with Policy.of(...), or read a file with Policy.read(path)"
        )
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise PolicyError(f"the seed must be a whole number of 0 or more, not {seed!r}")
    if isinstance(policy, StringPolicy):
        from shoal.string_release import release_strings

        strings = load_strings(source, policy)
        like = None if isinstance(source, str | Path) else source
        with open_executor(workers, pool, cluster) as executor:
            return release_strings(strings, policy, seed=seed, executor=executor, progress=progress, like=like)
    if is_strings(source):
        raise PolicyError('the data is strings, and the policy is for a table; ask for kind = "strings", or give none')
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
    path: str | Path,
    original: Any = None,
    policy: Policy | StringPolicy | None = None,
    private: str | Path | None = None,
    *,
    label: str | None = None,
) -> FolderCheck:
    """Recompute the guarantees of a published folder, which another tool may have edited.

    Parameters
    ----------
    path : path
        The `publish/` folder of a release.
    original : path, frame, or strings, optional
        What the release was made from.
    policy : Policy or StringPolicy, optional
        What to require instead of what the manifest says.
    private : path, optional
        The `private/` folder of the release, if the groups were kept.
    label : str, optional
        For a FASTA original with classes: the expression that finds them.
    """
    content = read_content(checked_folder.published_folder(path))
    is_string_release = isinstance(content, dict) and content.get("kind") == "strings"
    if policy is not None and isinstance(policy, StringPolicy) is not is_string_release:
        kinds = ("strings", "a table") if is_string_release else ("a table", "strings")
        raise PolicyError(f"the folder holds {kinds[0]}, and the policy is for {kinds[1]}; give one for {kinds[0]}")
    if isinstance(policy, StringPolicy) or is_string_release:
        assert not isinstance(policy, Policy)
        from shoal.check.string_folder import check_string_folder, read_original

        if isinstance(original, str | Path):
            original = read_original(path, original, policy, label)
        elif original is not None:
            original = load_strings(original, policy or StringPolicy())
        return check_string_folder(path, original, policy, private)
    if label is not None:
        raise PolicyError("an expression for the class is for strings, and the folder holds a table; leave it out")
    markers = policy.missing_markers if policy is not None else checked_folder.markers_of(path)
    return checked_folder.check_folder(path, None if original is None else load(original, markers), policy, private)
