"""Brackets of composed releases become narrower with the square of the step; trusted values by inverse transforms."""

import composed_pairs
import numpy as np
import pytest
from composed_pairs import composed_epsilon, dominating_pairs

from benchmarks.peers import trusted
from tcdp_sim.exact.losses import lists
from tcdp_sim.exact.losses.atoms import cells
from tcdp_sim.exact.losses.pair_law import PairLoss
from tcdp_sim.noise import Gaussian, Laplace

DELTA = 1e-6
NOISES = {"gaussian": Gaussian(1.0), "laplace": Laplace(1.0)}


def pairs(noise, rate=0.01):
    return dominating_pairs(NOISES[noise], 1.0, rate, "poisson")


@pytest.mark.parametrize(("noise", "longest"), [("gaussian", 2**18), ("laplace", 2**16)])
def test_a_width_of_1e_4_needs_no_long_transform(noise, longest, monkeypatch):
    """A thousand releases. With cells that lie anyhow around the points of the grid it took transforms of 2^21."""
    monkeypatch.setattr(lists, "LONGEST", longest)
    monkeypatch.setattr(composed_pairs, "any_bracket", None)  # the other method is not needed
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
    asked, plain = [], PairLoss.on_grid

    def counted(law, *arguments):
        asked.append(law.pair)
        return plain(law, *arguments)

    monkeypatch.setattr(PairLoss, "on_grid", counted)
    worse, other = pairs("gaussian")
    alone = composed_epsilon([worse], 1000, DELTA)
    for given in ([worse, other], [other, worse]):
        asked.clear()
        assert composed_epsilon(given, 1000, DELTA) == alone
        assert asked.count(other) == 1  # on a coarse grid
    assert alone.lower <= trusted.subsampled_gaussian(0.01, 1000, DELTA) <= alone.upper
    assert alone.upper - alone.lower <= 1e-3


@pytest.mark.parametrize("noise", NOISES)
def test_both_methods_agree(noise, monkeypatch):
    found = composed_epsilon(pairs(noise), 300, DELTA, 1e-4)
    monkeypatch.setattr(composed_pairs, "_law", lambda pair: None)
    other = composed_epsilon(pairs(noise), 300, DELTA, 1e-4)
    assert found != other
    assert max(found.lower, other.lower) <= min(found.upper, other.upper)


def test_a_bracket_that_is_too_wide_is_narrowed_by_the_other_method(monkeypatch):
    monkeypatch.setattr(composed_pairs, "_FEW_ROUNDS", 1)
    monkeypatch.setattr(lists, "_WIDTH", 1e-4)  # so that the first step is too coarse
    truth = trusted.subsampled_gaussian(0.01, 1000, DELTA)
    found = composed_epsilon(pairs("gaussian"), 1000, DELTA)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-3
    monkeypatch.setattr(composed_pairs, "any_bracket", lambda *arguments: (0.0, np.inf))
    assert np.subtract(*composed_epsilon(pairs("gaussian"), 1000, DELTA)[::-2]) > 1e-3
