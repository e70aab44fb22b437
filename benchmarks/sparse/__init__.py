"""Benchmarks of sparse records."""
