"""The square-root factorisation: both factors are the square root of the matrix of prefix sums."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
import scipy  # loads scipy.fft when it is used

from tcdp_sim.core.arrays import Floats
from tcdp_sim.ordered.prefix_sums.factorisation import Factorisation

EPS = 2.0**-52


def square_root_coefficients(k: int) -> Floats:
    """Return binom(2i, i) / 4^i for i from 0 to k - 1, shape (k,)."""
    return np.cumprod(np.concatenate([[1.0], 1 - 0.5 / np.arange(1.0, k)]))


@dataclass(frozen=True)
class SquareRoot(Factorisation):
    """L = R = the square root of the matrix of prefix sums, a lower-triangular Toeplitz matrix.

    Its entry i places below the diagonal is binom(2i, i) / 4^i. Errors are computed by fast Fourier transforms.

    Source: Bennett (1977) [Ben77]; Fichtenberger et al. (2023) [FHU23].

    Parameters
    ----------
    k : int
        The number of bins, at least 2.
    relation : {"add_remove", "substitute"}
        The neighbouring relation.

    Examples
    --------
    >>> SquareRoot(3, "add_remove").coefficients
    array([1.   , 0.5  , 0.375])
    """

    k: int
    relation: str

    @property
    def noises(self) -> int:
        return self.k

    @cached_property
    def coefficients(self) -> Floats:
        """The first column of the square root, shape (k,). The relative rounding error is below k 2^-52."""
        return square_root_coefficients(self.k)

    @property
    def largest_move(self) -> float:
        """The diagonal of the square root is 1, and no other entry or difference of entries is larger."""
        return 1.0

    @cached_property
    def sensitivity(self) -> float:
        """The largest distance of R counts between neighbours.

        A record in the first bin moves R counts by the first column, the longest one. Under substitution two columns i
        and i + d are farthest apart for i = 0: the columns end k - i entries below their first ones, and a further
        entry adds a square to their distance.
        """
        squares = np.cumsum(self.coefficients**2)
        if self.relation == "add_remove":
            return sqrt(squares[-1]) * (1 + 4 * self.k * EPS)
        size = scipy.fft.next_fast_len(2 * self.k, real=True)
        power = np.abs(scipy.fft.rfft(self.coefficients, size)) ** 2
        inner = scipy.fft.irfft(power, size)[1 : self.k]  # of column 0 and column d
        distances = squares[-1] + squares[-2::-1] - 2 * inner
        return sqrt(distances.max() + 100 * EPS * squares[-1] * np.log2(size)) * (1 + 4 * self.k * EPS)

    def variances(self) -> Floats:
        return np.cumsum(self.coefficients**2)

    def errors(self, z: Floats) -> Floats:
        size = scipy.fft.next_fast_len(2 * self.k - 1, real=True)
        product = scipy.fft.rfft(z, size, axis=1) * scipy.fft.rfft(self.coefficients, size)
        return np.asarray(scipy.fft.irfft(product, size, axis=1)[:, : self.k])
