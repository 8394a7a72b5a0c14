"""The loss of a table of logarithms to rounding, so that the noise keeps its guarantee exactly as it is stored.

A stored log mass of size up to `depth` is wrong by at most two units in its last place. The causes are one product, a
sum for the weight of its run, and the subtraction that normalises the table. A fall between neighbours is then wrong by
less than 2^-50 depth, and a mass by less than that factor. So tables are made for falls that are smaller by `slack`,
four times as much, and for a delta that is smaller by a factor 1 - 4 slack.
"""

_PER_DEPTH = 2.0**-48
_LEAST = 40.0  # loss of a difference of two masses, in terms of the logarithm of either


def slack(depth: float) -> float:
    """Return the margin in nats by which falls must stay below epsilon.

    `depth` >= 0 is minus the log of the smallest mass.
    """
    return _PER_DEPTH * (depth + _LEAST)


def kept(epsilon: float, delta: float, slack: float) -> tuple[float, float]:
    """Return the fall per point and the delta for which a table is made.

    Masses are equal if epsilon is below rounding. Both values are unchanged at slack = 0.
    """
    return (epsilon - slack if epsilon >= 2 * slack else 0.0), delta * (1 - 4 * slack)
