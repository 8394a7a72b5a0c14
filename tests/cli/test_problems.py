"""Errors and warnings of chunks: stored with cell, chunk and traceback, listed, and healed by the next run."""

import csv
import shutil

import numpy as np
import pytest

from tcdp_sim import results
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.store import locks
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.summaries import problems
from tcdp_sim.summaries.problems import ERROR, WARNING, Problem

SMALL = ("sweep.k=[10,1e6]", "sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")


def snapshot(folder):
    return tree_digest((folder / "results.zarr").resolve())


def listed(folder):
    with (folder / "problems.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def clean(tiny_once, folder):
    """The snapshot of a run in which nothing went wrong."""
    tiny_once(*SMALL)
    found = snapshot(folder)
    shutil.rmtree(folder)
    return found


@pytest.fixture
def failing():
    """Within: the second chunk of a cell with ten bins ends with an error, and every chunk of one warns."""
    real, calls = Histogram.simulate, []

    def simulate(self, rng, trials):
        calls.append(self.bins)
        if self.bins == 10:
            np.log(np.zeros(3))
            if calls.count(10) % 2 == 0:
                raise ArithmeticError("no\nluck")
        return real(self, rng, trials)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Histogram, "simulate", simulate)
        yield


def test_an_error_ends_the_run_and_the_next_one_goes_on(tiny, folder, failing):
    code, _, err = tiny(*SMALL)
    assert code == 1
    assert err.count("\n") == 1
    again = "again, with its traceback: tcdp-sim replay results/histogram cell="
    assert f"a chunk ended with an error: ArithmeticError: no luck; {again}" in err
    assert not (folder / "results.zarr").exists()
    (error,) = (row for row in listed(folder) if row["kind"] == ERROR)
    assert error["chunk"] == "1"
    assert "k=10" in error["coordinates"]
    assert error["where"].startswith("Traceback")
    assert 'raise ArithmeticError("no\\nluck")' in error["where"]
    assert "1 errors in 1 cells" in (folder / "run.log").read_text("utf-8")


@pytest.mark.usefixtures("figures")
def test_an_error_costs_only_its_cell_if_asked(tiny, folder, failing):
    code, out, err = tiny(*SMALL, "on_error=continue")
    assert code == 1
    assert "2 of 4 cells without numbers" in err
    assert "2 errors in 2 cells" in out
    assert "figure: " in out
    cells = results.open_cells(folder)
    assert cells["failed"].values.tolist() == (cells["k"].values == 10).astype(int).tolist()
    assert (cells["trials"].values == np.where(cells["k"].values == 10, 0, 1000)).all()
    code, out, _ = tiny(*SMALL, "status")
    assert "2 errors in 2 cells" in out


def test_a_healed_run_is_the_undisturbed_one(tiny, folder, clean):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Histogram, "simulate", lambda self, rng, trials: 1 / 0)
        code, _, err = tiny(*SMALL, "on_error=continue")
        assert (code, err) == (1, "tcdp-sim: every cell ended with an error (see problems.csv)\n")
    assert tiny(*SMALL)[0] == 0
    assert snapshot(folder) == clean
    assert not (folder / "problems.csv").exists()


def test_warnings_are_counted_and_change_no_number(tiny, folder, clean):
    real = Histogram.simulate

    def noisy(self, rng, trials):
        np.sqrt(-np.ones(2))
        return real(self, rng, trials)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Histogram, "simulate", noisy)
        code, out, _ = tiny(*SMALL)
    assert code == 0
    assert "8 warnings in 4 cells" in out
    assert results.open_cells(folder)["warned"].values.tolist() == [2] * 4
    assert {row["message"] for row in listed(folder)} == {"RuntimeWarning: invalid value encountered in sqrt"}


