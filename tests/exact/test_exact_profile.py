"""Privacy profiles against mpmath, hand-made closed forms and identities between independent quantities."""

import mpmath as mp
import numpy as np
import pytest
from open_forms import of_any_noise
from scipy import integrate

from tcdp_sim.exact import hockey_stick, profile, renyi_divergence
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace

GENERIC = of_any_noise(profile._profile)


@mp.workdps(60)
def gaussian_mp(theta, epsilon):
    theta, epsilon = mp.mpf(1) / mp.mpf(1 / theta), mp.mpf(epsilon)
    return mp.ncdf(theta / 2 - epsilon / theta) - mp.exp(epsilon) * mp.ncdf(-theta / 2 - epsilon / theta)


@pytest.mark.parametrize("theta", [1e-4, 0.01, 0.3, 0.6, 1, 5, 50])
@pytest.mark.parametrize("z", [-0.5, 0, 0.5, 1, 3, 10, 20, 36])
def test_gaussian_down_to_1e_289(theta, z):
    """Closed form and generic quadrature, at the epsilon that lies z deviations above the mean loss."""
    epsilon = abs(theta * (z + theta / 2))
    truth = gaussian_mp(theta, epsilon)
    noise = Gaussian(1 / theta)
    for found in (
        hockey_stick(noise, 1.0, epsilon),
        [part[0] for part in GENERIC(noise, 1.0, np.array([epsilon]))],
    ):
        assert found[0] <= truth <= found[2]
        assert found[1] == pytest.approx(float(truth), rel=1e-10)
        assert found[2] - found[0] <= 1e-9 * truth


@pytest.mark.parametrize(("scale", "knee", "shift"), [(4, 20, 1), (12, 22, 1), (2, 2, 3), (400, 8000, 1)])
@pytest.mark.parametrize("epsilon", [0, 0.1, 1, 3, 10, 30])
@mp.workdps(60)
def test_sinh_normal_against_mpmath(scale, knee, shift, epsilon):
    """With knee >= scale the loss falls: delta = F(x) - e^eps F(x - shift) where the loss at x is epsilon."""
    a, s, t = mp.mpf(knee), mp.mpf(scale), mp.mpf(shift)

    def z(x):
        return a / s * mp.sinh(x / a)

    def loss(x):
        u, v = x / a, (x - t) / a
        return mp.log(mp.cosh(u) / mp.cosh(v)) - (z(x) ** 2 - z(x - t) ** 2) / 2

    left, right = -a * 30, t
    for _ in range(220):
        middle = (left + right) / 2
        left, right = (middle, right) if loss(middle) > epsilon else (left, middle)
    truth = mp.ncdf(z(left)) - mp.exp(epsilon) * mp.ncdf(z(left - t))
    found = hockey_stick(SinhNormal(scale, knee), shift, epsilon)
    if truth < 1e-299:
        assert found.upper < 1e-290
        return
    assert found.lower <= truth <= found.upper
    assert found.estimate == pytest.approx(float(truth), rel=1e-10)


@pytest.mark.parametrize("epsilon", [0, 0.1, 0.4999, 0.5, 0.7, 5])
@mp.workdps(40)
def test_truncated_laplace_is_exactly_epsilon_delta(epsilon):
    """scale 2, bound 8, shift 1, theta = 1/2: from theta on only the mass outside the other support is left."""
    mass = 1 - mp.exp(-4)

    def cdf(x):
        return (mp.exp(x / 2) - mp.exp(-4)) / (2 * mass) if x < 0 else 1 - (mp.exp(-x / 2) - mp.exp(-4)) / (2 * mass)

    crossing = (1 - 2 * mp.mpf(epsilon)) / 2 if epsilon < 0.5 else mp.mpf(-7)
    truth = cdf(crossing) - (mp.exp(epsilon) * cdf(crossing - 1) if epsilon < 0.5 else 0)
    found = hockey_stick(TruncatedLaplace(2.0, 8.0), 1.0, epsilon)
    assert found.lower <= truth <= found.upper
    assert found.estimate == pytest.approx(float(truth), rel=1e-10)


