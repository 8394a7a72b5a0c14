"""Distributed Monte Carlo experiments for differential privacy under truncated concentrated DP."""

__version__ = "0.1.0"
