"""An oracle for noise on a lattice: a general optimiser minimises the Lagrangian over softmax weights."""

import numpy as np
from scipy.optimize import minimize


def moments(p, orders, rho):
    """Return e^(-(a-1) a rho) (E[e^((a-1) L)] - 1) for every order, the mean of both directions; KL at order 1.

    p: probabilities of neighbouring points from left to right. Also the slopes in p. The ends have no neighbours.
    """
    inner, outer = p[:-1], p[1:]
    values, slopes = [], np.zeros((len(orders), len(p)))
    for row, a in enumerate(orders):
        if a == 1:
            values.append(0.5 * float(((inner - outer) * np.log(inner / outer)).sum()))
            slopes[row, :-1] += 0.5 * (np.log(inner / outer) + 1 - outer / inner)
            slopes[row, 1:] += 0.5 * (np.log(outer / inner) + 1 - inner / outer)
            continue
        scale = np.exp(-(a - 1) * a * rho)
        up, down = inner / outer, outer / inner
        values.append(0.5 * scale * float((inner * up ** (a - 1) + outer * down ** (a - 1) - inner - outer).sum()))
        slopes[row, :-1] += 0.5 * scale * (a * up ** (a - 1) - 1 - (a - 1) * down**a)
        slopes[row, 1:] += 0.5 * scale * (a * down ** (a - 1) - 1 - (a - 1) * up**a)
    return np.array(values), slopes


def limits(orders, rho):
    """Return the largest `moments` that D_a <= a rho allows."""
    return np.array([rho if a == 1 else 1 - np.exp(-(a - 1) * a * rho) for a in orders])


def least_lagrangian(costs, orders, rho, multipliers, start):
    """Return the least costs p + sum of multiplier (moment - limit) over p. `start` has log probabilities."""

    def value_and_slope(theta):
        p = np.exp(theta - np.logaddexp.reduce(theta))
        found, slopes = moments(p, orders, rho)
        slope = costs + multipliers @ slopes
        return float(costs @ p + multipliers @ (found - limits(orders, rho))), p * (slope - p @ slope)

    options = {"maxiter": 20000, "gtol": 1e-11}
    theta = start
    for _ in range(3):
        with np.errstate(all="ignore"):
            found = minimize(value_and_slope, theta, jac=True, method="BFGS", options=options)
        theta = found.x
    return found.fun


def least_cost(costs, orders, rho, start):
    """Return the least costs p over the p with all moments within their limits."""

    def law(theta):
        return np.exp(theta - np.logaddexp.reduce(theta))

    def slope(theta, of_p):
        p = law(theta)
        return p * (of_p - (of_p @ p)[..., None])

    scale = float(costs @ law(start))
    with np.errstate(all="ignore"):
        found = minimize(
            lambda theta: float(costs @ law(theta)) / scale,
            start,
            jac=lambda theta: slope(theta, costs[None] / scale)[0],
            constraints={
                "type": "ineq",
                "fun": lambda theta: 1 - moments(law(theta), orders, rho)[0] / limits(orders, rho),
                "jac": lambda theta: -slope(theta, moments(law(theta), orders, rho)[1]) / limits(orders, rho)[:, None],
            },
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-13},
        )
    return found.fun * scale, law(found.x)
