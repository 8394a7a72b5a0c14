"""status, verify, replay, merge, and target_mcse: what can be done with a run, and what is refused."""

import fcntl
import shutil
from math import ceil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tcdp_sim import results
from tcdp_sim.core import streams
from tcdp_sim.engine import stopping
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.summaries.summary import summarise

SMALL = ("sweep.k=10", "sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")


def snapshot(folder):
    return tree_digest((folder / "results.zarr").resolve())


def first_id(folder):
    return str(results.open_cells(folder)["id"].values[0])


@pytest.fixture
def one_line(tiny):
    """A command that is a mistake: one_line(*words) -> what it says."""

    def run(*words):
        code, _, err = tiny(*SMALL, *words)
        assert code == 2
        assert err.count("\n") == 1
        return err

    return run


# Status


def test_status_of_a_finished_run(tiny, tiny_once, folder):
    tiny_once(*SMALL)
    code, out, _ = tiny(*SMALL, "status")
    assert code == 0
    assert "4 of 4 chunks, 2 of 2 cells done" in out
    flat = results.open_cells(folder).load()
    names = [name.removesuffix("_mcse") for name in flat if name.endswith("_mean_mcse")]
    relative = {(n, i): x for n in names for i, x in enumerate((flat[f"{n}_mcse"] / np.abs(flat[n])).values)}
    (name, i), worst = max(relative.items(), key=lambda one: (one[1], one[0]))
    where = f"{name.removesuffix('_mean')} of noise={flat['noise'].values[i]} data=one_bin k=10 rho=0.1"
    assert f"worst relative standard error of a mean: {100 * worst:.2f}%, {where}" in out
    assert "nobody is at work" in out
    _, out, _ = tiny(*SMALL, "status", "trials=2000")
    assert "4 of 8 chunks, 0 of 2 cells done" in out


def test_status_of_nothing(one_line):
    assert "holds no run; run its study first" in one_line("status")


# Verify and replay


def test_an_untouched_run_is_verified(tiny, tiny_once):
    tiny_once(*SMALL)
    code, out, _ = tiny(*SMALL, "verify", "sample=3")
    assert code == 0
    assert "3 of 3 chunks are the stored bits (4 are stored)" in out


def test_a_forged_record_is_found(tiny, folder, monkeypatch):
    """Written by a program that draws other numbers: the checksums are right, the bits are not."""
    from tcdp_sim.engine import simulate

    real = streams.generators
    with monkeypatch.context() as patch:
        patch.setattr(simulate, "generators", lambda seed, cells, chunks: real(seed + 1, cells, chunks))
        assert tiny(*SMALL)[0] == 0
    code, out, _ = tiny(*SMALL, "verify")
    assert code == 1
    assert "0 of 4 chunks are the stored bits" in out
    assert out.count("NOT the stored bits: cell=") == 4
    assert "NOT the stored bits" in tiny(*SMALL, "replay", f"cell={first_id(folder)}")[1]


def test_replay_says_what_the_chunk_holds(tiny, tiny_once, folder):
    tiny_once(*SMALL)
    cells = results.open_cells(folder)
    code, out, _ = tiny(*SMALL, "replay", f"cell={first_id(folder)[:12]}", "index=1")
    assert code == 0
    assert "the same bits as stored" in out
    assert str(cells["noise_law"].values[0]) in out
    assert "linf_error: mean" in out
    assert "this chunk is not stored yet" in tiny(*SMALL, "replay", f"cell={first_id(folder)}", "index=7")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("replay",), "cell is not given"),
        (("replay", "cell=xyz"), "no cell's id begins with 'xyz'"),
        (("replay", "cell="), "the ids of 2 cells begin with"),
        (("replay", "cell=a", "index=-1"), "index = -1"),
        (("verify",), "holds no run"),
        (("merge",), "merge takes RUN FOLDER, not RUN"),
        (("replay", "index=1.5"), "index = '1.5'"),
        (("merge", "nowhere"), "nowhere holds no run"),
        (("verify", "sample=0"), "sample = 0"),
    ],
)
def test_mistakes_are_one_line(one_line, folder, words, said):
    assert said in one_line(*words)


# Merge


def halves(tiny, folder):
    """The same study in two folders, each with one of the noises; and the whole."""
    for name, noise in (("a", "gaussian"), ("b", "laplace"), ("whole", "[gaussian,laplace]")):
        assert tiny("sweep.k=10", f"sweep.noise={noise}", f"name={name}")[0] == 0
    return folder.parent


@pytest.mark.slow
def test_merged_halves_are_the_whole_byte_for_byte_in_either_order(tiny, folder):
    root = halves(tiny, folder)
    both = ("merge", "sweep.k=10", "sweep.noise=[gaussian,laplace]")
    code, out, _ = tiny(*both, "name=a", root / "b")
    assert code == 0
    assert "2 chunks added" in out
    assert "nothing to simulate" in out
    assert snapshot(root / "a") == snapshot(root / "whole")
    assert "0 chunks added" in tiny(*both, "name=a", root / "b")[1]
    assert tiny(*both, "name=b", root / "whole")[0] == 0
    assert snapshot(root / "b") == snapshot(root / "whole")


