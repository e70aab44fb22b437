"""The Python face: each function here is one command of the command line, without the printing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from shoal.check.evidence import GROUPS_FILE, ROWS_FILE, Evidence
from shoal.check.tables import folder as checked_folder
from shoal.check.tables.folder import FolderCheck
from shoal.data.tables.header import Header
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.table import Table
from shoal.engine.executors import open_executor
from shoal.errors import PolicyError
from shoal.held_out import HeldOut
from shoal.held_out import hold_out as split_at_random
from shoal.kinds.policies import AnyPolicy, fitting_policy
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.tables.policy import ORIGINAL_ORDER, Policy
from shoal.kinds.tables.profile import Profile, profile_table
from shoal.kinds.tables.release import Release, verified
from shoal.originals import Data, kept_secrets, kind_of_release, load, load_sparse, load_strings, split_original
from shoal.progress import Progress
from shoal.tables.anonymize import Anonymized, anonymize_table

if TYPE_CHECKING:
    from shoal.kinds.sparse.profile import SparseProfile
    from shoal.kinds.sparse.release import SparseRelease
    from shoal.kinds.strings.profile import StringProfile
    from shoal.kinds.strings.release import StringRelease

    AnyRelease = Release | StringRelease | SparseRelease


def profile_strings(source: Any, policy: StringPolicy | None = None) -> StringProfile:
    """Count strings, lengths, symbols and classes of a file or list, and propose a policy.

    Parameters
    ----------
    source : path, list of str or of lists of tokens, or Strings
    policy : StringPolicy, optional
        How a file is read.
    """
    from shoal.kinds.strings.profile import profile_of

    policy = policy or StringPolicy()
    return profile_of(load_strings(source, policy), policy)


def profile_sparse(source: Any, policy: SparsePolicy | None = None) -> SparseProfile:
    """Count records, items and classes of a file or list, and propose a policy.

    Parameters
    ----------
    source : path, list of lists of items, sparse matrix of scipy, or Sparse
    policy : SparsePolicy, optional
        How a file is read.
    """
    from shoal.kinds.sparse.profile import profile_sparse_records

    policy = policy or SparsePolicy()
    return profile_sparse_records(load_sparse(source, policy), policy)


@overload
def profile(source: Any, policy: Policy, *, sweep: bool = ..., progress: Progress | None = ...) -> Profile: ...


@overload
def profile(
    source: Any, policy: StringPolicy, *, sweep: bool = ..., progress: Progress | None = ...
) -> StringProfile: ...


@overload
def profile(
    source: Any, policy: SparsePolicy, *, sweep: bool = ..., progress: Progress | None = ...
) -> SparseProfile: ...


@overload
def profile(
    source: Any, policy: AnyPolicy | None = None, *, sweep: bool = ..., progress: Progress | None = ...
) -> Any: ...


def profile(
    source: Any, policy: AnyPolicy | None = None, *, sweep: bool = True, progress: Progress | None = None
) -> Profile | StringProfile | SparseProfile:
    """Guess what the columns of a file or frame mean, measure the risk as it stands, and propose a method.

    Of strings and sparse records: count them, their lengths or items, and their classes, and propose a policy.

    Parameters
    ----------
    source : path, or frame of pandas, polars or arrow, or dict of columns; list of str or of lists of str, Strings, \
