"""What no mechanism can do better: lower bounds on the number of records, or on the error."""

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.noise.base import Reals


def least_sample_size(rho: ArrayLike, omega: ArrayLike, bins: ArrayLike) -> Reals:
    """Corollary 27 of Bun-Dwork-Rothblum-Steinke 2018: the n below which no (rho, omega)-tCDP release works.

    "Works" = on every data set of n records the largest error is below n / 2 with probability 1/2. In records;
    NaN where the bound is vacuous (log(k / 4) <= 2 omega^2 rho).
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        n = (omega - 1) * np.log((np.log(bins) - np.log(4)) / (2 * np.square(omega) * rho))  # type: ignore[operator]
    return np.where(n > 0, n, np.nan)[()]
