"""tcdp_sim.sweep without a folder: its numbers against closed forms and scipy, and its bits against the usual way."""

import json
import warnings

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import tcdp_sim
from tcdp_sim import UserError, results
from tcdp_sim.core.streams import generator, generators
from tcdp_sim.mechanisms import Observable
from tcdp_sim.results.cells import sample_skewness
from tcdp_sim.store import columns, table
from tcdp_sim.summaries import batch
from tcdp_sim.summaries.estimates import proportion, quantile_table
from tcdp_sim.summaries.summary import summarise
from tcdp_sim.sweeps import exact, memory

CHANCE = 1e-6  # of a false alarm of each statistical test here: 4.9 standard errors
WIDTH = stats.norm.isf(CHANCE / 2)


def largest(rng, trials, n):
    """The largest of n uniform numbers, whose mean is n / (n + 1)."""
    return rng.random((trials, n)).max(axis=1)


def hits(rng, p):
    """One trial: a yes with probability p, and a Poisson number with mean 3."""
    return {"hit": bool(rng.random() < p), "count": rng.poisson(3)}


def test_a_vectorised_function_on_two_axes():
    def error(rng, trials, n, epsilon):
        return {"error": rng.laplace(0, 1 / epsilon, (trials, n)).mean(axis=1)}

    found = tcdp_sim.sweep(error, {"n": [1, 11], "epsilon": [0.1, 1]}, trials=1e5)
    assert found["error"].dims == ("n", "epsilon")
    assert found["n"].dtype == np.int64
    assert found["epsilon"].values.tolist() == [0.1, 1.0]
    assert (found["trials"] == 100_000).all()
    variance = 2 / (found["n"] * found["epsilon"] ** 2)
    assert (abs(found["error"]) < WIDTH * np.sqrt(variance / 1e5)).all()
    np.testing.assert_allclose(found["error_sd"], np.sqrt(variance), rtol=0.03)
    np.testing.assert_allclose(found["error_mcse"], found["error_sd"] / np.sqrt(1e5), rtol=1e-12)


def test_one_trial_at_a_time_and_events_with_exact_intervals():
    found = tcdp_sim.sweep(hits, {"p": [0.0, 0.01, 0.5]}, trials=2000)
    for p in (0.0, 0.01, 0.5):
        count = found["hit_count"].sel(p=p).item()
        interval = stats.binomtest(int(count), 2000).proportion_ci(0.95, "exact")
        np.testing.assert_allclose(found["hit_lower"].sel(p=p), interval.low, rtol=1e-9)
        np.testing.assert_allclose(found["hit_upper"].sel(p=p), interval.high, rtol=1e-9)
        assert stats.binomtest(int(count), 2000, p).pvalue > CHANCE
    assert (abs(found["count"] - 3) < WIDTH * np.sqrt(3 / 2000)).all()


def test_exact_values_and_bounds_stand_beside_and_agree():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = tcdp_sim.sweep(
            largest, {"n": [1, 2, 5]}, exact={"value": lambda n: n / (n + 1)}, bound={"value": 1}, units={"value": "m"}
        )
    np.testing.assert_allclose(found["value_exact"], [1 / 2, 2 / 3, 5 / 6], rtol=1e-15)
    assert found["value"].attrs["units"] == found["value_exact"].attrs["units"] == "m"
    assert (found["value_bound"] == 1).all()


@pytest.mark.parametrize("known", [{"exact": {"value": lambda n: n / (n + 1.1)}}, {"bound": {"value": 0.49}}])
def test_a_contradiction_warns(known):
    with pytest.warns(tcdp_sim.Contradiction, match="beyond chance.*value"):
        tcdp_sim.sweep(largest, {"n": [1, 2, 5]}, trials=1e5, **known)


@pytest.mark.parametrize(
    ("exact", "bound", "told"),
    [
        (None, 0.4, "2 of 2 simulated numbers exceed their bound beyond chance"),
        (0.3, None, "2 of 2 simulated numbers differ from the exact ones beyond chance"),
        (0.6, 0.3, "4 of 4 simulated numbers differ from the exact ones or exceed their bound beyond chance"),
    ],
)
def test_a_contradicted_bound_is_called_a_bound(exact, bound, told):
    known = {kind: {"value": value} for kind, value in (("exact", exact), ("bound", bound)) if value}
    with pytest.warns(tcdp_sim.Contradiction, match=told) as caught:
        tcdp_sim.sweep(largest, {"n": [1, 2]}, trials=5000, **known)
    end = f" simulated, bound {bound}" if bound else f" simulated, {exact} exact"
    assert str(caught[0].message).endswith(end)
    assert ": cell n=2: value: 0.6" in str(caught[0].message)


