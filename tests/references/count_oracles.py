"""The delta of lists of discrete Gaussians without the package's engine: inverted transforms, and direct sums."""

from math import fsum

import numpy as np


def delta_by_inversion(kinds, epsilon, theta, reach=12.0, step=2e-2):
    """Return delta(epsilon) of independent losses by the inversion of their moment generating function.

    kinds: (sigma^2, shift, times). For u = L - epsilon and theta > 0,
    (1 - e^-u)+ = 1/(2 pi i) of the integral of e^(z u) / (z (z + 1)) over Re z = theta. The integrand is analytic, so
    the trapezoidal rule has an error of e^(-2 pi theta / step). It falls like e^(-rho t^2) unless many losses have
    multiples of one number as values; then the integral would have to go much further.
    """
    t = np.arange(0.0, reach, step)
    z = theta + 1j * t
    log_moment = np.zeros(len(t), complex)
    for sigma_squared, shift, times in kinds:
        far = np.ceil(np.sqrt(sigma_squared) * 12 + shift * (theta + 1) + 12)
        x = np.arange(-far, far + 1)
        logs = -(x**2) / (2 * sigma_squared)
        loss = (shift**2 - 2 * shift * x) / (2 * sigma_squared)
        top = (logs + theta * loss).max()
        weight = np.exp(logs - top + theta * loss)
        waves = np.exp(1j * np.outer(t, loss))
        log_moment += times * (np.log(waves @ weight / np.exp(logs).sum()) + top)
    values = np.exp(log_moment - z * epsilon) / (z * (z + 1))
    return float(step / np.pi * (values.real.sum() - values.real[0] / 2))


def delta_by_sums(kinds, epsilon, unit):
    """Return delta(epsilon) of losses on a common lattice: all shift^2 / sigma^2 are multiples of `unit`.

    The law of the sum is convolved directly. All terms are positive, so no digits cancel.
    """
    total, offset = np.ones(1), 0.0
    for sigma_squared, shift, times in kinds:
        steps = round(shift / sigma_squared / unit)
        assert abs(steps * unit * sigma_squared / shift - 1) < 1e-12
        reach = int(np.ceil(np.sqrt(sigma_squared) * 26 + 3 * shift))
        x = np.arange(-reach, reach + 1)
        mass = np.exp(-(x**2) / (2 * sigma_squared))
        spread = np.zeros((len(x) - 1) * steps + 1)
        spread[::steps] = (mass / mass.sum())[::-1]  # the loss falls in x
        for _ in range(times):
            total = np.convolve(total, spread)
            offset += (shift**2 - 2 * shift * reach) / (2 * sigma_squared)
    loss = offset + unit * np.arange(len(total))
    above = loss > epsilon
    return fsum(map(float, total[above] * -np.expm1(epsilon - loss[above])))


def zcdp_epsilon(rho, delta):
    """Return the best epsilon of rho-zCDP by Canonne, Kamath and Steinke (2020), on a fine grid of orders."""
    order = 1 + np.geomspace(1e-4, 1e5, 2_000_001)
    values = order * rho + np.log1p(-1 / order) - (np.log(delta) + np.log(order)) / (order - 1)
    return float(values.min())


def example_a(rho=1.0):
    """Return the kinds of the specification's synthetic list A."""
    return [
        (1 / (2 * rho * level * query), 1, 1)
        for level in (0.05, 0.1, 0.1, 0.15, 0.2, 0.15, 0.15, 0.1)
        for query in (0.5, 0.3, 0.2)
    ]


EXAMPLE_B = [(0.25, 1, 1), (0.4, 1, 2), (0.75, 1, 3), (1.5, 1, 5), (6.0, 1, 10)]
EXAMPLE_B2 = [(0.08, 1, 1), (0.12, 1, 1), (0.2, 1, 1)]
