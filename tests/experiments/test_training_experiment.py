"""The study of training runs, from small runs; brackets that are wrong are found.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import numpy as np
import pandas as pd
import pytest

from tcdp_sim import results
from tcdp_sim.experiments import training as experiment
from tcdp_sim.experiments.training import drawing
from tcdp_sim.experiments.training.exact_values import VALUES
from tcdp_sim.mechanisms.training import Training
from tcdp_sim.results import published
from tcdp_sim.statistics import contradictions

NUMBERS = ("simulated", "lower", "upper", "exact_low", "exact_high", "simulated_delta")
WORDS = ("experiment=training", "cluster=serial", "trials=2000", "chunk=1000", "also=null", "sweep.steps=20")


def tabulated(tmp_path):
    return published.table(experiment, results.open_cells(tmp_path / "results" / "training").load())


def names(tmp_path):
    return sorted(path.stem for path in (tmp_path / "results" / "training" / "figures").glob("*.png"))


def test_three_epsilons_stand_beside_simulated_ones(ran_once, tmp_path):
    samplers = "poisson,balls_in_bins,shuffle_each_epoch,shuffle_once,no_shuffle,fixed_size"
    said = ran_once(
        *WORDS, f"sweep.sampler=[{samplers}]", "sweep.sigma=[0.8,1.2]", "sweep.epochs=2", "sweep.delta=1e-4"
    )
    table = tabulated(tmp_path)
    epsilon = table[table["quantity"] == "epsilon"]
    assert len(epsilon) == 12
    assert (table["exact_low"] <= table["exact_high"]).all()
    assert ((table["simulated"] - table["exact"]).abs() < 5.5 * table["mcse"] + 1e-3 * table["exact"]).all()
    zero_out = epsilon[epsilon["sampler"] != "fixed_size"]
    assert (zero_out["simulated"] < zero_out["largest"] + 5.5 * zero_out["mcse"]).all()
    shuffled = epsilon[epsilon["sampler"].str.startswith("shuffle")]
    assert (shuffled["least"] > 2 * shuffled["printed"]).all()  # the printed epsilon is no guarantee
    assert (shuffled["simulated"] + 5.5 * shuffled["mcse"] > shuffled["least"]).all()
    known_order = epsilon[epsilon["sampler"] == "no_shuffle"].set_index("sigma")["largest"]
    assert (shuffled["largest"].to_numpy() >= known_order[shuffled["sigma"]].to_numpy() * (1 - 1e-6)).all()
    once, anew = (epsilon[epsilon["sampler"] == name] for name in ("shuffle_once", "shuffle_each_epoch"))
    assert (once["simulated"].to_numpy() > anew["simulated"].to_numpy()).all()  # its epochs do not compose
    assert contradictions.find(table).empty
    known = table[table["exact_high"] < 1.01 * table["exact_low"]]
    assert len(contradictions.find(known.assign(exact=known["exact"] * 1.6))) >= 6  # brackets that far off are found
    assert "none contradicts it beyond chance" in said
    assert "nothing simulated is a guarantee" in said
    assert not any("simulated" in line and "proved" in line for line in said.splitlines())
    assert names(tmp_path) == ["three_epsilons"]


def test_cut_samples_have_a_figure_of_their_own(ran_once, tmp_path):
    cut = (
        "sweep.sampler=poisson_cut",
        "sweep.sigma=1",
        "sweep.epochs=1",
        "sweep.batch=20",
        "sweep.most=[24,30,36]",
        "sweep.delta=1e-4",
    )
    ran_once(*WORDS, *cut)
    epsilon = tabulated(tmp_path).query("quantity == 'epsilon'").sort_values("most")
    assert epsilon["largest"].is_monotonic_decreasing
    assert (epsilon["least"] <= epsilon["simulated"] + 5.5 * epsilon["mcse"]).all()
    assert (epsilon["simulated"] <= epsilon["largest"] + 5.5 * epsilon["mcse"] + 0.01).all()
    assert names(tmp_path) == ["cut_samples"]


def test_profiles_steps_and_draws_are_drawn(ran_once, tmp_path):
    ran_once(
        *WORDS, "sweep.sampler=[poisson,shuffle_each_epoch]", "sweep.sigma=1", "sweep.epochs=1", "sweep.epsilon=[0,1]"
    )
    table = tabulated(tmp_path)
    assert set(table["quantity"]) == {"delta"}
    assert (table["plain_exact"].between(table["exact_low"], table["exact_high"])).all()
    assert names(tmp_path) == ["draws", "profiles"]


def mechanism(sampler, **change):
    point = {"sampler": sampler, "sigma": 1.0, "steps": 30, "epochs": 1, "delta": 1e-5} | change
    return Training.build(Training.law(point, {}, None), None)


@pytest.mark.parametrize("sampler", ["balls_in_bins", "shuffle_each_epoch"])
def test_the_noise_that_is_needed_proves_the_printed_epsilon(sampler):
    needed, printed = VALUES["needed_sigma"](mechanism(sampler)), VALUES["printed_epsilon"](mechanism(sampler))
    enough = mechanism(sampler, sigma=needed)
    assert VALUES["largest_epsilon"](enough) <= printed * (1 + 1e-4)  # the tolerance of both
    assert VALUES["largest_epsilon"](mechanism(sampler, sigma=0.99 * needed)) > printed


def test_figures_show_what_their_rows_have():
    setting = {"sigma": 1.0, "steps": 50, "epochs": 1, "batch": 1, "most": np.nan, "group": 1, "direction": "forward"}
    rows = [
        setting | {"sampler": sampler, "quantity": "delta", "at": at, "trials": 1000, "printed": np.nan}
        | dict.fromkeys(NUMBERS, level * np.exp(-at))
        | {"draws": 100 * np.exp(at), "needed": np.nan, "plain": level}
        for sampler, level in (("poisson", 0.01), ("shuffle_once", 0.2))
        for at in (0.0, 1.0, 2.0)
    ]  # fmt: skip
    found = dict(drawing.parts(pd.DataFrame(rows)))
    assert set(found) == {"profiles", "draws"}
    lines = [
        line for line in drawing.FIGURES["profiles"](found["profiles"]).axes[0].lines if len(line.get_xdata()) == 3
    ]
    drawn = sorted(line.get_ydata()[0] for line in lines)
    assert drawn[0] == pytest.approx(0.01)
    assert drawn[-1] == pytest.approx(0.2)