def test_a_bound_far_above_contradicts_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tcdp_sim.sweep(largest, {"n": [1, 2]}, bound={"value": lambda n: 5.0 * n})


def test_quantiles_of_any_level():
    found = tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=1e5, quantiles=[0.3, 0.8], chunk=1000)
    assert found["quantile"].values.tolist() == [0.3, 0.8]
    for n in (1, 4):
        for level in (0.3, 0.8):
            one = found.sel(n=n, quantile=level)
            exact = level ** (1 / n)
            slope = n * exact ** (n - 1)  # density of the largest
            error = np.sqrt(level * (1 - level) / 1e5) / slope
            assert abs(one["value_quantile"] - exact) < WIDTH * error + 0.002 * exact
            assert one["value_quantile_lower"] <= one["value_quantile"] <= one["value_quantile_upper"]
    usual = tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=1e4)
    again = tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=1e4, quantiles=[0.33, *columns.QUANTILES[::-1].tolist()])
    assert (again["value_quantile"].sel(quantile=0.05) == usual["value_quantile"].sel(quantile=0.05)).all()
    assert "quantile" not in tcdp_sim.sweep(largest, {"n": 1}, trials=10, quantiles=[]).dims


def test_more_cells_and_trials_change_no_older_number():
    few = tcdp_sim.sweep(largest, {"n": [2]}, trials=40, chunk=20)
    more = tcdp_sim.sweep(largest, {"n": [5, 2, 3]}, trials=40, chunk=20)
    assert few["value"].item() == more["value"].sel(n=2).item()
    longer = tcdp_sim.sweep(largest, {"n": [2]}, trials=60, chunk=20)
    assert longer["value_min"].item() <= few["value_min"].item()
    other = tcdp_sim.sweep(largest, {"n": [2]}, trials=40, chunk=20, seed=1)
    assert other["value"].item() != few["value"].item()


def test_shared_random_numbers_make_differences_precise():
    def shifted(rng, trials, n, shift):
        return rng.random((trials, n)).max(axis=1) + shift

    found = tcdp_sim.sweep(shifted, {"n": [1, 3], "shift": [0, 1]}, trials=1000, share="shift")
    np.testing.assert_allclose(found["value"].sel(shift=1) - found["value"].sel(shift=0), 1, rtol=1e-12)
    apart = tcdp_sim.sweep(shifted, {"n": [1, 3], "shift": [0, 1]}, trials=1000)
    assert (abs(apart["value"].sel(shift=1) - apart["value"].sel(shift=0) - 1) > 1e-9).all()


def test_a_target_is_reached_and_is_a_function_of_the_seed():
    def noise(rng, trials, scale):
        return scale * rng.standard_normal(trials)

    wanted = {"value": {"absolute": 0.01}}
    found = tcdp_sim.sweep(noise, {"scale": [0.1, 2]}, trials=1000, target_mcse=wanted)
    assert (found["value_mcse"] <= 0.01).all()
    assert found["trials"].values.tolist()[0] == 1000
    assert 40_000 <= found["trials"].sel(scale=2).item() <= 55_000  # (2 / 0.01)^2, and a margin of 20%
    assert found["pilot_trials"].values.tolist() == [1000, pytest.approx(12_000, abs=3000)]
    again = tcdp_sim.sweep(noise, {"scale": [0.1, 2]}, trials=1000, target_mcse=wanted)
    assert found.identical(again)


@pytest.mark.parametrize("named", [False, True])
def test_no_trial_of_a_pilot_is_in_the_estimate(tmp_path, named):
    """The trials of pilot and estimate together are those of a fixed number, in order."""

    def noise(rng, trials, scale):
        return scale * rng.standard_exponential(trials)

    def sums(trials, **more):
        found = tcdp_sim.sweep(noise, {"scale": [3.0]}, trials=trials, chunk=100, **more)
        return found, found["value"].item() * found["trials"].item()

    more = {"name": "kept", "results_dir": tmp_path} if named else {}
    found, estimate = sums(200, target_mcse={"value": {"relative": 0.02}}, **more)
    pilot, trials = found["pilot_trials"].item(), found["trials"].item()
    assert 100 < pilot < trials
    assert estimate + sums(pilot)[1] == pytest.approx(sums(pilot + trials)[1], rel=1e-12)
    assert "pilot_trials" not in sums(200)[0]


