"""`tcdp-sim diff`: yes for runs that differ by chance alone, the right cells for others, one line for no run."""

import shutil

import pandas as pd
import pytest

from tcdp_sim import results
from tcdp_sim.store import table as tabulation

SMALL = ("sweep.k=[10,1000]", "sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")


@pytest.fixture
def undrawn(tiny, monkeypatch):
    """The command without its figures: undrawn(*words) -> (exit code, stdout, stderr)."""
    monkeypatch.setattr("tcdp_sim.cli.draw.main", lambda raw, console: None)
    return lambda *words: tiny(*SMALL, *words)


@pytest.fixture
def ran(undrawn, tiny_once):
    tiny_once(*SMALL)
    return undrawn


def noisier(monkeypatch, factor=1.25):
    """Under this patch every simulated noise is larger than its cell's law says."""
    from tcdp_sim.mechanisms import Histogram

    real = Histogram.simulate

    def simulate(mechanism, rng, trials):
        values = real(mechanism, rng, trials)
        return values | {"linf_error": factor * values["linf_error"]} if mechanism.noise.scale > 4 else values

    monkeypatch.setattr(Histogram, "simulate", simulate)


def test_another_seed_chunk_and_number_of_trials_is_the_same(ran, folder):
    """A false alarm at 1% in one of two comparisons: once in 50 seeds."""
    other = folder.parent / "other"
    assert ran("name=other", "seed=7", "chunk=300", "trials=4000", "sweep.k=[10,1000,30]")[0] == 0
    code, out, _ = ran("diff", other)
    assert code == 0
    assert "identical: 0 cells; compared: 4 cells" in out
    assert "only there: 2 cells" in out
    assert "same within Monte Carlo error: yes" in out
    assert len(pd.read_csv(folder / "diff.csv")) == 0
    assert ran("diff", "name=other", folder)[0] == 0


def test_more_trials_of_the_same_seed(ran, folder):
    assert ran("name=other", "trials=3000", "sweep.k=10")[0] == 0
    code, out, _ = ran("diff", folder.parent / "other")
    assert code == 0
    assert "the seeds are equal" in out
    assert "only here: 2 cells" in out


def test_the_same_bits_are_identical(ran, folder):
    shutil.copytree(folder, folder.parent / "copy", symlinks=True)
    code, out, _ = ran("diff", folder.parent / "copy")
    assert code == 0
    assert "identical: 4 cells" in out
    assert "yes" in out


def test_a_real_difference_is_found_in_its_cells(ran, folder, monkeypatch):
    with monkeypatch.context() as patch:
        noisier(patch)
        assert ran("name=other", "seed=7")[0] == 0
    code, out, _ = ran("diff", folder.parent / "other")
    assert code == 1
    assert "same within Monte Carlo error: NO, " in out
    assert " of 2 cells differ" in out
    assert "linf_error_mean is " in out
    assert "standard errors, p = " in out
    table = pd.read_csv(folder / "diff.csv")
    assert set(table["noise"]) == {"laplace"}  # of scale 4.5; Gaussian noise has 3.2
    scales = {text.split(".")[0] for text in results.open_cells(folder)["noise_law"].values}
    assert scales == {"Laplace(scale=4", "Gaussian(scale=3"}
    assert set(table["k"]) == {10, 1000}
    assert {"linf_error_mean", "linf_error_below_quantile_0.95"} <= set(table["quantity"])
    assert not [name for name in table["quantity"] if not name.startswith("linf_error")]
    shown = out.split("its worst number:\n")[1].splitlines()
    assert len(shown) == 2 + 1
    assert all(f"k={k:g}" in "".join(shown[:2]) for k in (10, 1000))
    assert shown[-1] == f"all: {(folder / 'diff.csv').relative_to(folder.parent.parent)}"


def test_a_new_comparison_replaces_the_old_table(ran, folder, monkeypatch):
    with monkeypatch.context() as patch:
        noisier(patch)
        assert ran("name=other", "seed=7")[0] == 0
    assert ran("diff", folder.parent / "other")[0] == 1
    assert ran("name=third", "seed=8")[0] == 0
    assert ran("diff", folder.parent / "third")[0] == 0
    assert len(pd.read_csv(folder / "diff.csv")) == 0


@pytest.fixture
def one_line(ran):
    """A comparison that is a mistake: one_line(*words) -> what it says."""

    def said(*words):
        code, out, err = ran("diff", *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        return err

    return said


def test_what_is_no_other_run(one_line, folder, tmp_path):
    assert "diff takes RUN FOLDER, not RUN" in one_line()
    assert "nowhere holds no results" in one_line("nowhere")
    (tmp_path / "begun").mkdir()
    shutil.copy(folder / "run.json", tmp_path / "begun")
    assert "holds no results" in one_line("begun")
    assert "holds no results" in one_line("name=never", folder)


def test_another_experiment(one_line, folder, ran, monkeypatch):
    real = tabulation.blocks

    def renamed(*arguments):
        return (block.assign_attrs(title="tcdp_sim experiment crossover") for block in real(*arguments))

    with monkeypatch.context() as patch:
        patch.setattr(tabulation, "blocks", renamed)
        assert ran("name=other")[0] == 0
    said = one_line(folder.parent / "other")
    assert "holds 'tcdp_sim experiment crossover', not 'tcdp_sim experiment histogram'" in said


def test_no_cell_in_common(one_line, ran, folder):
    assert ran("name=other", "sweep.k=17")[0] == 0
    assert "have no cell in common" in one_line(folder.parent / "other")


def test_a_damaged_one(one_line, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy", symlinks=True)
    next(path for path in (tmp_path / "copy" / "snapshots").rglob("c/*") if path.is_file()).unlink()
    assert "is damaged (its bytes have changed)" in one_line("copy")


def test_a_hostile_law(one_line, folder, tmp_path, ran, monkeypatch):
    real = tabulation.blocks

    def hostile(*arguments):
        for block in real(*arguments):
            block["law"].values[:] = "[" * 50_000
            yield block

    with monkeypatch.context() as patch:
        patch.setattr(tabulation, "blocks", hostile)
        assert ran("name=hostile")[0] == 0
    assert "is damaged (" in one_line(folder.parent / "hostile")


def test_a_folder_that_cannot_be_written(one_line, folder, ran):
    assert ran("name=other", "seed=7")[0] == 0
    (folder / "diff.csv").mkdir()
    assert "diff.csv cannot be written (" in one_line(folder.parent / "other")
