"""Trajectories as a kind of data: where persons were, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from shoal.data.trajectories.trajectories import Trajectories
from shoal.kind import SMALL, Kind, Run
from shoal.kinds.trajectories.policy import TrajectoryPolicy
from shoal.shown import Grid

if TYPE_CHECKING:
    from shoal.arrays import Ints
    from shoal.attack.attack import Attack
    from shoal.attack.trajectories.case import TrajectoryCase
    from shoal.check.folder import FolderCheck, PublishedFolder
    from shoal.held_out import HeldOut
    from shoal.kinds.trajectories.manifest import TrajectoryManifest
    from shoal.kinds.trajectories.profile import TrajectoryProfile
    from shoal.kinds.trajectories.release import TrajectoryRelease
    from shoal.progress import Progress
    from shoal.report.board.facts import BoardFacts
    from shoal.secrets import PrivateFolder


class TrajectoryKind(Kind):
    """Moving objects."""

    name = "trajectories"
    published = "trajectories"
    report_template = "trajectories_report.html"
    pictures: ClassVar[Mapping[str, str]] = {"heat_maps": "shoal.report.trajectories.pictures"}
    takes: ClassVar[Mapping[str, str]] = {}
    policy = TrajectoryPolicy

    @property
    def manifest(self) -> type[TrajectoryManifest]:
        """See `shoal.kinds.trajectories.manifest`."""
        from shoal.kinds.trajectories.manifest import TrajectoryManifest

        return TrajectoryManifest

    def first_rows(self, records: Any, n: int) -> Grid:
        """A line a point; of boxes none."""
        if not isinstance(records, Trajectories):
            return Grid((), [])
        owners = records.owners[:n].tolist()
        cells = zip(
            owners,
            (str(t) for t in records.time[:n].astype("datetime64[s]")),
            records.latitude[:n].tolist(),
            records.longitude[:n].tolist(),
            strict=True,
        )
        return Grid(
            ("trajectory", "time", "latitude", "longitude"),
            [(str(owner + 1), time, f"{lat:.6g}", f"{lon:.6g}") for owner, time, lat, lon in cells],
            ("latitude", "longitude"),
        )

    def recognises(self, source: Any) -> bool:
        """GPX and GeoJSON files, and `Trajectories`."""
        if isinstance(source, str | Path):
            from shoal.data.trajectories.files import looks_like_tracks

            return looks_like_tracks(source)
        return isinstance(source, Trajectories)

    def load(self, source: Any, policy: TrajectoryPolicy) -> Trajectories:
        """A file, a frame of points, or trajectories; cut into pieces where the policy says so."""
        from shoal.data.trajectories.pieces import in_pieces, whole_trips

        trips, minutes = self._trips(source, policy), policy.method.piece
        return whole_trips(trips) if minutes is None else in_pieces(trips, minutes)

    def _trips(self, source: Any, policy: TrajectoryPolicy) -> Trajectories:
        if isinstance(source, Trajectories):
            return source
        from shoal.data.trajectories.files import points_in, read_trajectories

        asked = policy.input
        if not isinstance(source, str | Path):
            from shoal.data.tables.frames import from_frame

            return points_in(from_frame(source, header=asked.header), unit=asked.unit, wanted=asked.wanted)
        return read_trajectories(source, unit=asked.unit, header=asked.header, wanted=asked.wanted)

    def is_small(self, data: Trajectories, policy: Any = None) -> bool:
        """Whether there are few points."""
        return len(data.time) <= 8 * SMALL

    def load_again(
        self,
        source: Any,
        manifest: TrajectoryManifest,
        policy: TrajectoryPolicy | None = None,
        *,
        label: str | None = None,
        header: str | None = None,
    ) -> Trajectories:
        """As the manifest says."""
        told = manifest.policy if header is None else manifest.policy.changed(header=header)
        return self.load(source, told)

    def profile(
        self, data: Trajectories, policy: TrajectoryPolicy, *, sweep: bool, progress: Progress | None
    ) -> TrajectoryProfile:
        """Count points, stops and gaps, and how many points single a person out."""
        from shoal.kinds.trajectories.profile import profile_of

        return profile_of(data, policy)

    def release(
        self,
        data: Trajectories,
        policy: TrajectoryPolicy,
        run: Run,
        *,
        like: Any = None,
        held_out: HeldOut[Trajectories] | None = None,
    ) -> TrajectoryRelease:
        """Merge trajectories into boxes."""
        from shoal.kinds.trajectories.release import release_trajectories

        return release_trajectories(data, policy, progress=run.progress, like=like, held_out=held_out)

    def persons(self, data: Trajectories, policy: TrajectoryPolicy) -> Ints | None:
        """Whose each trajectory is."""
        import numpy as np

        return np.unique(data.persons, return_inverse=True)[1].astype(np.int64)

    def check(
        self,
        folder: PublishedFolder,
        manifest: TrajectoryManifest,
        original: Trajectories | None,
        policy: TrajectoryPolicy | None,
        private: PrivateFolder | None,
    ) -> FolderCheck:
        """See `shoal.check.trajectories.folder`."""
        from shoal.check.trajectories.folder import check_trajectories
        from shoal.secrets import GROUPS_FILE

        kept = None if private is None else private.if_it_holds(GROUPS_FILE)
        return check_trajectories(folder, manifest, original, policy, kept)

    @property
    def attacks(self) -> Sequence[Attack[Any]]:
        """See `shoal.attack.trajectories`."""
        from shoal.attack.trajectories import TRAJECTORY_ATTACKS

        return TRAJECTORY_ATTACKS

    def case(
        self,
        folder: PublishedFolder,
        manifest: TrajectoryManifest,
        original: Trajectories,
        control: Trajectories | None,
        private: PrivateFolder | None,
        **_: Any,
    ) -> TrajectoryCase:
        """The published boxes, and what the attacker is given."""
        from shoal.attack.trajectories.case import TrajectoryCase
        from shoal.check.trajectories.folder import published_boxes

        asked = manifest.policy
        return TrajectoryCase(published_boxes(folder, manifest), original, control, asked.method.tau, asked.k)

    def board(self, release: TrajectoryRelease) -> BoardFacts:
        """Trajectories are shared by at least k persons."""
        from shoal.report.board.facts import BoardFacts

        left = release.n_points - int(release.published.points.sum())
        return BoardFacts(
            release.policy.one,
            release.records,
            [
                ("local generalization", "points became boxes in space and time that a group shares"),
                *([("local suppression", f"{left:,} of {release.n_points:,} points were left out")] if left else []),
                *(
                    [("record suppression", f"{n:,} {release.policy.many}")]
                    if (n := release.records["suppressed"])
                    else []
                ),
            ],
            known=(f"some or all places of a {release.policy.one}, with times",),
            bound=1 / int(release.published.persons.min()),
            bound_by="Every published list of boxes is shared by at least that many.",
        )

    def shown(self, release: TrajectoryRelease, *, report: bool = True) -> tuple[list[str], list[str]]:
        """How many trajectories there are, and what was left out."""
        records, boxes, many = release.records, release.published, release.policy.many
        lines = [
            f"{records['out']:,} of {records['in']:,} {many} published as {boxes.n_trajectories:,} lists of "
            f"boxes; {release.n_shown:,} of {release.n_points:,} points lie in a box.",
            f"  {release.suppressed_sentence}",
        ]
        return lines, [f"  {release.utility.sentence}"] if report else []


KIND = TrajectoryKind()
