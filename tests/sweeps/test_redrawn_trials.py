"""Failed trials that are drawn again, trials that warn, and trials that hang; plain loops are the oracle."""

import csv
import json
import re
import threading
import time
import warnings
from contextlib import suppress

import numpy as np
import pytest
import xarray as xr

import tcdp_sim
from tcdp_sim import UserError
from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms.functions import hung_trials, point_text
from tcdp_sim.study.sweeps import streams
from tcdp_sim.summaries.estimates import proportion

SHARE = 0.4  # of the draws at n = 2
AXES = {"n": [1, 2]}
ENDS = ("", "_mcse", "_lower", "_upper")


def fails(rng, n):
    if n == 2 and rng.random() < SHARE:
        raise ValueError("no root")
    x = rng.normal()
    return {"x": x, "up": x > 1}


def at_once(rng, trials, n):
    u, x = rng.random(trials), rng.normal(size=trials)
    return {"x": np.where((u < SHARE) & (n == 2), np.nan, x), "up": x > 1}


def masked(rng, trials, n):
    u, x = rng.random(trials), rng.normal(size=trials)
    return {"x": np.ma.masked_array(x, (u < SHARE) & (n == 2)), "up": x > 1}


def stream(n):
    (name,) = streams([point_text({"n": n})])
    return generator(0, name, 0)


def loop(n, trials, redraw):
    """Return the draws that count, and the numbers of trials whose first draw fails, and all of whose draws fail."""
    rng, kept, failed, missing = stream(n), [], 0, 0
    for _ in range(trials):
        for k in range(1 + redraw):
            try:
                kept.append(fails(rng, n))
                break
            except ValueError:
                failed += k == 0
        else:
            missing += 1
    return kept, failed, missing


def loop_at_once(n, trials, redraw):
    rng = stream(n)
    found = at_once(rng, trials, n)
    x, up = found["x"].copy(), found["up"].copy()
    failed = int(np.isnan(x).sum())
    for _ in range(redraw):
        lost = np.flatnonzero(np.isnan(x))
        if len(lost):
            again = at_once(rng, len(lost), n)
            x[lost], up[lost] = again["x"], again["up"]
    kept = [{"x": a, "up": b} for a, b in zip(x, up) if not np.isnan(a)]
    return kept, failed, trials - len(kept)


@pytest.mark.parametrize(("function", "oracle"), [(fails, loop), (at_once, loop_at_once), (masked, loop_at_once)])
@pytest.mark.parametrize("redraw", [1, 2, 50])
def test_numbers_are_those_of_a_plain_loop(function, oracle, redraw):
    trials = 1500
    found = tcdp_sim.sweep(function, AXES, trials=trials, on_error="count", redraw=redraw)
    for n in AXES["n"]:
        kept, failed, missing = oracle(n, trials, redraw)
        assert (failed > 0) == (n == 2)
        assert (missing > 0) == (n == 2 and redraw < 50)
        x, up, cell = np.array([one["x"] for one in kept]), sum(one["up"] for one in kept), found.sel(n=n)
        assert [cell[name].item() for name in ("trials", "errors", "missing")] == [trials, failed, missing]
        assert cell["x"].item() == pytest.approx(x.mean(), rel=1e-12)
        assert cell["x_mcse"].item() == pytest.approx(x.std(ddof=1) / np.sqrt(len(x)))
        for name, hits, of in (("error_rate", failed, trials), ("missing_rate", missing, trials), ("up", up, len(x))):
            assert [cell[name + end].item() for end in ENDS] == pytest.approx(proportion(int(hits), of))


@pytest.mark.parametrize("function", [fails, at_once])
@pytest.mark.parametrize("redraw", [2, True])
def test_a_folder_has_the_same_numbers_and_none_of_another_redraw(tmp_path, function, redraw):
    asked = {"trials": 1000, "chunk": 250, "on_error": "count", "redraw": redraw}
    memory = tcdp_sim.sweep(function, AXES, **asked)
    folder = tcdp_sim.sweep(function, AXES, name="x", results_dir=tmp_path, **asked)
    xr.testing.assert_identical(memory.drop_attrs(), folder.drop_attrs()[list(memory.data_vars)])
    assert memory.attrs["errors"] == folder.attrs["errors"]
    assert folder.attrs["redraw"] == ("50" if redraw is True else "2")
    fewer = tcdp_sim.sweep(function, AXES, name="x", results_dir=tmp_path, **asked | {"redraw": 0})
    assert "missing" not in fewer
    assert np.isfinite(folder["x"]).all()


