"""What a shift of one blurred number costs."""

import numpy as np

from tcdp_sim.errors import choice
from tcdp_sim.noise import Gaussian, Noise

ORDERS = 400


def noise_rho(noise: Noise, shift: float, omega: float, accounting: str = "tight") -> float:
    """The least rho for which noise moved by `shift` is (rho, omega)-tCDP; inf if there is none.

    "tight": the supremum of the upper ends of D_a / a over a grid of orders up to omega, where it is largest for
    every noise of the package in use here; between the grid's orders convexity of (a - 1) D_a bounds the rest.
    "paper": 16 times shift^2 / (2 scale^2) for sinh-normal noise (Theorem 17), ValueError outside its precondition.
    """
    choice("accounting", accounting, ("tight", "paper"))
    if isinstance(noise, Gaussian):
        return 0.5 * (shift / noise.scale) ** 2
    if accounting == "paper":
        return _theorem_17(noise, shift, omega)
    from tcdp_sim.exact.divergence import max_order, renyi_divergence  # not on workers: they are given finished noises

    if not max_order(noise, shift) > omega:
        return np.inf
    s = np.concatenate([[0.0], (omega - 1) * np.geomspace(1e-3, 1, ORDERS)])
    scaled = s * renyi_divergence(noise, shift, s + 1).upper
    # On [s_i, s_(i+1)] the convex s D lies below its chord c + m s, and (c + m s) / (s (s + 1)) is largest at an end.
    slope = np.diff(scaled) / np.diff(s)
    ends = np.maximum(scaled[1:-1] / (s[1:-1] * (s[1:-1] + 1)), 0)
    last = scaled[-1] / (s[-1] * (s[-1] + 1))
    return float(max(slope[0], ends.max(initial=0), last, _chords(s, scaled, slope)))


def _chords(s, scaled, slope):
    """The largest of (chord at s) / (s (s + 1)) over a fine grid inside every interval but the first."""
    inside = s[1:-1, None] + np.diff(s)[1:, None] * np.linspace(0, 1, 9)
    chord = scaled[1:-1, None] + slope[1:, None] * (inside - s[1:-1, None])
    return float((chord / (inside * (inside + 1))).max(initial=0))


def _theorem_17(noise, shift, omega):
    rho = 0.5 * (shift / noise.scale) ** 2
    if rho >= 1 or noise.knee < shift * max(8 * omega, 1 / np.sqrt(rho)) * (1 - 1e-12):
        raise ValueError(f"{noise!r} is outside Theorem 17 at omega = {omega:g}; valid: rho' < 1, knee >= 8 omega")
    return 16 * rho
