"""Floating-point noise of a textbook sampler, written anew (Mironov 2012)."""

import numpy as np

from museum.exhibit import Exhibit, pair
from tcdp_sim.privacy import PureDP

EPSILON = 0.5
COUNT = pair(0.0, 1.0, "one record added or removed")


def textbook_laplace(count: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the count with noise from the logarithm of a uniform double, as the textbooks have it."""
    uniform = rng.random(trials) - 0.5
    return count - np.sign(uniform) * np.log(1 - 2 * np.abs(uniform)) / EPSILON


def geometric(count: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the count with integer noise."""
    p = 1 - np.exp(-EPSILON)
    return count + (rng.geometric(p, trials) - rng.geometric(p, trials))


EXHIBITS = [
    Exhibit(
        "floating_point_laplace",
        ("IBM/differential-privacy-library/issues/19", "opendp/smartnoise-core/issues/242"),
        "diffprivlib and smartnoise-core of 2020", True,
        "The lowest bits of a count plus floating-point Laplace noise betray the count, because some doubles "
        "cannot occur (Mironov 2012). The sampler is the textbook's; theirs differ in details.",
        "integer noise", textbook_laplace, geometric, PureDP(EPSILON), COUNT, bits=True,
    )
]  # fmt: skip