def warns(rng, n):
    x = rng.normal()
    if x > n:
        warnings.warn(f"x is {x:.3f}, beyond {n}", stacklevel=1)
    return np.log(-1.0) if x < -3 else x


@pytest.mark.parametrize("name", [None, "x"])
def test_warnings_are_counted_by_kind(tmp_path, name):
    """Messages that differ in numbers alone are of one kind; a trial that fails may warn too."""
    trials = 4000
    found = tcdp_sim.sweep(warns, AXES, trials=trials, chunk=1000, on_error="count", name=name, results_dir=tmp_path)
    told = json.loads(found.attrs["warnings"])
    assert [one["warning"].partition(":")[0] for one in told] == ["UserWarning", "RuntimeWarning"]
    assert sum(one["count"] for one in told) == found["warnings"].sum()
    for n in AXES["n"]:
        (stream_name,) = streams([point_text({"n": n})])
        x = np.concatenate([
            [rng.normal() for _ in range(1000)] for rng in (generator(0, stream_name, k) for k in range(4))
        ])  # fmt: skip
        warned, failed = int(((x > n) | (x < -3)).sum()), int((x < -3).sum())
        cell = found.sel(n=n)
        assert [cell[one].item() for one in ("warnings", "errors")] == [warned, failed]
        assert [cell["warning_rate" + end].item() for end in ENDS] == pytest.approx(proportion(warned, trials))
        assert cell["value"].item() == pytest.approx(x[x >= -3].mean())
    if name:
        rows = list(csv.DictReader((tmp_path / "x" / "errors.csv").read_text("utf-8").splitlines()))
        assert {row["kind"] for row in rows} == {"error", "warning"}
        assert sum(int(row["count"]) for row in rows if row["kind"] == "warning") == found["warnings"].sum()


LIMIT = 0.5  # seconds, far more than a trial is away from its processor under any load
TRIALS = 60


def computes(end):
    while time.monotonic() < end:
        sum(range(100))


def waits(end):
    time.sleep(end - time.monotonic())


def swallows(end):
    with suppress(BaseException):
        waits(end)


def hanging(wait):
    def hangs(rng, n):
        x = rng.normal()
        if x < -2.2:  # after a number of draws that depends on the machine
            for _ in range(int(time.monotonic() * 1e6) % 5):
                rng.random()
            wait(time.monotonic() + 60)
        return x

    return hangs


def limited(wait, **more):
    keys = {"trials": TRIALS, "on_error": "count", "trial_seconds": LIMIT} | more
    return tcdp_sim.sweep(hanging(wait), {"n": 1}, **keys)


KEPT = pytest.mark.kept


@pytest.mark.parametrize("wait", [pytest.param(waits, marks=KEPT), computes, pytest.param(swallows, marks=KEPT)])
def test_a_trial_that_hangs_fails(wait):
    """And what follows is the same in every run, although the trial has drawn who knows how many numbers."""
    found = limited(wait)
    (hung,) = json.loads(found.attrs["errors"])
    assert hung["error"] == f"the trial takes more than {LIMIT} s"
    assert 1 <= found["errors"].item() == hung["count"] <= 5
    assert found["value_min"] >= -2.2
    xr.testing.assert_identical(found, limited(waits))


def in_a_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("wait", [computes])
def test_a_trial_hangs_in_another_thread(wait):
    """As tasks of Dask run; nothing of the exception is left for the next trial."""
    xr.testing.assert_identical(in_a_thread(lambda: limited(wait)), limited(waits))


@pytest.mark.slow
def test_workers_end_trials_that_hang(tmp_path):
    two = {"trials": 2 * TRIALS, "chunk": TRIALS}
    here = limited(waits, **two)
    there = limited(computes, cluster={"name": "local", "workers": 2}, **two)
    xr.testing.assert_identical(here.drop_attrs(), there.drop_attrs())


def test_quick_trials_are_not_ended():
    with hung_trials.Limit(0.05) as limit:
        for _ in range(1000):
            with limit.of_a_trial():
                time.sleep(0.0002)


