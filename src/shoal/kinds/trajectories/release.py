"""A release of trajectories: boxes that at least k persons share, and what was checked of them; see `shoal.release`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.arrays import Ints
from shoal.check.guarantee import Guarantee
from shoal.check.trajectories.folder import asked_of
from shoal.check.trajectories.verify import TrajectoryEvidence, verify_boxes
from shoal.data.trajectories.boxes import TrajectoryBoxes, boxes_file_name, read_boxes, table_of, write_boxes
from shoal.data.trajectories.geojson import GEOJSON, geojson_of
from shoal.data.trajectories.trajectories import Trajectories
from shoal.errors import DataError, Infeasible, NotVerified
from shoal.held_out import HeldOut
from shoal.kernels.trajectories.cuts import first_boxes
from shoal.kinds.trajectories.manifest import TrajectoryManifest
from shoal.kinds.trajectories.policy import TrajectoryPolicy
from shoal.manifest import Manifest
from shoal.progress import Progress
from shoal.release import Pages, Release
from shoal.secrets import write_groups
from shoal.stage import CheckedFile, checked_file, refuse_failed
from shoal.told_counts import FEWEST, SOME, Count, public_counts
from shoal.trajectories.glove import Glove
from shoal.trajectories.k_tau_eps import KTauEps

if TYPE_CHECKING:
    from shoal.attack.trajectories.case import TrajectoryCase
    from shoal.utility.trajectories.measure import TrajectoryUtility


@dataclass(frozen=True, kw_only=True, repr=False)
class TrajectoryRelease(Release[TrajectoryBoxes]):
    """What `anonymize` gives back for trajectories. Nothing is on disk before `save`."""

    kind: ClassVar[str] = "trajectories"
    noun: ClassVar[str] = "trajectories"
    keepable: ClassVar[tuple[str, ...]] = ("groups",)
    pages: ClassVar[Pages] = Pages.of("trajectories")

    _groups: Ints = field(repr=False)

    @property
    def data(self) -> Any:
        """The boxes as the kind of frame that came in, a row each; `TrajectoryBoxes` where none did."""
        if self._like is None or isinstance(self._like, Trajectories):
            return self.published
        from shoal.data.tables.frames import to_frame

        return to_frame(table_of(self.published), self._like)

    @property
    def n_points(self) -> int:
        """How many points came in."""
        return len(self._original.time)

    @cached_property
    def n_shown(self) -> int:
        """How many of them stand in a box."""
        return count_shown(self._original, self.published, self._groups)

    @property
    def told_counts(self) -> tuple[dict[str, Count], dict[str, Count]]:
        """As of other data; trajectories of fewer than k persons, of whom each may have many, are not counted out."""
        n_persons = len(np.unique(self._original.persons[self._groups < 0]))
        if 0 < n_persons < max(self.policy.k, FEWEST):
            return public_counts(self.records, self.policy.k, n_persons), {"alone": SOME}
        return super().told_counts

    @property
    def case(self) -> TrajectoryCase:
        """What attacks work on; for the owner alone."""
        from shoal.attack.trajectories.case import TrajectoryCase

        method, k = self.policy.method, self.policy.k
        return TrajectoryCase(self.published, self._original, self._control, method.tau, k)

    @cached_property
    def utility(self) -> TrajectoryUtility:
        """What the protection cost; see `shoal.utility.trajectories`."""
        from shoal.utility.trajectories.measure import measure_trajectories

        return measure_trajectories(self._original, self.published, self._groups)

    @property
    def suppressed_sentence(self) -> str:
        """What was left out, in plain words."""
        n, n_points = sum(self.suppressed.values()), self.n_points - self.n_shown
        alone = (
            f"No {self.policy.one} was left out"
            if not n
            else f"{n:,} of {len(self._original):,} {self.policy.many} {'was' if n == 1 else 'were'} left out, as "
            f"fewer than {self.policy.k} persons were near {'it' if n == 1 else 'them'}"
        )
        return f"{alone}; of all points {100 * n_points / self.n_points:.1f} % were left out."

    def _told(self) -> dict[str, Any]:
        points = {"in": self.n_points, "out": self.n_shown}
        return {"trajectories": self.published.n_trajectories, "points": points}

    def _cost(self) -> str:
        return f"{self.utility.sentence} {self.suppressed_sentence}"

    def _write_and_check(self) -> tuple[CheckedFile, tuple[Guarantee, ...]]:
        file, (_, guarantees) = _write_and_check(self.published, self.policy, self._evidence)
        return file, guarantees

    @property
    def _evidence(self) -> TrajectoryEvidence:
        return TrajectoryEvidence(self._original, self._groups)

    def _manifest(self, **told: Any) -> Manifest:
        return TrajectoryManifest(
            **told,
            **TrajectoryManifest.reading(self.policy),
            require=tuple(r.model_dump() for r in self.policy.require),
            guarantees=TrajectoryManifest.claims(self.guarantees),
            method=self.policy.told(),
            trajectories=self.published.n_trajectories,
            points=int(self.published.points.sum()),
            suppressed_because=self.told_counts[1],
        )

    def _keep(self, folder: Path, keep: Sequence[str]) -> None:
        if "groups" in keep:
            write_groups(folder, self._groups)


def release_trajectories(
    original: Trajectories,
    policy: TrajectoryPolicy,
    *,
    progress: Progress | None = None,
    like: Any = None,
    held_out: HeldOut[Trajectories] | None = None,
) -> TrajectoryRelease:
    """Merge trajectories, write the boxes to a file of no name, and check what is read back from it.

    Raises
    ------
    Infeasible
        If there are fewer than k persons, or no k of them are within the limits.
    """
    if policy.method.tau is not None and original.n_persons < len(original):
        raise DataError("some persons have several trajectories; for tau give all points of a person as one")
    least = policy.k if policy.method.tau is None else policy.k**2
    if original.n_persons < least:
        why = f"k = {policy.k}" if policy.method.tau is None else f"tau with k = {policy.k} needs {least}"
        raise Infeasible(f"there are {original.n_persons:,} persons, and {why}; lower k, or give more")
    method = policy.method
    grid, largest = method.round_grid, (method.metres, method.minutes)
    if method.tau is None:
        made, groups = Glove(policy.k, *largest, grid, method.suppression).group(original, progress)
    else:
        made, groups = KTauEps(policy.k, method.tau, *largest, grid).group(original, progress)
    if not made.n_trajectories:
        raise Infeasible(
            f"no {policy.k} persons have trajectories that fit into boxes of {method.metres:g} m and "
            f"{method.minutes:g} minutes; allow larger ones (--metres, --minutes), or lower k"
        )
    refuse_suppressed(count_shown(original, made, groups), len(original.time), policy)
    made = replace(made, source=replace(original.source, name="data", notes=()))
    file, (published, guarantees) = _write_and_check(made, policy, TrajectoryEvidence(original, groups))
    n_alone = int((groups < 0).sum())
    return TrajectoryRelease(
        published=published,
        guarantees=guarantees,
        policy=policy,
        notes=original.source.notes,
        suppressed={"alone": n_alone} if n_alone else {},
        _original=original,
        _groups=groups,
        _file=file,
        _like=like,
        _held_out=held_out,
    )


def count_shown(original: Trajectories, boxes: TrajectoryBoxes, groups: Ints) -> int:
    """How many points stand in a box of the published trajectory of theirs."""
    cells = boxes.grid.cells(original.latitude, original.longitude, original.time)
    return int((first_boxes(boxes.sides, boxes.starts, cells, groups[original.owners]) >= 0).sum())


def refuse_suppressed(n_out: int, n_in: int, policy: TrajectoryPolicy) -> None:
    """Refuse to leave out more points than the policy lets.

    Raises
    ------
    Infeasible
    """
    share, most = (n_in - n_out) / n_in, policy.method.suppression
    if share > most:
        raise Infeasible(
            f"{100 * share:.1f} % of the points would be left out, and {100 * most:g} % may be; allow larger boxes "
            f"(--metres, --minutes), lower k, or let more be left out (--suppression)"
        )


def _write_and_check(
    made: TrajectoryBoxes, policy: TrajectoryPolicy, evidence: TrajectoryEvidence
) -> tuple[CheckedFile, tuple[TrajectoryBoxes, tuple[Guarantee, ...]]]:
    """Write boxes, and run the checker on the file as any reader would see it."""

    def write(path: Path) -> None:
        write_boxes(made, path)
        (path.parent / GEOJSON).write_bytes(geojson_of(made))

    def check(path: Path) -> tuple[TrajectoryBoxes, tuple[Guarantee, ...]]:
        written = read_boxes(path, policy.method.round_grid, made.source)
        names = ("sides", "points", "starts", "persons", "trips")
        is_same = all(np.array_equal(getattr(written, n), getattr(made, n)) for n in names)
        if not is_same or (path.parent / GEOJSON).read_bytes() != geojson_of(written):
            raise NotVerified("the written file does not read back as the boxes that were made; nothing was published")
        verdict = verify_boxes(written, asked_of(policy), evidence)
        refuse_failed(verdict)
        return written, verdict.guarantees

    return checked_file(boxes_file_name(made), write, check, (GEOJSON,))
