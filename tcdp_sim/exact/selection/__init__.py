"""Exact laws of private selection: success probabilities, output distributions and privacy."""
