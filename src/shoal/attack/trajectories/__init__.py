"""Attacks on published trajectories: by known points and places, the next trip or piece, membership."""

from shoal.attack.trajectories.known_points import HomeAndWork, KnownPoints, TopPlaces
from shoal.attack.trajectories.membership import TrajectoryMembership
from shoal.attack.trajectories.next_piece import NextPiece
from shoal.attack.trajectories.recovery import TrajectoryRecovery

TRAJECTORY_ATTACKS = (
    KnownPoints(),
    HomeAndWork(),
    TopPlaces(),
    TrajectoryRecovery(),
    NextPiece(),
    TrajectoryMembership(),
)
