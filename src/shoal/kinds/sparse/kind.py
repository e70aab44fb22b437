"""Sparse records as a kind of data: baskets, texts, rows with few of many items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.data.sparse.records import Sparse
from shoal.errors import DataError, PolicyError
from shoal.kind import SMALL, Kind, Run
from shoal.kinds.sparse.policy import KM_PUBLICATIONS, SparsePolicy
from shoal.shown import Grid

if TYPE_CHECKING:
    from shoal.arrays import Ints
    from shoal.attack.attack import Attack
    from shoal.attack.sparse.case import BasketCase, SparseCase
    from shoal.check.folder import FolderCheck, PublishedFolder
    from shoal.held_out import HeldOut
    from shoal.kinds.sparse.baskets import BasketRelease
    from shoal.kinds.sparse.harden import SparseLadder
    from shoal.kinds.sparse.km import KMRelease
    from shoal.kinds.sparse.manifest import SparseManifest
    from shoal.kinds.sparse.profile import SparseProfile
    from shoal.kinds.sparse.release import SparseRelease
    from shoal.kinds.sparse.sweep import SparseTrials
    from shoal.progress import Progress
    from shoal.report.board.facts import BoardFacts
    from shoal.secrets import PrivateFolder
    from shoal.stream.releases import ReleaseWindows


class SparseKind(Kind):
    """Records that hold few of many items, published as pseudo-baskets or as sketches, made in one piece."""

    name = "sparse"
    published = "sparse records"
    report_template = "sparse_report.html"
    pictures: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("component_histogram", "product_scatter"), "shoal.report.sparse.pictures"
    )
    takes: ClassVar[Mapping[str, str]] = {"key": "whose sketches it makes comparable with those of another release"}
    policy = SparsePolicy

    @property
    def manifest(self) -> type[SparseManifest]:
        """See `shoal.kinds.sparse.manifest`."""
        from shoal.kinds.sparse.manifest import SparseManifest

        return SparseManifest

    def first_rows(self, records: Any, n: int) -> Grid:
        """A line a record, its items with their weights where these are not all 1; of sketches none."""
        if not isinstance(records, Sparse):
            return Grid((), [])
        some = records.take(np.arange(min(n, len(records))))
        words = [
            some.names[i] if some.is_binary else f"{some.names[i]}:{weight:g}"
            for i, weight in zip(some.items.tolist(), some.weights.tolist(), strict=True)
        ]
        bounds = some.starts.tolist()
        return Grid(("items",), [(" ".join(words[a:b]),) for a, b in pairwise(bounds)])

    def recognises(self, source: Any) -> bool:
        """SVMlight files, `Sparse`, and sparse matrices of scipy."""
        if isinstance(source, str | Path):
            from shoal.data.sparse.files import looks_like_sparse

            return looks_like_sparse(source) is not None
        return isinstance(source, Sparse) or (hasattr(source, "tocsr") and hasattr(source, "nnz"))

    def load(self, source: Any, policy: SparsePolicy) -> Sparse:
        """A file or folder, or sparse records, as the policy's input says."""
        if policy.memory is not None:
            raise PolicyError("of sparse records memory is for releases, and all are held here: leave memory out")
        return self._held(source, policy)

    def load_to_release(self, source: Any, policy: SparsePolicy, run: Run) -> Any:
        """With a bound on memory, what is counted over all records."""
        if policy.memory is None:
            return self.load(source, policy)
        from shoal.kinds.sparse.unheld import UnheldRecords

        return UnheldRecords.of(source, policy)

    def _held(self, source: Any, policy: SparsePolicy) -> Sparse:
        if isinstance(source, str | Path):
            from shoal.data.sparse.files import read_sparse

            return read_sparse(source, **policy.input.model_dump())
        if policy.input.person:
            raise PolicyError(
                "person names a column of a file, and the records are in memory; say whose they are with "
                "Sparse.with_persons"
            )
        if isinstance(source, Sparse):
            return source
        if hasattr(source, "tocsr"):
            return Sparse.from_csr(source)
        if isinstance(source, list | tuple):
            return Sparse.of(source)
        raise PolicyError(
            "the policy is for sparse records; give a path, a list of lists of items, a sparse matrix of scipy, or "
            "Sparse"
        )

    def is_small(self, data: Any, policy: Any = None) -> bool:
        """Whether there are few items in all."""
        return (len(data.items) if isinstance(data, Sparse) else data.counted.n_entries) <= 10 * SMALL

    def persons(self, data: Any, policy: SparsePolicy) -> Ints | None:
        """Whose each record is, where that is known."""
        return data.persons if isinstance(data, Sparse) else None

    def load_again(
        self,
        source: Any,
        manifest: SparseManifest,
        policy: SparsePolicy | None = None,
        *,
        label: str | None = None,
        header: str | None = None,
    ) -> Sparse:
        """As the policy says, or else the manifest."""
        told = policy or manifest.policy
        return self._held(source, told if header is None else told.changed(header=header))

    def profile(self, data: Sparse, policy: SparsePolicy, *, sweep: bool, progress: Progress | None) -> SparseProfile:
        """Count records, items and classes."""
        from shoal.kinds.sparse.profile import profile_sparse_records

        return profile_sparse_records(data, policy)

    def release(
        self, data: Any, policy: SparsePolicy, run: Run, *, like: Any = None, held_out: HeldOut[Sparse] | None = None
    ) -> SparseRelease | BasketRelease | KMRelease:
        """Deal items anew, break rare combinations up, or sketch records."""
        if policy.memory is not None:
            from shoal.kinds.sparse.unheld import release_unheld

            if held_out is not None:
                raise PolicyError("other records to compare with are for those in memory: leave memory out")
            if policy.publish == "pseudo":
                from shoal.kinds.sparse.unheld_baskets import release_unheld_baskets

                self._refuse_key(run)
                return release_unheld_baskets(data, policy, run)
            return release_unheld(data, policy, seed=run.seed, key=run.key, progress=run.progress)
        if not len(data):
            raise DataError("there are no records, so there is nothing to publish; give a file with some")
        if policy.publish == "pseudo":
            from shoal.kinds.sparse.baskets import release_baskets

            self._refuse_key(run)
            return release_baskets(data, policy, run, like=like, held_out=held_out)
        if policy.publish in KM_PUBLICATIONS:
            from shoal.kinds.sparse.km import release_km

            self._refuse_key(run)
            return release_km(data, policy, run, like=like, held_out=held_out)
        from shoal.kinds.sparse.release import release_sparse

        return release_sparse(data, policy, seed=run.seed, key=run.key, progress=run.progress, held_out=held_out)

    def _refuse_key(self, run: Run) -> None:
        if run.key is not None:
            raise PolicyError('a key is for sketches; leave it out, or ask for publish = "sketch"')

    def check(
        self,
        folder: PublishedFolder,
        manifest: SparseManifest,
        original: Sparse | None,
        policy: SparsePolicy | None,
        private: PrivateFolder | None,
    ) -> FolderCheck:
        """See `shoal.check.sparse.folder`."""
        from shoal.check.sparse.folder import check_baskets, check_sparse
        from shoal.check.sparse.km_folder import check_km
        from shoal.kinds.sparse.manifest import BasketManifest, KMManifest, SketchManifest

        if policy is not None and policy.publish != manifest.policy.publish:
            raise PolicyError(
                f'the folder holds what publish = "{manifest.policy.publish}" makes, and the policy asks for '
                f'"{policy.publish}"; give one for what it holds'
            )
        if isinstance(manifest, KMManifest):
            return check_km(folder, manifest, original, policy)
        if isinstance(manifest, BasketManifest):
            return check_baskets(folder, manifest, original, policy, _kept(private))
        assert isinstance(manifest, SketchManifest)
        return check_sparse(folder, manifest, original, policy, _kept(private))

    def windows(self, policy: SparsePolicy, *, seed: int | None, key: bytes | None) -> ReleaseWindows:
        """Pseudo-baskets, or sketches that one key makes; see `shoal.stream.releases`."""
        from shoal.stream.releases import ReleaseWindows, sketch_lines

        if policy.publish in KM_PUBLICATIONS:
            raise PolicyError(
                f'publish = "{policy.publish}" counts combinations of a whole; ask for "pseudo" or "sketch"'
            )
        formats = ("baskets", "svmlight")
        if policy.publish == "pseudo":
            self._refuse_key(Run(key=key))
            return ReleaseWindows(self, policy, formats, seed)
        from shoal.sparse.signs import new_key

        return ReleaseWindows(self, policy, formats, seed, key or new_key(), sketch_lines)

    @property
    def attacks(self) -> Sequence[Attack[Any]]:
        """See `shoal.attack.sparse`."""
        from shoal.attack.sparse import SPARSE_ATTACKS

        return list(SPARSE_ATTACKS.values())

    def case(
        self,
        folder: PublishedFolder,
        manifest: SparseManifest,
        original: Sparse,
        control: Sparse | None,
        private: PrivateFolder | None,
        **_: Any,
    ) -> SparseCase | BasketCase:
        """What was published, and what the attacker is given."""
        from shoal.attack.sparse.case import BasketCase, SparseCase
        from shoal.check.sparse.folder import published_baskets, published_sketches, read_evidence
        from shoal.check.sparse.km_folder import published_km
        from shoal.kinds.sparse.km import km_case
        from shoal.kinds.sparse.manifest import BasketManifest, KMManifest, SketchManifest

        if isinstance(manifest, KMManifest):
            return km_case(published_km(folder, manifest), original, control, manifest.labels)
        if isinstance(manifest, BasketManifest):
            return BasketCase(published_baskets(folder, manifest), original, control)
        assert isinstance(manifest, SketchManifest)
        published, kept = published_sketches(folder, manifest), _kept(private)
        unit = manifest.policy.method.unit
        if kept is None:
            return SparseCase(published, original, control, unit=unit)
        secrets = read_evidence(kept, original)
        if secrets.rows is not None and (len(secrets.rows) != len(published) or secrets.rows.max() >= len(original)):
            raise DataError(
                f"the rows in {kept.path} are not those of this release and original; give those that belong to it"
            )
        return SparseCase(published, original, control, secrets.rows, secrets.key, unit)

    def ladder(self, data: Sparse, policy: SparsePolicy) -> SparseLadder:
        """See `shoal.kinds.sparse.harden`."""
        from shoal.kinds.sparse.harden import SparseLadder

        return SparseLadder(data, policy)

    def board(self, release: SparseRelease | BasketRelease | KMRelease) -> BoardFacts:
        """Items that were dealt anew stand for no record, and sketches for one that is not told."""
        from shoal.report.board.facts import BoardFacts, suppression_of

        policy = release.policy
        if policy.publish in KM_PUBLICATIONS:
            done = ("suppression", f"any {policy.m} items that occur together are held by at least {policy.k} records")
            bound_by = "Classes of look-alikes are those of a few known items, as the guarantee counts them."
        elif policy.publish == "pseudo":
            done = ("permutation", f"items were dealt anew in groups of at least {policy.k} records")
            bound_by = "A published record stands for no original one, so no class of look-alikes can be counted."
        else:
            done = ("randomization", "random projections by a secret key; the standard has no narrower name for them")
            bound_by = "Sketches are not made alike in classes; what a key or neighbours tell is told by attacks."
        return BoardFacts(
            "record",
            release.records,
            [done, *suppression_of(release.records, "record")],
            known=("some items, or all, of a record",),
            bound_by=bound_by,
        )

    def trials(self, policy: SparsePolicy, target: str | None = None) -> SparseTrials:
        """See `shoal.kinds.sparse.sweep`."""
        from shoal.kinds.sparse.sweep import SparseTrials

        return SparseTrials(policy, target)

    def shown(
        self, release: SparseRelease | BasketRelease | KMRelease, *, report: bool = True
    ) -> tuple[list[str], list[str]]:
        """How many records there are, and what was left out."""
        from shoal.kinds.sparse.baskets import BasketRelease
        from shoal.kinds.sparse.km import KMRelease

        if isinstance(release, KMRelease):
            return release.shown(), []
        if isinstance(release, BasketRelease):
            return _baskets_shown(release), []
        records, counts = release.records, release.component_counts
        lines = [
            f"{records['out']:,} sketches published of {records['in']:,} records{_in_groups(release)}, with "
            f"{counts.min():,} to {counts.max():,} components, {counts.mean():.1f} on average.",
            f"  {release.suppressed_sentence}",
        ]
        return lines, []


def _in_groups(release: SparseRelease) -> str:
    n = release.n_groups
    return "" if n is None else f" in {n:,} group{'s' * (n != 1)}, a sketch of its sum for each record of a group"


def _baskets_shown(release: BasketRelease) -> list[str]:
    records = release.records
    groups = f"{release.n_groups:,} group{'s' * (release.n_groups != 1)}"
    return [
        f"{records['out']:,} pseudo-baskets published for {records['in']:,} records, whose items were dealt out again "
        f"in {groups}.",
        f"  {release.suppressed_sentence}",
        f"  {release.items_sentence}",
    ]


def _kept(private: PrivateFolder | None) -> PrivateFolder | None:
    from shoal.secrets import GROUPS_FILE, KEY_FILE, ROWS_FILE

    return None if private is None else private.if_it_holds(ROWS_FILE, KEY_FILE, GROUPS_FILE)


KIND = SparseKind()
