"""Ours and the peers on the same data in one run. `python -m benchmarks --help` says how."""
