"""delta of a record in one random step of T, by simulation: stretched means, the largest output, tilted ratios.

Let y_t = exp((x_t - 1/2) / sigma^2) be the likelihood ratio of step t and W their mean. Forward delta is
E (W - e^epsilon)_+ and backward delta is E (1 - e^epsilon W)_+, both without the record.

- "stretched": draws from stretched means (`stretched_means`), in both directions, also for several epochs. The values
  are bounded.
- "largest": by symmetry forward delta is the mean of E[(y - k)_+; x > m] over T - 1 outputs with the largest one m, for
  the sum S of their ratios and k = T e^epsilon - S (conditional Monte Carlo as of Asmussen and Kroese [AK06]). The
  values have no bound. Where many outputs make the loss together, few draws have nearly all of the mean, and the
  interval by the normal law is refused.
- "tilted": backward delta, with ratios drawn from a law with density proportional to e^(-theta y). The weight
  M(theta)^T e^(theta T W) is at most the Chernoff bound M(theta)^T exp(theta T e^-epsilon) where the value is positive.

The mixture is fixed by symmetry: the record is in the first step of each epoch.
"""

from functools import partial
from math import exp, log

import numpy as np
from scipy.special import logsumexp, ndtr

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError, choice
from tcdp_sim.core.numerics import TINY
from tcdp_sim.core.search import brentq, minimize_scalar
from tcdp_sim.exact.training import stretched_means
from tcdp_sim.exact.training.simulation import Simulation

METHODS = {"stretched": stretched_means.DIRECTIONS, "largest": ("forward",), "tilted": ("backward",)}
_LARGEST = 700.0  # of an exponent
_NODES = 2000  # of the quadrature over a ratio
_LEAST_ACCEPTED = 0.02  # share of the draws that the rejection keeps
_CHERNOFF = 1e-9  # relative rounding of the bound, for each step


def simulation(sigma: float, steps: int, epochs: int, epsilon: float, direction: str, method: str) -> Simulation:
    """Return the simulation of delta at epsilon of a record in one random step of each epoch."""
    choice("direction", direction, stretched_means.DIRECTIONS)
    if direction not in METHODS[choice("method", method, METHODS)]:
        raise UserError(f"method = {method!r} is not valid with direction = {direction!r}; valid: stretched")
    if method == "stretched":
        return _stretched(sigma, steps, epochs, epsilon, direction)
    if epochs > 1:
        raise UserError(
            f"method = {method!r} is not valid for {epochs} epochs with bins of their own; valid: stretched"
        )
    return (_largest if method == "largest" else _tilted)(sigma, steps, epsilon)


def _stretched(sigma: float, steps: int, epochs: int, epsilon: float, direction: str) -> Simulation:
    alpha, bound = stretched_means.best_stretch(epochs / sigma**2, epsilon)
    draw = partial(_stretched_values, sigma, steps, epochs, epsilon, direction, alpha, bound)
    return Simulation(draw, bound, steps * epochs, "stretched means")


def _stretched_values(
    sigma: float,
    steps: int,
    epochs: int,
    epsilon: float,
    direction: str,
    alpha: float,
    bound: float,
    size: int,
    rng: np.random.Generator,
) -> Floats:
    loss, log_weight = np.zeros(size), np.zeros(size)
    factor = stretched_means.shift_factor(alpha, direction)
    for _ in range(epochs):
        x = sigma * rng.standard_normal((size, steps))
        x[:, 0] += factor
        more, log_more = stretched_means.losses(x, np.ones(steps), np.full(steps, -log(steps)), sigma, alpha, direction)
        loss, log_weight = loss + more, log_weight + log_more
    return stretched_means.values(loss, log_weight, epsilon, bound)


def _largest(sigma: float, steps: int, epsilon: float) -> Simulation:
    return Simulation(partial(_largest_values, sigma, steps, epsilon), None, steps, "the largest output integrated")


def _largest_values(sigma: float, steps: int, epsilon: float, size: int, rng: np.random.Generator) -> Floats:
    x = sigma * rng.standard_normal((size, steps - 1))
    total = np.exp(np.minimum((x - 0.5) / sigma**2, _LARGEST)).sum(axis=1)
    strike = steps * exp(min(epsilon, _LARGEST)) - total
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.maximum(x.max(axis=1, initial=-np.inf), np.where(strike > 0, sigma**2 * np.log(strike) + 0.5, -np.inf))
    tail = ndtr(-z / sigma)
    return np.maximum(ndtr((1 - z) / sigma) - np.where(tail > 0, strike * tail, 0.0), 0.0)


def _tilted(sigma: float, steps: int, epsilon: float) -> Simulation:
    x, weight = _normal_nodes()
    ratios = np.exp(x / sigma - 0.5 / sigma**2)

    def log_mean(theta: float) -> float:
        return float(logsumexp(-theta * ratios, b=weight))

    def log_bound(u: float) -> float:
        return steps * (log_mean(exp(u)) + exp(u - epsilon))

    steepest = float(brentq(lambda u: log_mean(exp(u)) - log(_LEAST_ACCEPTED), -30.0, 300.0))
    u = float(minimize_scalar(log_bound, bounds=(-30.0, steepest), method="bounded").x)
    theta, constant = (exp(u), steps * log_mean(exp(u))) if log_bound(u) < 0 else (0.0, 0.0)
    bound = max(min(exp(constant + theta * steps * exp(-epsilon)), 1.0) * (1 + _CHERNOFF * steps), TINY)
    draw = partial(_tilted_values, sigma, steps, epsilon, theta, constant)
    return Simulation(draw, bound, steps, "tilted ratios")


def _normal_nodes() -> tuple[Floats, Floats]:
    x, weight = np.polynomial.legendre.leggauss(_NODES)
    weight = weight * np.exp(-0.5 * (14 * x) ** 2)
    return 14 * x, weight / weight.sum()


def _tilted_values(
    sigma: float, steps: int, epsilon: float, theta: float, constant: float, size: int, rng: np.random.Generator
) -> Floats:
    ratios = np.exp(rng.standard_normal((size, steps)) / sigma - 0.5 / sigma**2).ravel()
    again = np.flatnonzero(rng.random(size * steps) > np.exp(-theta * ratios))
    while len(again):
        ratios[again] = np.exp(rng.standard_normal(len(again)) / sigma - 0.5 / sigma**2)
        again = again[rng.random(len(again)) > np.exp(-theta * ratios[again])]
    total = ratios.reshape(size, steps).sum(axis=1)
    gap = 1 - exp(epsilon) * total / steps
    return np.where(gap > 0, gap * np.exp(constant + theta * np.minimum(total, steps)), 0.0)
