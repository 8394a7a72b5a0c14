"""The cell of a sweep that every tool computes."""


def cell(k):
    """Return a value at next to no cost."""
    return 0.5 * k
