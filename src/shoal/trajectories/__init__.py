"""Trajectories made alike: GLOVE."""