@pytest.mark.slow
def test_intervals_after_a_target_cover_as_those_of_a_fixed_number():
    """Lognormal trials, sigma 1.5, 5% relative, in chunks of 100: 3000 fixed numbers as large cover 0.93 of the time.

    The standard error is 0.0047. Less than 0.915 has probability 0.001; trials that chose their own number cover 0.903.
    """

    def lognormal(rng, trials, cell):
        return np.exp(1.5 * rng.standard_normal(trials))

    target = {"value": {"relative": 0.05}}
    found = tcdp_sim.sweep(lognormal, {"cell": range(3000)}, trials=100, chunk=100, target_mcse=target)
    covered = abs(found["value"] - np.exp(1.125)) <= 1.96 * found["value_mcse"]
    assert covered.mean() >= 0.915
    assert found["trials"].median() == pytest.approx(3395, rel=0.35)  # (e^2.25 - 1) / 0.05^2
    assert (found["value_mcse"] / found["value"]).median() == pytest.approx(0.05, rel=0.15)


def test_blocks_zip_where_and_cells_as_in_configs():
    def plain(rng, n, kind="a"):
        return float(n)

    found = tcdp_sim.sweep(plain, {"n": [1, 2, 3], "kind": ["a", "b", "c"]}, zip=[["n", "kind"]], trials=2)
    assert np.isfinite(found["value"].values).tolist() == np.eye(3, dtype=bool).tolist()
    found = tcdp_sim.sweep(plain, {"n": [1, 2, 3]}, where="n != 2", trials=2)
    assert found["n"].values.tolist() == [1, 3]
    found = tcdp_sim.sweep(plain, {}, cells=[{"n": 7}, {"n": 2, "kind": "z"}], trials=2)
    assert found["value"].dims == ("cell",)  # they form no grid
    assert found["value"].values.tolist() == [7, 2]
    assert found["n"].values.tolist() == [7, 2]
    assert found["kind"].values.tolist() == ["a", "z"]  # the default of the parameter
    found = tcdp_sim.sweep(plain, {"n": 1}, also={"large": {"n": [10, 20]}}, trials=2)
    assert found["n"].values.tolist() == [1, 10, 20]
    found = tcdp_sim.sweep(plain, {"log10_n": [0, 2]}, trials=2)
    assert (found["n"].values.tolist(), found["n"].dtype) == ([1, 100], np.int64)
    found = tcdp_sim.sweep(plain, {"n": {"from": 1, "to": 2, "num": 3}}, trials=2)
    assert found["n"].values.tolist() == [1, 1.5, 2]


def test_an_axis_with_one_value_is_no_dimension(tmp_path):
    def two_axes(rng, trials, n, m):
        return rng.random((trials, n)).max(axis=1) * m

    axes = {"n": 3, "m": [1, 2]}
    for more in ({}, {"name": "kept", "results_dir": tmp_path}):
        squeezed = tcdp_sim.sweep(two_axes, axes, trials=20, quantiles=[0.5], **more)
        whole = tcdp_sim.sweep(two_axes, axes, trials=20, quantiles=[0.5], squeeze=False, **more)
        assert (squeezed["value"].dims, whole["value"].dims) == (("m",), ("n", "m"))
        assert squeezed["value_quantile"].dims == ("m", "quantile")  # which is no axis
        assert squeezed["value"].to_pandas().index.tolist() == [1, 2]
        assert squeezed.identical(whole.squeeze("n"))
    opened = tcdp_sim.open_results(tmp_path / "kept")
    assert opened["value"].equals(squeezed["value"])
    assert tcdp_sim.open_results(tmp_path / "kept", squeeze=False)["value"].dims == ("n", "m")
    assert results.tidy(opened).equals(results.tidy(tcdp_sim.open_results(tmp_path / "kept", squeeze=False)))


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (range(3), [0, 1, 2]),
        (np.array([3, 1]), [1, 3]),
        (np.array([0.25, 0.5]), [0.25, 0.5]),
        ((n for n in (1, 2)), [1, 2]),
        (["x", "y"], ["x", "y"]),
        ([True, False], [True, False]),
        ([None, 2], ["None", "2"]),
        ([(1, 2), (3,)], ["(1, 2)", "(3,)"]),
        ("word", ["word"]),
        (0.1 + 0.2, [0.1 + 0.2]),
        ([1, 1.0, 1], [1]),
    ],
)
def test_an_axis_has_any_plain_values_and_the_function_gets_them(values, labels):
    got = []

    def kept(rng, x):
        got.append(x)
        return 0.0

    found = tcdp_sim.sweep(kept, {"x": values}, trials=1, squeeze=False)
    assert found["x"].values.tolist() == labels
    assert {type(x) for x in got} <= {int, float, str, bool, tuple, type(None)}