@pytest.mark.parametrize("theta", [0.1, 1.0, 4.0])
def test_laplace_closed_form_against_scipy(theta):
    noise = Laplace(1 / theta)
    for epsilon in (0, 0.3 * theta, 0.9 * theta, 1.1 * theta):
        parts = [
            integrate.quad(lambda x: max(noise.pdf(x) - np.exp(epsilon) * noise.pdf(x - 1), 0), a, b)[0]  # noqa: B023
            for a, b in ((-60 / theta, 0), (0, (1 - epsilon / theta) / 2), ((1 - epsilon / theta) / 2, 1))
        ]
        assert hockey_stick(noise, 1.0, epsilon).estimate == pytest.approx(sum(parts), abs=1e-9)


def test_a_loss_that_rises_and_falls():
    """Bimodal sinh-normal (scale > knee): P - e^eps Q changes sign more than once."""
    noise = SinhNormal(3.0, 1.0)
    x = np.linspace(-12, 13, 2_000_001)
    for epsilon in (0, 0.3, 1.0, 4.0):
        gap = np.maximum(noise.pdf(x) - np.exp(epsilon) * noise.pdf(x - 1), 0)
        assert hockey_stick(noise, 1.0, epsilon).estimate == pytest.approx(np.trapezoid(gap, x), rel=1e-7)


@pytest.mark.parametrize("noise", [Gaussian(2.0), Laplace(2.0), TruncatedLaplace(2.0, 9.0), SinhNormal(3.0, 5.0)])
class TestEveryNoise:
    def test_convex_and_falling_in_e_to_the_epsilon(self, noise):
        a = np.linspace(1, 4, 40)
        delta = hockey_stick(noise, 1.0, np.log(a)).estimate
        assert (np.diff(delta) <= 1e-15).all()
        assert (np.diff(delta, 2) >= -1e-12).all()

    def test_negative_epsilon_by_the_mirror_identity(self, noise):
        """H_(-e) = 1 - e^-e + e^-e H_e, by a direct integral."""
        x = np.linspace(-60, 61, 1_200_001)
        gap = np.maximum(noise.pdf(x) - np.exp(-0.4) * noise.pdf(x - 1), 0)
        assert hockey_stick(noise, 1.0, -0.4).estimate == pytest.approx(np.trapezoid(gap, x), abs=2e-5)

    def test_group_of_two_is_the_double_shift_and_never_better(self, noise):
        one, two = (hockey_stick(noise, shift, np.array([0.1, 0.5, 1.0])).estimate for shift in (1.0, 2.0))
        assert (two >= one).all()

    def test_both_directions_are_equal(self, noise):
        assert hockey_stick(noise, -1.0, 0.2) == hockey_stick(noise, 1.0, 0.2)

    def test_an_array_is_the_scalars_in_a_row(self, noise):
        whole = hockey_stick(noise, 1.0, np.array([0.0, 0.1, 2.0])).estimate
        np.testing.assert_array_equal(whole, [hockey_stick(noise, 1.0, e).estimate for e in (0.0, 0.1, 2.0)])


@pytest.mark.parametrize("noise", [Gaussian(2.0), Laplace(2.0), SinhNormal(3.0, 9.0)])
@pytest.mark.parametrize("order", [1.5, 2.0, 3.5])
def test_theorem_6_moments_from_the_profile(noise, order):
    """E e^(sL) = 1 + s (s+1) int (e^(s eps) + e^(-(s+1) eps)) delta(eps) d eps: profile and divergence agree."""
    s = order - 1
    top = 0.5 * 1.2 if isinstance(noise, Laplace) else 30.0
    edges = np.linspace(0, top, 121)
    x, weight = profile.gauss_panels(edges, 20)
    if isinstance(noise, Laplace):
        x, weight = profile.gauss_panels(np.linspace(0, 0.5, 30), 20)
    delta = hockey_stick(noise, 1.0, x).estimate
    mean = 1 + s * (s + 1) * ((np.exp(s * x) + np.exp(-(s + 1) * x)) * delta) @ weight
    assert np.log(mean) / s == pytest.approx(renyi_divergence(noise, 1.0, order).estimate, rel=1e-9)


