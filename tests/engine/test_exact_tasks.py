"""Exact values are tasks like others: the same wherever they are computed, kept, resumed, told where they err."""

import numpy as np
import pytest
from scipy import stats

from tcdp_sim import published, results
from tcdp_sim.engine import evaluate, exact, schedule
from tcdp_sim.engine.simulate import Batch
from tcdp_sim.errors import UserError
from tcdp_sim.store import certificate
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.store.exact_records import ExactRecords

WORDS = ("trials=200", "chunk=200", "sweep.k=[10,100,1e6]", "sweep.rho=0.1", "also=null", "sweep.omega_sqrt_rho=null")
WORDS += ("sweep.noise=[gaussian,laplace]",)
CELLS = 6


@pytest.fixture
def ran(command, tmp_path, monkeypatch):
    """ran(name, words): the run's folder, and what was said; workers are used however few the cells are."""
    monkeypatch.setattr(exact, "FEW", 0)
    monkeypatch.setattr(exact, "TASK", 2)
    monkeypatch.setattr("tcdp_sim.cli.modes.draw.main", lambda *_: None)

    def run(name, *words, code=0):
        found, out, err = command(*WORDS, f"name={name}", *words)
        assert found == code, err
        return tmp_path / "results" / name, out + err

    return run


def snapshot(folder):
    return tree_digest((folder / "results.zarr").resolve())


def kept(folder):
    return ExactRecords(folder, published.known_exactly("histogram"))


def test_workers_and_driver_publish_the_same_bytes(ran):
    by_workers, said = ran("workers", "cluster=local", "cluster.workers=2")
    assert f"{CELLS} exact values to compute" in said
    here, _ = ran("here", "cluster=serial")
    again, said_again = ran("here", "cluster=serial")
    assert snapshot(by_workers) == snapshot(here) == snapshot(again)
    assert "exact values to compute" not in said_again
    flat = results.open_cells(by_workers).load()
    gaussian = flat.isel(cell=np.flatnonzero(flat["noise"].values == "gaussian"))
    below = -np.expm1(np.log(0.95) / gaussian["k"].values)
    expected = stats.norm(scale=np.sqrt(10)).isf(below / 2)
    np.testing.assert_allclose(gaussian["linf_error_quantile_exact"].sel(quantile=0.95), expected, rtol=1e-9)


def test_what_was_computed_is_kept_and_the_rest_is_computed_later(ran, monkeypatch):
    whole, _ = ran("whole", "cluster=serial")
    real = schedule.SerialExecutor.results

    def broken(self, *tasks):
        evaluated = 0
        for done in real(self, *tasks):
            evaluated += isinstance(done, evaluate.Evaluated)
            if evaluated == 2:
                raise OSError(28, "No space left on device")
            yield done

    monkeypatch.setattr(schedule.SerialExecutor, "results", broken)
    folder, said = ran("cut", "cluster=serial", code=2)
    assert "No space left on device" in said
    monkeypatch.setattr(schedule.SerialExecutor, "results", real)
    done = [cell for cell in results.open_cells(whole)["id"].values if kept(folder).has(cell)]
    assert 0 < len(done) < CELLS
    _, said = ran("cut", "cluster=serial")
    assert "nothing to simulate" in said
    assert f"{CELLS - len(done)} exact values to compute" in said
    assert snapshot(folder) == snapshot(whole)


def test_values_of_other_code_are_computed_again_and_forgotten(ran, monkeypatch):
    folder, _ = ran("x", "cluster=serial")
    (before,) = (folder / "exact").iterdir()
    monkeypatch.setattr(certificate, "code", lambda: "of other files")
    _, said = ran("x", "cluster=serial")
    assert f"{CELLS} exact values to compute" in said
    (after,) = (folder / "exact").iterdir()
    assert before != after


def test_a_worker_with_other_functions_is_refused():
    with pytest.raises(UserError, match="a worker has other exact values of histogram than this machine"):
        evaluate.evaluate(evaluate.ExactTask("histogram", "other code", ()))


def test_an_error_is_told_with_its_cell():
    values = published.known_exactly("histogram")
    found, problem = evaluate.row(values, Batch("a" * 64, {"mechanism": "none"}, None, ()))
    assert (found, problem.partition(":")[0]) == (b"", "UserError")


def test_a_function_that_errs_ends_the_run_with_one_line_and_loses_no_chunk(ran, monkeypatch):
    from tcdp_sim.experiments import histogram

    monkeypatch.setitem(histogram.EXACT, "top_stays", divided)
    _, said = ran("x", "cluster=serial", code=1)
    assert "an exact value of cell=" in said
    assert "ended with an error: ZeroDivisionError: division by zero" in said
    assert "Traceback" not in said


def divided(mechanism):
    return 1 / 0
