"""Common random numbers: the same uniforms for every noise, and differences with their standard errors."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tcdp_sim
from tcdp_sim import results
from tcdp_sim.core import streams
from tcdp_sim.results.cells import cell_mechanism
from tcdp_sim.statistics import common_random_numbers
from tcdp_sim.summaries.summary import batch_sizes

WORDS = ("sweep.k=[10,1e6]", "sweep.noise=[gaussian,sinh_normal_tight]", "sweep.omega_sqrt_rho=2", "chunk=1500")
WORDS += ("trials=3000", "share=[noise,omega_sqrt_rho]", "seed=5")


def trials(flat, row, name, chunks=2):
    """The values of an observable or event, drawn again, one by one."""
    law = json.loads(flat["law"].values[row])
    mechanism = cell_mechanism(flat, row)
    drawn = [mechanism.simulate(streams.generator(5, law["stream"], i), 1500)[name] for i in range(chunks)]
    return np.concatenate(drawn).astype(float)


@pytest.fixture
def run(tiny_once, folder):
    out = tiny_once(*WORDS)
    assert "differences between cells with the same random numbers" in out
    return results.open_cells(folder), pd.read_csv(folder / "differences.csv")


def test_differences_are_those_of_the_trials(run):
    flat, table = run
    assert len(table) == 16  # 2 bins x (4 errors, 2 privacy losses and 2 events)
    for k in (10, 1e6):
        first, other = np.flatnonzero(flat["k"].values == k)
        for name in ("linf_error", "rms_error", "top_stays"):
            (row,) = table[(table["k"] == k) & (table["quantity"] == name)].to_dict("records")
            gap = trials(flat, other, name) - trials(flat, first, name)
            assert row["difference"] == pytest.approx(gap.mean(), rel=1e-9, abs=1e-12)
            # To the last digits: the standard error of 100 means of 30 consecutive trials. And both it and that of all
            # trials estimate one thing, from 99 degrees of freedom and 2999: 4.5 sigma of the former.
            assert row["mcse"] == pytest.approx(stats.sem(gap.reshape(100, 30).mean(axis=1)), rel=1e-9)
            assert row["mcse"] == pytest.approx(stats.sem(gap), rel=4.5 / np.sqrt(2 * 99))
            assert row["degrees_of_freedom"] == 99
            apart = [stats.sem(trials(flat, i, name).reshape(100, 30).mean(axis=1)) for i in (first, other)]
            if row["mcse"]:
                assert row["times_fewer_trials"] == pytest.approx(np.square(apart).sum() / row["mcse"] ** 2, rel=1e-9)


def test_standard_errors_by_hand():
    """Deviations -2, -1, 3: sqrt(14 / 2 / 3). 0 and 3 with weights 1 and 2: mean 2, sqrt((4 + 2) / 1 / 3)."""
    assert common_random_numbers._weighted(np.array([1.0, 2.0, 6.0]), np.ones(3)) == pytest.approx(
        (3, np.sqrt(7 / 3)), rel=1e-12
    )
    assert common_random_numbers._weighted(np.array([0.0, 3.0]), np.array([1, 2])) == pytest.approx(
        (2, np.sqrt(2)), rel=1e-12
    )


def test_sharing_pays_where_noises_are_alike(run):
    """Sinh-normal noise is a function of the same normal draw: what they have in common drops out."""
    table = run[1]
    assert (table[table["quantity"] == "linf_error"]["times_fewer_trials"] > 20).all()


def test_sharing_changes_no_law(run):
    """Against scipy: the maximum of 10 absolute normal draws, in both cells of the shared stream's first noise."""
    flat = run[0]
    row = int(np.flatnonzero((flat["k"].values == 10) & (flat["noise"].values == "gaussian"))[0])
    scale = cell_mechanism(flat, row).noise.scale
    found = stats.kstest(trials(flat, row, "linf_error"), lambda x: (2 * stats.norm.cdf(x / scale) - 1) ** 10)
    assert found.pvalue > 1e-4  # the false-alarm rate, at this seed


def test_other_coordinates_have_other_streams(run):
    laws = [json.loads(law) for law in run[0]["law"].values]
    assert len({law["stream"] for law in laws}) == 2
    assert len({cell for cell in run[0]["id"].values}) == 4


def test_nothing_is_paired_without_sharing(tiny, folder):
    assert tiny(*WORDS)[0] == 0
    code, out, _ = tiny(*WORDS, "share=null")
    assert code == 0
    assert "chunks to simulate" in out  # other numbers, of other cells, in the same folder
    assert "differences" not in out
    assert not (folder / "differences.csv").exists()


def test_an_axis_that_is_none_is_refused(tiny):
    code, _, err = tiny(*WORDS, "share=[noice]")
    assert code == 2
    assert "share: 'noice'" in err


@pytest.mark.parametrize("trials", [1, 7, 49, 50, 51, 99, 1500, 50000, 10**7])
def test_batches_are_as_equal_as_can_be(trials):
    sizes = batch_sizes(trials)
    assert sizes.sum() == trials
    assert len(sizes) == min(trials, 50)
    assert sizes.max() - sizes.min() <= 1


def test_cells_whose_pilots_differ_are_paired_by_their_chunks(tmp_path):
    """The difference of 1.5 u and u is u / 2; the variance is 0.25 times that of u, and 3.25 times in other cells."""

    def scaled(rng, trials, scale):
        return scale * rng.random(trials)

    target, kept = {"value": {"absolute": 0.02}}, {"name": "kept", "results_dir": tmp_path}
    axes = {"scale": [1.0, 1.5]}
    found = tcdp_sim.sweep(scaled, axes, trials=40, chunk=20, share="scale", target_mcse=target, **kept)
    assert found["pilot_trials"].values.tolist()[0] < found["pilot_trials"].values.tolist()[1]
    row = common_random_numbers.differences(results.open_cells(tmp_path / "kept").load()).iloc[0]
    assert row["times_fewer_trials"] == pytest.approx(13, rel=0.2)
    assert abs(row["difference"] - 0.25) < 5 * row["mcse"]
