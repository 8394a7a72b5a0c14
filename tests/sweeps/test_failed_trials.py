"""With on_error="count" a failed trial is missing, and the results count it; plain loops are the oracle."""

import csv
import json

import numpy as np
import pytest
import xarray as xr

import tcdp_sim
from tcdp_sim import Failure, UserError
from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms.functions import failed_trials, point_text
from tcdp_sim.store import columns
from tcdp_sim.study import rerun
from tcdp_sim.study.sweeps import streams
from tcdp_sim.summaries.estimates import proportion
from tcdp_sim.sweeps.arguments import checked

SHARE = 0.02  # of the trials at n = 2
LOCAL = {"name": "local", "workers": 2}
AXES = {"n": [1, 2, 3]}


def fails(rng, n):
    u = rng.random()
    if n == 2 and u < SHARE:
        raise ValueError("no root" if u < SHARE / 2 else "no start")
    x = rng.normal()
    return {"x": x, "up": x > 1}


def fails_by_nan(rng, n):
    u = rng.random()
    if n == 2 and u < SHARE:
        return {"x": float("nan"), "up": True}
    x = rng.normal()
    return {"x": x, "up": x > 1}


def at_once(rng, trials, n):
    u, x = rng.random(trials), rng.normal(size=trials)
    return {"x": np.where((u < SHARE) & (n == 2), np.nan, x), "y": x, "up": x > 1}


def only_events(rng, n):
    if n == 2 and rng.random() < 0.3:
        raise ValueError("none")
    return rng.random() < 0.5


def never(rng, n):
    if n == 1:
        raise ZeroDivisionError("always")
    return {"x": rng.normal(), "up": True}


def good(rng, n):
    x = rng.normal()
    return {"x": x, "up": x > 1}


def of_old(found):
    """Return the results without what on_error="count" adds."""
    return found.drop_vars([name for name in found.data_vars if str(name).startswith(("error", "warning"))])


