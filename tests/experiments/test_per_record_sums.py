"""Studies of released sums: exact laws beside scipy, published numbers, tables, reports and figures of small runs."""

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import stats
from scipy.optimize import brentq

from tcdp_sim import results
from tcdp_sim.experiments import per_record_error, per_record_groups, per_record_tradeoff
from tcdp_sim.experiments.per_record import exact_values, series
from tcdp_sim.mechanisms.per_record_sum import PerRecordSum
from tcdp_sim.noise import ExponentialPolylogarithmic, Gaussian, Laplace
from tcdp_sim.per_record import AdditiveRelease, ClippedRelease, Root, TransformedRelease
from tcdp_sim.report import plots
from tcdp_sim.results import published
from tcdp_sim.statistics import contradictions
from tcdp_sim.study import groups

LEVELS = (0.05, 0.5, 0.95)


OPTIONS = {key: value for key, value in groups.named("mechanism", "per_record_sum").items() if key != "name"}
FAMILIES = {
    "gaussian": {"release": "gaussian"},
    "laplace": {"release": "laplace"},
    "sqrt": {"release": "square_root", "offset": 0.0},
    "root 4": {"release": "fourth_root"},
    "log": {"release": "log"},
    "gg": {"release": "generalized_gaussian"},
    "epl1": {"release": "exponential_polylogarithmic", "power": 1.0},
    "epl2": {"release": "exponential_polylogarithmic", "power": 2.0},
}


def mechanism(name, accounting="printed", low=0.05, high=5.0, population="breaches", group_by=None):
    point = FAMILIES[name] | {"accounting": accounting, "delta": 1e-6, "population": population, "group_by": group_by}
    point |= {"influence_low": "median", "value_low": low, "influence_high": "max", "value_high": high}
    return PerRecordSum.build(PerRecordSum.law(point, OPTIONS, None), None)


# Exact laws


def test_quantiles_of_additive_errors():
    one = PerRecordSum(AdditiveRelease(Laplace(20.0)), (100.0,))
    np.testing.assert_allclose(exact_values.abs_error_quantiles(one, LEVELS)[0], -20 * np.log1p(-np.array(LEVELS)))
    np.testing.assert_allclose(
        exact_values.relative_error_quantiles(one, LEVELS)[0], -0.2 * np.log1p(-np.array(LEVELS))
    )


def test_quantiles_of_biased_errors():
    """A folded normal law: 30 are clipped away."""
    one = PerRecordSum(ClippedRelease(5.0, 20.0), (70.0,), (100.0,))
    expected = stats.foldnorm(1.5, scale=20).ppf(LEVELS)
    np.testing.assert_allclose(exact_values.abs_error_quantiles(one, LEVELS)[0], expected, rtol=1e-9)
    assert exact_values.rmse(one) == pytest.approx(np.hypot(20, 30))
    assert exact_values.trials_for_rmse(one) == pytest.approx(1e4 * ((1.5**4 + 6 * 1.5**2 + 3) / 3.25**2 - 1))


@pytest.mark.parametrize("nonnegative", [False, True])
def test_quantiles_of_transformed_errors(nonnegative):
    """scale^2 He_2(V / scale) - offset = V^2 - scale^2 - offset, by the normal law of V; below 0 it may become 0."""
    q, offset, scale = 10.0, 1.0, 2.0
    one = PerRecordSum(TransformedRelease(Root(2, offset), scale, nonnegative=nonnegative), (q,))

    def cdf(x):
        end = np.sqrt(np.maximum(x + offset + scale**2, 0))
        return stats.norm.cdf(end, np.sqrt(q + offset), scale) - stats.norm.cdf(-end, np.sqrt(q + offset), scale)

    def within(r):
        return cdf(q + r) - (0.0 if nonnegative and r >= q else cdf(q - r))

    expected = [brentq(lambda r, u=u: within(r) - u, 1e-9, 1e4, xtol=1e-12) for u in (0.05, 0.5, 0.7)]
    found = exact_values.abs_error_quantiles(one, (0.05, 0.5, 0.7))[0]
    if nonnegative and within(q * (1 - 1e-9)) < 0.7 < within(q):
        expected[2] = q
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert exact_values.share_within(one) == pytest.approx(within(1.0))
    assert exact_values.share_negative(one) == pytest.approx(0.0 if nonnegative else cdf(0.0))


