"""`tcdp-sim plan`: what a pilot predicts is what the run then takes."""

import math
import re
import shutil
from types import SimpleNamespace

import pytest

from benchmarks.framework import composed
from tcdp_sim import results
from tcdp_sim.cli import plan
from tcdp_sim.engine import forecast, pilot
from tcdp_sim.engine.run import execute, prepare
from tcdp_sim.engine.simulate import Batch, Done, Record, Task, run
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.study.settings import settings

SMALL = ("sweep.k=[10,1e6]", "sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")


def test_the_predicted_trials_are_those_the_target_takes(tiny, folder, monkeypatch):
    """500 trials give a variance to 6% (normal: sqrt(2 / 499)), four cells; the run grows in whole chunks."""
    monkeypatch.setattr(pilot, "SECONDS", 600.0)  # so that all four are in the pilot, however busy the machine is
    words = (*SMALL, "target_mcse={linf_error: {absolute: 0.02}}", "max_trials=100000")
    code, out, _ = tiny(*words, "plan")
    assert code == 0
    predicted = float(re.search(r"target_mcse: about ([\d.,e+]+) trials a cell", out)[1].replace(",", ""))
    assert "at most 100,000 trials a cell" in out
    assert tiny(*words)[0] == 0
    taken = results.open_cells(folder)["trials"].values.mean()
    assert predicted == pytest.approx(taken, rel=0.25)
    assert taken > 5000


def test_the_predicted_trials_are_those_the_decisions_take(tiny, folder, monkeypatch):
    """The means differ by 2% or more of a standard deviation; a factor of two allows for the pilot's own errors."""
    monkeypatch.setattr(pilot, "SECONDS", 600.0)
    more = ("sweep.k=[10,1e6]", "sweep.omega_sqrt_rho=[1,1.1]", "sweep.noise=sinh_normal", "chunk=100", "trials=200")
    words = (*more, "target={linf_error:{across:omega_sqrt_rho},spurious_wins:{events:50}}", "max_trials=50000")
    code, out, _ = tiny(*words, "plan")
    assert code == 0
    predicted = float(re.search(r"target: about ([\d.,e+]+) trials a cell", out)[1].replace(",", ""))
    assert "at most 50,000 trials a cell" in out
    assert tiny(*words)[0] == 0
    taken = results.open_cells(folder)["trials"].values.mean()
    assert taken / 2 < predicted < 2 * taken
    assert taken > 400


def test_a_finished_run_needs_no_pilot(tiny, tiny_once):
    tiny_once(*SMALL)
    code, out, _ = tiny(*SMALL, "plan")
    assert code == 0
    assert "to simulate: 0 of 8 chunks" in out
    assert "pilot" not in out


def test_errors_show_in_the_pilot(tiny, monkeypatch):
    monkeypatch.setattr(Histogram, "simulate", lambda self, rng, trials: 1 / 0)
    monkeypatch.setattr(pilot, "SECONDS", 60.0)  # enough for all cells on any machine
    code, out, _ = tiny(*SMALL, "plan")
    assert code == 0
    assert "4 of the 4 cells" in out


