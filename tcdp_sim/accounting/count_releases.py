"""Counts with discrete Gaussian noise, released by level and query: their ledger and the usual conversions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum, inf, log, sqrt
from typing import Self

import numpy as np

from tcdp_sim.accounting.ledger import MOST_RELEASES, Ledger
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.core.numerics import root
from tcdp_sim.noise import DiscreteGaussian, Gaussian
from tcdp_sim.privacy import ZCDP, to_approx_dp
from tcdp_sim.privacy.relation import known_relation

CELLS = {"add_remove": 1, "substitute": 2}  # the cells of one histogram that a record of the neighbours changes


@dataclass(frozen=True)
class CountReleases:
    """Histograms of counts with discrete Gaussian noise of unequal sizes.

    A record is counted in one cell of each histogram. Under add/remove it changes one cell. Under substitution (bounded
    differential privacy) it may leave a cell and enter another one, so each histogram counts twice.

    Source: Canonne et al. (2020) [CKS20].

    Parameters
    ----------
    sigma_squared : sequence of float
        The parameter sigma^2 of the noise in the cells of each histogram, in counts^2, above 0.
    relation : {"substitute", "add_remove"}
        The neighbouring relation.
    shift : sequence of int, or int
        The change of a cell by one record, in counts, at least 1.
    times : sequence of int, or int
        The number of independent releases of each histogram, at least 1.

    Examples
    --------
    >>> from tcdp_sim.accounting import CountReleases
    >>> counts = CountReleases([50.0, 20.0], "substitute")
    >>> round(counts.rho, 3), round(counts.ledger().epsilon(1e-10).upper, 3)
    (0.07, 2.279)
    """

    sigma_squared: Sequence[float]
    relation: str = "substitute"
    shift: Sequence[int] | int = 1
    times: Sequence[int] | int = 1

    def __post_init__(self) -> None:
        known_relation(self.relation)
        if not isinstance(self.sigma_squared, Sequence | np.ndarray) or not len(self.sigma_squared):
            raise ValueError(f"sigma_squared = {self.sigma_squared!r} is not valid; valid: numbers above 0")
        variances = tuple(scalar("sigma_squared", value, 0) for value in self.sigma_squared)
        object.__setattr__(self, "sigma_squared", variances)
        for name in ("shift", "times"):
            object.__setattr__(self, name, _wholes(name, getattr(self, name), len(variances)))

    @property
    def rho(self) -> float:
        """The least rho of zCDP: the sum of cells shift^2 / (2 sigma^2). Discrete Gaussian noise attains it."""
        cells = CELLS[self.relation]
        return fsum(cells * times * shift**2 / (2 * variance) for variance, shift, times in self._rows())

    def ledger(self) -> Ledger:
        """Return the ledger of all releases.

        Returns
        -------
        Ledger
            Its brackets are exact: they hold for the worst pair of neighbours, and that pair attains them.
        """
        return counts_ledger(self.sigma_squared, self.relation, self.shift, self.times)

    def scaled(self, factor: float) -> Self:
        """Return the releases with every sigma^2 multiplied by a factor.

        Parameters
        ----------
        factor : float
            The factor, above 0.

        Returns
        -------
        CountReleases
            The releases.
        """
        factor = scalar("factor", factor, 0)
        return replace(self, sigma_squared=tuple(factor * variance for variance in self.sigma_squared))

    def conversions(self, delta: float) -> dict[str, float]:
        """Return the epsilon at delta that common formulas give.

        Parameters
        ----------
        delta : float
            delta, in (0, 1).

        Returns
        -------
        dict of str to float
            - "simple": rho + 2 sqrt(rho log(1 / delta)) (Bun and Steinke 2016 [BS16]). It is an upper bound.
            - "best": the conversion of rho-zCDP that `to_approx_dp` gives, by the best order and test. It is an
              upper bound.
            - "continuous": the epsilon of continuous Gaussian noise of the same rho. It is no bound: the truth for
              discrete noise lies below or above it.
        """
        delta, rho = scalar("delta", delta, 0, 1), self.rho
        return {
            "simple": rho + 2 * sqrt(-rho * log(delta)),
            "best": to_approx_dp(ZCDP(rho), delta).epsilon,
            "continuous": continuous_epsilon(rho, delta),
        }

    def _rows(self) -> zip:  # type: ignore[type-arg]
        return zip(self.sigma_squared, self.shift, self.times)  # type: ignore[arg-type]


def counts_ledger(
    sigma_squared: Sequence[float],
    relation: str = "substitute",
    shift: Sequence[int] | int = 1,
    times: Sequence[int] | int = 1,
) -> Ledger:
    """Return the ledger of histograms of counts with discrete Gaussian noise.

    Parameters
    ----------
    sigma_squared : sequence of float
        The parameter sigma^2 of the noise in the cells of each histogram, in counts^2, above 0.
    relation : {"substitute", "add_remove"}
        The neighbouring relation. Under substitution every histogram counts twice.
    shift : sequence of int, or int
        The change of a cell by one record, in counts, at least 1.
    times : sequence of int, or int
        The number of independent releases of each histogram, at least 1.

    Returns
    -------
    Ledger
        The ledger.

    Examples
    --------
    >>> from tcdp_sim.accounting import counts_ledger
    >>> counts_ledger([50.0, 20.0], "substitute").releases
    4
    """
    counts = CountReleases(sigma_squared, relation, shift, times)
    releases = [
        (Additive(DiscreteGaussian(sqrt(variance)), float(each)), CELLS[relation] * copies)
        for variance, each, copies in counts._rows()
    ]
    return Ledger(releases, relation)


def continuous_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon >= 0 at delta of continuous Gaussian noise that gives rho-zCDP and no better, to ten digits.

    Source: Balle and Wang (2018), Theorem 8 [BW18].
    """
    rho, delta = scalar("rho", rho, 0), scalar("delta", delta, 0, 1)
    noise = Gaussian(1 / sqrt(2 * rho))

    def excess(epsilon: float) -> float:
        value = float(noise.closed_hockey_stick(1.0, np.array([epsilon])).estimate[0])
        return (log(value) if value > 0 else -inf) - log(delta)

    if excess(0.0) <= 0:
        return 0.0
    high = rho + 2 * sqrt(-rho * log(delta))
    return root(lambda epsilon: max(excess(epsilon), -1e3), 0.0, high, 1e-13 * high)


def continuous_rho(epsilon: float, delta: float) -> float:
    """Return the rho at which continuous Gaussian noise has this epsilon at delta, to about ten digits."""
    low, high = -1.0, 1.0  # of log2 rho
    while continuous_epsilon(2**low, delta) > epsilon:
        low *= 2
    while continuous_epsilon(2**high, delta) < epsilon:
        high *= 2
    return float(2 ** root(lambda place: continuous_epsilon(2**place, delta) - epsilon, low, high, 1e-12))


def _wholes(name: str, values: Sequence[int] | int, length: int) -> tuple[int, ...]:
    listed = list(values) if isinstance(values, Sequence | np.ndarray) else [values] * length
    if len(listed) != length:
        raise ValueError(f"{name} has {len(listed)} values; valid: {length}, one for each sigma_squared, or one number")
    return tuple(whole(name, value, 1, MOST_RELEASES) for value in listed)
