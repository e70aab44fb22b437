"""Attacks on published trajectories: known points, home and work, places seen most, membership."""

from shoal.attack.trajectories.known_points import HomeAndWork, KnownPoints, TopPlaces
from shoal.attack.trajectories.membership import TrajectoryMembership

TRAJECTORY_ATTACKS = (KnownPoints(), HomeAndWork(), TopPlaces(), TrajectoryMembership())
