"""Filters: a budget fixed in advance, for releases that an analyst chooses by the answers so far."""

from collections.abc import Iterable
from math import inf
from typing import Any

from tcdp_sim.accounting.costs import Prices, count
from tcdp_sim.accounting.filter_orders import best_order
from tcdp_sim.privacy.spending import Spending, terms


class Filter:
    """A guard that admits releases as long as the whole transcript keeps a guarantee fixed in advance.

    The analyst may choose each release, its parameters and the moment to stop by all earlier answers. A release that is
    not admitted must not be made. A refusal changes nothing, so a smaller release may still be admitted.

    Sums of costs are exact, and costs that are no floats are rounded up. A query takes about a microsecond for each
    order, however many releases were admitted.

    Source: Rogers et al. (2016) [RRUV16]; Feldman and Zrnic (2021) [FZ21], for Renyi divergences; docs/howto/filters.md
    has the proofs.

    Parameters
    ----------
    budget : Guarantee or RenyiBound
        The guarantee.

        - PureDP, ZCDP with xi = 0, TCDP, RDP: the guarantee itself. TCDP admits releases whose bound holds up to its
          omega at least, because a lower omega may not be chosen afterwards.
        - ApproxDP, with `expected` or `order`: releases are admitted while their divergences stay within the budget at
          one of the m orders at least. The budget at an order is the divergence that implies (epsilon, delta / m)-DP.
        - Any guarantee that bounds Renyi divergences, or a RenyiBound, with `order`: the bound at each of these
          orders, and at no others.
    order : float or array_like of float, optional
        Renyi orders, above 1. They are fixed in advance.
    expected : iterable, optional
        For ApproxDP without `order`: the releases that are expected, each alone or as a pair (release, times). The
        order is the one that admits this list most often. Another order may admit other releases more often, but the
        guarantee holds for every release.
    relation : {"add_remove", "substitute", "zero_out", None}
        The neighbouring relation, in which all sensitivities and guarantees are stated.

    Attributes
    ----------
    budget : Guarantee or RenyiBound
        The guarantee.
    order : tuple of float
        The orders, empty for ZCDP and TCDP.
    unit : str
        The unit of `spent` and `remaining`, in words.

    Raises
    ------
    ValueError
        If the budget is of another kind, or an order leaves nothing of it.

    Examples
    --------
    >>> from tcdp_sim.accounting import Additive, Filter
    >>> from tcdp_sim.noise import Gaussian
    >>> from tcdp_sim.privacy import ZCDP
    >>> budget = Filter(ZCDP(0.5))
    >>> budget.admit(Additive(Gaussian(2.0)), times=3)
    True
    >>> budget.admit(Additive(Gaussian(1.0))), budget.admit(Additive(Gaussian(2.0)))
    (False, True)
    >>> budget.remaining
    0.0
    """

    __slots__ = ("_admitted", "_prices", "_same", "_spending", "budget", "order")

    def __init__(
        self,
        budget: Any,
        order: Any = None,
        relation: str | None = None,
        expected: Iterable[Any] | None = None,
    ) -> None:
        if expected is not None:
            if order is not None:
                raise ValueError(f"order = {order!r} and expected are both given; valid: one of them")
            order = best_order(budget, expected, relation)
        own = terms(budget, order)
        self.budget, self.order = budget, own.order
        self._prices = Prices(own, relation)
        self._same = self._prices.same
        self._spending = Spending(own.limits, own.needs_all)
        self._admitted = self._spending.admit

    def admit(self, release: Any, times: int = 1) -> bool:
        """Return True and count the release if the budget covers it; otherwise return False and change nothing.

        Parameters
        ----------
        release : Release, Guarantee or float
            The next release, the guarantee that it is known to have, or, for ZCDP and TCDP, its rho as a float or a
            rational number.
        times : int
            The number of equal releases, from 1 to 10^12. All of them are admitted, or none.

        Returns
        -------
        bool
            True if the release may be made.

        Raises
        ------
        ValueError
            If `release` is no release, has no known Renyi divergence, or `times` is no such number.
        """
        known = self._same.get(id(release))
        costs = known[1] if known is not None and known[0] is release else self._prices.of(release)
        return self._admitted(costs, times if times.__class__ is int and times == 1 else count(times))

    @property
    def spent(self) -> Any:
        """The cost of all admitted releases: rho, or a divergence for each order; rounded up, in nats."""
        return _plain(self._spending.spent)

    @property
    def remaining(self) -> Any:
        """The budget that is left: rho, or a divergence for each order; rounded down, in nats.

        A guarantee for the data at hand does not follow from it: the guarantee is the whole budget.
        """
        return _plain(self._spending.remaining)

    @property
    def unit(self) -> str:
        if not self.order:
            return "rho, in nats"
        if self.order == (inf,):
            return "epsilon, in nats"
        plural = "s" if len(self.order) > 1 else ""
        return f"Renyi divergence of order{plural} {', '.join(f'{order:g}' for order in self.order)}, in nats"

    def __repr__(self) -> str:
        where = f", order={_plain(self.order)}" if self.order else ""
        return f"Filter({self.budget!r}{where}): spent {self.spent}, remaining {self.remaining} ({self.unit})"


def _plain(values: tuple[float, ...]) -> Any:
    """Return the only value itself, or all values."""
    return values[0] if len(values) == 1 else values
