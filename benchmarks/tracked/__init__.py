"""Ratios of `python -m benchmarks` for asv. One run measures both sides, so ratios of different machines compare."""