@pytest.mark.slow
def test_foreign_and_contradicting_runs_are_not_merged(tiny, folder, one_line, monkeypatch):
    from tcdp_sim.engine import simulate

    root = folder.parent
    assert tiny(*SMALL)[0] == 0
    assert tiny(*SMALL, "name=seed", "seed=7")[0] == 0
    assert "belongs to another run (seed" in one_line("merge", root / "seed")
    assert "is this run itself" in one_line("merge", folder)
    real = streams.generators
    with monkeypatch.context() as patch:
        patch.setattr(simulate, "generators", lambda seed, cells, chunks: real(seed + 1, cells, chunks))
        assert tiny(*SMALL, "name=forged")[0] == 0
    before = snapshot(folder)
    assert "differ in 4 chunks that both have" in one_line("merge", root / "forged")
    assert snapshot(folder) == before


# Two drivers


def test_a_second_driver_is_refused_and_nothing_is_lost(tiny, tiny_once, folder, one_line):
    tiny_once(*SMALL)
    before = snapshot(folder)
    with (folder / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "is being written by another process" in one_line()
        assert "a driver is at work" in tiny(*SMALL, "status")[1]
    assert tiny(*SMALL)[0] == 0
    assert snapshot(folder) == before


# As many trials as the standard error asks for


TARGET = ("target_mcse={linf_error: {relative: 0.004}, top_stays: {absolute: 0.1}}", "max_trials=200000")


def test_pilots_choose_numbers_of_trials_that_meet_the_target(tiny, folder):
    code, out, _ = tiny(*SMALL, *TARGET)
    assert code == 0
    assert "cells need more trials" in out
    found = results.open_cells(folder).load()
    relative = (found["linf_error_mean_mcse"] / found["linf_error_mean"]).values
    trials = found["trials"].values
    assert (relative <= 0.004).all()
    assert (trials > 1000).all()
    # the margin is 20%, and the pilot's error in the number that is needed less than 15%: sd/sqrt(n) says how many are
    needed = (found["linf_error_sd"] / found["linf_error_mean"]).values ** 2 / 0.004**2
    assert (trials <= 1.2 * 1.15 * needed + 1000).all()
    pilots = found["pilot_trials"].values
    assert ((0.15 * trials <= pilots) & (pilots <= 0.4 * trials)).all()


@pytest.mark.slow
def test_adaptive_trials_do_not_depend_on_the_way_there(tiny, tiny_once, folder):
    """At once; after a smaller run; and after a larger one: the same bytes."""
    tiny_once(*SMALL, *TARGET)
    for name, before in (("small", "trials=500"), ("large", "trials=20000")):
        assert tiny(*SMALL, f"name={name}", before)[0] == 0
        assert tiny(*SMALL, *TARGET, f"name={name}")[0] == 0
        assert snapshot(folder) == snapshot(folder.parent / name)
    shutil.rmtree(folder)
    assert tiny(*SMALL, *TARGET, "cluster=local", "cluster.workers=2")[0] == 0
    assert snapshot(folder) == snapshot(folder.parent / "small")


def test_the_most_trials_are_not_exceeded(tiny, folder):
    assert tiny(*SMALL, "target_mcse={linf_error: {absolute: 1e-9}}", "max_trials=3000")[0] == 0
    np.testing.assert_array_equal(results.open_cells(folder)["trials"], 3000)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("5", "target_mcse = 5"),
        ("{linf_error: {absolute: 1}} max_trials=10", "max_trials = 10 is not valid with target_mcse; valid: at least"),
        ("{speed: {absolute: 1}}", "target_mcse.speed is not an observable or event of histogram; valid: linf_error"),
        ("{linf_error: 1}", "target_mcse.linf_error = 1 is not valid; valid: {absolute: 0.1} or {relative: 0.001}"),
        ("{linf_error: {absolute: 1, relative: 1}}", "is not valid; valid: {absolute"),
        ("{linf_error: {relative: 0}}", "target_mcse.linf_error.relative = 0"),
        ("{linf_error: {relative: x}}", "target_mcse.linf_error.relative = 'x'"),
    ],
)
def test_bad_targets_are_one_line(one_line, target, said):
    target, *more = target.split(" max_trials")
    assert said in one_line(f"target_mcse={target}", *(f"max_trials{word}" for word in more))


def test_an_event_that_never_happened_so_far_needs_more_trials(tiny, folder):
    """No hit is no proof: the target is met where at least one was seen, or max_trials ends it."""
    rare = (*SMALL, "trials=1000", "max_trials=16000")
    assert tiny(*rare, "target_mcse={spurious_wins: {relative: 0.5}}")[0] == 0
    found = results.open_cells(folder).load()
    never = (found["spurious_wins"] == 0).values
    assert never.any()
    assert (found["trials"].values[never] == 16000).all()