def test_warnings_are_merged_with_their_chunks(tiny, tmp_path):
    real = Histogram.simulate

    def noisy(self, rng, trials):
        np.sqrt(-np.ones(2))
        return real(self, rng, trials)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Histogram, "simulate", noisy)
        assert tiny(*SMALL, "results_dir=theirs")[0] == 0
    words = ("merge", *SMALL, "results_dir=ours", tmp_path / "theirs" / "histogram")
    assert "8 warnings in 4 cells" in tiny(*words)[1]
    assert snapshot(tmp_path / "ours" / "histogram") == snapshot(tmp_path / "theirs" / "histogram")


def test_whose_problems_count():
    """Errors of chunks that are missing, warnings of those that are there, none of what is not asked for."""
    made = [Problem("a", i, kind, "", "") for i in range(3) for kind in (ERROR, WARNING)]
    made.append(Problem("b", 0, ERROR, "", ""))
    found = problems.of_chunks(made, {"a": 2}, lambda cell, chunk: chunk == 0)
    assert found == [Problem("a", 1, ERROR, "", ""), Problem("a", 0, WARNING, "", "")]
    assert problems.counts(found) == {("a", ERROR): 1, ("a", WARNING): 1}


# More trials


def test_trials_are_added_to_what_is_there(tiny, folder, tmp_path):
    assert tiny(*SMALL, "trials=1000")[0] == 0
    code, out, _ = tiny(*SMALL, "trials=+500")
    assert code == 0
    assert "4 of 12 chunks to simulate" in out
    assert "4 of 16 chunks to simulate" in tiny(*SMALL, "trials=+5e2")[1]
    assert tiny(*SMALL, "trials=2000", "results_dir=direct")[0] == 0
    assert snapshot(folder) == snapshot(tmp_path / "direct" / "histogram")


@pytest.mark.parametrize(("words", "said"), [("+500", "has none; give the number"), ("+1e99", "is not valid")])
def test_nothing_to_add_to(tiny, words, said):
    if "e99" in words:
        assert tiny(*SMALL)[0] == 0
    code, _, err = tiny(*SMALL, f"trials={words}")
    assert code == 2
    assert err.count("\n") == 1
    assert said in err


def test_a_replay_of_a_failed_chunk_ends_with_its_own_error(tiny, folder, command, monkeypatch):
    def simulate(self, rng, trials):
        raise KeyError("version")

    monkeypatch.setattr(Histogram, "simulate", simulate)
    assert tiny(*SMALL)[0] == 1
    error = next(row for row in listed(folder) if row["kind"] == ERROR)
    with pytest.raises(KeyError, match="version"):
        command("replay", folder, f"cell={error['cell'][:16]}", f"index={error['chunk']}")


def test_a_message_of_many_characters_is_cut_on_the_terminal_alone(tiny, folder, monkeypatch):
    def simulate(self, rng, trials):
        raise ArithmeticError(300_000 * "x")

    monkeypatch.setattr(Histogram, "simulate", simulate)
    code, out, err = tiny(*SMALL)
    assert (code, err.count("\n")) == (1, 1)
    assert max(map(len, (out + err).splitlines())) < 3000
    assert "(300,017 characters)" in err
    assert "tcdp-sim replay" in err
    assert 300_000 * "x" in (folder / "problems.csv").read_text("utf-8")


def test_a_run_without_any_record_gives_way_to_another_one(tiny, folder, monkeypatch):
    small = ("sweep.k=10", "sweep.noise=laplace", "sweep.omega_sqrt_rho=1")
    with monkeypatch.context() as patch:
        patch.setattr(Histogram, "simulate", lambda *_: 1 / 0)
        assert tiny(*small, "seed=1")[0] == 1
    with locks.held(folder):
        code, _, err = tiny(*small, "seed=2")
        assert (code, "belongs to another run (seed = '1' there" in err) == (2, True)
    code, out, _ = tiny(*small, "seed=2")
    assert code == 0
    assert "belonged to another run" in " ".join(out.split())
    assert not (folder / "problems.csv").exists()
    assert tiny(*small, "seed=2", "verify")[0] == 0
    code, _, err = tiny(*small, "seed=3")
    assert (code, "belongs to another run (seed = '2' there" in err) == (2, True)
