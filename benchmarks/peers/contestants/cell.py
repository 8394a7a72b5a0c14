"""The cell of a sweep that every tool computes."""


def cell(k):
    """Next to nothing."""
    return 0.5 * k