def test_equal_trials_are_no_proof_of_a_mean():
    """A target met by a standard error of zero: as if one trial had been off by the common value; zeros never are."""
    settings = SimpleNamespace(chunk=100, chunks=1, max_trials=10**6, target_mcse=None)

    def needed(values, **target):
        summary = summarise("0" * 64, 0, len(values), {"x": np.asarray(values, dtype=float)}, {})
        settings.target_mcse = {"x": target}
        grown = stopping.after_pilot(summary, 1, 1, settings.target_mcse, 10**4)
        return stopping.predicted(summary, settings), grown

    assert needed([0.1] * 100, relative=0.02) == (2, (1, 2))  # 1 / 100 of it
    assert needed([0.1] * 100, relative=0.0055) == (ceil(3.31 * 1.2) + 1, (1, 5))  # (1 / 0.55)^2 times the trials
    assert needed([0.1] * 100, absolute=0.00055) == (ceil(3.31 * 1.2) + 1, (1, 5))
    assert needed([0.1] * 100, relative=0.002) == (ceil(25 * 1.2) + 8, (4, 4))  # five times: the pilot is too short
    assert needed([0.0] * 100, absolute=1e9) == (12_500, (4, 4))
    assert needed([0.0] * 100, relative=0.5) == (12_500, (4, 4))
    assert needed([3.0], relative=0.5) == (12_500, (4, 4))
    assert needed([np.inf] * 100, relative=0.5) == (2, (1, 2))
    assert needed([1.0, 3.0] * 50, absolute=0.1) == (3, (1, 3))  # sd 1.005 over 10 is 0.5% too much
    assert stopping.after_pilot(summarise("0" * 64, 0, 9, {}, {}), 1, 5, {"x": {"absolute": 1}}, 9) == (0, 5)


DECIDED = (
    "sweep.noise=[gaussian,laplace,sinh_normal]",
    "target={linf_error: {across: noise}, top_stays: {threshold: 0.5}}",
)


def test_decisions_of_a_study_do_not_depend_on_the_way_there(tiny, folder):
    """At once and after a larger run: the same bytes. Cells without omega_sqrt_rho are compared at each value of it."""
    words = (*SMALL, *DECIDED, "sweep.omega_sqrt_rho=[1,2]", "trials=500", "chunk=250", "max_trials=4000")
    code, out, _ = tiny(*words)
    assert code == 0
    assert "comparisons decided with" in out
    rows = pd.read_csv(folder / "comparisons.csv")
    pairs = rows[rows["across"] == "noise"]
    assert sorted(pairs["value"] + " " + pairs["other"]) == [
        "gaussian laplace",
        *["gaussian sinh_normal"] * 2,
        *["laplace sinh_normal"] * 2,
    ]
    assert (pairs["failure"] == 0.05 / 5).all()
    assert set(pairs["omega_sqrt_rho"].dropna()) == {1.0, 2.0}
    assert (rows["threshold"] == 0.5).sum() == results.open_cells(folder).sizes["cell"]
    assert tiny(*words, "verify")[0] == 0
    other = folder.parent / "large"
    assert tiny(*SMALL, DECIDED[0], "sweep.omega_sqrt_rho=[1,2]", "chunk=250", "trials=3000", "name=large")[0] == 0
    assert tiny(*words, "name=large")[0] == 0
    assert snapshot(other) == snapshot(folder)
    assert (other / "comparisons.csv").read_bytes() == (folder / "comparisons.csv").read_bytes()


def test_status_follows_the_target(tiny, tiny_once, folder):
    tiny_once(*SMALL, *TARGET)
    _, out, _ = tiny(*SMALL, *TARGET, "status")
    trials = results.open_cells(folder).load()["trials"].values
    assert f"the largest {trials.max():,} as far as is known" in out
    assert "2 of 2 cells done" in out


def test_status_writes_nothing(tiny, tiny_once, folder):
    """So that a run that may only be read can be looked at."""
    tiny_once(*SMALL)
    before = (folder / "lock").read_bytes(), (folder / "lock").stat().st_mtime_ns
    assert tiny(*SMALL, "status")[0] == 0
    assert before == ((folder / "lock").read_bytes(), (folder / "lock").stat().st_mtime_ns)
    (folder / "lock").unlink()
    assert "nobody is at work" in tiny(*SMALL, "status")[1]
    assert not (folder / "lock").exists()


def test_a_folder_that_cannot_be_written_is_one_line(tiny, folder, one_line, monkeypatch):
    from tcdp_sim.store.run_folder import RunWriter

    root = halves(tiny, folder)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RunWriter, "__init__", full)
    said = one_line("merge", "name=a", root / "b")
    assert "No space left on device" in said


def test_an_id_that_reads_as_a_number_is_an_id(one_line):
    assert "no cell's id begins with '1e2'" in one_line("replay", "cell=1e2")
