"""What the user asks for of trajectories: one small object, equally a TOML file.

::

    kind = "trajectories"
    [input]
    person = ["user_id"]
    trip = "trajectory_id"
    unit = "trip"
    [[require]]
    model = "k-anonymity"
    k = 5
    [method]
    metres = 5000
    minutes = 240
    suppression = 0.1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from shoal.data.tables.header import Header
from shoal.data.trajectories.columns import Wanted
from shoal.data.trajectories.grid import Grid3D
from shoal.models.k_anonymity import KAnonymity
from shoal.policy import BasePolicy, Option, Strict, header_option, option, person_option

if TYPE_CHECKING:
    from typing_extensions import Self

    from shoal.kinds.trajectories.profile import TrajectoryProfile
    from shoal.kinds.trajectories.release import TrajectoryRelease


class TrajectoryInput(Strict):
    """How the file is read; columns that are not named are found by their names."""

    latitude: str | None = option(None, "Column of the latitudes, in degrees.", instead="found", metavar="COLUMN")
    longitude: str | None = option(None, "Column of the longitudes, in degrees.", instead="found", metavar="COLUMN")
    time: str | None = option(None, "Column that says when.", instead="found", metavar="COLUMN")
    trip: str | None = option(None, "Column with the trip that a point belongs to.", instead="found", metavar="COLUMN")
    unit: Literal["trip", "person"] = option("trip", "What one trajectory is: a trip, or all points of a person.")
    person: tuple[str, ...] = person_option()
    header: Header | None = header_option()

    @field_validator("person", mode="before")
    @classmethod
    def _one_or_several(cls, person: Any) -> Any:
        return (person,) if isinstance(person, str) else person

    @field_validator("person")
    @classmethod
    def _one_alone(cls, person: tuple[str, ...]) -> tuple[str, ...]:
        if len(person) > 1:
            raise ValueError("of trajectories one column says whose a point is")
        return person

    @property
    def wanted(self) -> Wanted:
        """The columns that are named."""
        return Wanted(self.latitude, self.longitude, self.time, self.person, self.trip)


class TrajectoryMethod(Strict):
    """How trajectories are made alike. See `shoal.trajectories.glove`."""

    metres: float = option(5000.0, "No side of a box is longer; points that would stretch it more are left out.", gt=0)
    minutes: float = option(240.0, "No box lasts longer; points that would stretch it more are left out.", gt=0)
    suppression: float = option(
        0.1, "Share of points that may be left out, to keep boxes small; more is refused.", metavar="SHARE", ge=0, le=1
    )
    tau: float | None = option(
        None,
        "Protect against someone who knows this many minutes in a row and may learn as many more: k^(tau, eps).",
        instead="whole trajectories",
        metavar="MINUTES",
        gt=0,
    )
    piece: float | None = option(
        None,
        "Cut trips every so many minutes of the clock; each piece is published by itself, and nothing ties it to "
        "the others.",
        instead="whole trips",
        metavar="MINUTES",
        ge=0.1,
        le=1440,
    )
    cell: float = option(0.0005, "Grid on which the sides of boxes lie, in degrees.", metavar="DEGREES", ge=1e-5, le=10)
    slot: float = option(5.0, "Grid on which the times of boxes lie, in minutes.", metavar="MINUTES", ge=0.1, le=1440)

    @property
    def round_grid(self) -> Grid3D:
        """The grid that ends of boxes stand on."""
        return Grid3D(self.cell, max(round(60 * self.slot), 1))


class TrajectoryPolicy(BasePolicy):
    """All that a release of trajectories is asked to be.

    Examples
    --------
    >>> policy = TrajectoryPolicy.of(k=3, minutes=30)
    >>> policy.k, policy.method.minutes
    (3, 30.0)
    """

    noun: ClassVar[str] = "trajectories"
    plural: ClassVar[str] = "trajectories"
    surely: ClassVar[str] = "GPX, GeoJSON"
    arguments: ClassVar[tuple[Option, ...]] = (Option("k", int, "Groups of at least k.", is_common=True),)

    kind: Literal["trajectories"] = "trajectories"
    input: TrajectoryInput = Field(TrajectoryInput(), description="How a file is read.")
    require: tuple[KAnonymity, ...] = Field((KAnonymity(k=5),), description="The guarantee.")
    method: TrajectoryMethod = Field(TrajectoryMethod(), description="How trajectories are made alike.")

    @model_validator(mode="after")
    def _tau_of_persons(self) -> Self:
        method = self.method
        if method.tau is not None:
            if method.piece is not None:
                raise ValueError("tau protects whole days of persons, and piece cuts them: leave one of both out")
            if self.input.unit != "person":
                raise ValueError('tau is for all points of a person; ask for it with unit = "person" (--unit person)')
            if 60 * method.tau % method.round_grid.slot:
                raise ValueError(f"tau must be a whole number of slots of {method.slot:g} minutes")
        return self

    @field_validator("require")
    @classmethod
    def _one(cls, require: tuple[KAnonymity, ...]) -> tuple[KAnonymity, ...]:
        if len(require) != 1:
            raise ValueError("of trajectories one guarantee is required, k-anonymity")
        return require

    @property
    def k(self) -> int:
        """Fewest persons who share a published trajectory."""
        return self.require[0].k

    if TYPE_CHECKING:

        def _release(self) -> TrajectoryRelease: ...

        def _profile(self) -> TrajectoryProfile: ...

    def changed(self, *, k: int | None = None, **values: Any) -> Self:
        """The same policy with some things asked otherwise: `k`, and keys of the policy, its method or its input."""
        if k is not None:
            values["require"] = ({"model": "k-anonymity", "k": k},)
        return super().changed(**values)

    @property
    def one(self) -> str:
        """What is published by itself."""
        return "trajectory" if self.method.piece is None else "piece"

    @property
    def many(self) -> str:
        """The same of several."""
        return "trajectories" if self.method.piece is None else "pieces"

    def told(self) -> dict[str, Any]:
        """All parameters of the method, for the manifest."""
        return {"name": "glove" if self.method.tau is None else "k-tau-eps"} | self.method.model_dump()
