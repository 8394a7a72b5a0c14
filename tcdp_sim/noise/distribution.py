"""The first concern of a noise: its distribution, from six methods."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcdp_sim.core.arrays import Reals
from tcdp_sim.noise.guard import is_foreign
from tcdp_sim.noise.missing import cannot
from tcdp_sim.noise.moments import kurtosis_by_quadrature
from tcdp_sim.noise.parametric import Parametric

_OF_SCALES = np.array([0.45, 0.2, 1e-3, 1e-9])  # tail probabilities at which a scaled law is checked
LEAST_LOG = -690.0  # below, a probability is no longer a float


class Distribution(Parametric, ABC):
    """A distribution on the reals that is symmetric about zero, in counts.

    Methods are vectorised over their argument and over array-valued parameters, which broadcast as in scipy.stats.
    Scalars give scalars. Values are accurate to about 1e-12 relative, from the centre to tail probabilities of 1e-300.
    The log forms and `sf`/`isf` are for the upper tail. Probabilities outside [0, 1] and NaN give NaN.

    `is_discrete`: True for a noise without a density. It protects whole numbers only, and makes ties. `is_staircase`:
    True if the density is known to be constant between its `kinks`. `isotropic`: True if the joint law of several
    coordinates depends on their Euclidean length only.
    """

    _gives_fallbacks = True

    family: ClassVar[str]
    density_cost: ClassVar[int] = 1  # the cost of a density or a loss, roughly, in those of an elementary density
    tail_cost: ClassVar[int] = 20  # the cost of a tail probability, roughly, in evaluations of a density
    is_discrete: ClassVar[bool] = False
    is_staircase: ClassVar[bool] = False
    isotropic: ClassVar[bool] = False

    @abstractmethod
    def logpdf(self, x: ArrayLike) -> Reals:
        """Return the natural log of the density at x."""

    @abstractmethod
    def sf(self, x: ArrayLike) -> Reals:
        """Return P[Z > x]."""

    @abstractmethod
    def logsf(self, x: ArrayLike) -> Reals:
        """Return log P[Z > x]."""

    @abstractmethod
    def isf(self, p: ArrayLike) -> Reals:
        """Return the x with P[Z > x] = p."""

    @abstractmethod
    def var(self) -> Reals:
        """Return the variance, in counts squared."""

    @abstractmethod
    def sample(self, size: Any = None, *, rng: np.random.Generator) -> Reals:
        """Return independent draws of shape `size` (default: the shape of the parameters)."""

    def pdf(self, x: ArrayLike) -> Reals:
        """Return the density at x."""
        return np.exp(self.logpdf(x))

    def cdf(self, x: ArrayLike) -> Reals:
        """Return P[Z <= x]."""
        return self.sf(np.negative(x, dtype=np.float64))  # as floats, because -uint wraps round

    def logcdf(self, x: ArrayLike) -> Reals:
        """Return log P[Z <= x]."""
        return self.logsf(np.negative(x, dtype=np.float64))

    def ppf(self, p: ArrayLike) -> Reals:
        """Return the x with P[Z <= x] = p."""
        return -self.isf(p)

    def isf_log(self, log_p: ArrayLike) -> Reals:
        """Return the x with log P[Z > x] = log_p, for log_p <= 0.

        The fallback only handles probabilities that are floats. It raises ValueError below e^-690.
        """
        if np.min(log_p, initial=0) < LEAST_LOG:
            raise cannot(
                f"find quantiles of {self!r} beyond e^{LEAST_LOG:g}",
                "there a probability is no float",
                "isf_log",
                instead="log2_k <= 980",
            )
        return self.isf(np.exp(log_p))

    def mean(self) -> Reals:
        """Return zero, of the shape of the parameters."""
        return np.zeros(self.shape)[()]

    def kurtosis(self) -> float:
        """Return E Z^4 / var^2 of a noise with plain numbers as parameters, inf where the fourth moment is infinite.

        The fallback integrates the tail to about 1e-9. It takes a fourth moment for infinite if its tail has not died
        out within the floats.
        """
        return kurtosis_by_quadrature(self.logsf, float(self.isf(0.25)))

    def fill(self, out: NDArray[np.float64], *, rng: np.random.Generator) -> None:
        """Fill `out` with independent draws in C order, the stream of `sample` for its shape."""
        out[...] = self.sample(size=out.shape, rng=rng)

    @property
    def step_length(self) -> float | None:
        """Return the length of the steps of a density that is a staircase, in counts, else None.

        The privacy loss of such a noise has a law in closed form at whole multiples of the length.
        """
        return None

    @property
    def steps(self) -> NDArray[np.float64]:
        """Return the places where the density jumps, ascending, in counts; the fallback knows none."""
        return np.empty(0)

    @property
    def kinks(self) -> NDArray[np.float64]:
        """Return the places where the density or a derivative of it jumps, ascending, in counts.

        The fallback names the centre, the ends of the support, and `steps`.
        """
        end = float(self.isf(0.0))
        return np.unique([0.0, *self.steps, *([-end, end] if np.isfinite(end) else [])])

    def scaled(self, factor: float) -> Self:
        """Return the law of factor Z, for factor > 0; the fallback takes every parameter to be in counts."""
        made = type(self)(*(factor * value for value in self._values()))
        if is_foreign(type(self)) and not self.shape:
            x = self.isf(_OF_SCALES)
            if not np.allclose(made.sf(factor * x), self.sf(x), rtol=1e-6):
                raise cannot(f"scale {self!r}", "not every parameter is in counts", "scaled")
        return made
