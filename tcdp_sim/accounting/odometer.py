"""An odometer: a bound on the privacy loss so far that holds at all times at once."""

from math import log
from typing import Any

from tcdp_sim.accounting.costs import Prices, count
from tcdp_sim.core.errors import scalar
from tcdp_sim.privacy.spending import INFINITE, Spending, Terms, orders, raised


class Odometer:
    """A running bound on the privacy loss of releases that are chosen by the answers so far, without a budget.

    With probability at least 1 - delta the privacy loss of the transcript is at most `epsilon` after every release at
    once. So an analyst may stop at any time, and look at `epsilon` to decide. The bound is the least one over m orders,
    each of which has delta / m.

    Source: Rogers et al. (2016) [RRUV16], with Ville's inequality; docs/howto/filters.md has the proof.

    Parameters
    ----------
    delta : float
        The probability that the bound fails at some time, in (0, 1).
    order : float or array_like of float
        Renyi orders, above 1. They are fixed in advance.
    relation : {"add_remove", "substitute", "zero_out", None}
        The neighbouring relation, in which all sensitivities and guarantees are stated.

    Attributes
    ----------
    delta : float
        The probability of failure.
    order : tuple of float
        The orders.

    Examples
    --------
    >>> from tcdp_sim.accounting import Additive, Odometer
    >>> from tcdp_sim.noise import Gaussian
    >>> odometer = Odometer(1e-6, order=[4.0, 16.0])
    >>> odometer.add(Additive(Gaussian(10.0)), times=20)
    >>> round(odometer.epsilon, 3)
    2.567
    """

    __slots__ = ("_prices", "_same", "_spending", "delta", "order")

    def __init__(self, delta: float, order: Any, relation: str | None = None) -> None:
        self.delta, self.order = scalar("delta", delta, 0, 1), orders(order)
        limits = tuple(INFINITE << 64 for _ in self.order)
        self._prices = Prices(Terms(self.order, max(self.order), limits), relation)
        self._same = self._prices.same
        self._spending = Spending(limits, needs_all=True)

    def add(self, release: Any, times: int = 1) -> None:
        """Count a release that is made.

        Parameters
        ----------
        release : Release or Guarantee
            The release, or the guarantee that it is known to have.
        times : int
            The number of equal releases, from 1 to 10^12.

        Raises
        ------
        ValueError
            If `release` is no release, has no known Renyi divergence, or `times` is no such number.
        """
        known = self._same.get(id(release))
        costs = known[1] if known is not None and known[0] is release else self._prices.of(release)
        self._spending.admit(costs, count(times))

    @property
    def epsilon(self) -> float:
        """The bound on the privacy loss so far, in nats, rounded up; inf if no order has a finite divergence."""
        excess = log(len(self.order) / self.delta)
        places = zip(self.order, self._spending.spent)
        return min(raised(spent + raised(excess / (order - 1))) for order, spent in places)

    @property
    def spent(self) -> Any:
        """The sum of the divergences at each order, rounded up, in nats."""
        spent = self._spending.spent
        return spent[0] if len(spent) == 1 else spent

    def __repr__(self) -> str:
        return f"Odometer(delta={self.delta!r}, order={self.order}): epsilon {self.epsilon}"