def test_clamped_additive_errors():
    """Half of N(10, 100^2) and more is below 0: then the error is 10."""
    one = PerRecordSum(AdditiveRelease(Gaussian(100.0)), (10.0,), nonnegative=True)
    assert exact_values.abs_error_quantiles(one, (0.3,))[0, 0] == pytest.approx(10.0)
    expected = stats.norm.ppf(0.9, scale=100)
    assert exact_values.abs_error_quantiles(one, (0.9,))[0, 0] == pytest.approx(expected)
    assert exact_values.share_negative(one) == 0
    assert exact_values.trials_for_rmse(one) == np.inf
    below = stats.norm.cdf(-0.1)
    above = stats.norm.expect(lambda z: (100 * z) ** 2, lb=-0.1)
    assert exact_values.rmse(one) == pytest.approx(np.sqrt(100 * below + above))
    b, q = 20.0, 30.0
    laplace = PerRecordSum(AdditiveRelease(Laplace(b)), (q,), nonnegative=True)
    assert exact_values.rmse(laplace) ** 2 == pytest.approx(2 * b**2 - np.exp(-q / b) * b * (q + b))
    assert exact_values.rmse(PerRecordSum(AdditiveRelease(Laplace(b)), (0.0,), nonnegative=True)) == pytest.approx(b)
    heavy = PerRecordSum(AdditiveRelease(ExponentialPolylogarithmic(b, 1.0, 1.0, 2.5)), (q,), nonnegative=True)
    assert exact_values.rmse(heavy) == np.inf


def test_several_sums():
    truths = (10.0, 100.0, 1000.0)
    all_three = PerRecordSum(AdditiveRelease(Laplace(20.0)), truths)
    assert exact_values.share_within(all_three) == pytest.approx(np.mean(-np.expm1(-0.1 * np.array(truths) / 20)))
    assert exact_values.share_negative(all_three) == pytest.approx(np.mean(0.5 * np.exp(-np.array(truths) / 20)))
    assert exact_values.typical_error(all_three) == pytest.approx(20 * np.log(2) / 100)
    for name, function in exact_values.EXACT.items():
        several = name in ("share_within_10_percent_mean", "share_negative_mean", exact_values.TYPICAL)
        assert np.isnan(function(all_three)).all() == (not several)


def test_infinite_variance_is_infinite():
    one = PerRecordSum(AdditiveRelease(ExponentialPolylogarithmic(20.0, 1.0, 1.0, 2.5)), (100.0,))
    assert exact_values.rmse(one) == np.inf
    assert exact_values.trials_for_rmse(one) == np.inf


# Published numbers: found once by quadrature and closed forms in other code, to the digits given


