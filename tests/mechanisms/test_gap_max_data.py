"""Selection on a data set: the gap and the candidates are those of its counts."""

import numpy as np
import pytest

from tcdp_sim.data import Counts
from tcdp_sim.mechanisms.gap_max import GapMax
from tcdp_sim.mechanisms.gap_max_data import GapMaxData
from tcdp_sim.study import groups

COUNTS = Counts("votes", np.array([7, 30, 12, 30 - 4]), 1000, "made up")
POINT = {"algorithm": "obvious_answer", "noise": groups.named("noise", "gaussian"), "rho": 0.1, "m": 1.0}


def law(counts=COUNTS, **changed):
    return GapMaxData.law(POINT | {"data": counts.name, "k": counts.k} | changed, {"beta": 0.05}, counts)


def test_the_law_is_that_of_the_gap_and_the_candidates():
    plain = GapMax.law(POINT | {"k": 1000.0, "gap": 4.0}, {"beta": 0.05}, None)
    assert law() == plain | {"mechanism": "gap_max_data"}
    other = Counts("the same gap", np.array([104, 100]), 1000, "made up")
    assert law(other) == law()
    built = GapMaxData.build(law(), COUNTS.counts)
    assert (built.gap, built.k) == (4, 1000)
    assert built.simulate(np.random.default_rng(1), 3)["top_selected"].shape == (3,)


@pytest.mark.parametrize(("m", "gap"), [(1.0, 4), (2.0, 14), (3.0, 5), (4.0, 7)])
def test_the_gap_below_the_top_m(m, gap):
    """The fifth candidate, like all others of the domain, has no record."""
    found = law(algorithm="generalized_histogram", m=m)
    assert (found["gap"], found["m"]) == (gap, m)


def test_a_tie_is_a_gap_of_zero():
    assert law(Counts("tie", np.array([5, 5, 1]), 10, "made up"))["gap"] == 0


def test_one_candidate_is_nothing_to_select_from():
    with pytest.raises(ValueError, match="k = 1 is not valid; valid: at least 2"):
        law(Counts("one", np.array([5]), 1, "made up"))
