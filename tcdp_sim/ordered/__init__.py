"""Ordered domains: interior points, thresholds, quantiles and prefix sums of records on a line."""

__all__: list[str] = []  # its rooms have the public names