def loop(function, n, trials, chunk):
    """Return the successful trials of a cell, and the first place of each error, by a plain loop."""
    (stream,) = streams([point_text({"n": n})])
    kept, first = [], {}
    for k in range(trials // chunk):
        rng = generator(0, stream, k)
        for i in range(chunk):
            try:
                kept.append(function(rng, n))
            except ValueError as problem:
                first.setdefault(f"ValueError: {problem}", (k, i))
    return kept, first


@pytest.mark.parametrize("name", [None, "x"])
@pytest.mark.parametrize(("trials", "chunk"), [(3000, 500), (2000, 1000), (400, 400)])
def test_numbers_are_those_of_a_plain_loop(tmp_path, name, trials, chunk):
    found = tcdp_sim.sweep(
        fails, AXES, trials=trials, chunk=chunk, on_error="count", name=name, results_dir=tmp_path, quantiles=[0.5]
    )
    told = {one["error"]: one for one in json.loads(found.attrs["errors"])}
    assert sum(one["count"] for one in told.values()) == found["errors"].sum()
    for n in AXES["n"]:
        kept, first = loop(fails, n, trials, chunk)
        x, up, cell = np.array([one["x"] for one in kept]), sum(one["up"] for one in kept), found.sel(n=n)
        lost = trials - len(kept)
        assert (lost > 0) == (n == 2)
        assert cell["errors"] == lost
        assert cell["trials"] == trials
        ends = ("", "_mcse", "_lower", "_upper")
        assert [cell["error_rate" + end].item() for end in ends] == pytest.approx(proportion(lost, trials))
        assert cell["x"].item() == pytest.approx(x.mean(), rel=1e-12)
        assert cell["x_mcse"].item() == pytest.approx(x.std(ddof=1) / np.sqrt(len(x)))
        assert cell["x_max"] == x.max()
        assert cell["x_quantile"].item() == pytest.approx(np.quantile(x, 0.5), abs=0.02)
        assert [cell["up" + end].item() for end in ends] == pytest.approx(proportion(int(up), len(x)))
        if n == 2:
            assert {kind: (one["chunk"], one["trial"]) for kind, one in told.items()} == first


def test_errors_come_first():
    found = tcdp_sim.sweep(fails, AXES, trials=100, on_error="count")
    ends = ("", "_mcse", "_lower", "_upper")
    first = ["errors", *(f"error_rate{end}" for end in ends), "warnings", *(f"warning_rate{end}" for end in ends)]
    assert list(found.data_vars)[:12] == ["trials", *first, "x"]
    assert columns.OF_TRIALS == (failed_trials.FAILED, failed_trials.MISSING, failed_trials.WARNED)


@pytest.mark.parametrize("function", [fails, fails_by_nan, at_once, only_events])
@pytest.mark.parametrize("trials", [400, 3000])
def test_a_folder_has_the_same_numbers(tmp_path, function, trials):
    asked = {"trials": trials, "chunk": 200 if trials == 3000 else None, "on_error": "count"}
    memory = tcdp_sim.sweep(function, AXES, **asked)
    folder = tcdp_sim.sweep(function, AXES, name="x", results_dir=tmp_path, **asked)
    assert memory["errors"].values[1] > 0
    assert memory.attrs["errors"] == folder.attrs["errors"]
    xr.testing.assert_identical(memory.drop_attrs(), folder.drop_attrs()[list(memory.data_vars)])
    opened = tcdp_sim.open_results(tmp_path / "x")
    for part in memory.data_vars:
        np.testing.assert_array_equal(opened[part].values.squeeze(), memory[part].values, err_msg=str(part))


@pytest.mark.slow
def test_workers_have_the_same_numbers(tmp_path):
    asked = {"trials": 3000, "chunk": 250, "on_error": "count"}
    here = tcdp_sim.sweep(fails, AXES, **asked)
    for name in (None, "x"):
        there = tcdp_sim.sweep(fails, AXES, cluster=LOCAL, name=name, results_dir=tmp_path, **asked)
        xr.testing.assert_identical(here.drop_attrs(), there.drop_attrs())
        assert here.attrs["errors"] == there.attrs["errors"]


def test_a_nan_fails_like_an_error():
    """The generators meet the same calls, so the same trials fail; the event of a failed trial does not count."""
    raised, nan = (tcdp_sim.sweep(each, AXES, trials=2000, on_error="count") for each in (fails, fails_by_nan))
    xr.testing.assert_identical(raised.drop_attrs(), nan.drop_attrs())
    assert [one["error"] for one in json.loads(nan.attrs["errors"])] == ["x is NaN"]


def test_a_nan_of_many_trials_at_once_fails_the_whole_trial():
    found = tcdp_sim.sweep(at_once, AXES, trials=2000, on_error="count").sel(n=2)
    (stream,) = streams([point_text({"n": 2})])
    drawn = at_once(generator(0, stream, 0), 2000, 2)
    kept = ~np.isnan(drawn["x"])
    assert found["errors"] == (~kept).sum() > 0
    assert found["y"].item() == pytest.approx(drawn["y"][kept].mean(), rel=1e-12)
    assert found["up"].item() == pytest.approx(drawn["up"][kept].mean(), rel=1e-12)


@pytest.mark.parametrize("chunk", [100, 1000])
def test_without_failures_the_numbers_are_those_of_stop(chunk):
    counted, plain = (tcdp_sim.sweep(good, AXES, trials=1000, chunk=chunk, on_error=how) for how in ("count", "stop"))
    assert (counted["errors"] == 0).all()
    assert json.loads(counted.attrs["errors"]) == []
    xr.testing.assert_identical(of_old(counted).drop_attrs(), plain.drop_attrs())


def test_the_state_repeats_the_trial():
    found = tcdp_sim.sweep(fails, AXES, trials=3000, chunk=500, on_error="count")
    told = json.loads(found.attrs["errors"])
    assert len(told) == 2
    for one in told:
        rng = np.random.Generator(np.random.SFC64())
        rng.bit_generator.state = one["state"]
        with pytest.raises(ValueError, match=one["error"].removeprefix("ValueError: ")):
            fails(rng, **one["cell"])


def test_a_cell_without_a_successful_trial_has_no_mean(tmp_path):
    for name in (None, "x"):
        found = tcdp_sim.sweep(
            never, {"n": [1, 2]}, trials=600, chunk=300, on_error="count", name=name, results_dir=tmp_path,
            exact={"x": lambda n: 0.0, "up": lambda n: 1.0},
        )  # fmt: skip
        assert found["errors"].values.tolist() == [600, 0]
        assert np.isnan(found["x"].values).tolist() == [True, False]
        assert np.isnan(found["up"].values).tolist() == [True, False]
    with pytest.raises(Failure, match=r"^cell n=1: ZeroDivisionError: always; all trials"):
        tcdp_sim.sweep(never, {"n": 1}, trials=10, on_error="count")


def test_a_folder_lists_the_first_errors_and_resumes(tmp_path):
    go = {"chunk": 500, "on_error": "count", "results_dir": tmp_path}
    tcdp_sim.sweep(fails, AXES, trials=1500, name="x", **go)
    more = tcdp_sim.sweep(fails, AXES, trials=4000, name="x", **go)
    whole = tcdp_sim.sweep(fails, AXES, trials=4000, name="y", **go)
    xr.testing.assert_identical(more.drop_attrs(), whole.drop_attrs())
    assert more.attrs["errors"] == whole.attrs["errors"]
    written = [(tmp_path / name / "errors.csv").read_text("utf-8") for name in "xy"]
    assert written[0] == written[1]
    rows = list(csv.DictReader(written[0].splitlines()))
    _, first = loop(fails, 2, 4000, 500)
    assert {row["message"]: (int(row["chunk"]), int(row["trial"])) for row in rows} == first
    assert {row["kind"] for row in rows} == {"error"}
    assert sum(int(row["count"]) for row in rows) == more["errors"].sum()
    assert {row["coordinates"] for row in rows} == {"n=2"}
    assert not (tmp_path / "x" / "problems.csv").exists()
    tcdp_sim.sweep(good, AXES, trials=1500, name="z", **go)
    assert not (tmp_path / "z" / "errors.csv").exists()


def test_other_ways_with_errors_use_none_of_the_counted_chunks(tmp_path, capsys):
    go = {"trials": 1000, "chunk": 500, "name": "x", "results_dir": tmp_path}
    counted = tcdp_sim.sweep(fails, AXES, on_error="count", **go)
    with pytest.raises(Failure, match=r"^cell n=2: ValueError: no .*on_error=count takes failed trials for missing"):
        tcdp_sim.sweep(fails, AXES, **go)
    assert "are of another on_error" in capsys.readouterr().err
    again = tcdp_sim.sweep(fails, AXES, on_error="count", **go)
    xr.testing.assert_identical(counted.drop_attrs(), again.drop_attrs())


@pytest.mark.parametrize(("trials", "chunk"), [(1000, 1000), (3000, 500)])
@pytest.mark.parametrize("cluster", [
    pytest.param("serial", marks=pytest.mark.kept),
    pytest.param({"name": "local", "workers": 1}, marks=pytest.mark.slow),
])  # fmt: skip
def test_a_sweep_in_memory_returns_what_it_has(capsys, trials, chunk, cluster):
    """All trials of a cell, or none; what the function raised is printed with its lines."""
    run = {"trials": trials, "chunk": chunk, "cluster": cluster}
    with pytest.warns(UserWarning, match=r"^cell n=2: ValueError: .* on_error='count' takes failed trials") as warned:
        found = tcdp_sim.sweep(fails, AXES, **run)
    assert warned[0].filename == __file__
    whole = (found["trials"] > 0).values
    assert not whole[found["n"].values == 2].any()
    assert whole[found["n"].values == 1].all()
    others = tcdp_sim.sweep(fails, {"n": found["n"].values[whole].tolist()}, squeeze=False, **run)
    xr.testing.assert_identical(found.isel(n=whole).drop_attrs(), others.drop_attrs())
    assert np.isnan(found["x"].values[~whole]).all()
    said = capsys.readouterr().err
    assert "in fails\n" in said
    assert "raise ValueError" in said


def test_an_error_before_any_cell_has_finished_is_raised_with_the_options():
    with pytest.raises(Failure, match=r"^cell n=2: ValueError") as caught:
        tcdp_sim.sweep(fails, {"n": [1, 2]}, trials=3000, chunk=100, target_mcse={"x": {"absolute": 1e-3}})
    assert any("on_error='count'" in note for note in caught.value.__notes__)


def test_a_line_tells_of_failed_trials(capsys):
    found = tcdp_sim.sweep(fails, AXES, trials=1000, on_error="count")
    lost = found["errors"].sel(n=2).item()
    assert f"trials of 1 of 3 cells failed and are in no mean: cell n=2: {lost} of 1,000\n" in capsys.readouterr().err


def test_exact_values_are_compared_with_the_successful_trials(recwarn):
    half = {"exact": {"value": lambda n: 0.5, "error_rate": lambda n: 0.3 * (n == 2)}}
    tcdp_sim.sweep(only_events, AXES, trials=5000, on_error="count", **half)
    assert not [one for one in recwarn if issubclass(one.category, tcdp_sim.Contradiction)]
    with pytest.warns(tcdp_sim.Contradiction, match="simulated numbers are those given success"):
        tcdp_sim.sweep(only_events, AXES, trials=5000, on_error="count", exact={"value": lambda n: 0.35})


def test_only_successful_trials_judge_an_exact_value(recwarn):
    """Ten equal trials do not contradict a probability of 0.3; a hundred would."""

    def mostly(rng, n):
        if rng.random() < 0.9:
            raise ValueError
        return 0.0

    judged = {"exact": {"value": lambda n: 0.3}, "ranges": {"value": (0, 1)}}
    few = tcdp_sim.sweep(mostly, {"n": 1}, trials=100, on_error="count", **judged)
    assert 80 < few["errors"] < 95
    assert not [one for one in recwarn if issubclass(one.category, tcdp_sim.Contradiction)]
    with pytest.warns(tcdp_sim.Contradiction):
        tcdp_sim.sweep(mostly, {"n": 1}, trials=1000, on_error="count", **judged)


def many_kinds(rng, n):
    u = rng.random()
    if u < 0.002:
        raise ValueError(f"kind {'abcdefghijklmnopqrst'[int(u * 1e4)]}")
    return rng.normal()


def test_a_folder_with_more_trials_than_asked_tells_of_those_that_count(tmp_path):
    go = {"chunk": 500, "on_error": "count", "name": "x", "results_dir": tmp_path}
    many = tcdp_sim.sweep(many_kinds, {"n": 1}, trials=8000, **go)
    few = tcdp_sim.sweep(many_kinds, {"n": 1}, trials=4000, **go)
    here = tcdp_sim.sweep(many_kinds, {"n": 1}, trials=4000, chunk=500, on_error="count")
    assert (few["errors"] > 0).all()
    assert few.attrs["errors"] == here.attrs["errors"] != many.attrs["errors"]
    rows = list(csv.DictReader((tmp_path / "x" / "errors.csv").read_text("utf-8").splitlines()))
    assert [row["message"] for row in rows] == [one["error"] for one in json.loads(few.attrs["errors"])]


SOURCE = """
def fails(rng, n):
    if rng.random() < 0.02 and n == 2:
        raise ValueError("no root")
    return rng.normal()
"""


def test_the_command_counts_too(tmp_path, monkeypatch, command):
    """Whole and in parts, and its folder is verified and told as a command."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(SOURCE)
    words = ("sweep", "mine.py:fails", "sweep.n=[1,2]", "trials=2000", "chunk=500", "on_error=count", "cluster=serial")
    code, out, err = command(*words, "name=whole")
    assert (code, err) == (0, "")
    assert "trials of 1 of 2 cells failed and are in no mean: cell n=2: " in out
    for part in ("1/2", "2/2"):
        assert command(*words, "name=parts", f"part={part}")[0] == 0
    assert command("finish", "results/parts")[0] == 0
    texts = [(tmp_path / "results" / name / "errors.csv").read_text("utf-8") for name in ("whole", "parts")]
    assert texts[0] == texts[1]
    assert len(texts[0].splitlines()) == 2
    assert command("verify", "results/whole", "function=mine.py:fails")[0] == 0
    config = checked(good, AXES, on_error="count").settings.config
    assert "on_error=count" in rerun.words(config)


def raises_at_once(rng, trials, n):
    raise ValueError("whole chunk")


def forgets(rng, n):
    return {"x": 1.0} if rng.random() < 0.5 else {"y": 1.0}


def takes_the_name(rng, n):
    return {"errors": rng.random()}


def no_memory(rng, n):
    raise MemoryError("too large")


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (raises_at_once, Failure, "cell n=1: ValueError: whole chunk"),
        (forgets, UserError, "cell n=1: the trials return different names"),
        (takes_the_name, UserError, "cell n=1: errors is what on_error='count' calls its own number"),
        (no_memory, Failure, "cell n=1: MemoryError: too large$"),
    ],
)
def test_what_is_no_failed_trial_ends_the_sweep(function, kind, message):
    with pytest.raises(kind, match=f"^{message}"):
        tcdp_sim.sweep(function, AXES, trials=100, on_error="count")


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(UserError, match=r"^on_error = 'count' is not valid with share"):
        tcdp_sim.sweep(fails, AXES, trials=100, on_error="count", share="n")
    with pytest.raises(
        UserError, match=r"target_mcse: up is an event; valid with on_error='count': error_rate, warning_rate, x"
    ):
        tcdp_sim.sweep(fails, AXES, trials=100, on_error="count", target_mcse={"up": {"absolute": 0.1}})
    with pytest.raises(UserError, match="axis errors: on_error='count' has this name"):
        tcdp_sim.sweep(lambda rng, errors: rng.random(), {"errors": [1]}, trials=10, on_error="count")


def test_a_target_is_met_by_the_successful_trials():
    target = {"x": {"absolute": 0.03}}
    found = tcdp_sim.sweep(fails, AXES, trials=100, chunk=100, on_error="count", target_mcse=target)
    assert (found["x_mcse"] < 0.033).all()
