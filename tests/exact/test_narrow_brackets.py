"""Brackets of composed releases become narrower with the square of the step; trusted values by inverse transforms."""

import numpy as np
import pytest

from benchmarks.peers import trusted
from tcdp_sim.exact import composed_epsilon, dominating_pairs
from tcdp_sim.exact.losses import composed
from tcdp_sim.exact.losses.atoms import cells
from tcdp_sim.noise import Gaussian, Laplace

DELTA = 1e-6
NOISES = {"gaussian": Gaussian(1.0), "laplace": Laplace(1.0)}


def pairs(noise, rate=0.01):
    return dominating_pairs(NOISES[noise], 1.0, rate, "poisson")


@pytest.mark.parametrize(("noise", "longest"), [("gaussian", 2**18), ("laplace", 2**16)])
def test_a_width_of_1e_4_needs_no_long_transform(noise, longest, monkeypatch):
    """A thousand releases. With cells that lie anyhow around the points of the grid it took transforms of 2^21."""
    monkeypatch.setattr(composed, "LONGEST", longest)
    found = composed_epsilon(pairs(noise), 1000, DELTA, 1e-4)
    truth = getattr(trusted, f"subsampled_{noise}")(0.01, 1000, DELTA)
    assert found.lower <= truth * (1 + 1e-9)
    assert truth <= found.upper * (1 + 1e-9)
    assert found.upper - found.lower <= 1e-4


@pytest.mark.parametrize("noise", NOISES)
def test_a_hundred_thousand_releases_within_2e_3(noise):
    found = composed_epsilon(pairs(noise), 100_000, DELTA, 2e-3)
    truth = getattr(trusted, f"subsampled_{noise}")(0.01, 100_000, DELTA)
    assert found.lower <= truth * (1 + 1e-9)
    assert truth <= found.upper * (1 + 1e-9)
    assert found.upper - found.lower <= 2e-3


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize(("noise", "offset"), [("gaussian", 0.0), ("gaussian", 3e-4), ("laplace", 2e-4)])
def test_what_is_merged_is_off_its_point_by_the_square_of_the_step(noise, offset, direction):
    """Of atoms that have 1% of the heaviest mass; but the outermost ones, whose cells are cut off."""
    off = []
    for step in (1e-3, 5e-4):
        atoms = cells(pairs(noise, 0.1)[direction], 1.0, step, offset).merged(offset, step)
        heavy = np.flatnonzero(atoms.mass > 0.01 * np.sort(atoms.mass)[-3])[3:-3]
        places = (atoms.loss[heavy] - offset) / step
        off.append(np.quantile(np.abs(places - np.rint(places)), 0.95))
    assert off[0] < 0.04  # in steps
    assert off[1] < 0.6 * off[0]


def test_the_pair_that_is_no_worse_is_left_early(monkeypatch):
    asked = []

    def counted(pair, *arguments):
        asked.append(pair)
        return cells(pair, *arguments)

    monkeypatch.setattr(composed, "cells", counted)
    worse, other = pairs("gaussian")
    assert composed_epsilon([worse, other], 1000, DELTA) == composed_epsilon([worse], 1000, DELTA)
    assert asked.count(other) == 2  # as coarsely as the tails are known, and once on a grid
    turned = composed_epsilon([other, worse], 1000, DELTA)
    assert turned.lower <= trusted.subsampled_gaussian(0.01, 1000, DELTA) <= turned.upper
    assert turned.upper - turned.lower <= 1e-3