def test_objects_with_simulate():
    class Mean:
        def __init__(self, n):
            self.n = n

        def simulate(self, rng, trials):
            return {"mean": rng.random((trials, self.n)).mean(axis=1)}

    made = tcdp_sim.sweep(Mean, {"n": [1, 9]}, trials=5000)
    assert (abs(made["mean"] - 0.5) < WIDTH * made["mean_mcse"]).all()
    object_itself = tcdp_sim.sweep(Mean(9), {}, trials=5000)
    assert abs(object_itself["mean"].item() - 0.5) < WIDTH * object_itself["mean_mcse"].item()


def test_a_function_with_another_generator_is_noticed():
    other = np.random.default_rng(1)

    def wrong(rng, trials, n):
        return other.random(trials) + rng.random(trials)

    with pytest.warns(UserWarning, match="wrong does not draw all its random numbers from its generator"):
        tcdp_sim.sweep(wrong, {"n": 1}, trials=100)
    with pytest.raises(UserError, match="valid: cluster='serial'"):
        tcdp_sim.sweep(wrong, {"n": 1}, trials=100, cluster="local")


def test_results_are_loaded():
    found = tcdp_sim.sweep(largest, {"n": [1, 2]}, trials=100)
    assert found["value"].sel(n=1).item() > 0
    assert list(found["value"].to_pandas().index) == [1, 2]
    assert found["value"].chunks is None


def test_nan_and_infinite_trials_are_counted():
    def odd(rng, trials, share):
        x = rng.random(trials)
        return np.where(x < share, np.nan, np.where(x > 0.9, np.inf, 1.0))

    found = tcdp_sim.sweep(odd, {"share": [0.0, 0.5]}, trials=200)
    lost = found["value_nonfinite"] - found["value_plus_infinity"]
    assert lost.sel(share=0.0) == 0
    assert 60 < lost.sel(share=0.5) < 140
    assert (found["value"] == 1).all()


# The same bits as the usual way


def test_streams_made_together_are_the_streams_made_one_by_one():
    ids = [f"{i:064x}"[::-1] for i in range(50)] + ["f" * 64, "0" * 64]
    for seed in (0, 7, 2**32, 2**64 + 5, 2**128 - 1):
        for chunk in (0, 3, 2**33 + 7):
            for stream, rng in zip(ids, generators(seed, ids, chunk), strict=True):
                assert rng.random(3).tolist() == generator(seed, stream, chunk).random(3).tolist()


@pytest.mark.parametrize("trials", [1, 2, 3, 8, 9, 127, 128, 129, 500])
@pytest.mark.parametrize("law", ["normal", "whole", "wide", "equal"])
def test_cells_computed_together_have_the_bits_of_each_alone(trials, law):
    rng = generator(1, "ab" * 32, trials)
    normal = rng.standard_normal((30, trials))
    x = {"normal": normal, "whole": np.round(normal * 2), "wide": np.exp(normal * 10), "equal": 0 * normal + 0.1}[law]
    rows = batch.rows_of(x, columns.QUANTILES)
    alone = [summarise("0" * 64, 0, trials, {"x": row}, {}).observables["x"] for row in x]
    moments = np.array([table._moment_row(one, Observable("1", "x")) for one in alone]).T
    np.testing.assert_array_equal(rows.moments, moments)
    np.testing.assert_array_equal(rows.keys, np.concatenate([one.keys for one in alone]))
    np.testing.assert_array_equal(rows.counts, np.concatenate([one.counts for one in alone]))
    np.testing.assert_array_equal(rows.quantiles, quantile_table(alone, columns.QUANTILES))


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1e-300])
def test_numbers_that_need_a_cell_of_their_own_are_left_to_it(odd):
    assert batch.rows_of(np.array([[1.0, 2.0], [odd, odd / 2]]), columns.QUANTILES) is None


