"""Sweeps that stop when comparisons are decided, against the same formulas on trials of fixed numbers."""

import json

import numpy as np
import pytest
from scipy import stats

import tcdp_sim
from tcdp_sim import UserError, results
from tcdp_sim.statistics.compare_runs import compare

KEYS = {"trials": 200, "chunk": 100, "max_trials": 4000}
LOOKS = [200, 300, 400, 500, 700, 900, 1200, 1500, 1900, 2400, 3000, 3800, 4000]  # every 1.25 times, in whole chunks


def scaled(rng, trials, method, n):
    return {"error": {"a": 1.0, "b": 1.3, "c": 1.0}[method] * rng.standard_exponential(trials) / n}


def table(found):
    return json.loads(found.attrs["comparisons"])


def fixed(trials, function=scaled, axes=None, **keys):
    return tcdp_sim.sweep(function, axes or AXES, trials=trials, chunk=100, **keys)


AXES = {"method": ["a", "b", "c"], "n": [1, 2]}


def boundary(times, failure):
    """The published formula, with n rho^2 at `times` the number of trials at which it is tightest."""
    rho2 = (-2 * np.log(failure) + np.log(-2 * np.log(failure) + 1)) * times
    return np.sqrt(2 * (rho2 + 1) / rho2 * np.log(np.sqrt(rho2 + 1) / failure))


