"""Divergences of stretched noise against mpmath from the densities' definitions, closed forms and brute force."""

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim.exact import affine_divergence, renyi_divergence
from tcdp_sim.exact.renyi.affine import affine_hockey_stick, directed_divergence
from tcdp_sim.noise import (
    ArsinhNormal,
    Gaussian,
    GeneralizedGaussian,
    Laplace,
    LaplaceLogNormal,
    SinhNormal,
    StudentT,
    UniformLogNormal,
)


def log_density(noise):
    """The log density in mpmath, by its own formula; x in counts."""
    b = mp.mpf(noise.scale)
    if isinstance(noise, Gaussian):
        return lambda x: -((x / b) ** 2) / 2 - mp.log(b * mp.sqrt(2 * mp.pi))
    if isinstance(noise, Laplace):
        return lambda x: -abs(x) / b - mp.log(2 * b)
    if isinstance(noise, StudentT):
        d = mp.mpf(noise.degrees)
        size = mp.log(mp.gamma((d + 1) / 2) / mp.gamma(d / 2) / mp.sqrt(d * mp.pi) / b)
        return lambda x: size - (d + 1) / 2 * mp.log1p((x / b) ** 2 / d)
    s = mp.mpf(noise.sigma)
    if isinstance(noise, ArsinhNormal):
        return lambda x: mp.log(mp.npdf(mp.asinh(s * x / b) / s)) - mp.log1p((s * x / b) ** 2) / 2 - mp.log(b)
    return lambda x: mp.log(mp.exp(s * s / 2) * mp.erfc((mp.log(abs(x) / b) / s + s) / mp.sqrt(2)) / 4 / b)


def pieces(shift):
    around = [mp.mpf(k) / 2 for k in range(-12, 13)]
    around += [mp.mpf(4) ** k * sign for k in range(2, 20) for sign in (-1, 1)]
    return sorted({*around, mp.mpf(shift), mp.mpf(10) ** -9, mp.mpf(shift) + mp.mpf(10) ** -9})


def by_mpmath(noise, log_scale, shift, order):
    """log E_P[(P / Q)^(order - 1)] / (order - 1), or E_P[log(P / Q)]."""
    p, tau, shift = log_density(noise), mp.mpf(log_scale), mp.mpf(shift)

    def ratio(x):
        return p(x) - p((x - shift) * mp.exp(-tau)) + tau

    if order == 1:
        return mp.quad(lambda x: mp.exp(p(x)) * ratio(x), pieces(shift))
    mean = mp.quad(lambda x: mp.exp(p(x) + (order - 1) * ratio(x)), pieces(shift))
    return mp.log(mean) / (order - 1)


NOISES = [
    Gaussian(1.3),
    Laplace(0.8),
    StudentT(1, 3),
    StudentT(0.7, 12),
    ArsinhNormal(1, 0.35),
    ArsinhNormal(1.4, 1),
    UniformLogNormal(1.2, 0.6),
]


CASES = [(0.05, 0.9, 1), (-0.1, 0.3, 2), (0.3, 0.02, 4.5)]  # log-scale, shift, order
CHECKED = [(noise, *CASES[i]) for nth, noise in enumerate(NOISES) for i in range(3) if nth < 2 or i in (nth % 3, 2)]


@pytest.mark.parametrize(("noise", "log_scale", "shift", "order"), CHECKED, ids=repr)
def test_against_mpmath(noise, log_scale, shift, order):
    with mp.workdps(20):
        exact = by_mpmath(noise, log_scale, shift, order)
    bounds = directed_divergence(noise, log_scale, shift, np.array([float(order)]))
    slack = 1e-10 * float(exact)  # of the reference
    assert bounds.lower[0] - slack <= exact <= bounds.upper[0] + slack
    assert bounds.upper[0] - bounds.lower[0] < 1e-8 * float(exact)


@pytest.mark.parametrize("order", [1.5, 6.0])
def test_laplace_log_normal_by_a_plain_sum(order):
    """Its density as a mean over 4000 sizes, and a fine grid: nothing of the noise's own integrals."""
    noise, tau, shift = LaplaceLogNormal(1, 0.5), 0.07, 0.4
    z = np.linspace(-9, 9, 801)
    weight = np.exp(-z * z / 2) * (z[1] - z[0]) / np.sqrt(2 * np.pi)

    def density(x):
        return np.exp(-0.5 * z - np.abs(x)[:, None] * np.exp(-0.5 * z)) @ weight / 2

    edges = np.concatenate([-np.geomspace(400, 1e-6, 700), [0], np.geomspace(1e-6, shift, 300), [400]])
    edges = np.unique(np.concatenate([edges, shift + np.geomspace(1e-6, 390, 700)]))
    nodes, weights = np.polynomial.legendre.leggauss(4)
    half = np.diff(edges)[:, None] / 2
    x, w = (edges[:-1, None] + half + half * nodes).ravel(), (half * weights).ravel()
    p, q = density(x), density((x - shift) * np.exp(-tau)) * np.exp(-tau)
    exact = np.log((p**order * q ** (1 - order)) @ w) / (order - 1)
    assert directed_divergence(noise, tau, shift, np.array([order])).estimate[0] == pytest.approx(exact, rel=1e-7)


