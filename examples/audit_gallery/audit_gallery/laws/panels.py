"""Quadrature over the whole line for products of functions with kinks at known places."""

import numpy as np

from tcdp_sim.core.numerics import gauss_panels

STEPS = np.array([0, 0.5, 1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 40])  # in scales: noise beyond 40 has probability e^-40


def nodes(kinks: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights for integrals of functions that are smooth, on the scale of the noise, between the kinks.

    Gauss-Legendre with 20 points on every panel; the panels grow with the distance from the kinks, shapes (points,).
    """
    away = scale * np.concatenate([-STEPS[:0:-1], STEPS])
    return gauss_panels(np.unique(np.add.outer(np.unique(kinks), away)), 20)