@pytest.mark.parametrize(
    ("name", "accounting", "low", "high", "rmse", "median"),
    [
        ("gaussian", "printed", 0.05, 5.0, 1.550e6, 1.045e6),
        ("laplace", "printed", 0.05, 5.0, 1.369e6, 6.707e5),
        ("sqrt", "printed", 0.05, 5.0, 9.011e6, 6.082e6),
        ("root 4", "printed", 0.05, 5.0, 3.095e7, 1.965e7),
        ("log", "printed", 0.05, 5.0, 8.645e8, 3.988e7),
        ("gg", "printed", 0.05, 5.0, 4.118e6, 6.488e5),
        ("epl2", "printed", 0.05, 5.0, 1.12e11, 4.638e6),
        ("epl1", "zcdp", 0.05, 5.0, np.inf, 4.377e4),
        ("gaussian", "approx_dp", 1.0, 10.0, 2.651e6, 1.788e6),
        ("root 4", "approx_dp", 1.0, 10.0, 6.244e7, 3.507e7),
        ("log", "approx_dp", 1.0, 10.0, 9.18e11, 4.118e7),
        ("gg", "approx_dp", 1.0, 10.0, 8.491e5, 8.509e4),
        ("gg", "pure", 1.0, 10.0, 8.144e5, 8.936e4),
        ("epl1", "pure", 1.0, 10.0, np.inf, 2.149e4),
        ("epl2", "pure", 1.0, 10.0, 1.816e7, 3.570e4),
    ],
)
def test_errors_of_the_total(name, accounting, low, high, rmse, median):
    total = mechanism(name, accounting, low, high)
    assert exact_values.rmse(total) == pytest.approx(rmse, rel=2e-3)
    assert exact_values.abs_error_quantiles(total, (0.5,))[0, 0] == pytest.approx(median, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "accounting", "state", "year", "entity_type"),
    [
        ("gaussian", "printed", 6.18, 0.189, 0.136),
        ("sqrt", "printed", 3.20, 0.413, 0.340),
        ("root 4", "printed", 1.71, 0.795, 0.718),
        ("log", "printed", 0.980, 0.969, 0.969),
        ("gg", "printed", 3.84, 0.1175, 0.085),
        ("gg", "zcdp", 0.744, 0.0228, 0.0164),
        ("epl1", "zcdp", 0.259, 0.0079, 0.0057),
    ],
)
def test_typical_errors_by_group(name, accounting, state, year, entity_type):
    """Two of the numbers have two digits: 0.5 of the last is 0.9%."""
    for group_by, expected in (("state", state), ("year", year), ("entity_type", entity_type)):
        found = exact_values.typical_error(mechanism(name, accounting, group_by=group_by))
        assert found == pytest.approx(expected, rel=0.009)


@pytest.mark.parametrize(
    ("population", "name", "accounting", "expected"),
    [
        ("pareto", "gaussian", "printed", 0.00536),
        ("pareto", "sqrt", "printed", 0.0677),
        ("pareto", "root 4", "printed", 0.294),
        ("pareto", "log", "printed", 0.893),
        ("pareto", "gg", "printed", 0.00284),
        ("pareto", "epl2", "printed", 0.00453),
        ("pareto", "epl1", "zcdp", 0.00034),
        ("lognormal", "gaussian", "printed", 0.0070),
        ("lognormal", "sqrt", "printed", 0.0773),
        ("lognormal", "root 4", "printed", 0.347),
        ("lognormal", "log", "printed", 0.972),
        ("lognormal", "gg", "printed", 0.00443),
        ("lognormal", "epl2", "printed", 0.0381),
        ("lognormal", "gg", "zcdp", 0.00082),
    ],
)
def test_other_populations(population, name, accounting, expected):
    """To half of the last digit that is given."""
    found = exact_values.typical_error(mechanism(name, accounting, population=population))
    digits = len(f"{expected:g}".replace("0.", "").lstrip("0"))
    last = 10.0 ** (np.floor(np.log10(expected)) - digits + 1)
    assert abs(found - expected) <= 0.55 * last


# Names and panels


def test_panels_hold_what_is_equally_private():
    rows = [
        {"release": release, "accounting": "zcdp", "influence_high": "max", "value_high": high}
        | {"influence_low": "median" if low else np.nan, "value_low": low or np.nan}
        for release, high, low in (("gaussian", 5, 0), ("log", 5, 0.05), ("log", 5, 0.1), ("log", 7, 0.1))
    ]
    found = series.panels(pd.DataFrame(rows))
    assert [title for title, _ in found] == [
        "exact zCDP: 5 at the max record, 0.05 at the median record",
        "exact zCDP: 5 at the max record, 0.1 at the median record",
        "exact zCDP: 7 at the max record, 0.1 at the median record",
    ]
    assert [list(part["release"]) for _, part in found] == [["gaussian", "log"], ["gaussian", "log"], ["log"]]
    assert series.is_illustration(pd.DataFrame(rows))
    twice = pd.concat([pd.DataFrame(rows[:1]).assign(population=name) for name in ("a", "b")], ignore_index=True)
    assert [title for title, _ in series.panels(twice)] == [f"{name}, exact zCDP: 5 at the max record" for name in "ab"]
    assert not series.is_illustration(pd.DataFrame(rows).assign(influence_low=3.0, influence_high=9.0))
    assert not series.is_illustration(pd.DataFrame(rows).assign(influence_low=np.nan, influence_high="9.0"))


