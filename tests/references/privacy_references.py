"""Independent references for pairs of distributions, in 40 digits or by plain sums, without the package."""

import mpmath as mp
import numpy as np
from scipy import stats

DIGITS = 40


def gaussian_delta(rho, epsilon):
    """Return the exact delta(epsilon) of Gaussian noise that is rho-zCDP: theta = sensitivity / sigma = sqrt(2 rho)."""
    with mp.workdps(DIGITS):
        theta, epsilon = mp.sqrt(2 * mp.mpf(rho)), mp.mpf(epsilon)
        tail = mp.erfc((theta / 2 + epsilon / theta) / mp.sqrt(2)) / 2
        return mp.erfc((epsilon / theta - theta / 2) / mp.sqrt(2)) / 2 - mp.exp(epsilon) * tail


def binary_renyi(p, q, order):
    """Return D_order of Bernoulli(p) from Bernoulli(q). Order 1 is the KL divergence."""
    with mp.workdps(DIGITS):
        p, q, a = mp.mpf(p), mp.mpf(q), mp.mpf(order)
        if a == 1:
            return p * mp.log(p / q) + (1 - p) * mp.log((1 - p) / (1 - q))
        total = p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)
        return mp.log(total) / (a - 1)


def response(epsilon):
    """Return the probability of the truth in randomised response, the worst epsilon-DP mechanism, in 40 digits."""
    with mp.workdps(DIGITS):
        return mp.exp(epsilon) / (1 + mp.exp(epsilon))


def response_delta(each, k, epsilon, leak=0.0):
    """Return the exact delta(epsilon) of k randomised responses.

    Each of them is `each`-DP, but reveals the data with probability `leak`."""
    true_answers = np.arange(k + 1)
    p = 1 / (1 + np.exp(-each))
    log_p = stats.binom.logpmf(true_answers, k, p)
    loss = (2 * true_answers - k) * each
    gain = np.where(loss > epsilon, np.exp(log_p) * -np.expm1(np.minimum(epsilon - loss, 0.0)), 0.0)
    kept = (1 - leak) ** k
    return 1 - kept + kept * gain.sum()


def cks_epsilon(curve, delta, orders):
    """Return the epsilon of Canonne, Kamath and Steinke at each of many orders, in double precision."""
    return curve(orders) + np.log1p(-1 / orders) - (np.log(delta) + np.log(orders)) / (orders - 1)


def values(guarantee):
    """Return the numbers of a guarantee."""
    return [value for value in vars(guarantee).values() if isinstance(value, float)]


def close(one, other):
    """Return True if two guarantees have the same notion and, up to rounding, the same numbers."""
    return type(one) is type(other) and np.allclose(values(one), values(other), rtol=1e-13, atol=0)
