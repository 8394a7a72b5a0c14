"""When a row of noisy comparisons goes wrong for the first time, at a cost that does not depend on its length."""

import numpy as np

from tcdp_sim.core.arrays import Floats, Shape
from tcdp_sim.noise.distribution import Distribution


def first_above(noise: Distribution, rng: np.random.Generator, threshold: float, size: Shape) -> Floats:
    """How many of iid draws of the noise come before the first one above the threshold: whole numbers as float64.

    size: shape of the result. inf where none would come in any time (a tail of zero).
    The count is geometric: floor(E / -log(1 - tail)) with E standard exponential.
    """
    exponential = np.maximum(rng.standard_exponential(size), 2.0**-54)  # the generator's zero would be 0 / 0
    with np.errstate(divide="ignore", over="ignore"):
        return np.floor(exponential / -np.log1p(-noise.sf(threshold)))