def test_lines_about_records():
    law = {"left_out": {"dropped": 1200, "summed": 3}, "persons": 7}
    lines = series.about_records({}, law)
    assert len(lines) == 3
    assert all(number in line for number, line in zip(("1,200", "3 rows", "7"), lines))
    assert len(series.about_records({}, {})) == 1
    assert series.about_records({"answer": 5.0, "influence_high": "max"}, {}) == [series.ANCHORS_ONLY]
    assert series.about_records({"answer": 5.0, "influence_high": 7.0}, {}) == []


# Runs


def said(module, table, capsys):
    """What the report prints, in one line."""
    module.report(table, Console(width=150))
    return " ".join(capsys.readouterr().out.split())


def drawn(module, table):
    """Name -> figure, and all texts in them; that they can be saved the run itself has seen."""
    with plots.style():
        figures = list(module.figures(table))
        texts = [text.get_text() for _, figure, _ in figures for text in figure.findobj() if hasattr(text, "get_text")]
    assert not [text for text in texts if "_" in text.replace("$", "") and "mathdefault" not in text]
    return {name: figure for name, figure, _ in figures}, " ".join(texts)


FAST = ("cluster=serial", "trials=4000", "chunk=4000", "sweep.accounting=printed", "sweep.value_high=5", "also=null")


def test_errors_against_the_sum(command, tmp_path, capsys):
    words = ("sweep.release=[gaussian,laplace,fourth_root]", "sweep.answer=[1e3,1e5,1e7]", "sweep.value_low=0.05")
    code, out, err = command("experiment=per_record_error", *FAST, *words)
    assert code == 0, err
    assert "none contradicts it beyond chance" in out
    table = published.table(per_record_error, results.open_cells(tmp_path / "results" / "per_record_error").load())
    error = table[table["figure"] == "error"]
    assert len(error) == 9
    laplace = error[error["release"] == "laplace"].set_index("sum")
    b = 4.9e6 / 5.0636281
    np.testing.assert_allclose(laplace["median_exact"] * laplace.index, b * np.log(2), rtol=1e-5)
    assert laplace["negative_exact"][1e5] == pytest.approx(0.5 * np.exp(-1e5 / b), rel=1e-5)
    np.testing.assert_allclose(laplace["rmse_exact"], np.sqrt(2) * b, rtol=1e-5)
    assert laplace["rmse"].isna().all()  # 4,000 trials are not the 50,000 that 1% of its MSE takes
    np.testing.assert_allclose(laplace["rmse_needs"], 5e4)
    assert contradictions.find(table).attrs["comparisons"] >= 27
    unjudged = error.drop(columns=[name for name in error if name.endswith("_p_value")])
    assert contradictions.find(unjudged).empty
    wrong = contradictions.find(unjudged.assign(median_exact=1.5 * error["median_exact"]))
    assert set(wrong["quantity"]) == {"median"}
    assert (error.loc[error["release"] != "laplace", "median_p_value"] > 1e-4).all()
    ratios = table[table["figure"] == "equal_rmse"]
    assert set(ratios["label"]) == {"fourth root"}
    assert (ratios.loc[ratios["at"] <= 1, "policy_ratio"] >= 1).all()
    text = said(per_record_error, table, capsys)
    assert "fourth root has a smaller median error" in text
    figures, texts = drawn(per_record_error, table)
    assert set(figures) == {"error_vs_sum", "equal_rmse"}
    assert "an illustration, not private" in texts


@pytest.mark.slow
def test_a_ratio_of_policies_at_equal_rmse_by_hand(command, tmp_path):
    """Fourth root, no offset, scale 2, q = 10,070 = t: sqrt(q) / 8 over t^2 / 2 MSE; an RMSE of 8,769 was published."""
    words = ("sweep.release=fourth_root", "sweep.scale=2", "sweep.answer=10070")
    code, _, err = command("experiment=per_record_error", *FAST, *words)
    assert code == 0, err
    table = published.table(per_record_error, results.open_cells(tmp_path / "results" / "per_record_error").load())
    rows = table[table["figure"] == "equal_rmse"].set_index("at")
    assert table["rmse_exact"][0] == pytest.approx(8769, abs=0.5)
    at_one = rows["policy_ratio"].iloc[np.argmin(np.abs(np.log(rows.index)))]
    assert at_one == pytest.approx(np.sqrt(10070) / 8 / (10070**2 / (2 * 8769**2)), rel=3e-4)