def test_the_pilot_scales_its_time_to_a_whole_chunk(monkeypatch):
    """10,000 trials at 0.1 ms each take 1 s; a chunk has 50,000. One cell in three ends with an error, and counts."""
    drawn, seconds = [], 1e-4

    def run(task):
        (batch,) = task.batches
        drawn.append((task.trials_per_chunk, batch.cell, batch.chunks))
        failed = batch.cell == "b"
        record = Record(batch.cell, 0, None if failed else b"12345678", (), 0.1)
        return Done((record,), "", seconds * task.trials_per_chunk, task.work)

    monkeypatch.setattr(pilot, "run", run)
    monkeypatch.setattr(pilot, "from_bytes", len)
    monkeypatch.setattr(pilot.stopping, "predicted", lambda summary, settings: summary + settings.chunks)
    cells = [SimpleNamespace(id=name, law={}, counts=None) for name in "abc"]
    settings = SimpleNamespace(chunk=50_000, chunks=2, seed=1)
    found = pilot.pilot(cells, {None: None}, settings)
    assert sorted(drawn) == [(trials, name, (0,)) for trials in (20, 160, 1280, 10_000) for name in "abc"]
    assert found == pilot.Pilot(cells=3, chunks=10.0, seconds=pytest.approx(5.0), bytes=8.0, errors=1, more_trials=5)
    seconds = 0.25  # a trial: the first attempt of 20 takes 5 s, which is enough
    drawn.clear()
    slow = pilot.pilot(cells[:1], {None: None}, settings)
    assert {trials for trials, _, _ in drawn} == {20}
    assert (slow.seconds, slow.more_trials) == (pytest.approx(50_000 * 0.25), 2500)
    seconds = 1e-4
    settings.chunk = 2_000  # less than the pilot would draw
    assert pilot.pilot(cells, {None: None}, settings).seconds == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("words", "said", "seconds"),
    [
        (("cluster=serial",), "24 s on 1 workers, in about 8 tasks", 20),
        (("cluster=local", "cluster.workers=1"), "24 s on 1 workers, in about 8 tasks", 20),
        (("cluster=local",), "12 s on 2 workers, in about 8 tasks", 10),
        (("cluster=local", "cluster.workers=100"), "12 s on 100 workers that share 2 cores, in about 8 tasks", 10),
        (("cluster=slurm", "cluster.workers=4"), "6 s on 4 workers, in about 8 tasks", 5),
    ],
)
def test_a_forecast_is_chunks_times_seconds_over_what_works_at_once(command, monkeypatch, words, said, seconds):
    """8 chunks of 3 s and 0.5 MB, 4 cells whose exact values take 5 s, give or take a factor of 1.3 + 0.7."""
    monkeypatch.setattr(forecast, "pilot", lambda *_: pilot.Pilot(4, 2.0, 3.0, 500_000.0, 0, bytes_spread=0.25))
    monkeypatch.setattr(forecast, "exact_pilot", lambda *_: pilot.ExactPilot(3, 5.0, 0.7))
    monkeypatch.setattr("tcdp_sim.core.system.cores", lambda: 2)
    small = ("trials=1000", "chunk=500", "sweep.rho=0.1", "also=null", *SMALL)
    code, out, err = command("plan", *small, *words)
    assert (code, err) == (0, "")
    out = out.replace("\n", " ")
    assert f"estimated by a pilot of 4 cells: {said}, 4 MB of journal" in out
    assert "with 2.96 MB to 5.41 MB of journal" in out
    exact = f"then {seconds} s for the exact values of 4 cells, between {seconds / 2:g} s and {2 * seconds:g} s"
    assert f"{exact}, by a pilot of 3 of them" in out


def test_with_many_workers_the_driver_sets_the_pace(command, monkeypatch):
    """600 workers are given tasks of 6 s, so 24 s of chunks are 4 tasks; the driver takes longer than the workers."""
    for name, cost in (("A_TASK", 2.0), ("A_CHUNK", 0.25), ("A_BYTE", 1e-6), ("A_VALUE", 0.5)):
        monkeypatch.setattr(forecast, name, cost)
    monkeypatch.setattr(forecast, "pilot", lambda *_: pilot.Pilot(4, 2.0, 3.0, 500_000.0, 0))
    monkeypatch.setattr(forecast, "exact_pilot", lambda *_: pilot.ExactPilot(3, 5.0, 0.7))
    small = ("trials=1000", "chunk=500", "sweep.rho=0.1", "also=null", *SMALL)
    code, out, _ = command("plan", *small, "cluster=slurm", "cluster.workers=600")
    assert code == 0
    out = out.replace("\n", " ")
    assert f"{4 * 2.0 + 8 * (0.25 + 0.5):g} s on 600 workers, in about 4 tasks" in out
    assert f"then {4 * 0.5:g} s for the exact values of 4 cells" in out