@pytest.mark.parametrize("trials", [50, 2000])
def test_quantiles_of_dice_are_numbers_on_their_sides(trials):
    def dice(rng, trials, n):
        return rng.integers(1, 7, trials)

    for more in ({}, {"quantiles": [0.2, 0.7, 0.9, 0.999]}, {"chunk": 25}):
        found = tcdp_sim.sweep(dice, {"n": [1, 2]}, trials=trials, **more)
        assert set(found["value_quantile"].values.ravel()) <= {1, 2, 3, 4, 5, 6}
        assert (found["value_quantile"].sel(quantile=0.999) == found["value_max"]).all()


def test_frequencies_computed_together():
    hits = np.array([0, 5, 5, 10, 3])
    np.testing.assert_array_equal(batch.proportions(hits, 10).T, [proportion(int(one), 10) for one in hits])


def test_many_small_chunks_take_the_way_of_every_study_with_the_same_first_chunk():
    one = tcdp_sim.sweep(largest, {"n": [3, 4]}, trials=100)  # computed together
    alone = tcdp_sim.sweep(largest, {"n": [3, 4]}, trials=100, on_error="continue")  # one by one
    for name in one.data_vars:
        np.testing.assert_array_equal(one[name], alone[name])


def test_skewness_of_all_cells_is_that_of_each_alone():
    rng = generator(5, "cd" * 32, 0)
    x = [rng.standard_exponential(500), -rng.standard_exponential(300), np.full(4, 2.0), np.full(3, np.nan)]
    distributions = [summarise("0" * 64, 0, len(one), {"x": one}, {}).observables["x"] for one in x]
    about = Observable("1", "x")
    data = table._moments("x", about, distributions) | table._histogram("x", about, distributions)
    flat = xr.Dataset({name: (dims, values) for name, (dims, values, _) in data.items()})
    found = exact.skewness(data, "x")
    np.testing.assert_allclose(found, [sample_skewness(flat, i, "x") for i in range(4)], rtol=1e-12)
    np.testing.assert_allclose(found[:2], [stats.skew(one) for one in x[:2]], rtol=1e-2)


@pytest.mark.parametrize("name", [None, "kept"])
def test_a_frame_of_events_has_one_row_for_each_cell(name, tmp_path):
    def heads(rng, trials, n):
        return {"all": (rng.random((trials, n)) < 0.5).all(axis=1)}

    asked = {"trials": 100, "share": "n", "name": name, "results_dir": tmp_path}
    found = tcdp_sim.sweep(heads, {"n": [1, 2, 3]}, **asked)
    assert set(found.to_dataframe()) == {"trials", "all", "all_mcse", "all_lower", "all_upper", "all_count"}
    assert len(found.to_dataframe()) == 3
    assert set(found.coords) == set(found.dims) == {"n"}


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
VALUES = PLAIN | st.lists(PLAIN, max_size=2)


@given(st.dictionaries(st.text(max_size=2), VALUES, max_size=3))
@settings(max_examples=50)
def test_the_text_of_a_point_is_sorted_json(point):
    assert exact.point_text(point) == json.dumps(point, sort_keys=True)


@pytest.mark.parametrize("size", [{"trials": 400}, {"trials": 6000, "chunk": 2000}])
@pytest.mark.parametrize("levels", [None, (0.17, 0.5, 0.83)])
def test_quantiles_of_atoms_are_values_that_occurred(size, levels, monkeypatch):
    """Also of cells in a block without an atom, and where the levels are read from the bins of all cells."""
    monkeypatch.setattr(memory, "BLOCK", 2)
    values = 0.1 * np.arange(1, 7)

    def value(rng, trials, sides):
        return values[rng.integers(0, sides, trials)] if sides > 0 else rng.normal(size=trials)

    found = tcdp_sim.sweep(value, {"sides": [-1, 0, 1, 2, 5, 6]}, quantiles=levels, **size)
    quantiles = found["value_quantile"].sel(sides=[1, 2, 5, 6]).values
    assert np.isin(quantiles, values).all()
    assert len(np.unique(quantiles)) >= 4
    assert not np.isin(found["value_quantile"].sel(sides=[-1, 0]).values, values).any()
