"""Attacks on published trajectories: by known points and places, the next trip or piece, membership."""

from shoal.attack.trajectories.known_points import HomeAndWork, KnownPoints, TopPlaces
from shoal.attack.trajectories.membership import TrajectoryMembership
from shoal.attack.trajectories.next_piece import NextPiece
from shoal.attack.trajectories.recovery import TrajectoryRecovery

TRAJECTORY_ATTACKS = (
    KnownPoints(),
    NextPiece(),
    TrajectoryRecovery(),  # these two before those that tell less of pieces, as none is begun after a minute
    HomeAndWork(),
    TopPlaces(),
    TrajectoryMembership(),
)
