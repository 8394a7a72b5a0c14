"""Exact values are tasks like others: the same wherever they are computed, kept, resumed, told where they err."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from tcdp_sim import results
from tcdp_sim.engine import evaluate, exact, schedule
from tcdp_sim.engine.simulate import Batch
from tcdp_sim.store import source
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.store.exact_records import ExactRecords
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.study.packed_cells import Cell

WORDS = ("trials=200", "chunk=200", "sweep.k=[10,100,1e6]", "sweep.rho=0.1", "also=null", "sweep.omega_sqrt_rho=null")
WORDS += ("sweep.noise=[gaussian,laplace]",)
CELLS = 6


@pytest.fixture
def ran(command, tmp_path, monkeypatch):
    """ran(name, words): the run's folder, and what was said; workers are used however few the cells are."""
    monkeypatch.setattr(exact, "FEW", 0)
    monkeypatch.setattr(exact, "TASK", 2)
    monkeypatch.setattr("tcdp_sim.cli.draw.main", lambda *_: None)

    def run(name, *words, code=0):
        found, out, err = command(*WORDS, f"name={name}", *words)
        assert found == code, err
        return tmp_path / "results" / name, out + err

    return run


def snapshot(folder):
    return tree_digest((folder / "results.zarr").resolve())


def kept(folder):
    return ExactRecords(folder, known_exactly("histogram"))


@pytest.mark.slow
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
    monkeypatch.setattr(source, "own", lambda: "of other files")
    monkeypatch.setattr(source, "loaded", source.loaded.__wrapped__)
    _, said = ran("x", "cluster=serial", "code=any")
    assert f"{CELLS} exact values to compute" in said
    (after,) = (folder / "exact").iterdir()
    assert before != after


def test_an_error_is_told_with_its_cell():
    values = known_exactly("histogram")
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


@pytest.mark.slow
def test_values_of_foreign_elementary_functions_are_published_and_not_kept(ran, monkeypatch):
    own, _ = ran("own", "cluster=serial")
    monkeypatch.setattr(evaluate, "fingerprint", lambda: "foreign")
    folder, said = ran("x", "cluster=serial")
    assert said.count("a worker's elementary functions differ") == 1
    assert snapshot(folder) == snapshot(own)
    assert not any(kept(folder).has(cell) for cell in results.open_cells(folder)["id"].values)
    _, said = ran("x", "cluster=serial")
    assert f"{CELLS} exact values to compute" in said
    _, said = ran("y", "cluster=serial", "numerics=strict", code=2)
    assert "numerics=warn accepts that" in said


def test_tasks_are_as_large_as_cells_are_cheap():
    """By a simulated clock: one cell at first; cells of 2 s one by one, cells of 1 ms by hundreds."""
    study = SimpleNamespace(plan=SimpleNamespace(counts={"": None}))
    values = known_exactly("histogram")
    cells = [Cell(f"{i:064x}", {}, {}, "", "", "", 1.0) for i in range(3000)]
    for seconds, largest in ((2.0, range(1, 2)), (1e-3, range(300, 1001))):
        tally, speed, sizes = exact._Tally(len(cells)), schedule.Speed(), []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exact, "TASK", 4096)
            for task in exact._tasks(iter(cells), study, values, 2, tally, speed):
                done = evaluate.Evaluated(tuple((b.cell, b"", "") for b in task.batches), "", 0.0)
                sizes.append(len(done.rows))
                speed.learn(seconds * sizes[-1], sizes[-1], sizes[-1])
                tally.add(done)
        assert (sum(sizes), sizes[0]) == (len(cells), 1)
        assert max(sizes) in largest


def test_the_driver_hands_over_when_it_takes_long(ran, monkeypatch):
    monkeypatch.setattr(exact, "FEW", 1000)
    folder, _ = ran("x", "cluster=serial")
    shutil.rmtree(folder / "exact")  # all is simulated: no workers are there
    monkeypatch.setattr(exact, "PATIENCE", -1.0)
    _, said = ran("x", "cluster=serial")
    assert f"{CELLS} exact values to compute" in said
    monkeypatch.setattr(exact, "PATIENCE", 1e9)
    shutil.rmtree(folder / "exact")
    _, said = ran("x", "cluster=serial")
    assert "exact values to compute" not in said


def test_an_interrupt_claims_no_chunks_that_may_be_missing(ran, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(exact, "_keep", interrupted)
    _, said = ran("x", "cluster=serial", code=130)
    assert f"all simulated chunks and 0 of {CELLS} exact values are kept in" in said


def test_healed_damage_is_told_once(ran):
    folder, _ = ran("x", "cluster=serial")
    (segment,) = folder.glob("exact/*.seg")
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    assert "damaged" in ran("x", "cluster=serial")[1]
    assert "damaged" not in ran("x", "cluster=serial")[1]


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, exact.NEAR - 1, exact.NEAR, exact.NEAR + 1, 3 * exact.NEAR + 5])
def test_the_mixed_order_has_every_cell_once(count):
    assert sorted(exact._mixed(count)) == list(range(count))
