"""The number that a claim bounds, and the largest bound that a sample of a given size could show."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from scipy.special import ndtri

from tcdp_sim.accounting import Ledger
from tcdp_sim.audits import tradeoff
from tcdp_sim.audits.binomial import lower_probability, upper_probability
from tcdp_sim.audits.stated_curves import StatedCurve, StatedProfile
from tcdp_sim.audits.tradeoff import GaussianDP
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import RDP, TCDP, ZCDP, Guarantee

ORDERS = 24
HIGHEST_ORDER = 256.0  # the largest order tried: moments of higher orders depend on a few outputs
ROUNDING = 4e-16  # relative error of a logarithm of a sum, for each unit of the summands' logs
OFTEN = 0.6  # an event that is commoner under both inputs is judged by its complement, whose forecasts are better
LOWEST_EXCESS = 0.02  # the smallest order tried exceeds 1 by this much


@dataclass(frozen=True)
class Measure:
    """A number of a pair of output laws that a claim bounds, with the claimed value.

    - quantity: "epsilon", "rho", "divergence", "mu", "power", or for the curve of one run "digits" of a p-value.
    - words: the name of the number in messages.
    - claimed: the claimed upper bound in nats, inf without a claim.
    - delta: the delta at which epsilon is measured.
    - orders: the Renyi orders, empty for epsilon.
    - intercept: xi of a claim D_order <= xi + rho order.
    - power: the largest power of a test that a claimed trade-off curve allows, at a type I error.
    """

    quantity: str
    words: str
    claimed: float = inf
    delta: float = 0.0
    orders: tuple[float, ...] = ()
    intercept: float = 0.0
    power: Callable[[Any], Floats] | None = None

    @property
    def of_ratio(self) -> bool:
        """True if an event's bound depends only on the ratio of its two probabilities, as for pure DP."""
        return self.quantity == "epsilon" and self.delta == 0

    def of_event(self, likely, rare) -> Floats:
        """Return the value that an event with these two probabilities implies, elementwise.

        The value is -inf unless the first probability is the larger one.
        """
        likely, rare = np.broadcast_arrays(np.asarray(likely, np.float64), np.asarray(rare, np.float64))
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.power is not None:
                return np.where(likely > rare, likely - self.power(rare), -inf)
            if self.quantity == "mu":
                return np.where((likely > rare) & (rare < OFTEN), ndtri(likely) - ndtri(rare), -inf)
            if not self.orders:
                shown = np.log((likely - self.delta) / rare)
                return np.where(likely > self.delta, shown, -inf)
            values = [self.of_divergence(_two_cells(order, likely, rare), order) for order in self.orders]
        return np.where(likely > rare, np.max(values, axis=0), -inf)

    def of_divergence(self, divergence: Any, order: Any) -> Any:
        """Return the value that a Renyi divergence (in nats) of an order implies, elementwise."""
        return divergence if self.quantity == "divergence" else (divergence - self.intercept) / order


def _two_cells(order: float, likely: Floats, rare: Floats) -> Floats:
    """Return the Renyi divergence between two coins, rounded down.

    The coins are an event and its complement under the two inputs. Near order 1 the sum is close to 1 and its rounding
    error is divided by order - 1, so a bound on that error is subtracted.
    """
    heads = order * np.log(likely) + (1 - order) * np.log(rare)
    tails = np.where(likely < 1, order * np.log1p(-likely) + (1 - order) * np.log1p(-rare), -inf)
    size = np.abs(order * np.log(likely)) + np.abs((1 - order) * np.log(rare)) + 1
    return (np.logaddexp(heads, tails) - ROUNDING * np.nan_to_num(size, posinf=0.0)) / (order - 1)


