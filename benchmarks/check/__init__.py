"""Benchmarks of `shoal.check`."""
