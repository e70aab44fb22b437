"""Benchmarks of `shoal.strings`."""