Sparse or sparse matrix of scipy
        The original records; what kind they are is told as for `anonymize`.
    policy : Policy, StringPolicy or SparsePolicy, optional
        What kind of data it is, where the source does not tell, and how a file is read.
    sweep : bool
        Of tables: whether to try methods on a sample of at most 5,000 records, for the `proposal`.
    progress : callable, optional
        Called with (what is being done, releases done, releases in all).

    Returns
    -------
    Profile, StringProfile for strings, or SparseProfile for sparse records

    Examples
    --------
    >>> import shoal
    >>> found = shoal.profile({"age": [31, 32, 47], "disease": ["flu", "flu", "cold"]})
    >>> found.attributes["age"].role, found.attributes["disease"].role
    ('quasi', 'sensitive')
    >>> shoal.profile(["ACGT", "ACGA", "TTGA"]).n_strings
    3
    """
    policy = fitting_policy(source, policy)
    if isinstance(policy, StringPolicy):
        return profile_strings(source, policy)
    if isinstance(policy, SparsePolicy):
        return profile_sparse(source, policy)
    table = load(source, policy.missing_markers, policy.header)
    found = replace(profile_table(table), header=policy.header)
    if not sweep:
        return found
    from shoal.sweeps.propose import propose

    return replace(found, proposal=propose(table, found.attributes, progress))


@overload
def anonymize(
    source: Any,
    policy: Policy,
    *,
    seed: int | None = ...,
    key: bytes | None = ...,
    hold_out: float | None = ...,
    control: Any = ...,
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
    key: bytes | None = ...,
    hold_out: float | None = ...,
    control: Any = ...,
    workers: int = ...,
    pool: Literal["threads", "processes"] = ...,
    cluster: str | None = ...,
    progress: Progress | None = ...,
    stop: Callable[[], bool] | None = ...,
) -> StringRelease: ...


@overload
def anonymize(
    source: Any,
    policy: SparsePolicy,
    *,
    seed: int | None = ...,
    key: bytes | None = ...,
    hold_out: float | None = ...,
    control: Any = ...,
    workers: int = ...,
    pool: Literal["threads", "processes"] = ...,
    cluster: str | None = ...,
    progress: Progress | None = ...,
    stop: Callable[[], bool] | None = ...,
) -> SparseRelease: ...


@overload
def anonymize(
    source: Any,
    policy: AnyPolicy | None = None,
    *,
    seed: int | None = ...,
    key: bytes | None = ...,
    hold_out: float | None = ...,
    control: Any = ...,
    workers: int = ...,
    pool: Literal["threads", "processes"] = ...,
    cluster: str | None = ...,
    progress: Progress | None = ...,
    stop: Callable[[], bool] | None = ...,
) -> AnyRelease: ...


def anonymize(
    source: Any,
    policy: AnyPolicy | None = None,
    *,
    seed: int | None = None,
    key: bytes | None = None,
    hold_out: float | None = None,
    control: Any = None,
    workers: int = 1,
    pool: Literal["threads", "processes"] = "threads",
    cluster: str | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> AnyRelease:
    """Make a release and check it.

    Parameters
    ----------
    source : path, or frame of pandas, polars or arrow, or dict of columns; list of str or of lists of str, Strings, \
Sparse or sparse matrix of scipy
        The original records. Lists, `Strings`, FASTA and SPMF files are strings, SVMlight files, `Sparse` and matrices
        are sparse records, and other files if the policy says so.
    policy : Policy, StringPolicy or SparsePolicy, optional
        Roles, guarantees and method; by default guessed roles and groups of five, of strings groups of twenty, of
        sparse records k-variance anonymity with k = 10.
    seed : int, optional
        Makes the release repeatable where random numbers are drawn: for the order of records with equal
        quasi-identifiers, at effort "best", for pseudo-records and strings, and for the key of sketches. Who knows it,
        or guesses it, can draw the same numbers: keep it to yourself, and take no small one for what you publish.
    key : bytes, optional
        Of sparse records: the key of another release, so that sketches of both can be compared; else a new one.
    hold_out : float, optional
        The share of the records to leave out of the release, at random, so that attacks can be compared on them; the
        report then shows what attacks get.
    control : as the source, optional
        Other records of the same kind, given for the same purpose.
    workers, pool, cluster
        Where independent blocks of tables and strings are worked on: that many threads or processes here, or a dask
        scheduler's address. The result does not depend on it. Refused for sparse records, which have no blocks.
    progress : callable, optional
        Called with (what is being done, blocks done, blocks in all).
    stop : callable, optional
        Of tables: asked every few seconds while groups are improved (effort "balanced" or "best"); True ends that and
        keeps the best groups so far, with a note, as the release is then not repeatable.

    Returns
    -------
    Release, StringRelease for strings, or SparseRelease for sparse records
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
    policy = fitting_policy(source, policy)
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise PolicyError("the seed is not a whole number from 0 on; give one, or none")
    if not isinstance(policy, Policy) and stop is not None:
        raise PolicyError("stop is for tables, whose groups are improved until it says so; leave it out")
    if isinstance(policy, SparsePolicy):
        from shoal.kinds.sparse.release import release_sparse

        _refuse_blocks(workers, pool, cluster)
        read_records = partial(load_sparse, policy=policy)
        records, unseen = _others(read_records(source), hold_out, control, read_records, seed)
        return release_sparse(records, policy, seed=seed, key=key, progress=progress, held_out=unseen)
    if key is not None:
        raise PolicyError("a key is for sketches of sparse records; leave it out")
    if isinstance(policy, StringPolicy):
        from shoal.kinds.strings.release import release_strings

        read = partial(load_strings, policy=policy)
        strings, others = _others(read(source), hold_out, control, read, seed)
        like = None if isinstance(source, str | Path) else source
        with open_executor(workers, pool, cluster) as executor:
            return release_strings(
                strings, policy, seed=seed, executor=executor, progress=progress, like=like, held_out=others
            )
    load_table = partial(load, markers=policy.missing_markers, header=policy.header)
    table, held_out = _others(load_table(source), hold_out, control, load_table, seed)
    if policy.target is not None:
        from shoal.utility.tables.target import check_target

        check_target(table, attributes_of(table, policy), policy.target, policy.method.publication)
    with open_executor(workers, pool, cluster) as executor:
        made = anonymize_table(table, policy, seed=seed, executor=executor, progress=progress, stop=stop)
    if progress is not None:
        progress("checking the release", 0, 0)
    return release_of(table, made, policy, None if isinstance(source, str | Path) else source, held_out)


