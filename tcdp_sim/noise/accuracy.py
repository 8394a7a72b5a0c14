"""The largest of many draws of a noise: the radius that theorems guarantee."""

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Reals
from tcdp_sim.noise.distribution import Distribution


class HasErrorRadius(Distribution):
    """A distribution with bounds on the largest of many independent draws."""

    _gives_fallbacks = True

    def accuracy_radius(self, k: ArrayLike, failure: ArrayLike) -> Reals:
        """Return the radius that with probability >= 1 - failure none of `k` draws exceeds in absolute value.

        `k`: the number of draws, from 1 to 1e300.
        """
        return self.isf(0.5 * np.exp(-self._log_ratio(k, failure)))

    def printed_radius(self, rho: float, k: ArrayLike, failure: ArrayLike) -> Reals | None:
        """Return a radius that a paper prints for the noise at `rho` and that is wrong, kept to show so.

        The fallback is None, for a noise without such a radius.
        """
        return None

    @staticmethod
    def _log_ratio(k: ArrayLike, failure: ArrayLike) -> Reals:
        return np.log(k) - np.log(failure)