def test_the_first_of_many_kinds_are_told_apart():
    letters = "abcdefghijkl"

    def many(rng, n):
        raise ValueError(letters[rng.integers(len(letters))]) if rng.random() < 0.5 else KeyError(3)

    with pytest.raises(tcdp_sim.Failure, match="all trials of all pilots failed like this"):
        tcdp_sim.sweep(many, {"n": 1}, trials=1000, on_error="count")

    def half(rng, n):
        if rng.random() < 0.5:
            many(rng, n)
        return 1.0

    found = tcdp_sim.sweep(half, {"n": 1}, trials=1000, on_error="count")
    told = json.loads(found.attrs["errors"])
    assert len(told) == 9
    assert told[-1]["error"].startswith("errors of other kinds, such as ValueError: ") or any(
        one["error"].startswith("errors of other kinds") for one in told
    )
    assert sum(one["count"] for one in told) == found["errors"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"redraw": 3}, "redraw = 3 is not valid with on_error='stop'"),
        ({"trial_seconds": 3}, "trial_seconds = 3 is not valid with on_error='stop'"),
        ({"redraw": -1, "on_error": "count"}, "redraw = -1 is not valid; valid: a whole number from 0 to 1e06"),
        ({"redraw": "two", "on_error": "count"}, "redraw = 'two' is not valid"),
        ({"trial_seconds": 0, "on_error": "count"}, "trial_seconds = 0"),
    ],
)
def test_mistakes(keys, message):
    with pytest.raises(UserError, match=message):
        tcdp_sim.sweep(fails, AXES, trials=10, **keys)


def test_a_limit_needs_a_function_of_one_trial():
    with pytest.raises(UserError, match="trial_seconds is not valid for at_once, which returns many trials"):
        tcdp_sim.sweep(at_once, AXES, trials=10, on_error="count", trial_seconds=1)


def other_names(rng, trials, n):
    x = rng.normal(size=trials)
    return {"x": np.where(x > 1, np.nan, x)} if trials > 90 else {"y": x}


def test_trials_that_are_drawn_again_have_the_same_names():
    with pytest.raises(UserError, match="trials that are drawn again have y, and the others x"):
        tcdp_sim.sweep(other_names, {"n": 1}, trials=100, chunk=100, on_error="count", redraw=1)


SOURCE = """
import time
def fails(rng, n):
    u = rng.random()
    if n == 2 and u < 0.05:
        raise ValueError(f"no root at {u}")
    if n == 2 and u > 0.99:
        time.sleep(9)
    return {"x": rng.normal(), "u": u}
def at_once(rng, trials, n):
    u = rng.random(trials)
    return {"x": rng.normal(size=trials), "u": u}
"""


def test_one_trial_is_replayed(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(SOURCE)
    words = ("trials=200", "chunk=100", "on_error=count", "cluster=serial", "sweep.n=[1,2]")
    for name, more in (("fails", ("trial_seconds=.5", "redraw=1")), ("at_once", ())):
        assert command("sweep", f"mine.py:{name}", *words, *more, f"name={name}")[0] == 0
    rows = list(csv.DictReader((tmp_path / "results/fails/errors.csv").read_text("utf-8").splitlines()))
    assert {row["message"].partition(" at ")[0] for row in rows} == {
        "ValueError: no root", "the trial takes more than 0.5 s"
    }  # fmt: skip
    for row in rows:
        where = (f"cell={row['cell']}", f"index={row['chunk']}", f"trial={row['trial']}", "function=mine.py:fails")
        message = re.escape(row["message"].removeprefix("ValueError: "))
        with pytest.raises((ValueError, hung_trials.Hung), match=f"^{message}$"):
            command("replay", "results/fails", *where)
    for name in ("fails", "at_once"):
        cell = tcdp_sim.table(f"results/{name}")["id"].iloc[0]
        code, out, _ = command("replay", f"results/{name}", f"cell={cell}", "trial=7", f"function=mine.py:{name}")
        u = float(out.split("u = ")[1].split()[0])
        rng = stream(1)
        drawn = [(rng.random(), rng.normal()) for _ in range(8)] if name == "fails" else [(x,) for x in rng.random(8)]
        assert (code, u) == (0, drawn[7][0])
    cell = rows[0]["cell"]
    code, _, err = command("replay", "results/fails", f"cell={cell}", "trial=100", "function=mine.py:fails")
    assert code == 2
    assert "trial = 100 is not valid; valid: a whole number from 0 to 99" in err