def _refuse_blocks(workers: int, pool: str, cluster: str | None) -> None:
    """Sparse records are sketched in one piece: a wish to work elsewhere is refused rather than forgotten."""
    asked = {
        "cluster": cluster is not None,
        f"pool = {pool!r}": pool != "threads",
        f"workers = {workers}": workers != 1,
    }
    for what, is_asked in asked.items():
        if is_asked:
            raise PolicyError(
                f"{what} is for tables and strings, which are worked on in blocks; sparse records are sketched in one "
                "piece, on all cores of this machine, so leave it out"
            )


def _others(
    data: Data, share: float | None, control: Any, load: Callable[[Any], Data], seed: int | None
) -> tuple[Data, HeldOut[Data] | None]:
    """The records to publish, and others to compare attacks on, if they are asked for or given."""
    if share is not None and control is not None:
        raise PolicyError("records are to be held out, and a control is given; one of both is enough")
    if control is not None:
        return data, HeldOut(load(control))
    if share is None:
        return data, None
    return split_at_random(data, data.n_rows if isinstance(data, Table) else len(data), share, seed)


def release_of(
    table: Table, made: Anonymized, policy: Policy, like: Any = None, held_out: HeldOut[Table] | None = None
) -> Release:
    """Check what the methods made of a table; `NotVerified` unless all guarantees hold."""
    return Release(
        table=made.table,
        guarantees=verified(
            made.table, policy, made.attributes, Evidence.of(table, made.rows, made.groups), made.layout
        ),
        policy=policy,
        attributes=made.attributes,
        notes=(*made.notes, *([ORIGINAL_ORDER] if policy.order == "original" else [])),
        _original=table,
        _rows=made.rows,
        _groups=made.groups,
        layout=made.layout,
        _sources=made.sources,
        _like=like,
        _held_out=held_out,
    )


def check_folder(
    path: str | Path,
    original: Any = None,
    policy: AnyPolicy | None = None,
    private: str | Path | None = None,
    *,
    label: str | None = None,
    header: Header | None = None,
) -> FolderCheck:
    """Recompute the guarantees of a published folder, which another tool may have edited.

    Parameters
    ----------
    path : path
        The `publish/` folder of a release.
    original : path, frame, strings or sparse records, optional
        What the release was made from.
    policy : Policy, StringPolicy or SparsePolicy, optional
        What to require instead of what the manifest says.
    private : path, optional
        The `private/` folder of the release, if secrets were kept: groups, or rows and key of sketches.
    label : str, optional
        For a FASTA original with classes: the expression that finds them.
    header : {"first", "none"}, optional
        How the first line of the original is read; by default as the policy or the manifest says.
    """
    kind = kind_of_release(path, policy)
    if label is not None and kind != "strings":
        raise PolicyError("an expression for the class is for strings, and the folder holds other data; leave it out")
    if kind == "sparse":
        assert not isinstance(policy, Policy | StringPolicy)
        from shoal.check.sparse.folder import KEY_FILE, check_sparse_folder
        from shoal.kinds.sparse.manifest import SparseManifest

        told = policy or SparseManifest.read(checked_folder.published_folder(path)).policy
        told = told if header is None else told.changed(header=header)
        records = None if original is None else split_original(path, load_sparse(original, told), private)[0]
        return check_sparse_folder(path, records, policy, kept_secrets(private, ROWS_FILE, KEY_FILE))
    if kind == "strings":
        assert not isinstance(policy, Policy | SparsePolicy)
        from shoal.check.strings.folder import check_string_folder, read_original

        if isinstance(original, str | Path):
            original = read_original(path, original, policy, label, header)
        elif original is not None:
            original = load_strings(original, policy or StringPolicy())
        strings = None if original is None else split_original(path, original, private)[0]
        return check_string_folder(path, strings, policy, kept_secrets(private, GROUPS_FILE))
    assert not isinstance(policy, StringPolicy | SparsePolicy)
    markers = policy.missing_markers if policy is not None else checked_folder.markers_of(path)
    told_header = header or (policy.header if policy is not None else None) or checked_folder.header_of(path)
    table = None if original is None else split_original(path, load(original, markers, told_header), private)[0]
    from shoal.report.tables.compare_datasheet import compare_datasheet

    secrets = kept_secrets(private, GROUPS_FILE, ROWS_FILE)
    return checked_folder.check_folder(path, table, policy, secrets, compare_datasheet)
