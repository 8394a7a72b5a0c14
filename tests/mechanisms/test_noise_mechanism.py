"""One draw of a noise as a mechanism of the framework.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import numpy as np
import pytest
from scipy import stats

from tcdp_sim.mechanisms import NoiseDraw
from tcdp_sim.mechanisms.privacy_loss import PrivacyLoss
from tcdp_sim.noise import Gaussian, SinhNormal
from tcdp_sim.privacy import TCDP, ZCDP
from tcdp_sim.study import groups

TRIALS = 50_000
TARGET = {"rho": 0.1, "omega": 6.0, "delta": 1e-3}
GIVEN = {"scale": 2.0, "knee": 3.0, "bound": 5.0}


def point(noise, **more):
    return {"noise": groups.named("noise", noise), **more}


def law(noise, **more):
    return NoiseDraw.law(point(noise, **more), {}, None)


def built(noise, **more):
    return NoiseDraw.build(law(noise, **more), np.zeros(0))


def test_given_parameters_are_the_noise_and_promise_nothing():
    mechanism = built("sinh_normal", scale=2.0, knee=0.5, rho=0.1)
    assert (mechanism.noise, mechanism.guarantee) == (SinhNormal(2, 0.5), None)
    assert built("gaussian", scale=2.0, knee=0.5).noise == Gaussian(2)
    assert law("sinh_normal", **GIVEN) == law("sinh_normal_tight", **GIVEN)


def test_without_them_it_is_calibrated_for_a_query_of_sensitivity_one():
    assert built("gaussian", **TARGET).noise == Gaussian(np.sqrt(5))
    assert built("gaussian", **TARGET).guarantee == ZCDP(0.1)
    mechanism = built("sinh_normal", **TARGET)
    assert mechanism.guarantee == TCDP(0.1, 6.0)
    assert mechanism.noise == SinhNormal(np.sqrt(80), 48)  # Theorem 17


def test_the_law_depends_on_what_it_uses_and_nothing_else():
    used = NoiseDraw.uses(point("sinh_normal", **TARGET, **GIVEN))
    assert set(used) == {"noise", "scale", "knee"}
    assert set(NoiseDraw.uses(point("gaussian", **TARGET, knee=3.0))) == {"noise", "rho"}
    assert set(NoiseDraw.uses(point("sinh_normal", **TARGET))) == {"noise", "rho", "omega", "omega_sqrt_rho"}
    assert set(NoiseDraw.uses(point("truncated_laplace", **TARGET))) == {"noise", "rho", "delta"}


@pytest.mark.parametrize("knee", [0.7, 4.0])
def test_draws_are_arsinh_of_a_gaussian(knee):
    """Kolmogorov-Smirnov at 1e-6, of what the transformation makes of the draws."""
    found = built("sinh_normal", scale=2.0, knee=knee).simulate(np.random.default_rng(5), TRIALS)
    assert set(found) == set(NoiseDraw.observables)
    assert stats.kstest(knee * np.sinh(found["noise"] / knee), stats.norm(0, 2).cdf).pvalue > 1e-6
    np.testing.assert_array_equal(found["squared_noise"], found["noise"] ** 2)


def test_the_privacy_loss_takes_given_noises_too():
    """The loss of N(0, 2^2) at shift 1 is N(1/8, 1/4), and nothing is promised."""
    description = PrivacyLoss.law(point("gaussian", scale=2.0, shift=1.0), {}, None)
    mechanism = PrivacyLoss.build(description, np.zeros(0))
    assert mechanism.guarantee is None
    losses = mechanism.simulate(np.random.default_rng(6), TRIALS)["privacy_loss"]
    assert stats.kstest(losses, stats.norm(1 / 8, 1 / 2).cdf).pvalue > 1e-6
