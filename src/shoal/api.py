"""The Python face: five verbs, the same for every kind of data. Each is one command, without the printing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from shoal.data.sniff import one_look
from shoal.errors import PolicyError
from shoal.kind import Asks, Kind, Run, fitting_policy, kind_of_folder, meant_policy, without_held_out

if TYPE_CHECKING:
    from shoal.attack.attack import Attacked
    from shoal.check.folder import FolderCheck
    from shoal.data.tables.header import Header
    from shoal.held_out import HeldOut
    from shoal.progress import Progress

PolicyLike = str | Path | Mapping[str, Any] | None
"""What a policy can be given as, besides one: the path of a file, or what would stand there."""
R = TypeVar("R")
P = TypeVar("P")


@overload
def profile(source: Any, policy: Asks[Any, P], *, sweep: bool = ..., progress: Progress | None = ...) -> P: ...


@overload
def profile(source: Any, policy: PolicyLike = None, *, sweep: bool = ..., progress: Progress | None = ...) -> Any: ...


@one_look()
def profile(source: Any, policy: Any = None, *, sweep: bool = True, progress: Progress | None = None) -> Any:
    """Guess what the columns of a file or frame mean, measure the risk as it stands, and propose a method.

    Of strings and sparse records: count them, their lengths or items, and their classes, and propose a policy.

    Parameters
    ----------
    source : path, or frame of pandas, polars or arrow, or dict of columns; list of str or of lists of str, Strings, \
Sparse or sparse matrix of scipy
        The original records; what kind they are is told as for `anonymize`.
    policy : policy, or path or dict of one, optional
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
    >>> found.attributes["age"].role, found.columns[1].is_sensitive
    ('quasi', True)
    >>> shoal.profile(["ACGT", "ACGA", "TTGA"]).n_strings
    3
    """
    kind, policy = fitting_policy(source, policy)
    return kind.profile_source(source, policy, sweep=sweep, progress=progress)


@overload
def anonymize(
    source: Any,
    policy: Asks[R, Any],
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
    after: str | Path | None = ...,
    resume: str | Path | None = ...,
) -> R: ...


@overload
def anonymize(
    source: Any,
    policy: PolicyLike = None,
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
    after: str | Path | None = ...,
    resume: str | Path | None = ...,
) -> Any: ...


@one_look()
def anonymize(
    source: Any,
    policy: Any = None,
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
    after: str | Path | None = None,
    resume: str | Path | None = None,
) -> Any:
    """Make a release and check it.

    Parameters
    ----------
    source : path, or frame of pandas, polars or arrow, or dict of columns; list of str or of lists of str, Strings, \