def test_enough_trials_give_a_simulated_rmse(command, tmp_path):
    words = ("sweep.release=gaussian", "sweep.answer=1e6", "trials=20000", "chunk=20000")
    code, _, err = command("experiment=per_record_error", *FAST, *words)
    assert code == 0, err
    table = published.table(per_record_error, results.open_cells(tmp_path / "results" / "per_record_error").load())
    row = table.iloc[0]
    assert row["rmse_exact"] == pytest.approx(4.9e6 / np.sqrt(10))
    assert row["rmse_mcse"] == pytest.approx(row["rmse_exact"] * np.sqrt(2 / 20000) / 2, rel=0.1)
    assert abs(row["rmse"] - row["rmse_exact"]) < 5 * row["rmse_mcse"]  # one in 2 million


def test_sums_by_group(command, tmp_path, capsys):
    words = ("sweep.release=[gaussian,laplace,log]", "sweep.group_by=[state,entity_type]", "sweep.value_low=0.05")
    code, out, err = command("experiment=per_record_groups", *FAST, *words)
    assert code == 0, err
    assert "none contradicts it beyond chance" in out
    table = published.table(per_record_groups, results.open_cells(tmp_path / "results" / "per_record_groups").load())
    row = table[(table["release"] == "gaussian") & (table["group_by"] == "state")].iloc[0]
    assert (row["groups"], row["smallest"], row["largest"]) == (52, 550, 6125371)
    assert row["typical_relative_error_exact"] == pytest.approx(6.18, abs=0.005)
    assert row["median_relative_error_q05"] < row["median_relative_error_q50"] < row["median_relative_error_q95"]
    assert contradictions.find(table).attrs["comparisons"] == 12
    wrong = contradictions.find(table.assign(share_within_10_percent_exact=table["share_within_10_percent"] + 0.05))
    assert len(wrong) >= 4
    text = said(per_record_groups, table, capsys)
    assert "state: 52 sums, 550 to 6.12537e+06" in text
    assert "Each row is taken for a person" in text
    assert "this is an illustration, not a private release" in text
    figures, texts = drawn(per_record_groups, table)
    assert set(figures) == {"groups_1"}
    best = table.loc[table[table["group_by"] == "state"]["share_within_10_percent_exact"].idxmax()]
    assert f"{best['share_within_10_percent_exact']:.0%} by state ({best['label']})" in " ".join(texts.split())
    assert "an illustration, not private" in texts


def test_records_of_the_users_own(command, tmp_path):
    (tmp_path / "pay.csv").write_text(
        "who,pay,site\n" + "".join(f"{i % 50},{1 + i % 7},{'xy'[i % 2]}\n" for i in range(200))
    )
    words = ("sweep.release=laplace", "sweep.group_by=site", "sweep.population=mine", "sweep.influence_high=10")
    mine = "+mechanism.populations.mine={path: pay.csv, column: pay, id: who}"
    code, out, err = command("experiment=per_record_groups", *FAST, *words, mine)
    assert code == 0, err
    assert "150 rows beyond the first of a person" in " ".join(out.split())
    assert "of which there are 50" in " ".join(out.split())
    assert "illustration" not in out  # the anchor is a number
    table = published.table(per_record_groups, results.open_cells(tmp_path / "results" / "per_record_groups").load())
    assert not series.is_illustration(table)
    assert table["share_negative_upper"][0] == pytest.approx(-np.log(0.025) / 8000)  # of 2 sums, 4,000 times: none
    assert contradictions.find(table).empty
    code, _, err = command(
        "experiment=per_record_groups", *FAST, *words, mine.replace("pay,", "salary,"), "invalid=refuse"
    )
    assert code == 2
    assert "column 'salary'" in err