def test_no_shift_and_bad_arguments():
    assert hockey_stick(Gaussian(1.0), 0.0, 0.5).estimate == 0
    assert hockey_stick(Gaussian(1.0), 0.0, -1.0).estimate == pytest.approx(1 - np.exp(-1))
    for bad in (np.nan, np.inf, "x"):
        with pytest.raises(ValueError, match="epsilon = "):
            hockey_stick(Gaussian(1.0), 1.0, bad)
        with pytest.raises(ValueError, match="shift = "):
            hockey_stick(Gaussian(1.0), bad, 1.0)


@mp.workdps(80)
def truncated_mp(scale, bound, shift, epsilon):
    b, bound, shift, e = (mp.mpf(v) for v in (scale, bound, shift, epsilon))
    edge = mp.exp(-bound / b)

    def cdf(x):
        x = min(max(x, -bound), bound)
        tail = (mp.exp(-abs(x) / b) - edge) / (2 * (1 - edge))
        return tail if x < 0 else 1 - tail

    start = min(shift - bound, bound)
    if e >= shift / b:
        return cdf(start)
    cut = max((shift - b * e) / 2, start)
    return cdf(cut) - mp.exp(e) * (cdf(cut - shift) - cdf(start - shift))


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("bound", [0.5, 11.0, 300.0, 1e4, 1e12])
@pytest.mark.parametrize("shift", [1e-12, 1e-8, 0.1, 1.0, 10.999999, 15.0, 1e4])
def test_truncated_laplace_in_every_corner(scale, bound, shift):
    """Shifts far below the bound, near it, above; levels within the last digits of shift / scale."""
    theta = shift / scale
    for epsilon in (0.0, 0.1, 3.3333, theta * (1 - 1e-6), theta * (1 - 1e-12), theta, theta * (1 + 1e-15), 20.0):
        found = hockey_stick(TruncatedLaplace(scale, bound), shift, epsilon)
        truth = truncated_mp(scale, bound, shift, epsilon)
        assert found.lower <= found.estimate <= found.upper
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower <= 1e-10 * truth + 3e-307


@pytest.mark.parametrize("scale", [0.3, 7.0, 1e-5])
@mp.workdps(60)
def test_laplace_next_to_where_its_profile_ends(scale):
    theta = 1 / scale
    for epsilon in (theta * (1 - 1e-3), theta * (1 - 1e-10), theta * (1 - 3e-16), theta, theta * (1 + 3e-16)):
        truth = max(-mp.expm1((mp.mpf(epsilon) - 1 / mp.mpf(scale)) / 2), 0)
        found = hockey_stick(Laplace(scale), 1.0, epsilon)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower <= 3e-14 * truth


@pytest.mark.parametrize("z", [-3.0, 0.5, 0.99, 5.0, 30.0])
def test_gaussian_of_a_shift_of_a_million_scales(z):
    """Where epsilon / theta has lost digits beside z: delta = P[N > z] - e^(-z^2/2) / sqrt(2 pi) / (theta + z) + ..."""
    theta = 1e6
    epsilon = theta * (z + theta / 2)
    with mp.workdps(60):
        low, high = mp.mpf(epsilon) / theta - mp.mpf(theta) / 2, mp.mpf(epsilon) / theta + mp.mpf(theta) / 2
        mills = 1 / high - 1 / high**3 + 3 / high**5
        truth = mp.erfc(low / mp.sqrt(2)) / 2 - mp.npdf(low) * mills
    found = hockey_stick(Gaussian(1.0), theta, epsilon)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-7 * truth
