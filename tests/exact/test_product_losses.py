"""The chance of a loss of two moved coordinates, against closed forms, double sums and integrals."""

import numpy as np
import pytest
from scipy import integrate, stats

from tcdp_sim import exact
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, SinhNormal, StudentT

AT = np.array([-1.7, -0.6, 0.05, 0.4, 1.1, 1.9])


@pytest.mark.parametrize("coordinates", [1, 2, 7])
def test_gaussian_losses_are_normal(coordinates):
    found = exact.product_loss_sf(Gaussian(1.3), 0.8, AT, coordinates)
    mean = coordinates * 0.8**2 / (2 * 1.3**2)
    np.testing.assert_allclose(found.estimate, stats.norm(mean, np.sqrt(2 * mean)).sf(AT), rtol=1e-10)


@pytest.mark.parametrize("noise", [DiscreteLaplace(1.2), DiscreteGaussian(1.4)], ids=["laplace", "gaussian"])
def test_lattices_against_a_double_sum(noise):
    z = np.arange(-80, 81)
    mass, loss = noise.pdf(z), noise.logpdf(z) - noise.logpdf(z - 1)
    both = np.outer(mass, mass).ravel(), np.add.outer(loss, loss).ravel()
    truth = [both[0][both[1] > each].sum() for each in AT]
    found = exact.product_loss_sf(noise, 1.0, AT)
    np.testing.assert_allclose(found.estimate, truth, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("noise", [Laplace(1.1), SinhNormal(1.5, 2.0)], ids=lambda noise: noise.family)
def test_brackets_hold_a_double_integral(noise):
    """Midpoints of a fine grid in both coordinates, with an error below 1e-3; the estimate is within 1e-3 of it."""
    step = 0.002
    z = np.arange(-30, 30, step) + step / 2
    mass = noise.pdf(z) * step
    loss = noise.logpdf(z) - noise.logpdf(z - 1)
    order = np.argsort(loss)
    below = np.concatenate([[0.0], np.cumsum(mass[order])])
    truth = np.array([mass @ (1 - below[np.searchsorted(loss[order], each - loss, side="right")]) for each in AT])
    found = exact.product_loss_sf(noise, 1.0, AT)
    assert (found.lower <= truth + 1e-3).all()
    assert (truth - 1e-3 <= found.upper).all()
    np.testing.assert_allclose(found.estimate, truth, atol=2e-3)


def test_the_profile_is_the_integral_of_the_tail():
    """delta(epsilon) is the integral of e^(epsilon - l) P[L > l] over l > epsilon."""
    noise = SinhNormal(1.5, 2.0)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    beyond = 15 * (1 + nodes)
    for epsilon in (0.0, 0.7):
        tail = exact.product_loss_sf(noise, 1.0, epsilon + beyond)
        truth = exact.product_profile(noise, 1.0, epsilon).estimate
        ends = [15 * weights @ (np.exp(-beyond) * end) for end in tail]
        assert ends[1] == pytest.approx(truth, rel=1e-4)
        assert ends[0] <= truth <= ends[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((StudentT(1.0, 3.0), 1.0, 0.5), "need log-concave noise"),
        ((Laplace(1.0), 1.0, 0.5, 3), "coordinates = 3"),
        ((Laplace(1.0), np.nan, 0.5), "shift"),
        ((Laplace(1.0), 1.0, np.nan), "loss"),
        ((Laplace(1.0), 1.0, 0.5, 2, "R"), "under"),
    ],
)
def test_refusals(arguments, said):
    with pytest.raises(ValueError, match=said):
        exact.product_loss_sf(*arguments)


@pytest.mark.parametrize("loss", [12.0, 35.0, 70.0, 150.0, 400.0])
def test_brackets_hold_far_out(loss):
    """P[L1 + L2 > l] down to 1e-180: an integral over the first output of the chance of the second one below a root.

    The loss falls with the output, so its root is interpolated. The rule has an error of about 1e-3.
    """
    noise = SinhNormal(2.0, 3.0)
    arm = noise.isf(np.concatenate([np.logspace(-300, -1, 60_000), np.linspace(0.1, 0.5, 4000)[1:]]))
    edges = np.concatenate([-arm, arm[-2::-1]])  # ascending
    middle = (edges[1:] + edges[:-1]) / 2
    losses = noise.privacy_loss(edges, 1.0)
    root = np.interp(loss - noise.privacy_loss(middle, 1.0), losses[::-1], edges[::-1], left=np.inf, right=-np.inf)
    truth = np.sum(np.diff(edges) * np.exp(noise.logpdf(middle)) * noise.cdf(root))
    found = exact.product_loss_sf(noise, 1.0, [loss])
    assert 1e-200 < truth < 1e-5
    assert found.lower[0] <= truth * 1.002
    assert truth <= found.upper[0] * 1.002
    assert found.upper[0] <= 5 * found.lower[0]


@pytest.mark.parametrize("noise", [Laplace(1.1), DiscreteLaplace(1.2)], ids=lambda noise: noise.family)
@pytest.mark.parametrize("atom", [-2, 0, 2])
def test_at_an_atom_the_ends_lie_on_both_sides(noise, atom):
    """Both losses are +-1/b with the chance of an output beyond either centre: so is their sum 0 or +-2/b."""
    at = atom / noise.scale
    found = exact.product_loss_sf(noise, 1.0, [at])
    without, included = (exact.product_loss_sf(noise, 1.0, [at + end]).estimate[0] for end in (1e-9, -1e-9))
    chance = {2: noise.cdf(0.0) ** 2, -2: noise.sf(1.0 - noise.is_discrete) ** 2}
    chance[0] = 2 * noise.cdf(0.0) * noise.sf(1.0 - noise.is_discrete)
    assert found.lower[0] <= without + 1e-9
    assert included - 1e-9 <= found.upper[0]
    assert included - without == pytest.approx(chance[atom], abs=3e-3)


@pytest.mark.parametrize("noise", [Gaussian(1.3), Laplace(1.1), DiscreteGaussian(1.4), SinhNormal(1.5, 2.0)], ids=repr)
def test_the_law_on_the_neighbour_is_the_tilted_one(noise):
    """Q[L > l] is the mean under P of e^(-L) above l: e^(-l) P[L > l] less the integral of e^(-t) P[L > t] above l."""
    nodes, weights = np.polynomial.legendre.leggauss(40)  # for a smooth tail, which costs most
    for loss in (-0.55, 0.35):
        if isinstance(noise, SinhNormal):
            more = np.append(loss + 1e-9, loss + 12.5 * (1 + nodes))
            tail = exact.product_loss_sf(noise, 1.0, more).estimate
            beyond = 12.5 * weights @ (np.exp(-more) * tail)[1:]
        else:
            more = loss + 1e-9 + np.linspace(0, 25, 2001 if noise.isotropic or noise.is_discrete else 501)
            tail = exact.product_loss_sf(noise, 1.0, more).estimate
            beyond = integrate.trapezoid(np.exp(-more) * tail, more)
        truth = np.exp(-loss) * tail[0] - beyond
        found = exact.product_loss_sf(noise, 1.0, [loss], under="Q")
        assert found.estimate[0] == pytest.approx(truth, abs=0.02 * truth + 5e-3)
    far = exact.product_loss_sf(Gaussian(1.0), 1.0, [30.0], under="Q").estimate
    assert far == pytest.approx(stats.norm(-1, np.sqrt(2)).sf(30.0), rel=1e-9)