def test_the_larger_one_of_both_directions():
    noise = StudentT(1, 3)
    with mp.workdps(20):
        one, other = by_mpmath(noise, 0.1, 0.5, 3), by_mpmath(noise, -0.1, 0.5 * np.exp(-0.1), 3)
    assert other > 1.01 * one
    for log_scale, shift in ((0.1, 0.5), (0.1, -0.5), (-0.1, 0.5 * np.exp(-0.1))):
        assert affine_divergence(noise, log_scale, shift, 3.0).estimate == pytest.approx(float(other), rel=1e-9)


def test_where_it_is_infinite():
    """Gaussian: from 1 / (1 - e^(-2t)) on; Laplace: from 1 / (1 - e^-t); sinh-normal: above 1; the others nowhere."""
    t = 0.1
    for noise, first in ((Gaussian(2), 1 / -np.expm1(-2 * t)), (Laplace(2), 1 / -np.expm1(-t))):
        below, above = affine_divergence(noise, t, 0.3, np.array([first * 0.999, first * 1.001])).estimate
        assert np.isfinite(below)
        assert above == np.inf
    assert affine_divergence(SinhNormal(2, 5), 1e-3, 0.3, 1.01).lower == np.inf
    assert np.isfinite(affine_divergence(SinhNormal(2, 5), 0.0, 0.3, 1.01).upper)
    for noise in (StudentT(1, 1), ArsinhNormal(1, 0.2), UniformLogNormal(1, 0.5)):
        assert np.isfinite(affine_divergence(noise, t, 0.3, 200.0).upper)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_the_loss_is_that_of_noise_moved_up(noise):
    """By hand where Q is 0.001 from its centre, and P at 3: a loss with the shift turned round is another."""
    here, there = (float(log_density(noise)(mp.mpf(x))) for x in (3.0, 0.001))
    assert noise.affine_loss(3.0, 0.2, 3.0 - 0.001 * np.exp(0.2)) == pytest.approx(here - there + 0.2, rel=1e-9)


@pytest.mark.parametrize("noise", [Gaussian(1.5), Laplace(1.5)], ids=repr)
def test_without_stretching_it_is_the_divergence_of_the_shift(noise):
    orders = np.array([1.0, 1.0001, 2, 9])
    near, plain = affine_divergence(noise, 1e-9, 0.7, orders).estimate, renyi_divergence(noise, 0.7, orders).estimate
    np.testing.assert_allclose(near, plain, rtol=1e-6)
    np.testing.assert_allclose(affine_divergence(noise, 0, 0.7, orders).estimate, plain, rtol=1e-12)


SMOOTH = [*NOISES, LaplaceLogNormal(1, 0.4)]


@pytest.mark.parametrize("noise", SMOOTH, ids=repr)
def test_it_grows_with_the_shift_and_is_convex_in_the_log_scale(noise):
    """The two facts that the certificates rest on, on a grid."""
    orders = np.array([1.3, 4.0])
    shifts = [directed_divergence(noise, 0.08, shift, orders).estimate for shift in np.linspace(0, 3, 13)]
    assert (np.diff(shifts, axis=0) > 0).all()
    scales = [directed_divergence(noise, tau, 0.6, orders).estimate for tau in np.linspace(-0.15, 0.15, 13)]
    assert (np.diff(scales, 2, axis=0) > 0).all()


@pytest.mark.parametrize(
    "noise", [Laplace(1), StudentT(1, 4), ArsinhNormal(1, 0.5), UniformLogNormal(1, 0.5)], ids=repr
)
@pytest.mark.parametrize("epsilon", [0.0, 0.7])
def test_hockey_stick_by_a_plain_sum(noise, epsilon):
    x = np.linspace(-60, 60, 1_200_001)
    for tau in (-0.1, 0.2):
        q = noise.pdf((x - 0.5) * np.exp(-tau)) * np.exp(-tau)
        exact = np.maximum(noise.pdf(x) - np.exp(epsilon) * q, 0).sum() * (x[1] - x[0])
        bounds = affine_hockey_stick(noise, (tau, tau), 0.5, epsilon)
        tail = 3 * noise.sf(60.0) + 1e-6 * exact
        assert bounds.lower - tail <= exact <= bounds.upper + tail
        assert bounds.upper - bounds.lower < 1e-8
    cell = affine_hockey_stick(noise, (0.05, 0.2), 0.5, epsilon).upper
    inside = [affine_hockey_stick(noise, (tau, tau), 0.5, epsilon).lower for tau in np.linspace(0.05, 0.2, 7)]
    assert cell >= max(inside)


def test_mistakes_are_one_line():
    for arguments in ((6.0, 1.0, 2.0), (0.1, np.inf, 2.0), (0.1, 1.0, 0.5), (0.1, 1.0, np.inf)):
        with pytest.raises(ValueError, match="valid"):
            affine_divergence(Gaussian(1), *arguments)
    with pytest.raises(ValueError, match="affine_max_order"):
        affine_divergence(GeneralizedGaussian(1, 0.5), 0.1, 1.0, 2.0)
