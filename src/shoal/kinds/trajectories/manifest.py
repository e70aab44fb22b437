"""What a manifest says of trajectories besides what `shoal.manifest` says of all data."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictInt, model_validator

from shoal.data.trajectories.geojson import GEOJSON
from shoal.kinds.trajectories.policy import TrajectoryMethod, TrajectoryPolicy
from shoal.manifest import Manifest, Told


class TrajectoryManifest(Manifest):
    """What `publish/manifest.json` says of trajectories.

    Attributes
    ----------
    unit : {"trip", "person"}
        What one trajectory is.
    columns : mapping
        The columns of the original that were named, by what they mean.
    trajectories, points : int
        How many different lists of boxes are published, and how many points they hold.
    suppressed_because : mapping
        How many trajectories were left out for which reason.
    """

    private: ClassVar[tuple[str, ...]] = ("worst", "details")

    kind: Literal["trajectories"] = "trajectories"
    unit: Literal["trip", "person"]
    columns: dict[str, str]
    trajectories: Annotated[StrictInt, Field(ge=1)]
    points: Annotated[StrictInt, Field(ge=1)]
    suppressed_because: dict[str, Told]

    @model_validator(mode="after")
    def _whole(self) -> TrajectoryManifest:
        if self.policy.k < 1:  # also where the policy cannot be made
            raise ValueError("groups of none")
        return self

    @property
    def files(self) -> tuple[str, ...]:
        """The table of boxes, and the same for viewers, which older releases do not have."""
        has_map = self.is_of_this_version or GEOJSON in self.checksums
        return (self.data, GEOJSON) if has_map else (self.data,)

    @cached_property
    def policy(self) -> TrajectoryPolicy:
        """What was required, how it was made, and how the original is read."""
        method = {name: value for name, value in self.method.items() if name in TrajectoryMethod.model_fields}
        method = {"suppression": 1.0, "tau": None, "piece": None} | method  # of releases before there were these
        if set(method) != set(TrajectoryMethod.model_fields):
            raise ValueError("a default would be promised by nobody")
        reading: dict[str, Any] = {**self.columns, "unit": self.unit, "header": self.header}
        return TrajectoryPolicy(require=self.require, method=method, input=reading)

    def content(self) -> dict[str, Any]:
        """What the file holds; of the method what this version knows."""
        return super().content() | {"method": self.policy.told()}

    @staticmethod
    def reading(policy: TrajectoryPolicy) -> dict[str, Any]:
        """The entries that say how the original is read."""
        named = policy.input
        columns = {n: getattr(named, n) for n in ("latitude", "longitude", "time", "trip") if getattr(named, n)}
        columns |= {"person": named.person[0]} if named.person else {}
        return {"unit": named.unit, "columns": columns, "header": named.header}