Sparse or sparse matrix of scipy; dict of several paths or frames
        The original records. Several tables by name are linked by a column that a `LinkedPolicy` names. Lists,
        `Strings`, FASTA and VCF files are strings, SVMlight files, `Sparse` and matrices are sparse records, and other
        files if the policy says so.
    policy : policy, or path or dict of one, optional
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
        Where independent blocks of tables and strings are worked on: that many threads or processes here, or the
        address of a dask scheduler or, after ``ray:``, of a Ray cluster. The result does not
        depend on it. Refused for sparse records, which have no blocks.
    progress : callable, optional
        Called with (what is being done, blocks done, blocks in all).
    stop : callable, optional
        Of tables: asked every few seconds while groups are improved (effort "balanced" or "best"); True ends that and
        keeps the best groups so far, with a note, as the release is then not repeatable.
    after : path, optional
        Of tables: the `private/` folder of an earlier release of the same persons, with its ledger: this release is
        made so that both together, and all before, tell no more than the policy allows.
    resume : path, optional
        Of tables in bounded memory: a new folder, in which finished steps are kept until the release is saved, so that
        the same call goes on from them if this process is killed. It holds rows of the original, and is the owner's
        alone; of a release that is not saved it stays.

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
    ['[30..32]', '[30..32]', '[46..48]', '[46..48]']

    A policy can also be the path of a file, or what would stand there:

    >>> len(shoal.anonymize(people, {"quasi": ["age"], "sensitive": ["disease"], "k": 4}).published)
    4
    """
    from shoal.data.bytes import digests_kept
    from shoal.engine.executors import executors_kept
    from shoal.kernels.compile import interpreted
    from shoal.provenance import source_files, with_digests

    if resume is not None and (hold_out is not None or control is not None):
        raise PolicyError("resume is for a release alone: leave it out where records are held out, or given to compare")
    kind, policy = fitting_policy(source, policy)
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise PolicyError("the seed is not a whole number from 0 on; give one, or none")
    run = Run(seed, key, workers, pool, cluster, progress, stop, after, resume)
    kind.refuse(run.asked)
    steps = None if resume is None else kind.steps(source, policy, run)
    run, read = replace(run, steps=steps), source_files(source)
    with executors_kept(), nullcontext() if steps is None else steps.kept():
        with digests_kept() as digests:
            loaded = kind.load_to_release(source, policy, run)
        data, held_out = _others(kind, loaded, policy, hold_out, control, seed)
        like = None if isinstance(source, str | Path) else source
        with interpreted(kind.is_small(data, policy)):
            made = kind.release(data, policy, run, like=like, held_out=held_out)
    made = replace(made, _sources_read=with_digests(read, digests))
    return made if steps is None else replace(made, notes=(*made.notes, *steps.notes), _steps=steps)


def _others(
    kind: Kind, data: Any, policy: Any, share: float | None, control: Any, seed: int | None
) -> tuple[Any, HeldOut[Any] | None]:
    """The records to publish, and others to compare attacks on, if they are asked for or given."""
    from shoal.held_out import HeldOut, hold_out

    if share is not None and control is not None:
        raise PolicyError("records are to be held out, and a control is given; one of both is enough")
    if control is not None:
        return data, HeldOut(kind.load_others(control, data, lambda: kind.load(control, policy)))
    return (data, None) if share is None else hold_out(data, share, seed, kind.persons(data, policy))


@one_look()
def check(
    path: str | Path,
    original: Any = None,
    policy: Any = None,
    private: str | Path | None = None,
    *,
    label: str | None = None,
    header: Header | None = None,
    beside: Sequence[str | Path] = (),
    memory: str | None = None,
) -> FolderCheck:
    """Recompute the guarantees of a published folder, which another tool may have edited.

    Parameters
    ----------
    path : path
        The `publish/` folder of a release.
    original : path, frame, strings or sparse records, optional
        What the release was made from.
    policy : policy, or path or dict of one, optional
        What to require instead of what the manifest says.
    private : path, optional
        The `private/` folder of the release, if secrets were kept: groups, or rows and key of sketches. Where
        persons are counted, by default the one that lies beside, if `path` is the release's own folder or an original
        is given.
    label : str, optional
        For a FASTA original with classes: the expression that finds them.
    header : {"first", "none"}, optional
        How the first line of the original is read; by default as the policy or the manifest says.
    beside : sequence of paths
        Of tables: the `publish/` folders of other releases of the same persons, to be checked together with this one;
        the ledger in `private` says who is who.
    memory : str, optional
        Of tables: check in about so much memory, as in "2GB", without holding them; by default as the policy says.
    """
    from shoal.check.folder import PublishedFolder
    from shoal.data.memory import bounded
    from shoal.secrets import PrivateFolder

    folder = PublishedFolder.open(path)
    if isinstance(folder.content, dict) and "stream" in folder.content:
        from shoal.check.stream.folder import check_stream_folder

        return check_stream_folder(folder, original, policy, PrivateFolder.at(private))
    policy = meant_policy(policy, kind_of_folder(folder))
    kind = kind_of_folder(folder, policy)
    kind.refuse({} if label is None else {"label": "an expression for the class"})
    kind.refuse({"beside": "another release (--with)"} if beside else {})
    kind.refuse({} if memory is None else {"memory": "a bound on memory"})
    manifest = kind.manifest.parse(folder.content, folder.path)
    secrets = PrivateFolder.at(private)
    if secrets is None and manifest.counts_persons:
        secrets = folder.private(original)
    together = {"beside": [*map(PublishedFolder.open, beside)]} if beside else {}
    with bounded(kind.bytes_to_check(manifest, policy, memory, **together)):
        if original is not None:
            original = kind.load_again(original, manifest, policy, label=label, header=header)
            original, _ = without_held_out(original, manifest, secrets)
        return kind.check(folder, manifest, original, policy, secrets, **together)


@one_look()
def attack(
    path: str | Path,
    original: Any,
    control: Any = None,
    private: str | Path | None = None,
    *,
    other: str | Path | Sequence[str | Path] | None = None,
    other_originals: Sequence[Any] = (),
    population: str | Path | None = None,
    names: Sequence[str] | None = None,
    seed: int | None = 0,
    seconds: float | None = None,
    progress: Progress | None = None,
    header: Header | None = None,
    memory: str | None = None,
) -> Attacked[Any]:
    """Attack a published folder as others could, and count what they get.

    Parameters
    ----------
    path : path
        The `publish/` folder of a release.
    original : path, frame, strings or sparse records
        What the release was made from.
    control : the same, optional
        Records like them that were not in the release: what an attack gets from those, it does not get from the
        release.
    private : path, optional
        The `private/` folder of the release, whose report then shows the results, joined with those of earlier runs
        (see `shoal.attack.kept`). If secrets were kept there, attacks
        that assume a leaked key can be run, and others can count whether they linked the right record.
    other : path, or sequence of paths, optional
        Of tables: the `publish/` folders of other releases of overlapping data.
    other_originals : sequence of paths or frames, optional
        What each of them was made from, where that is not the same as the original; persons are told by the policy's
        column.
    population : path, optional
        Of tables: a file of the whole population.
    names : sequence of str, optional
        Run only these attacks.
    seed : int, optional
        Which records are drawn.
    seconds : float, optional
        No attack is begun after so many seconds.
    header : {"first", "none"}, optional
        How the first line of original, control and population is read; by default as the manifest says.
    memory : str, optional
        Of tables: attack in about so much memory, as in "2GB", from distinct rows of the files, each with the number of
        its records. Attacks that look at records one by one are not run.
    """
    from shoal.attack.run import attack_case
    from shoal.check.folder import PublishedFolder
    from shoal.data.memory import bounded
    from shoal.kernels.compile import interpreted
    from shoal.manifest import checksum
    from shoal.report.attacks import keep_in_report, refuse_foreign
    from shoal.secrets import PrivateFolder

    if seconds is not None and not seconds >= 0:
        raise PolicyError(f"the seconds for attacks are {seconds:g}; give 0 or more")
    folder = PublishedFolder.open(path)
    kind = kind_of_folder(folder)
    others = [other] if isinstance(other, str | Path) else list(other or ())
    granted = {"other": ("a second release", others or None), "population": ("a population", population)}
    granted["memory"] = "a bound on memory", memory
    kind.refuse({name: word for name, (word, given) in granted.items() if given is not None})
    manifest = kind.manifest.parse(folder.content, folder.path)
    secrets = PrivateFolder.at(private)
    with bounded(kind.bytes_to_attack(manifest, memory, others=others or other_originals)):
        if progress is not None:
            progress("reading", 0, 0)
        records, unseen = without_held_out(kind.load_again(original, manifest, header=header), manifest, secrets)
        if control is not None:
            unseen = kind.load_others(control, records, lambda: kind.load_again(control, manifest, header=header))
        given = {"others": others, "other_originals": list(other_originals)} if others or other_originals else {}
        case = kind.case(folder, manifest, records, unseen, secrets, population=population, header=header, **given)
        if secrets is not None:
            digest = checksum(folder.path / manifest.data)
            refuse_foreign(secrets, digest)
        with interpreted(kind.is_small(records)):
            found = attack_case(kind.name, case, names, seed=seed, seconds=seconds, progress=progress)
    if secrets is not None:
        keep_in_report(secrets, digest, found, case.granted, seed)
    return found
