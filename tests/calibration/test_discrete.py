"""Discrete noises meet their guarantees by independent sums, and hardly smaller ones do not."""

import mpmath as mp
import numpy as np
import pytest
from discrete_references import law
from dp_accounting.pld import privacy_loss_distribution as google

from tcdp_sim.calibration import calibrate, calibrate_records
from tcdp_sim.exact import record_epsilon
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, RoundedGaussian, RoundedLaplace, RoundedSinhNormal
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP

GUARANTEES = [ApproxDP(1.0, 1e-6), ApproxDP(0.3, 1e-9), ApproxDP(4.0, 1e-3)]
FAMILIES = ["discrete_gaussian", "discrete_laplace", "rounded_gaussian", "rounded_laplace"]


def spent(noise, steps, epsilon, coordinates=1):
    """Return delta(epsilon) as a sum over all outputs, in 30 digits for one coordinate."""
    truth, far = law(noise), int(float(noise.isf_log(-90.0)) / noise.step)
    p = [truth.mass(abs(i)) for i in range(-far, far + 1)]
    q = [truth.mass(abs(i - steps)) for i in range(-far, far + 1)]
    if coordinates == 1:
        gain = mp.exp(mp.mpf(epsilon))
        return float(mp.fsum(max(a - gain * b, 0) for a, b in zip(p, q)))
    p, q = np.array([float(each) for each in p]), np.array([float(each) for each in q])
    return float(np.maximum(np.multiply.outer(p, p) - np.exp(epsilon) * np.multiply.outer(q, q), 0).sum())


def narrowed(noise, factor):
    name = noise.parameters()[0]
    return type(noise)(getattr(noise, name) * factor, step=noise.step)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
@pytest.mark.parametrize(("sensitivity", "step"), [(1.0, 1.0), (3.0, 1.0), (1.0, 0.25)])
def test_epsilon_and_delta_are_used_up(family, guarantee, sensitivity, step):
    noise = calibrate(family, guarantee, sensitivity, step=step).noise
    steps = round(sensitivity / step)
    assert spent(noise, steps, guarantee.epsilon) <= guarantee.delta * (1 + 1e-12)
    assert spent(narrowed(noise, 1 - 2e-7), steps, guarantee.epsilon) > guarantee.delta


@pytest.mark.parametrize("family", FAMILIES)
def test_two_coordinates_use_up_epsilon_and_delta(family):
    noise = calibrate(family, ApproxDP(1.0, 1e-5), coordinates=2).noise
    assert spent(noise, 1, 1.0, 2) <= 1e-5 * (1 + 1e-9)
    assert spent(narrowed(noise, 1 - 1e-6), 1, 1.0, 2) > 1e-5


@pytest.mark.parametrize("sigma", [1.0, 7.5])
def test_the_profile_is_that_of_dp_accounting(sigma):
    """Its loss is rounded up to multiples of 1e-4."""
    theirs = google.from_discrete_gaussian_mechanism(sigma, value_discretization_interval=1e-4)
    for epsilon in (0.1, 1.0, 3.0):
        exact = spent(DiscreteGaussian(sigma), 1, epsilon)
        assert exact <= theirs.get_delta_for_epsilon(epsilon) * (1 + 1e-9) + 1e-15
        assert theirs.get_delta_for_epsilon(epsilon + 1e-4) <= exact * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("guarantee", [ZCDP(0.1), TCDP(0.1, 3.0), TCDP(0.1, 1.2), ZCDP(30.0)], ids=str)
@pytest.mark.parametrize(("sensitivity", "coordinates"), [(1.0, 1), (2.0, 3)])
def test_discrete_gaussian_noise_uses_up_rho(guarantee, sensitivity, coordinates):
    noise = calibrate("discrete_gaussian", guarantee, sensitivity, coordinates=coordinates).noise
    truth = law(noise)
    near = [(truth.mass(abs(i)), truth.mass(abs(i - round(sensitivity)))) for i in range(-90, 91)]
    kl = mp.fsum(p * mp.log(p / q) for p, q in near)
    assert coordinates * float(kl) == pytest.approx(guarantee.rho, rel=1e-12)


@pytest.mark.parametrize("rho", [0.01, 0.5, 5.0])
def test_discrete_laplace_noise_uses_up_rho(rho):
    """The supremum of D_a / a is the limit at order 1 (verified numerically, not proved)."""
    noise = calibrate("discrete_laplace", ZCDP(rho)).noise

    def kl(scale):
        fall = 1 / mp.mpf(scale)
        return float(fall * mp.tanh(fall / 2))  # losses +-fall with probabilities 1 / (1 + q), q / (1 + q)

    assert rho * (1 - 1e-6) <= kl(noise.scale) <= rho * (1 + 1e-12)
    assert noise.scale < calibrate("discrete_laplace", ZCDP(rho), method="paper").noise.scale


def test_pure_dp_and_rounded_noises_have_the_constants_of_the_continuous_ones():
    assert calibrate("discrete_laplace", PureDP(0.5), 2.0, coordinates=3).noise == DiscreteLaplace(12.0)
    assert calibrate("rounded_laplace", PureDP(0.5), step=0.5).noise == RoundedLaplace(2.0, 0.5)
    assert calibrate("rounded_gaussian", ZCDP(0.5), 2.0).noise == RoundedGaussian(2.0)
    smooth = calibrate("sinh_normal", TCDP(0.1, 5.0)).noise
    found = calibrate("rounded_sinh_normal", TCDP(0.1, 5.0))
    assert found.noise == RoundedSinhNormal(smooth.scale, smooth.knee)
    assert "post-processing" in found.method


@pytest.mark.parametrize(
    ("arguments", "options", "problem"),
    [
        (("discrete_gaussian", PureDP(1.0)), {}, "cannot be calibrated to 1-DP; valid: ZCDP"),
        (("discrete_gaussian", ZCDP(1.0), 0.5), {}, "sensitivity = 0.5 is not valid for noise on a lattice"),
        (("discrete_gaussian", ApproxDP(1.0, 1e-6), 1.5), {}, "sensitivity = 1.5 is not valid"),
        (("discrete_gaussian", ApproxDP(1.0, 1e-6)), {"coordinates": 3}, "coordinates = 3"),
        (("discrete_gaussian", ZCDP(1.0)), {"step": 0.0}, "step = 0 is not valid"),
        (("gaussian", ZCDP(1.0)), {"step": 0.5}, "step = 0.5 is not valid for gaussian; valid: 1, or a noise such as"),
        (("rounded_gaussian", PureDP(1.0)), {}, "rounded_gaussian cannot be calibrated to 1-DP"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments, options, problem):
    with pytest.raises(ValueError, match=problem) as raised:
        calibrate(*arguments, **options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("family", ["discrete_gaussian", "discrete_laplace"])
@pytest.mark.parametrize("accounting", ["approx_dp", "zcdp", "printed"])
def test_records_spend_their_anchor(family, accounting):
    found = calibrate_records(family, [(7.0, 1.5)], accounting, delta=1e-5)
    assert 1.5 * (1 - 1e-6) <= found.bounds.lower <= found.bounds.upper <= 1.5
    if accounting == "approx_dp":
        assert spent(found.noise, 7, 1.5) <= 1e-5 < spent(found.noise, 7, 1.5 - 1e-5)
        assert record_epsilon(found.release, 3.0, 1e-5).upper < 1.5
    with pytest.raises(ValueError, match=r"influence = 7\.5 is not valid for noise on a lattice"):
        calibrate_records(family, [(7.5, 1.5)], accounting)
