"""A release of sketches: what was checked of them, and the folder that appears whole or not at all.

::

    out/
      publish/    data.parquet (a list of components a record, and its class), manifest.json, datasheet.html
      private/    report.json, report.html, attacks.json; on request the key of the signs, and which record each
                  sketch is of
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from shoal._version import __version__
from shoal.check.guarantee import Guarantee
from shoal.check.sparse.edges import LEAST_RECALL
from shoal.check.sparse.folder import NEIGHBOURS_FILE, asked_of, secret_files
from shoal.check.sparse.verify import SparseEvidence, is_sorted, verify_sketches
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketch_files import read_sketches, write_sketches
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError, Infeasible, NotVerified
from shoal.held_out import HeldOut
from shoal.kernels.compile import has_compiled
from shoal.kinds.sparse.manifest import DATA_FILE, SparseManifest, in_public
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.tables.manifest import FILE_NAME, checksum, checksums
from shoal.progress import Progress
from shoal.scratch import scratch_folder
from shoal.sparse.anonymize import REASONS, AnonymizedSparse, anonymize_sparse
from shoal.sparse.signs import new_key
from shoal.stage import refuse_failed, secrets_to_keep, staged
from shoal.told_counts import Count, public_reasons

if TYPE_CHECKING:
    from shoal.attack.attack import Attacked
    from shoal.attack.cases import SparseCase
    from shoal.utility.sparse.measure import SparseUtility

KEEPABLE = ("rows", "key")
ATTACK_SECONDS, ATTACK_SEED = 60.0, 0


@dataclass(frozen=True)
class SparseRelease:
    """What `anonymize` gives back for sparse records. Nothing is on disk before `save`.

    Attributes
    ----------
    sketches : Sketches
        What would be published, as it was read back from the bytes that would be written.
    guarantees : tuple of Guarantee
        Recomputed from those bytes, the original, the rows and the key, by the independent checker; all hold.
    policy : SparsePolicy
        What was asked for.
    notes : tuple of str
        What the user should know, a sentence each.
    suppressed : mapping of str to int
        How many records were left out, by the reason; reasons that did not occur are not there.
    neighbours : {"exact", "partition"}, optional
        How neighbours were found, where the guarantee is about them.
    recall : float, optional
        Of neighbours that were not found exactly: the share of the true ones that were, on a sample.
    """

    sketches: Sketches
    guarantees: tuple[Guarantee, ...]
    policy: SparsePolicy
    notes: tuple[str, ...]
    suppressed: Mapping[str, int]
    neighbours: Literal["exact", "partition"] | None
    recall: float | None
    _original: Sparse = field(repr=False)
    _evidence: SparseEvidence = field(repr=False)
    _checksum: str = field(repr=False)
    _held_out: HeldOut[Sparse] | None = field(default=None, repr=False)

    @property
    def data(self) -> Sketches:
        """What would be published."""
        return self.sketches

    @property
    def records(self) -> dict[str, int]:
        """How many records came in, went out and were suppressed, and how many were held out before."""
        n_in, n_out = len(self._original), len(self.sketches)
        held = {} if self._held_out is None else self._held_out.counts
        return {"in": n_in, "out": n_out, "suppressed": n_in - n_out, **held}

    @property
    def told_counts(self) -> tuple[dict[str, Count], dict[str, Count]]:
        """The numbers of records, and those of suppressed ones by the reason, as they are told in public."""
        return public_reasons(self.records, self.suppressed, self.policy.least_told)

    @property
    def suppressed_sentence(self) -> str:
        """What was suppressed and why, in plain words."""
        return suppressed_sentence(self.suppressed, self.records["in"], self.policy)

    @property
    def case(self) -> SparseCase:
        """What attacks work on; for the owner alone, as it holds the key."""
        from shoal.attack.cases import SparseCase

        control = None if self._held_out is None else self._held_out.records
        return SparseCase(self.sketches, self._original, control, self._evidence.rows, self._evidence.key)

    @cached_property
    def utility(self) -> SparseUtility:
        """What the protection cost; see `shoal.utility.sparse`."""
        from shoal.utility.sparse.measure import measure_sketches

        assert self._evidence.rows is not None
        return measure_sketches(self._original, self.sketches, self._evidence.rows, make=self._make_again)

    @cached_property
    def attacked(self) -> Attacked[SparseCase]:
        """What attacks get out of the release, on a sample of it that takes seconds; `shoal attack` tries more."""
        from shoal.attack.attack import Attacked, run_attacks
        from shoal.attack.sparse import REPORT_ATTACKS, SPARSE_ATTACKS

        found = run_attacks(REPORT_ATTACKS, self.case, seed=ATTACK_SEED, seconds=ATTACK_SECONDS)
        tried = {a.name for a in REPORT_ATTACKS}
        longer = tuple(
            (a.name, "It takes longer; shoal attack runs it.") for a in SPARSE_ATTACKS if a.name not in tried
        )
        return Attacked(found.results, (*found.skipped, *longer))

    def _make_again(self, records: Sparse) -> tuple[Sketches, np.ndarray[tuple[int], np.dtype[np.int64]]]:
        """Sketches of other records, or of some of these, under the same policy and key: to measure what they cost."""
        assert self._evidence.key is not None
        made = anonymize_sparse(records, self.policy, self._evidence.key)
        return made.sketches, made.rows

    def save(self, out: str | Path, keep: Sequence[str] = (), *, report: bool = True) -> Path:
        """Write `publish/` and `private/`.

        Parameters
        ----------
        out : path
            A folder that does not exist yet, or is empty.
        keep : sequence of {"rows", "key"}
            Secrets to keep in `private/`: which record each sketch is of, and the key that its signs come from.
        report : bool
            Whether to measure what the protection cost and to write report.json and report.html into `private/`; else
            nothing is measured, drawn or attacked, and `publish/` is the same.
        """
        from shoal.attack.kept import keep_first
        from shoal.report.content import write_report
        from shoal.report.sparse.report import report_content

        wanted = secrets_to_keep(keep, KEEPABLE)
        with staged(Path(out)) as stage:
            self._write_publish(stage / "publish")
            self._write_private(stage / "private", wanted)
            if report:
                keep_first(stage, self.attacked, self.case.granted, ATTACK_SEED)
                write_report(stage / "private", report_content(self))
        return Path(out)

    def _write_publish(self, folder: Path) -> None:
        from shoal.report.sparse.datasheet import render_sparse_datasheet

        folder.mkdir()
        write_sketches(self.sketches, folder / DATA_FILE)
        if checksum(folder / DATA_FILE) != self._checksum:  # not the bytes that were checked, so they are checked now
            _verify_file(folder / DATA_FILE, self.sketches, self.policy, self.neighbours, self._evidence)
        guarantees = tuple(in_public(g) for g in self.guarantees)
        sheet = render_sparse_datasheet(replace(self, guarantees=guarantees))
        (folder / "datasheet.html").write_text(sheet, encoding="utf-8")
        told, reasons = self.told_counts
        manifest = SparseManifest(
            version=__version__,
            policy=self.policy,
            step=self.sketches.step,
            has_classes=self.sketches.labels is not None,
            neighbours=self.neighbours,
            records=told,
            suppressed=reasons,
            guarantees=tuple(g.to_dict() for g in guarantees),
            checksums=checksums(folder, [DATA_FILE, "datasheet.html"]),
        )
        (folder / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")

    def _write_private(self, folder: Path, keep: Sequence[str]) -> None:
        folder.mkdir(mode=0o700)
        for name, text in secret_files(self._evidence, keep).items():
            (folder / name).write_text(text, encoding="utf-8")
        if "rows" in keep and self._evidence.neighbours is not None:
            np.save(folder / NEIGHBOURS_FILE, self._evidence.neighbours, allow_pickle=False)
        if self._held_out is not None:
            self._held_out.keep(folder)
        for path in folder.iterdir():
            path.chmod(0o600)

    def _repr_html_(self) -> str:
        rows = "".join(f"<li>{escape(g.sentence)}</li>" for g in self.guarantees)
        return f"<p><b>Release</b> of {len(self.sketches):,} sketches</p><ul>{rows}</ul>"


def release_sparse(
    original: Sparse,
    policy: SparsePolicy,
    *,
    seed: int | None = None,
    key: bytes | None = None,
    progress: Progress | None = None,
    held_out: HeldOut[Sparse] | None = None,
) -> SparseRelease:
    """Sketch records, write them to a file of no name, and check what is read back from it.

    Parameters
    ----------
    key : bytes, optional
        The key of another release, to be comparable with it; else a new one, from the seed if there is one.

    Raises
    ------
    Infeasible
        If no record can be published under the policy.
    NotVerified
        If the check does not confirm everything; then nothing is left of it.
    """
    if not len(original):
        raise DataError("there are no records, so there is nothing to publish; give a file with some")
    notes = list(original.source.notes)
    if key is not None:
        notes.append(
            "the key is that of another release: whoever learns a record and its sketch in one of them learns about "
            "the signs of both, and a record that is in both has the same components in both"
        )
    elif seed is not None:
        # On T20.I4, with popularities from other records, 5,000 seeds take 3 s to try: the mean of all sketches
        # correlates by 0.997 with what the right one expects, by 0.85 with the next.
        notes.append(
            "the key comes from the seed: whoever tries seeds finds it, and then has the key; leave the seed out for "
            "a release that is given away"
        )
    secret = key if key is not None else new_key(seed)
    if progress is not None:
        progress("sketching" if has_compiled() else "compiling (on the first run only), then sketching", 0, 0)
    made = anonymize_sparse(original, policy, secret, progress=progress)
    if made.neighbours is not None and made.neighbours.recall is not None and made.neighbours.recall < LEAST_RECALL:
        raise Infeasible(
            f"a search in parts of the data finds {100 * made.neighbours.recall:.0f} % of the nearest records only, "
            "too few to promise anything about them; ask for neighbours = 'exact', or for delta-anonymity alone"
        )
    if not len(made.sketches):
        raise Infeasible(f"no record can be published: {_why_none(_suppressed(made), policy)}")
    if progress is not None:
        progress("checking the release", 0, 0)
    how = None if made.neighbours is None else made.neighbours.how
    evidence = SparseEvidence(original, made.rows, secret, None if made.neighbours is None else made.neighbours.indices)
    with scratch_folder() as scratch:
        path = scratch / DATA_FILE
        write_sketches(made.sketches, path)
        published, guarantees = _verify_file(path, made.sketches, policy, how, evidence)
        digest = checksum(path)
    return SparseRelease(
        sketches=published,
        guarantees=guarantees,
        policy=policy,
        notes=(*notes, *made.notes),
        suppressed=_suppressed(made),
        neighbours=how,
        recall=None if made.neighbours is None else made.neighbours.recall,
        _original=original,
        _evidence=evidence,
        _checksum=digest,
        _held_out=held_out,
    )


def suppressed_sentence(suppressed: Mapping[str, int], n_in: int, policy: SparsePolicy) -> str:
    """What was suppressed and why.

    >>> suppressed_sentence({"empty": 1, "too_short": 3}, 500, SparsePolicy())
    '4 of 500 records were suppressed: 1 is empty; 3 have too few items for even one component.'
    """
    if not suppressed:
        return f"No record was suppressed: all {n_in:,} have a sketch."
    total = sum(suppressed.values())
    verb = "record was" if total == 1 else "records were"
    return f"{total:,} of {n_in:,} {verb} suppressed: {_reasons(suppressed, policy)}."


def _reasons(suppressed: Mapping[str, int], policy: SparsePolicy) -> str:
    words = {
        "empty": ("is empty", "are empty"),
        "small_class": (
            f"is of a class of fewer than {policy.method.rare}",
            f"are of classes of fewer than {policy.method.rare}",
        ),
        "too_short": ("has too few items for even one component", "have too few items for even one component"),
        "too_distinct": ("is too far from its neighbours", "are too far from their neighbours"),
    }
    return "; ".join(f"{n:,} {words[name][n > 1]}" for name, n in suppressed.items())


def _why_none(suppressed: Mapping[str, int], policy: SparsePolicy) -> str:
    """Why nothing is left, and what to do about the reason that most records share."""
    cap = ", or give records of more items: the recovery cap leaves none to short or common ones"
    remedies = {
        "empty": "give records with items",
        "small_class": "lower rare, or leave out the classes",
        "too_short": f"lower delta{cap * policy.method.recovery_cap}",
        "too_distinct": "lower k, or add records like them",
    }
    worst = max(suppressed, key=lambda name: suppressed[name])
    return f"{_reasons(suppressed, policy)}. To publish some, {remedies[worst]}"


def _suppressed(made: AnonymizedSparse) -> dict[str, int]:
    counts = np.bincount(made.reasons, minlength=len(REASONS)).tolist()
    return {name: n for name, n in zip(REASONS, counts, strict=True) if n and name != "kept"}


def _verify_file(
    path: Path,
    made: Sketches,
    policy: SparsePolicy,
    neighbours: Literal["exact", "partition"] | None,
    evidence: SparseEvidence,
) -> tuple[Sketches, tuple[Guarantee, ...]]:
    """Run the checker on the file as any reader would see it."""
    written = read_sketches(path)
    if not _is_same(written, made) or not is_sorted(written):
        raise NotVerified("the written file does not read back as the sketches that were made; nothing was published")
    assert evidence.original is not None
    n_filled = int((evidence.original.sizes > 0).sum())
    verdict = verify_sketches(written, asked_of(policy, neighbours, n_filled), evidence)
    refuse_failed(verdict)
    return written, verdict.guarantees


def _is_same(one: Sketches, other: Sketches) -> bool:
    """Whether two sets of sketches agree in everything, classes by their names."""
    return (
        one.step == other.step
        and one.is_integral == other.is_integral
        and np.array_equal(one.starts, other.starts)
        and np.array_equal(one.components, other.components)
        and _class_names(one) == _class_names(other)
    )


def _class_names(sketches: Sketches) -> list[str] | None:
    return None if sketches.labels is None else [sketches.classes[c] for c in sketches.labels.tolist()]
