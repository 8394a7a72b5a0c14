"""The privacy loss of one record as a mechanism: simulated beside exact values, and beside closed forms in mpmath.

Seeds are fixed; at a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8, and there are about
90 of them: one alarm in 270,000 changes of the stream.
"""

from math import e

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from tcdp_sim import exact
from tcdp_sim.mechanisms.per_record_loss import PerRecordLoss
from tcdp_sim.noise import ExponentialPolylogarithmic, GeneralizedGaussian
from tcdp_sim.per_record import AdditiveRelease

TRIALS = 20_000
GG, EPL = GeneralizedGaussian, ExponentialPolylogarithmic
POPULATIONS = {"populations": {"breaches": {"file": "hhs_breaches.csv", "column": "individuals"}}}
POINTS = [
    {"release": "gaussian", "scale": 3.0},
    {"release": "laplace", "scale": 3.0},
    {"release": "generalized_gaussian", "scale": 3.0, "power": 0.5},
    {"release": "generalized_gaussian", "scale": 3.0, "power": 0.25},
    {"release": "exponential_polylogarithmic", "scale": 3.0, "power": 1.0, "rate": 1.2},
    {"release": "exponential_polylogarithmic", "scale": 3.0, "power": 2.0, "rate": 0.3},
    {"release": "fourth_root", "scale": 0.7, "offset": 5.0},
    {"release": "log", "scale": 0.7, "offset": 5.0},
    {"release": "clipped", "scale": 3.0, "clip": 2.0},
    {"release": "unit_splitting", "scale": 3.0, "threshold": 2.0},
]
every = pytest.mark.parametrize("point", POINTS, ids=lambda point: f"{point['release']}-{point.get('power', '')}")


def rng(seed=14):
    return np.random.default_rng(seed)


def law(point, influence=4.0, **more):
    return PerRecordLoss.law(point | {"influence": influence} | more, POPULATIONS, None)


def built(point, influence=4.0, **more):
    return PerRecordLoss.build(law(point, influence, **more), np.zeros(0))


def agree(values, truth):
    assert abs(values.mean() - truth) <= 5.5 * values.std() / np.sqrt(len(values)) + 1e-9 * abs(truth)


def test_the_law_holds_only_what_it_uses():
    point = {"release": "laplace", "scale": 2.0, "population": "breaches", "delta": 1e-6, "rate": 2.0}
    assert law(point, 5.0) == law({"release": "laplace", "scale": 2.0}, 5.0)
    assert set(PerRecordLoss.uses(point | {"influence": 5.0})) == {"release", "scale", "influence"}
    assert set(PerRecordLoss.uses(point | {"influence": "max"})) == {"release", "scale", "influence", "population"}
    assert law(point, "median")["influence"] == 2365.0  # counted in the file: the 576th of 1151


@every
def test_plain_draws_have_the_mean_and_the_tail_of_the_loss(point):
    """The mean is the divergence of order 1, and E e^-L = 1; a loss is never above the largest."""
    mechanism = built(point)
    loss = mechanism.simulate(rng(), TRIALS)["privacy_loss"]
    agree(loss, exact.record_renyi(mechanism.release, 4.0, 1.0).estimate)
    agree(np.exp(-loss), 1.0)
    noise, shift = mechanism.hidden_by
    assert loss.max() <= noise.largest_loss(shift) * (1 + 1e-12)


@every
@pytest.mark.parametrize("order", [1.01, 2.0, 12.0])
def test_renyi_divergences_are_those_of_quadrature(point, order):
    mechanism = built(point, order=order)
    divergence = exact.record_renyi(mechanism.release, 4.0, order).estimate
    agree(mechanism.simulate(rng(), TRIALS)["renyi_excess"], np.expm1((order - 1) * divergence))


@every
@pytest.mark.parametrize("epsilon", [0.05, 0.6])
def test_profiles_are_those_of_quadrature_and_tails_those_of_plain_draws(point, epsilon):
    """P[L > eps] of 20,000 plain draws: a binomial test at 1e-7."""
    mechanism = built(point, epsilon=epsilon)
    values = mechanism.simulate(rng(), TRIALS)
    agree(values["hockey_stick"], exact.record_profile(mechanism.release, 4.0, epsilon).estimate)
    loss = built(point).simulate(rng(3), TRIALS)["privacy_loss"]
    tail = values["loss_tail"].mean()
    assert stats.binomtest(int((loss > epsilon).sum()), TRIALS, tail).pvalue > 1e-7


@pytest.mark.parametrize(
    ("noise", "influence", "order"),
    [
        (GG(1.0, 0.5), 1e-8, 3000.0),
        (GG(1.0, 0.25), 1e-8, 6643.0),
        (EPL(1.0, 1.0, 1.0, 1.2), 1e-8, 3000.0),
        (EPL(1.0, 2.0, e, 0.3), 1e-8, 3000.0),
        (GG(1.0, 0.25), 16.0, 7.72),
    ],
    ids=repr,
)
def test_small_influences_and_large_orders_are_no_harder(noise, influence, order):
    """Relative standard error 2e-4 of 20,000 trials, where plain draws see nothing."""
    release = AdditiveRelease(noise)
    values = PerRecordLoss(release, influence, order=order).simulate(rng(), TRIALS)["renyi_excess"]
    truth = np.expm1((order - 1) * exact.record_renyi(release, influence, order).estimate)
    assert values.std() / np.sqrt(TRIALS) <= 3e-4 * truth
    agree(values, truth)


@pytest.mark.parametrize("influence", [1e-6, 3.0, 1e6])
def test_a_transformation_hides_least_at_the_answer_zero(influence):
    """D_a = a (f(t + o) - f(o))^2 / (2 scale^2), in mpmath; at the answer t it would be less, and fails."""
    order, offset = 1.7, 5.0
    for name, f in (("fourth_root", lambda x: mp.root(x, 4)), ("log", mp.log)):
        values = built({"release": name, "scale": 6.0, "offset": offset}, influence, order=order)
        with mp.workdps(40):
            t, low = mp.mpf(influence), mp.mpf(offset)
            divergence = order * (f(t + low) - f(low)) ** 2 / 72
            elsewhere = order * (f(2 * t + low) - f(t + low)) ** 2 / 72
            truth, wrong = (float(mp.expm1((order - 1) * value)) for value in (divergence, elsewhere))
        found = values.simulate(rng(), TRIALS)["renyi_excess"]
        agree(found, truth)
        if influence > 1:
            assert abs(found.mean() - wrong) > 100 * found.std() / np.sqrt(TRIALS)


def test_clipping_and_splitting_hide_what_a_record_adds():
    """Gaussian losses: mean c^2 / (2 scale^2), c = min(t, 2) clipped at 2, t split in full; KS at 1e-6."""
    for point, added in ((POINTS[8], 2.0), (POINTS[9], 5.0)):
        rho = added**2 / 18
        loss = built(point, 5.0).simulate(rng(), TRIALS)["privacy_loss"]
        assert stats.kstest(loss, stats.norm(rho, np.sqrt(2 * rho)).cdf).pvalue > 1e-6