def measure(claim: Any) -> Measure:
    """Return the number to measure for a claim: epsilon at delta = 0 without one.

    A ledger is a claim of its trade-off curve. Raises UserError for a guarantee of another kind.
    """
    match claim.simplest() if isinstance(claim, Guarantee) else claim:
        case GaussianDP(mu=mu):
            return Measure("mu", "mu of Gaussian DP", mu)
        case Ledger():
            allowed = tradeoff.of_ledger(claim)
            return Measure("power", "power beyond the claimed trade-off curve", 0.0, power=allowed.power)
        case StatedProfile() | StatedCurve():
            return Measure("power", "power beyond the claimed trade-off curve", 0.0, power=claim.curve.power)
        case None:
            return Measure("epsilon", "epsilon")
        case Guarantee(epsilon_delta=(epsilon, delta)) if delta < 1:
            return Measure("epsilon", f"epsilon at delta = {delta:g}" if delta else "epsilon", epsilon, delta)
        case RDP(order=order, epsilon=epsilon):
            return Measure("divergence", f"Renyi divergence of order {order:g}", epsilon, 0.0, (order,))
        case ZCDP(rho=rho, xi=xi):
            words = "rho of zCDP" if xi == 0 else f"rho of zCDP at xi = {xi:g}"
            return Measure("rho", words, rho, 0.0, _orders(inf), xi)
        case TCDP(rho=rho, omega=omega):
            return Measure("rho", f"rho of tCDP up to omega = {omega:g}", rho, 0.0, _orders(omega))
    raise UserError(
        f"claim = {claim!r} cannot be audited; valid: PureDP, ApproxDP, RDP, ZCDP, TCDP, GaussianDP, a Ledger, "
        "a mapping {epsilon: delta}, a trade-off function, None"
    )


def of_one_run(claim: Any, one: Measure, failure: float) -> Measure:
    """Return what one run measures of a claim: for a curve the p-value of correct guesses, else the same number.

    The claim of a curve is refuted if minus the decimal logarithm of the p-value exceeds that of `failure`.
    """
    if one.quantity != "power":
        return one
    words = "minus log10 of the p-value of the claimed trade-off curve"
    return Measure("digits", words, float(-np.log10(failure)), power=one.power)


def rarer(claim: Any) -> Callable[[Floats], Floats]:
    """Return how rare events of given probabilities may be under a neighbour, by a claimed curve."""
    curve = tradeoff.of_ledger(claim) if isinstance(claim, Ledger) else claim.curve
    found: Callable[[Floats], Floats] = curve.rarer
    return found


def _orders(highest: float) -> tuple[float, ...]:
    """Return ORDERS orders above 1, up to `highest` or HIGHEST_ORDER."""
    top = min(highest, HIGHEST_ORDER)
    orders = 1 + np.geomspace(min(LOWEST_EXCESS, 0.5 * (top - 1)), top - 1, ORDERS)
    return tuple(np.minimum(orders, top).tolist())  # divergences are continuous in the order, so the end is included


def most_shown(one: Measure, trials: int, failure: float) -> float:
    """Return the largest bound that this many outputs of each input can give.

    The extreme sample is an event that always happens under one input and never under the other.
    """
    splits = np.linspace(0.01, 0.99, 99)
    likely = lower_probability(trials, trials, splits * failure)
    rare = upper_probability(0, trials, (1 - splits) * failure)
    return float(one.of_event(likely, rare).max())


def warning(one: Measure, trials: int, failure: float) -> str:
    """Return a warning if no sample of this size could refute the claim, else "".

    The warning names a size that could.
    """
    if one.claimed == inf or most_shown(one, trials, failure) > one.claimed:
        return ""
    text = f"no sample of {trials:,} outputs of each input could refute {one.words} <= {one.claimed:g}"
    enough = least_size(lambda n: most_shown(one, n, failure) > one.claimed, trials)
    return text + (f"; {enough:.2g} could" if enough else "; nor could 1e18")


def least_size(good: Callable[[int], Any], below: int) -> float:
    """Return the least good number of outputs above `below`, to two digits, or 0 if it exceeds 1e18."""
    high = below
    while not good(high):
        high *= 2
        if high > 10**18:
            return 0.0
    low = high // 2
    while high - low > high / 100 and high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high * 1.05  # still enough after rounding to two digits