def test_the_trade_off(command, tmp_path, capsys):
    axes = ("sweep.release=[laplace,generalized_gaussian,fourth_root]", "sweep.accounting=printed")
    sweeps = ("sweep.value_low=0.05", "sweep.value_high=[1,5,20,80]")
    other = "+also.held={value_low: [0.001,0.01,0.1,1], value_high: 5}"
    words = ("cluster=serial", "trials=2000", "chunk=2000", *axes, *sweeps, other)
    code, out, err = command("experiment=per_record_tradeoff", *words)
    assert code == 0, err
    assert "not feasible for fourth_root" in " ".join((out + err).split())  # said, and left out
    flat = results.open_cells(tmp_path / "results" / "per_record_tradeoff").load()
    table = published.table(per_record_tradeoff, flat)
    held = {(sweep.swept, sweep.held): sweep.rows for sweep in per_record_tradeoff.sweeps(table)}
    assert set(held) == {("high", 0.05), ("low", 5.0)}
    assert set(held["low", 5.0]["label"]) == {"Laplace", "generalised Gaussian", "fourth root"}
    assert len(held["low", 5.0][held["low", 5.0]["label"] == "Laplace"]) == 1  # no lower anchor: a level
    assert contradictions.find(table).empty
    text = said(per_record_tradeoff, table, capsys)
    assert "0.05 held at the median record" in text
    assert "5 held at the max record" in text
    figures, texts = drawn(per_record_tradeoff, table)
    assert set(figures) == {"tradeoff"}
    assert "The least median error with" in texts
    assert "an illustration, not private" in texts


def test_sweeps_of_two_populations_are_two():
    rows = [
        {"population": name, "value_low": low, "value_high": 5.0} for name in "ab" for low in (0.1, 0.2, 0.3, np.nan)
    ]
    found = per_record_tradeoff.sweeps(pd.DataFrame(rows))
    assert [(sweep.population, sweep.swept, len(sweep.rows)) for sweep in found] == [
        ("a: ", "low", 4),
        ("b: ", "low", 4),
    ]


def test_a_least_error_inside_the_sweep_is_a_u():
    rows = pd.DataFrame({"value_low": [3.0, 1.0, 2.0], "median_exact": [5.0, 4.0, 2.0]})
    assert per_record_tradeoff._shape(rows, "low") == "U"
    assert per_record_tradeoff._shape(rows.assign(median_exact=[1.0, 4.0, 2.0]), "low") == "falls"
    assert per_record_tradeoff._shape(rows.assign(median_exact=[9.0, 4.0, 8.0]), "low") == "rises"


@pytest.mark.parametrize(
    ("name", "group_by", "sentence"),
    [("per_record_groups", "none", "valid: a group_by"), ("per_record_tradeoff", "state", "without group_by")],
)
def test_a_study_without_what_it_shows_says_so(command, name, group_by, sentence):
    code, out, err = command(f"experiment={name}", *FAST, "sweep.release=laplace", f"sweep.group_by={group_by}")
    assert code == 0, err
    assert sentence in " ".join(out.split())


@pytest.mark.parametrize(
    ("name", "accounting", "low", "rmse", "median"),
    [
        ("root 4", "approx_dp", 0.05, 1.04, 0.631),
        ("root 4", "approx_dp", 1.0, 1.52, 0.852),
        ("gg", "pure", 0.05, 0.0138, 0.0051),
        ("gg", "pure", 0.5, 0.0143, 0.00258),
        ("gg", "pure", 1.0, 0.0198, 0.00217),
        ("gg", "pure", 3.0, 0.305, 0.0047),
        ("epl1", "pure", 0.05, np.inf, 0.00154),
        ("epl1", "pure", 0.5, np.inf, 0.00045),
        ("epl1", "pure", 1.0, np.inf, 0.00052),
        ("epl2", "pure", 0.5, 0.085, 0.00084),
        ("epl2", "pure", 1.0, 0.44, 0.00087),
        ("epl2", "pure", 3.0, 1e4, 0.0086),
    ],
)
def test_the_published_trade_off(name, accounting, low, rmse, median):
    """Errors over the total, epsilon 10 at the largest record; numbers of two digits are good to 1.2%, 1e4 to half."""
    total = mechanism(name, accounting, low, 10.0)
    assert exact_values.rmse(total) / 41181144 == pytest.approx(rmse, rel=0.5 if rmse == 1e4 else 0.012)
    assert exact_values.typical_error(total) == pytest.approx(median, rel=0.012)
