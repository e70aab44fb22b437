"""Benchmarks of `shoal.tables`."""
