"""Sweeps over a user's own function: arguments, pilot, simulation in memory, and the labelled results."""

__all__: list[str] = []  # nothing here is public
