"""Integrals that share panels, against closed forms and one by one; sums of losses without what underflows."""

import math

import composed_pairs
import numpy as np
import pytest
from composed_pairs import dominating_pairs, subsampled_hockey_stick

from tcdp_sim.core.numerics import integrate
from tcdp_sim.exact.losses import any_pair
from tcdp_sim.exact.losses.many_integrals import integrate_each
from tcdp_sim.exact.losses.sums import LossSum
from tcdp_sim.noise import Gaussian

EDGES = np.array([0.0, 0.25, 1.0, 1.5, 4.0])
LEFT = np.array([-3.0, 0.1, 0.0, 0.25, 0.3, 1.2, 3.9, 5.0, -2.0])
RIGHT = np.array([5.0, 0.2, 4.0, 1.5, 1.1, 1.3, 4.1, 6.0, -1.0])  # across edges, from edge to edge, inside, outside
RATES = np.linspace(0.2, 2.0, len(LEFT))


def falling(rate, x):
    return np.exp(-rate * x)


def peaked(place, x):
    return 1 / (0.01 + (x - place) ** 2)


def test_smooth_integrals_contain_the_closed_form():
    low, middle, high = integrate_each(falling, RATES, LEFT, RIGHT, EDGES)
    truth = [(math.exp(-c * a) - math.exp(-c * b)) / c for c, a, b in zip(RATES, LEFT, RIGHT)]
    assert (low <= truth).all()
    assert (truth <= high).all()
    assert (high - low <= 1e-9 * middle).all()


def test_integrals_that_need_more_panels_contain_the_closed_form():
    places = LEFT + 0.377 * (RIGHT - LEFT)
    low, middle, high = integrate_each(peaked, places, LEFT, RIGHT, EDGES)
    truth = [10 * (math.atan(10 * (b - c)) + math.atan(10 * (c - a))) for c, a, b in zip(places, LEFT, RIGHT)]
    assert (low <= truth).all()
    assert (truth <= high).all()
    assert (high - low <= 1e-9 * middle).all()


@pytest.mark.parametrize("f", [falling, peaked])
def test_together_is_one_by_one_to_the_last_bit(f):
    together = integrate_each(f, RATES, LEFT, RIGHT, EDGES)
    for j, (a, b) in enumerate(zip(LEFT, RIGHT)):
        panels = [a, *EDGES[(a < EDGES) & (b > EDGES)], b]
        assert tuple(together[:, j]) == tuple(integrate(lambda x: f(RATES[j], x), panels))  # noqa: B023
        assert tuple(together[:, j]) == tuple(
            integrate_each(f, *(part[j : j + 1] for part in (RATES, LEFT, RIGHT)), EDGES)[:, 0]
        )


def test_whole_panels_are_looked_at_once():
    edges, points = np.linspace(0, 1, 201), []

    def counted(rate, x):
        points.append(x.size)
        return np.exp(-rate * x)

    integrate_each(counted, np.linspace(0.1, 1, 40), np.full(40, 1e-4), np.linspace(0.9, 0.9999, 40), edges)
    assert sum(points) == 30 * (199 - 1 + 2 * 40)  # between the first and the last edge, and two panels for each


def test_what_vanishes_adds_nothing():
    rng = np.random.default_rng(5)
    loss, theta = np.linspace(-1, 50, 4001), 40.0
    mass = rng.random(4001) * 1e-4
    law = LossSum(loss, mass, theta, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for epsilon in (-0.9, 0.0, 3.0, 17.0):
        weights = [math.exp(-theta * v) * -math.expm1(epsilon - v) if v > epsilon else 0.0 for v in loss]
        truth = math.fsum(m * w for m, w in zip(mass, weights))
        if truth < 1:
            assert law.delta(epsilon) == pytest.approx((truth, truth), rel=1e-12, abs=2e-307)
        assert law.delta(epsilon)[0] == pytest.approx(truth, rel=1e-12, abs=1e-307)


@pytest.mark.parametrize("longest", [2**11, 2**13])
def test_no_transform_is_longer_than_the_longest(monkeypatch, longest):
    lengths, plain = [], any_pair.summed

    def seen(atoms, offset, step, theta, releases, span, missing):
        lengths.append((span[1] - span[0]) / step)
        return plain(atoms, offset, step, theta, releases, span, missing)

    monkeypatch.setattr(composed_pairs, "_law", lambda pair: None)  # the method for any pair
    monkeypatch.setattr(any_pair, "LONGEST", longest)
    monkeypatch.setattr(any_pair, "summed", seen)
    pairs = dominating_pairs(Gaussian(1.0), 1.0, 1e-6, "poisson")
    bounds = composed_pairs.composed_profile(pairs, 1000, 1.0)
    assert max(lengths, default=0) <= longest
    assert bounds.upper >= subsampled_hockey_stick(Gaussian(1.0), 1.0, 1.0, 1e-6).lower
