"""Attack a published folder with what its owner has: the original, controls, and the secrets that were kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.attack.attack import Attack, Attacked, run_attacks
from shoal.attack.cases import SparseCase, StringCase, TableCase
from shoal.check.evidence import ROWS_FILE, read_rows
from shoal.check.tables.folder import data_file, header_of, markers_of, published_folder, published_table
from shoal.data.tables.meaning import attributes_of
from shoal.errors import DataError, PolicyError, did_you_mean
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.tables.manifest import Manifest, checksum, read_content
from shoal.kinds.tables.policy import ColumnPolicy, Policy
from shoal.originals import kept_secrets, kind_of_release, load, load_sparse, load_strings, split_original
from shoal.progress import Progress
from shoal.told_counts import n_published

if TYPE_CHECKING:
    from shoal.data.sparse.records import Sparse
    from shoal.data.strings.strings import Strings
    from shoal.data.tables.table import Table


def attack_folder(
    path: str | Path,
    original: Any,
    control: Any = None,
    private: str | Path | None = None,
    *,
    other: str | Path | None = None,
    population: str | Path | None = None,
    names: Sequence[str] | None = None,
    seed: int | None = 0,
    seconds: float | None = None,
    progress: Progress | None = None,
    header: str | None = None,
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
    other : path, optional
        Of tables: the `publish/` folder of a second release of overlapping data.
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
    """
    if seconds is not None and not seconds >= 0:
        raise PolicyError(f"the seconds for attacks are {seconds:g}; give 0 or more")
    kind = kind_of_release(path, None)
    folder = published_folder(path)
    secrets = None if private is None else Path(private)
    if kind != "table" and (other is not None or population is not None):
        raise PolicyError("a second release and a population are for attacks on tables; leave them out")
    if progress is not None:
        progress("reading", 0, 0)
    case: Any
    if kind == "sparse":
        from shoal.check.sparse.folder import KEY_FILE
        from shoal.kinds.sparse.manifest import SparseManifest

        policy = SparseManifest.read(folder).policy
        policy = policy if header is None else policy.changed(header=header)
        records, unseen = split_original(folder, load_sparse(original, policy), secrets)
        unseen = load_sparse(control, policy) if control is not None else unseen
        case = sparse_case(folder, records, unseen, kept_secrets(secrets, ROWS_FILE, KEY_FILE))
    elif kind == "strings":
        strings, others = split_original(folder, _original_strings(folder, original, header), secrets)
        unseen_strings = _original_strings(folder, control, header) if control is not None else others
        case = string_case(folder, strings, unseen_strings)
    else:
        markers, header = markers_of(folder), header or header_of(folder)
        table, held_out = split_original(folder, load(original, markers, header), secrets)
        case = table_case(
            folder,
            table,
            load(control, markers, header) if control is not None else held_out,
            secrets,
            None if other is None else published_folder(other),
            None if population is None else load(Path(population), markers, header),
        )
    if secrets is None:
        return attack_case(kind, case, names, seed=seed, seconds=seconds, progress=progress)
    from shoal.report.attacks import keep_in_report, refuse_foreign

    digest = checksum(folder / read_content(folder)["data"])
    refuse_foreign(secrets, digest)
    found = attack_case(kind, case, names, seed=seed, seconds=seconds, progress=progress)
    keep_in_report(secrets, digest, found, case.granted, seed)
    return found


def attacks_of(kind: str) -> tuple[Attack[Any], ...]:
    """All attacks on a kind of data."""
    if kind == "sparse":
        from shoal.attack.sparse import SPARSE_ATTACKS

        return tuple(SPARSE_ATTACKS)
    if kind == "strings":
        from shoal.attack.strings import STRING_ATTACKS

        return tuple(STRING_ATTACKS)
    from shoal.attack.tables import TABLE_ATTACKS

    return tuple(TABLE_ATTACKS)


def attack_case(
    kind: str,
    case: Any,
    names: Sequence[str] | None = None,
    *,
    seed: int | None = 0,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Attacked[Any]:
    """Run the attacks on a case, or those that are named."""
    attacks = attacks_of(kind)
    known = [a.name for a in attacks]
    for name in names or ():
        if name not in known:
            raise PolicyError(f"there is no attack {name!r} on this kind of data; {did_you_mean(name, known)}")
    return run_attacks(attacks, case, names, seed=seed, seconds=seconds, progress=progress)


def table_case(
    folder: Path,
    original: Table,
    control: Table | None,
    private: Path | None,
    other: Path | None,
    population: Table | None,
) -> TableCase:
    """The case of a published table."""
    manifest = Manifest.read(folder)
    layout = manifest.layout
    columns = (
        manifest.attributes if layout is None else {a: manifest.attributes[c] for c, a in layout.attributes.items()}
    )
    missing = [n for n in columns if n not in original.columns]
    if missing:
        raise DataError(f"the original has no column {missing[0]!r}, which was published; give the original itself")
    roles = {n: ColumnPolicy(role=a.role, type=a.type, order=a.order) for n, a in columns.items()}
    policy = Policy(columns=roles, missing_markers=manifest.missing_markers)
    return TableCase(
        published=published_table(folder, manifest, n_most=original.n_rows),
        original=original,
        control=control,
        quasi=[n for n, a in columns.items() if a.role == "quasi"],
        sensitive=[n for n, a in columns.items() if a.role == "sensitive"],
        attributes=attributes_of(original.select(list(columns)), policy),
        publication=str(manifest.method["publish"]),
        layout=layout,
        rows=_rows(private),
        other=None if other is None else _published_table(other),
        population=population,
        policy=_told_policy(manifest, policy),
    )


def _told_policy(manifest: Manifest, columns: Policy) -> Policy | None:
    """What a manifest says that was asked; None where another version asked for what this one does not know."""
    try:
        return Policy(
            columns=columns.columns,
            missing=manifest.missing,
            missing_markers=manifest.missing_markers,
            require=manifest.require,
            method=dict(manifest.method),
        )
    except PolicyError:
        return None


def string_case(folder: Path, original: Strings, control: Strings | None) -> StringCase:
    """The case of published strings."""
    from shoal.data.strings.files import read_strings_back
    from shoal.kinds.strings.manifest import StringManifest

    manifest = StringManifest.read(folder)
    path = data_file(folder, manifest.data, n_published(manifest.records))
    return StringCase(read_strings_back(path, manifest.source), original, control)


def sparse_case(folder: Path, original: Sparse, control: Sparse | None, private: Path | None) -> SparseCase:
    """The case of published sketches."""
    from shoal.check.sparse.folder import published_sketches, read_secrets
    from shoal.kinds.sparse.manifest import SparseManifest

    published = published_sketches(folder, SparseManifest.read(folder))
    if private is None:
        return SparseCase(published, original, control)
    secrets = read_secrets(private, original)
    if secrets.rows is not None and (len(secrets.rows) != len(published) or secrets.rows.max() >= len(original)):
        raise DataError(
            f"the rows in {private} are not those of this release and original; give those that belong to it"
        )
    return SparseCase(published, original, control, secrets.rows, secrets.key)


def _rows(private: Path | None) -> Any:
    """The original row of each published one, if they were kept."""
    if private is None:
        return None
    return read_rows(private)


def _published_table(folder: Path) -> Table:
    return published_table(folder, Manifest.read(folder))


def _original_strings(folder: Path, source: Any, header: str | None) -> Strings:
    from shoal.check.strings.folder import read_original

    if isinstance(source, str | Path):
        return read_original(folder, source, header=header)
    return load_strings(source, StringPolicy())
