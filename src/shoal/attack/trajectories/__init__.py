"""Attacks on published trajectories: known points, home and work, places seen most, the next trip, membership."""

from shoal.attack.trajectories.known_points import HomeAndWork, KnownPoints, TopPlaces
from shoal.attack.trajectories.membership import TrajectoryMembership
from shoal.attack.trajectories.recovery import TrajectoryRecovery

TRAJECTORY_ATTACKS = (KnownPoints(), HomeAndWork(), TopPlaces(), TrajectoryRecovery(), TrajectoryMembership())
