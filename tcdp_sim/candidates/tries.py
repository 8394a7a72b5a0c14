"""The number K of private runs, of which the best one is released: its law, draws and generating function.

Let f(x) = E x^K. If a run's output is worse than y with probability F, the best of K runs is worse with probability
f(F). So the density of the best output is f'(F) times the density of a run. All functions here take S = 1 - F, the
probability of better outputs, because F is close to one where it matters.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import exp, expm1, inf, log

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.core.numerics import root

LAWS = ("poisson", "geometric", "logarithmic")
MOST_TRIES = 1e6
LEAST_SHAPE = 0.1  # below, most draws of the sampler would be zeros and be thrown away


class Tries(ABC):
    """The law of the number of runs.

    Source: Papernot and Steinke (2022) [PS22].

    Attributes
    ----------
    mean : float
        The mean number of runs.
    none : float
        The probability of no run.

    Examples
    --------
    >>> tries_of("geometric", 10.0).none
    0.0
    """

    @property
    @abstractmethod
    def mean(self) -> float:
        """The mean number of runs."""

    @property
    @abstractmethod
    def none(self) -> float:
        """The probability of no run."""

    @property
    @abstractmethod
    def steepness(self) -> float:
        """The largest -d log f'(1 - S) / dS, by which errors of S are multiplied."""

    @abstractmethod
    def slope(self, better: Floats) -> Floats:
        """Return f'(1 - S) for the probability S of better outputs, at every S where the formula is defined."""

    @abstractmethod
    def mass(self, better: Floats, own: Floats) -> Floats:
        """Return f(1 - S) - f(1 - S - p): the probability that the best output is one of those with probability p.

        Parameters
        ----------
        better : ndarray of float
            S, the probability that a run's output is better than those.
        own : ndarray of float
            p, the probability that a run's output is one of them, with S + p <= 1.

        Returns
        -------
        ndarray of float
            The probabilities.
        """

    @abstractmethod
    def sample(self, trials: int, *, rng: np.random.Generator) -> Ints:
        """Return independent numbers of runs, shape (trials,)."""


@dataclass(frozen=True)
class PoissonTries(Tries):
    """A Poisson number of runs.

    Source: Papernot and Steinke (2022) [PS22].

    Parameters
    ----------
    average : float
        The mean, above 0 and at most 1e6.

    Examples
    --------
    >>> round(PoissonTries(5.0).none, 6)
    0.006738
    """

    average: float

    def __post_init__(self) -> None:
        scalar("average", self.average, 0, np.nextafter(MOST_TRIES, inf))

    @property
    def mean(self) -> float:
        return self.average

    @property
    def none(self) -> float:
        return exp(-self.average)

    @property
    def steepness(self) -> float:
        return self.average

    def slope(self, better: Floats) -> Floats:
        return np.asarray(self.average * np.exp(-self.average * np.asarray(better)))

    def mass(self, better: Floats, own: Floats) -> Floats:
        return np.asarray(-np.exp(-self.average * np.asarray(better)) * np.expm1(-self.average * np.asarray(own)))

    def sample(self, trials: int, *, rng: np.random.Generator) -> Ints:
        return rng.poisson(self.average, trials)


@dataclass(frozen=True)
class NegativeBinomialTries(Tries):
    """A truncated negative binomial number of runs, at least one.

    P[K = n] is in proportion to (1 - stop)^n times the product of (l + shape) / (l + 1) over l < n. Shape 1 is the
    geometric law, and shape 0 the logarithmic one, P[K = n] ~ (1 - stop)^n / n.

    Source: Papernot and Steinke (2022), Definition 1 [PS22].

    Parameters
    ----------
    shape : float
        eta in the paper: 0, or at least 0.1 and below 100.
    stop : float
        gamma in the paper, in (0, 1).

    Examples
    --------
    >>> NegativeBinomialTries(1.0, 0.125).mean
    8.0
    """

    shape: float
    stop: float

    def __post_init__(self) -> None:
        if self.shape != 0:
            scalar("shape", self.shape, LEAST_SHAPE, 100.0, closed=True)
        scalar("stop", self.stop, 0, 1)

    @property
    def mean(self) -> float:
        if self.shape == 0:
            return (1 / self.stop - 1) / -log(self.stop)
        return self.shape * (1 / self.stop - 1) / -expm1(self.shape * log(self.stop))

    @property
    def none(self) -> float:
        return 0.0

    @property
    def steepness(self) -> float:
        return (1 + self.shape) * (1 - self.stop) / self.stop

    def _going(self, better: Floats) -> Floats:
        """Return stop + (1 - stop) S."""
        return np.asarray(self.stop + (1 - self.stop) * np.asarray(better))

    def slope(self, better: Floats) -> Floats:
        going = self._going(better)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(going > 0, self.mean * (self.stop / going) ** (1 + self.shape), inf)

    def mass(self, better: Floats, own: Floats) -> Floats:
        going = self._going(better)
        ratio = np.log1p((1 - self.stop) * np.asarray(own) / going)  # log of the two values of g
        if self.shape == 0:
            return np.asarray(ratio / -log(self.stop))
        whole = -expm1(self.shape * log(self.stop))
        return np.asarray(-((self.stop / going) ** self.shape) * np.expm1(-self.shape * ratio) / whole)

    def sample(self, trials: int, *, rng: np.random.Generator) -> Ints:
        if self.shape == 0:
            return rng.logseries(1 - self.stop, trials)
        if self.shape == 1:
            return rng.geometric(self.stop, trials)
        drawn = np.zeros(trials, dtype=np.int64)
        while len(empty := np.flatnonzero(drawn == 0)):
            drawn[empty] = rng.negative_binomial(self.shape, self.stop, len(empty))
        return drawn


def tries_of(law: str, mean: float) -> Tries:
    """Return the law of the number of runs with this name and mean.

    Parameters
    ----------
    law : {"poisson", "geometric", "logarithmic"}
        The name of the law.
    mean : float
        The mean number of runs, above 1 and at most 1e6.

    Returns
    -------
    Tries
        The law.

    Examples
    --------
    >>> tries_of("geometric", 8.0)
    NegativeBinomialTries(shape=1.0, stop=0.125)
    """
    choice("law", law, LAWS)
    mean = scalar("mean", mean, 1, np.nextafter(MOST_TRIES, inf))
    if law == "poisson":
        return PoissonTries(mean)
    if law == "geometric":
        return NegativeBinomialTries(1.0, 1 / mean)
    # with x = log(1 / stop) the mean is (e^x - 1) / x, which lies between 1 + x / 2 and e^x
    excess = root(lambda x: expm1(x) / x - mean, min(1e-9, 0.1 * log(mean)), 2 * log(mean) + 4, 1e-300, 1e-14)
    return NegativeBinomialTries(0.0, exp(-excess))
