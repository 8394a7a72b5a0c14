"""mode=plan: what a pilot predicts is what the run then takes."""

import re
from types import SimpleNamespace

import pytest

from tcdp_sim import results
from tcdp_sim.cli.modes import plan
from tcdp_sim.engine import clusters, forecast, pilot
from tcdp_sim.engine.simulate import Done, Record
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


def test_the_pilot_scales_its_time_to_a_whole_chunk(monkeypatch):
    """10,000 trials at 0.1 ms each take 1 s; a chunk has 50,000. One cell in three ends with an error, and counts."""
    drawn = []

    def run(task):
        (batch,) = task.batches
        drawn.append((task.trials_per_chunk, batch.cell, batch.chunks))
        failed = batch.cell == "b"
        record = Record(batch.cell, 0, None if failed else b"12345678", (), 0.1)
        return Done((record,), "", 1e-4 * task.trials_per_chunk, task.work)

    monkeypatch.setattr(pilot, "run", run)
    monkeypatch.setattr(pilot, "from_bytes", len)
    monkeypatch.setattr(pilot.stopping, "predicted", lambda summary, settings: summary + settings.chunks)
    cells = [SimpleNamespace(id=name, law={}, counts=None) for name in "abc"]
    settings = SimpleNamespace(chunk=50_000, chunks=2, seed=1)
    found = pilot.pilot(cells, {None: None}, settings)
    assert sorted(drawn) == [(10_000, name, (0,)) for name in "abc"]
    assert found == pilot.Pilot(cells=3, chunks=10.0, seconds=pytest.approx(5.0), bytes=8.0, errors=1)
    settings.chunk = 2_000  # less than the pilot would draw
    assert pilot.pilot(cells, {None: None}, settings).seconds == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cluster=serial",), "24 s on 1 workers, in about 8 tasks"),
        (("cluster=local", "cluster.workers=1"), "24 s on 1 workers, in about 8 tasks"),
        (("cluster=local",), "12 s on 2 workers, in about 8 tasks"),
        (("cluster=local", "cluster.workers=100"), "12 s on 100 workers that share 2 cores, in about 8 tasks"),
        (("cluster=slurm", "cluster.workers=4"), "6 s on 4 workers, in about 8 tasks"),
        (("cluster=slurm", "cluster.workers=600"), "0.04 s on 600 workers, in about 4 tasks"),
    ],
)
def test_a_forecast_is_chunks_times_seconds_over_what_works_at_once(command, monkeypatch, words, said):
    """8 chunks of 3 s and 0.5 MB, on a machine with two cores; 600 workers are given tasks of 6 s."""
    monkeypatch.setattr(forecast, "pilot", lambda *_: pilot.Pilot(4, 2.0, 3.0, 500_000.0, 0))
    monkeypatch.setattr(clusters, "_cores", lambda: 2)
    small = ("trials=1000", "chunk=500", "sweep.rho=0.1", "also=null", *SMALL)
    code, out, err = command("mode=plan", *small, *words)
    assert (code, err) == (0, "")
    assert f"estimated by a pilot of 4 cells: {said}, 4 MB of journal" in out.replace("\n", " ")


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
    assert plan._duration(seconds) == said
