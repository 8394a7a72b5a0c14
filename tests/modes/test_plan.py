"""mode=plan: what a pilot predicts is what the run then takes."""

import re

import pytest

from tcdp_sim import pilot, results
from tcdp_sim.mechanisms import Histogram

SMALL = ("sweep.k=[10,1e6]", "sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")


def test_the_predicted_trials_are_those_the_target_takes(tiny, folder):
    """500 trials give a variance to 6% (normal: sqrt(2 / 499)), four cells; the run grows in whole chunks."""
    words = (*SMALL, "target_mcse={linf_error: {absolute: 0.02}}", "max_trials=100000")
    code, out, _ = tiny(*words, "mode=plan")
    assert code == 0
    predicted = float(re.search(r"target_mcse: about ([\d.,e+]+) trials a cell", out)[1].replace(",", ""))
    assert "at most 100,000 trials a cell" in out
    assert tiny(*words)[0] == 0
    taken = results.open_cells(folder)["trials"].values.mean()
    assert predicted == pytest.approx(taken, rel=0.25)
    assert taken > 5000


def test_a_finished_run_needs_no_pilot(tiny):
    assert tiny(*SMALL)[0] == 0
    code, out, _ = tiny(*SMALL, "mode=plan")
    assert code == 0
    assert "to simulate: 0 of 8 chunks" in out
    assert "pilot" not in out


def test_errors_show_in_the_pilot(tiny, monkeypatch):
    monkeypatch.setattr(Histogram, "simulate", lambda self, rng, trials: 1 / 0)
    code, out, _ = tiny(*SMALL, "mode=plan")
    assert code == 0
    assert "warning: 4 of the 4 cells of the pilot ended with an error" in out


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000])
def test_every_beginning_of_the_pilot_is_spread_over_the_sweep(n):
    order = pilot._spread(n)
    assert sorted(order) == list(range(n))
    for share in (4, 2):
        part = order[: n // share]
        for quarter in range(4):  # within two of its fair part
            inside = sum(quarter * n / 4 <= i < (quarter + 1) * n / 4 for i in part)
            assert abs(inside - len(part) / 4) <= 2


@pytest.mark.parametrize(("seconds", "said"), [(1.5, "1.5 s"), (200, "3.33 min"), (7200, "2 h"), (1e6, "11.6 days")])
def test_durations_are_for_people(seconds, said):
    from tcdp_sim.modes import plan

    assert plan._duration(seconds) == said
