"""Quadrature over the whole line for products of functions with kinks at known places."""

import numpy as np

from tcdp_sim.core.numerics import gauss_panels

STEPS = np.array([0, 0.5, 1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 40])  # in scales: noise beyond 40 has probability e^-40


def nodes(kinks: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points and weights, shapes (points,), for functions that are smooth between kinks on the noise's scale.

    Every panel has 20 Gauss-Legendre points. The panels grow with the distance from the kinks.
    """
    away = scale * np.concatenate([-STEPS[:0:-1], STEPS])
    return gauss_panels(np.unique(np.add.outer(np.unique(kinks), away)), 20)
