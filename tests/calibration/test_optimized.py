"""Calibration to noise on lattices: literal optima of an independent convex solver, bracketed guarantees, refusals."""

import numpy as np
import pytest

from tcdp_sim import exact
from tcdp_sim.calibration import VARIANCE, LargestError, calibrate
from tcdp_sim.core.errors import UserError
from tcdp_sim.noise import DitheredLattice, LatticeNoise
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP

PROMISE = TCDP(0.1, 0.75 / 0.1**0.5)
OF_A_MILLION = LargestError(1e6, 0.95)


def test_the_quantile_is_the_least_there_is():
    """12.5 and 17 counts: two bins change by one, a million bins."""
    for promise, least in ((PROMISE, 12.5), (ZCDP(0.1), 17.0)):
        noise = calibrate("lattice", promise, 1.0, "tight", coordinates=2, objective=OF_A_MILLION).noise
        assert isinstance(noise, LatticeNoise)
        assert OF_A_MILLION(noise) == least
        for order in np.linspace(1, min(getattr(promise, "omega", 80), 80), 9):
            assert 2 * exact.renyi_divergence(noise, 1.0, order).upper <= order * promise.rho * (1 + 1e-12)


def test_without_an_objective_the_variance_is_least():
    """Pure DP: the geometric law with ratio e^-epsilon, of variance 2 e^-epsilon / (1 - e^-epsilon)^2."""
    noise = calibrate("lattice", PureDP(0.5), 1.0, "tight").noise
    ratio = np.exp(-0.5)
    assert VARIANCE(noise) == pytest.approx(2 * ratio / (1 - ratio) ** 2, rel=1e-9)


@pytest.mark.parametrize("sensitivity", [1.0, 2.0])
def test_dithered_noise_keeps_the_promise_for_all_moves_up_to_the_sensitivity(sensitivity):
    noise = calibrate("dithered_lattice", PROMISE, sensitivity, "tight", objective=OF_A_MILLION).noise
    assert isinstance(noise, DitheredLattice)
    assert noise.scale == sensitivity
    for share in (0.1, 0.5, 0.99, 1.0):
        for order in (1.0, 1.2, PROMISE.omega):
            assert exact.renyi_divergence(noise, share * sensitivity, order).upper <= order * PROMISE.rho * (1 + 1e-12)
    at_end = exact.renyi_divergence(noise, sensitivity, PROMISE.omega).lower
    assert at_end >= 0.999 * PROMISE.omega * PROMISE.rho  # and nothing is given away


@pytest.mark.parametrize(
    ("arguments", "options", "problem"),
    [
        (("lattice", PROMISE, 2.0), {}, "does not scale"),
        (("lattice", PROMISE, 1.0, "paper"), {}, "by a theorem: none is known"),
        (("lattice", PROMISE), {"objective": len}, "valid: VARIANCE, LargestError"),
        (("lattice", ApproxDP(1, 1e-6)), {"coordinates": 2, "objective": OF_A_MILLION}, "coordinates = 2 is not valid"),
        (("lattices", PROMISE), {}, "not known"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments, options, problem):
    with pytest.raises((ValueError, UserError), match=problem) as raised:
        calibrate(*arguments, **options)
    assert "\n" not in str(raised.value)