def test_exact_values_that_are_there_cost_nothing_more(tiny, tiny_once, folder):
    tiny_once(*SMALL)
    assert "exact values" not in tiny(*SMALL, "plan")[1]
    shutil.rmtree(folder / "exact")
    code, out, _ = tiny(*SMALL, "plan")
    assert code == 0
    assert "to simulate: 0 of 8 chunks" in out
    assert "for the exact values of 4 cells" in out
    assert not (folder / "exact").exists()


def test_exact_values_are_timed_without_what_the_first_of_them_imports(monkeypatch):
    """By a simulated clock: 0.5 s for the first, then 0.2 s each until 1 s has gone; alone, the first counts."""
    now, asked, first = [0.0], [], [0.5]

    def row(values, batch):
        now[0] += 0.2 if asked else first[0]
        asked.append(batch.cell)
        return b"", ""

    monkeypatch.setattr(pilot, "row", row)
    monkeypatch.setattr(pilot, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    cells = [SimpleNamespace(id=str(i), law={}, counts=None) for i in range(20)]
    assert pilot.exact_pilot(cells, {None: None}, None) == pilot.ExactPilot(3, pytest.approx(0.2), pytest.approx(0))
    assert len(set(asked)) == 4
    asked.clear()
    first[0] = 9.0
    assert pilot.exact_pilot(cells, {None: None}, None) == pilot.ExactPilot(1, pytest.approx(9.0), 1.0)


@pytest.mark.parametrize(
    ("words", "width"),
    [
        ((*SMALL, "trials=2000", "chunk=500"), 1.4),  # as many trials as the pilot draws
        ((*SMALL, "trials=60000", "chunk=30000"), 4),  # three times as many
        (("experiment=gap_max", "sweep.k=[10,1e6]", "trials=2000", "chunk=500"), 1.7),  # with and without atoms
    ],
)
def test_the_journal_is_as_large_as_the_forecast_says(monkeypatch, tmp_path, words, width):
    monkeypatch.setattr(pilot, "SECONDS", math.inf)  # so that the same cells are tried on any machine
    monkeypatch.chdir(tmp_path)
    study = prepare(settings(composed("cluster=serial", "also=null", *words)))
    low, high = forecast.forecast(study, print).bytes_between
    execute(study, lambda line: None)
    size = sum(path.stat().st_size for path in (study.folder / "journal").glob("*.seg"))
    assert low < size < high < width * low + forecast.HEADS


def test_a_record_has_33_bytes_of_the_journal_around_it(monkeypatch, tmp_path):
    """By what 100 chunks add to 10, beside their records; the heads differ by a few bytes only."""
    monkeypatch.chdir(tmp_path)
    around = []
    for chunks in (10, 110):
        words = ("trials=" + str(100 * chunks), "chunk=100", f"name={chunks}", "sweep.k=10", "sweep.rho=0.1")
        study = prepare(settings(composed("cluster=serial", "also=null", "sweep.noise=gaussian", *words)))
        execute(study, lambda line: None)
        (cell,) = study.plan.laws
        task = Task(
            study.settings.seed, 100, (Batch(cell.id, cell.law, study.plan.counts[cell.counts], tuple(range(chunks))),)
        )
        records = sum(len(record.summary) for record in run(task).records)
        size = sum(path.stat().st_size for path in (study.folder / "journal").glob("*.seg"))
        around.append(size - records)
        assert chunks * forecast.A_FRAME < around[-1] < chunks * forecast.A_FRAME + forecast.HEADS
    assert around[1] - around[0] == pytest.approx(100 * forecast.A_FRAME, abs=50)


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


def test_a_pilot_of_small_cells_tries_them_together(monkeypatch):
    """A task costs 1 ms and a cell in it 0.1 ms: 130 cells alone would be forecast at 1.1 ms each."""
    tasks = []

    def run(task):
        tasks.append([batch.cell for batch in task.batches])
        records = tuple(Record(batch.cell, 0, b"1234", (), 0.1) for batch in task.batches)
        return Done(records, "", 1e-3 + 1e-4 * len(records), task.work)

    monkeypatch.setattr(pilot, "run", run)
    monkeypatch.setattr(pilot, "SECONDS", 600.0)
    monkeypatch.setattr(pilot, "from_bytes", len)
    monkeypatch.setattr(pilot.stopping, "predicted", lambda summary, settings: 1)
    cells = [SimpleNamespace(id=n, law={}, counts=None) for n in range(130)]
    found = pilot.pilot(cells, {None: None}, SimpleNamespace(chunk=100, chunks=1, seed=1))
    assert (found.cells, found.errors, found.bytes, found.more_trials) == (130, 0, 4, 1)
    assert found.seconds == pytest.approx((2 * (1e-4 + 1e-3 / 64) + 1e-4 + 1e-3 / 2) / 3)
    assert sorted({cell for task in tasks for cell in task}) == list(range(130))
    assert {len(task) for task in tasks} == {1, 64, 2}


def test_a_pilot_of_slow_cells_tries_one_at_a_time(monkeypatch):
    def run(task):
        (batch,) = task.batches
        return Done((Record(batch.cell, 0, b"1234", (), 0.1),), "", 0.3, task.work)

    monkeypatch.setattr(pilot, "run", run)
    monkeypatch.setattr(pilot, "from_bytes", len)
    monkeypatch.setattr(pilot.stopping, "predicted", lambda summary, settings: 1)
    cells = [SimpleNamespace(id=n, law={}, counts=None) for n in range(130)]
    found = pilot.pilot(cells, {None: None}, SimpleNamespace(chunk=10, chunks=1, seed=1))
    assert found.seconds == pytest.approx(0.3)


FUNCTION = """
def value(rng, trials, n, scale=1.0):
    return {"value": scale * rng.random((trials, n)).sum(axis=1), "large": rng.random(trials) < 0.1}
def half(n):
    return n / 2
"""


def test_the_plan_of_a_sweep_is_that_of_the_run(tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FUNCTION)
    words = ("mine.py:value", "sweep.n=[1,2,3]", "trials=500", "chunk=100", "cluster=serial")
    code, out, _ = command("plan", "sweep", *words, "exact.value=half", "part=1/7")
    assert code == 0
    assert not (tmp_path / "results").exists()
    assert "value: 3 cells x 500 trials in 5 chunks, seed 0" in out
    assert "to simulate: 15 of 15 chunks, 1,500 trials" in out
    assert "estimated by a pilot of 3 cells" in out
    assert "for the exact values of 3 cells" in out
    assert "part=1/7 is left aside" in out
    assert command("sweep", *words)[0] == 0
    assert "to simulate: 0 of 15 chunks" in command("plan", "sweep", *words)[1]


def test_a_wrong_plan_of_a_sweep_is_one_line(tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FUNCTION)
    for words, message in (
        (("mine.py:value", "sweep.m=1"), "takes no 'm'"),
        (("mine.py:other", "sweep.n=1"), "other"),
        (("sweep.n=1",), "needs a function first"),
    ):
        code, _, err = command("plan", "sweep", *words)
        assert code == 2
        assert message in err
        assert len(err.splitlines()) == 1


def test_the_table_of_a_sweep_costs_by_its_numbers(tmp_path, monkeypatch):
    """1,000 rows of a number and an event, by the constants."""
    from tcdp_sim.sweeps import arguments, in_folder
    from tcdp_sim.sweeps import run as sweeps

    def value(rng, trials, n):
        return {"value": rng.random(trials), "large": rng.random(trials) < 0.1}

    monkeypatch.chdir(tmp_path)
    sweep, _ = sweeps.prepared(arguments.checked(value, {"n": range(1000)}, trials=10, name="a"), print)
    assert forecast.seconds_of_table(in_folder.study_of(sweep)) == pytest.approx(0.083)
