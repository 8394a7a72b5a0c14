"""delta of random allocations of a few steps, by quadrature of the definition."""

import numpy as np
from scipy.integrate import quad
from scipy.interpolate import CubicSpline
from scipy.stats import norm


def call(sigma, strike):
    """E (Y - strike)+ for Y = exp(x / sigma - 1 / (2 sigma^2)) with a standard normal x."""
    z = sigma * np.log(np.maximum(strike, 1e-300))
    return np.where(strike > 0, norm.sf(z - 0.5 / sigma) - strike * norm.sf(z + 0.5 / sigma), 1 - strike)


def ratio(x, sigma):
    return np.exp(x / sigma - 0.5 / sigma**2)


def adding(sigma, steps, epsilon):
    """delta of (P, Q): the mean over the first steps of the closed form for the last one."""
    c = steps * np.exp(epsilon)
    if steps == 2:
        bend = sigma * np.log(c) + 0.5 / sigma
        return quad(lambda x: norm.pdf(x) * call(sigma, c - ratio(x, sigma)), -12, 14, points=[bend], limit=400)[0] / 2
    x, weight = np.polynomial.legendre.leggauss(1000)
    y, weight = ratio(12 * x, sigma), 12 * weight * norm.pdf(12 * x)
    return float(weight @ call(sigma, c - y[:, None] - y) @ weight / 3)


def removing(sigma, steps, epsilon):
    """delta of (Q, P) from the other one at -epsilon, by parity of calls and puts."""
    return 1 - np.exp(epsilon) + np.exp(epsilon) * adding(sigma, steps, -epsilon)


def pairs_of_three(sigma, epsilon):
    """delta of (P, Q) for a record in two random steps of three: R = (y1 y2 + y3 (y1 + y2)) / 3 is linear in y3."""
    x, weight = np.polynomial.legendre.leggauss(600)
    y, weight = ratio(12 * x, sigma), 12 * weight * norm.pdf(12 * x)
    total = y[:, None] + y
    strike = (3 * np.exp(epsilon) - y[:, None] * y) / total
    return float(weight @ (total / 3 * call(sigma, strike)) @ weight)


def two_epochs(sigma, epsilon):
    """delta of (P, Q) for two epochs, each with a record in one random step of two.

    Given the ratio R of the first epoch, delta is E R H(epsilon - log R), for the delta H of one epoch.
    """
    x, weight = np.polynomial.legendre.leggauss(400)
    y, weight = ratio(12 * x, sigma), 12 * weight * norm.pdf(12 * x)
    first = 0.5 * (y[:, None] + y)
    left = epsilon - np.log(first)
    nodes = np.linspace(-20, 20, 1601)
    known = np.array([_one_epoch(sigma, each, y, weight) for each in nodes])
    return float(weight @ (first * CubicSpline(nodes, known)(left)) @ weight)


def _one_epoch(sigma, epsilon, y, weight):
    return float(weight @ call(sigma, 2 * np.exp(epsilon) - y)) / 2