def test_pairs_are_decided_at_the_first_look_whose_interval_leaves_out_zero():
    target = {"error": {"across": "method", "within": 0.25, "failure": 0.1}}
    found = tcdp_sim.sweep(scaled, AXES, target=target, **KEYS)
    rows = table(found)
    assert sorted((row["n"], row["value"], row["other"]) for row in rows) == [
        (n, *pair) for n in (1, 2) for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    every = {look: fixed(look) for look in LOOKS}
    needed = {}
    for row in rows:
        assert row["failure"] == pytest.approx(0.1 / 6)
        for look in LOOKS:
            first, second = (every[look].sel({"method": row[key], "n": row["n"]}) for key in ("value", "other"))
            gap = (first["error"] - second["error"]).item()
            error = np.hypot(first["error_mcse"], second["error_mcse"]).item()
            z = boundary(look / 2000, 0.1 / 6)
            least, most = z * error, 1.9 * z * error  # before and after the widening for the skewness of 2
            if look == row["trials"]:
                half = (row["upper"] - row["lower"]) / 2
                assert row["difference"] == pytest.approx(gap)
                assert (row["upper"] + row["lower"]) / 2 == pytest.approx(gap)
                assert least < half < most
                names = {"larger": row["lower"] > 0, "smaller": row["upper"] < 0}
                names["within"] = row["lower"] > -0.25 and row["upper"] < 0.25
                assert row["decided"] == next((name for name, holds in names.items() if holds), "undecided")
                break
            assert abs(gap) < most  # it was not decided before
        for key in ("value", "other"):
            cell = row[key], row["n"]
            needed[cell] = max(needed.get(cell, 0), row["trials"])
    for (method, n), trials in needed.items():
        assert found["trials"].sel({"method": method, "n": n}) == trials
        same = every[trials].sel({"method": method, "n": n})
        assert found["error"].sel({"method": method, "n": n}) == same["error"]


def test_thresholds_are_decided_cell_by_cell():
    target = {"error": {"threshold": 0.8}}
    found = tcdp_sim.sweep(scaled, AXES, target=target, **KEYS)
    rows = table(found)
    assert len(rows) == 6
    for row in rows:
        mean = found["error"].sel({"method": row["method"], "n": row["n"]}).item()
        assert row["difference"] == pytest.approx(mean - 0.8)
        assert row["decided"] == {1: "larger", 2: "smaller"}[row["n"]]
        assert found["trials"].sel({"method": row["method"], "n": row["n"]}) == row["trials"]
    assert (found["trials"] < 4000).all()


def test_shared_numbers_are_compared_in_pairs(capsys):
    """The differences of common uniform numbers have a tenth of the variance, so all ends at the first look."""

    def close(rng, trials, method):
        return {"error": rng.random(trials) * {"a": 1.0, "b": 1.1}[method]}

    target, axes = {"error": {"across": "method"}}, {"method": ["a", "b"]}
    shared = tcdp_sim.sweep(close, axes, target=target, share="method", **KEYS)
    alone = tcdp_sim.sweep(close, axes, target=target, **KEYS)
    (row,), (other,) = table(shared), table(alone)
    assert (row["decided"], row["trials"]) == ("smaller", 200)
    assert other["trials"] > 1000
    both = fixed(200, close, axes, share="method")["error"]
    assert row["difference"] == pytest.approx((both[0] - both[1]).item())
    assert "1 of 1 comparisons decided with 5.0% of the trials allowed" in capsys.readouterr().err


def test_an_event_that_never_happens_is_decided_against_one_that_does():
    """No hit in any number of trials, against 1 in 50; and two that never happen stay undecided."""

    def fails(rng, trials, method):
        return {"failed": rng.random(trials) < {"never": 0.0, "rare": 0.02, "too": 0.0}[method]}

    axes = {"method": ["never", "rare", "too"]}
    found = tcdp_sim.sweep(fails, axes, target={"failed": {"across": "method"}}, **KEYS)
    rows = {(row["value"], row["other"]): row for row in table(found)}
    assert rows["never", "rare"]["decided"] == "smaller"
    assert rows["rare", "too"]["decided"] == "larger"
    assert (rows["never", "too"]["decided"], rows["never", "too"]["reason"]) == ("undecided", "max_trials")
    assert rows["never", "too"]["trials"] == 4000
    assert rows["never", "rare"]["trials"] < 2500
    assert found["failed_upper"].sel({"method": "never"}) < 0.003


def test_cells_stop_after_so_many_events():
    def fails(rng, trials, p):
        return {"failed": rng.random(trials) < p, "x": rng.random(trials)}

    axes = {"p": [0.0, 0.01, 0.5]}
    found = tcdp_sim.sweep(fails, axes, target={"failed": {"events": 20}}, **KEYS)
    assert "comparisons" not in found.attrs
    counts, trials = found["failed_count"].values, found["trials"].values.tolist()
    assert (trials[0], counts[0], trials[2]) == (4000, 0, 200)
    assert counts[1] >= 20
    before = LOOKS[LOOKS.index(trials[1]) - 1]
    assert fixed(before, fails, axes)["failed_count"].values[1] < 20
    exact = stats.binomtest(0, 4000).proportion_ci(0.95, "exact")
    assert found["failed_upper"].values[0] == pytest.approx(exact.high)
    low, high = found["failed_lower"].values[1], found["failed_upper"].values[1]
    assert low < 0.01 < high
    assert stats.binom.cdf(counts[1], trials[1], high) >= 0.025 - 1e-9  # the stage-wise event is a part of this one


def test_trials_that_cannot_decide_have_a_reason():
    def strange(rng, trials, kind):
        x = rng.random(trials)
        if kind == "lost":
            x[0] = np.nan
        return {"value": np.full(trials, 3.0) if kind == "equal" else x}

    axes = {"kind": ["usual", "lost", "equal"]}
    found = tcdp_sim.sweep(strange, axes, target={"value": {"across": "kind"}}, **KEYS)
    rows = {(row["value"], row["other"]): row for row in table(found)}
    assert rows["usual", "lost"]["reason"] == "2 trials are NaN or infinite"
    assert rows["usual", "lost"]["trials"] == 200  # more of them would decide nothing
    assert rows["usual", "equal"]["reason"] == "all trials of a cell are equal"
    assert rows["usual", "equal"]["lower"] is None
    assert all(row["decided"] == "undecided" for row in rows.values())
    same = tcdp_sim.sweep(
        strange, {"kind": ["usual", "other"]}, target={"value": {"across": "kind"}}, share="kind", **KEYS
    )
    assert table(same)[0]["reason"] == "all differences are equal"


@pytest.mark.filterwarnings("ignore:errors left")
def test_a_cell_with_an_error_leaves_its_comparisons_undecided():
    def fails(rng, trials, kind):
        if kind == "broken":
            raise ArithmeticError("no")
        return {"value": rng.random(trials) + {"low": 0.0, "high": 1.0}[kind]}

    axes, target = {"kind": ["low", "high", "broken"]}, {"value": {"across": "kind"}}
    found = tcdp_sim.sweep(fails, axes, target=target, on_error="continue", **KEYS)
    rows = {(row["value"], row["other"]): row for row in table(found)}
    assert rows["low", "high"]["decided"] == "smaller"
    assert rows["low", "broken"]["reason"] == "chunks are missing"
    assert found["trials"].values.tolist() == [200, 200, 0]


@pytest.mark.parametrize("redraw", [0, 1, 30])
def test_failed_trials_are_no_lost_trials(redraw):
    def fails(rng, kind):
        if rng.random() < 0.1:
            raise ArithmeticError("no")
        return {"value": rng.random() + {"low": 0.0, "high": 1.0}[kind]}

    axes, target = {"kind": ["low", "high"]}, {"value": {"across": "kind"}, "error_rate": {"threshold": 0.5}}
    found = tcdp_sim.sweep(fails, axes, target=target, on_error="count", redraw=redraw, **KEYS)
    assert [row["decided"] for row in table(found)] == ["smaller"] * 3


def test_the_folder_has_the_decisions_of_memory(tmp_path):
    target = {"error": {"across": "method"}}
    usual = tcdp_sim.sweep(scaled, AXES, target=target, **KEYS)
    found = tcdp_sim.sweep(scaled, AXES, target=target, name="kept", results_dir=tmp_path, **KEYS)
    assert table(found) == table(usual)
    for name in usual.data_vars:
        np.testing.assert_array_equal(found[name], usual[name])
    lines = (tmp_path / "kept" / "comparisons.csv").read_text().splitlines()
    assert len(lines) == 1 + len(table(usual))
    assert lines[0] == (
        "number,n,across,value,other,threshold,difference,lower,upper,decided,reason,failure,trials,max_trials"
    )


def test_all_intervals_of_a_sweep_with_a_target_are_wider():
    """Those of numbers without a target too, which may depend on the one that has stopped the cell."""

    def both(rng, trials, n):
        x = rng.random((trials, n))
        return {"first": x[:, 0], "last": x[:, -1] ** 2, "above": x[:, 0] > 0.9}

    target = {"first": {"threshold": 0.4}}
    found = tcdp_sim.sweep(both, {"n": [2]}, target=target, quantiles=[0.5], **KEYS).squeeze()
    plain = fixed(found["trials"].item(), both, {"n": [2]}, quantiles=[0.5]).squeeze()
    for name in ("first", "last", "above", "first_quantile"):
        assert (found[name], found[name + "_mcse"]) == (plain[name], plain[name + "_mcse"])
        assert found[name + "_lower"] < plain[name + "_lower"]
        assert found[name + "_upper"] > plain[name + "_upper"]


BAD = [
    ({"error": 3}, "target.error = 3 is not valid; valid: {across: method}, "),
    ({"error": {}}, "target.error = {} is not valid"),
    ({"error": {"across": "method", "threshold": 1}}, "is not valid; valid: {across: method}"),
    ({"error": {"events": 3, "failure": 0.1}}, "is not valid; valid: {across: method}"),
    (
        {"error": {"across": "methods"}},
        "target.error.across = 'methods' is not an axis; valid: method, n; did you mean",
    ),
    ({"error": {"across": 3}}, "target.error.across = 3 is not valid; valid: the name of an axis"),
    ({"error": {"across": "method", "within": 0}}, "target.error.within = 0 is not valid"),
    ({"error": {"across": "method", "failure": 1}}, "target.error.failure = 1 is not valid"),
    ({"error": {"threshold": "high"}}, "target.error.threshold = 'high' is not"),
    ({"error": {"threshold": [1, 2]}}, "target.error.threshold = [1, 2] is not one number"),
    ({"error": {"events": 3}}, "target.error.events: error is not an event; no trial has an event"),
    ({"errors": {"threshold": 3}}, "target: 'errors' is no number that scaled returns; valid: error"),
    (5, "target = 5 is not valid; valid: names and their values"),
]


@pytest.mark.parametrize(("target", "said"), BAD)
def test_bad_targets_are_one_line(target, said):
    with pytest.raises(UserError) as caught:
        tcdp_sim.sweep(scaled, AXES, target=target, **KEYS)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"target_mcse": {"error": {"absolute": 1}}}, "target is not valid with target_mcse; give one of them"),
        ({"max_trials": 100}, "max_trials = 100 is not valid with target; valid: at least trials = 200"),
    ],
)
def test_keys_that_exclude_each_other(keys, said):
    with pytest.raises(UserError, match=said):
        tcdp_sim.sweep(scaled, AXES, target={"error": {"threshold": 0.5}}, **KEYS | keys)


def test_an_axis_with_one_value_has_no_pairs():
    with pytest.raises(UserError, match=r"target\.error: no two cells differ in method alone; give it several values"):
        tcdp_sim.sweep(scaled, {"method": "a", "n": [1, 2]}, target={"error": {"across": "method"}}, **KEYS)


def test_runs_with_decisions_are_compared_by_their_intervals(tmp_path):
    """Means in units of intervals that hold at any number of trials, no quantiles; the false-alarm rate is 1%."""
    for seed in (1, 2):
        target = {"error": {"across": "method"}}
        tcdp_sim.sweep(scaled, AXES, target=target, seed=seed, name=f"seed{seed}", results_dir=tmp_path, **KEYS)
    runs = [results.open_cells(tmp_path / f"seed{seed}").load() for seed in (1, 2)]
    found = compare(*runs)
    assert found.compared == 6
    assert len(found.alarms) == 0
    assert found.alarms.attrs["comparisons"] == 6
    for run in runs:
        del run.attrs["target"]
    assert compare(*runs).alarms.attrs["comparisons"] > 6
    runs[0].attrs["target"] = "{}"
    runs[0]["error_mean"] = runs[0]["error_mean"] + 1
    assert len(compare(*runs).alarms) == 6
