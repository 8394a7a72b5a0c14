"""The costs of releases, which filters and odometers add up."""

from fractions import Fraction
from math import inf
from numbers import Real
from typing import Any

from tcdp_sim.accounting.largest_rho import largest_rho
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.claimed import Claimed
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.renyi import total_renyi
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.privacy.definitions import Guarantee
from tcdp_sim.privacy.relation import Relation, known_relation
from tcdp_sim.privacy.spending import Costs, Terms, float_units, units

MOST_TIMES = 10**12
_KEPT = 4096
_ROUNDING = 2e-12  # relative error of `least_rho`, with a margin


class Prices:
    """The costs of releases under the terms of one filter; the costs of past releases are kept.

    `same`: past releases with their costs, by the identity of the object, which is quicker than a hash of all
    parameters. A copied filter has other objects, so the object itself must be compared.
    """

    def __init__(self, terms: Terms, relation: str | None) -> None:
        self.terms, self.relation = terms, None if relation is None else known_relation(relation, Relation)
        self._kept: dict[Any, Costs] = {}
        self.same: dict[int, tuple[Any, Costs]] = {}

    def of(self, release: Any) -> Costs:
        """Return the costs of a release, a guarantee, or rho as a number. Raises ValueError for anything else."""
        if type(release) is float and 0 <= release < inf and not self.terms.order:
            return (float_units(release),)
        if isinstance(release, Release | Guarantee):
            return self._known(release)
        if self.terms.order or not isinstance(release, Real):
            valid = "a release or a guarantee" + ("" if self.terms.order else ", or rho as a number")
            raise ValueError(f"release = {release!r} is not valid; valid: {valid}")
        scalar("release", release, 0, closed=True)
        return (units(release if hasattr(release, "as_integer_ratio") else float(release), upwards=True),)

    def _known(self, release: Release | Guarantee) -> Costs:
        costs = self._kept.get(release)
        if costs is None:
            costs = self._computed(release)
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[release] = costs
        if len(self.same) >= _KEPT:
            self.same.clear()
        self.same[id(release)] = release, costs
        return costs

    def _computed(self, release: Release | Guarantee) -> Costs:
        if isinstance(release, Guarantee):
            return self.terms.cost(release)
        if isinstance(release, Claimed):
            return self.terms.cost(release.guarantee)
        rho = release.noise.exact_rho(release.sensitivity) if isinstance(release, Additive) else None
        if rho is not None:
            return tuple(units(rho * order, upwards=True) for order in map(_exactly, self.terms.order or (1,)))
        if self.terms.order:
            return tuple(units(self._divergence(release, order), upwards=True) for order in self.terms.order)
        return (units(self._rho(release), upwards=True),)

    def _divergence(self, release: Release, order: float) -> float:
        if order == inf and release.largest_loss is not None:
            return release.largest_loss
        return float(total_renyi(((release, 1),), self.relation, order).upper)

    def _rho(self, release: Release) -> float:
        rho = release.least_rho(self.terms.omega)
        if rho is not None:
            return rho * (1 + _ROUNDING)
        return largest_rho(lambda order: self._divergence(release, order), self.terms.omega)


def _exactly(order: float) -> Any:
    return order if order == inf else Fraction(order)


def count(times: Any) -> int:
    """Return the number of equal releases. Raises ValueError unless it is a whole number from 1 to 10^12."""
    return times if type(times) is int and 0 < times <= MOST_TIMES else whole("times", times, 1, MOST_TIMES)
