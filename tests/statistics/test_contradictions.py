"""The alarm: silent on honest tables, loud where an exact value is wrong."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from tcdp_sim.statistics import contradictions


def honest(rng, rows=2000):
    exact = rng.uniform(1, 2, rows)
    mcse = rng.uniform(0.001, 0.1, rows)
    return pd.DataFrame({"x": rng.normal(exact, mcse), "x_mcse": mcse, "x_exact": exact})


def test_honest_tables_raise_no_alarm():
    """Benjamini-Hochberg at 1%: of 200 honest tables about 2 raise one; 9 or more once in 10,000 times."""
    rng = np.random.default_rng(5)
    alarms = sum(len(contradictions.find(honest(rng))) > 0 for _ in range(200))
    assert alarms <= 8
    assert stats.binom.sf(8, 200, 0.01) < 1e-3


def test_wrong_values_are_found_and_the_worst_comes_first():
    table = honest(np.random.default_rng(6))
    table.loc[[3, 70, 500], "x_exact"] += np.array([6, 12, 8]) * table.loc[[3, 70, 500], "x_mcse"]
    found = contradictions.find(table)
    assert set(found["row"]) >= {70, 500}
    assert found["row"].iloc[0] == 70
    assert found["distance"].iloc[0] == pytest.approx(12, abs=4)
    assert found.attrs["comparisons"] == 2000


def test_a_large_table_is_compared_some_rows_at_a_time(monkeypatch):
    table = honest(np.random.default_rng(6)).assign(y=lambda t: t["x"], y_mcse=0.01, y_exact=lambda t: t["x_exact"])
    whole = contradictions.find(table)
    monkeypatch.setattr(contradictions, "ROWS", 300)
    found = contradictions.find(table)
    pd.testing.assert_frame_equal(found, whole)
    assert found.attrs["comparisons"] == whole.attrs["comparisons"] == 4000
    assert len(found) > 100


def test_the_false_discovery_rate_is_kept():
    rng = np.random.default_rng(7)
    false = total = 0
    for _ in range(60):
        table = honest(rng, 500)
        wrong = rng.choice(500, 50, replace=False)
        table.loc[wrong, "x_exact"] += 5 * table.loc[wrong, "x_mcse"]
        found = contradictions.find(table)["row"]
        false += len(set(found) - set(wrong))
        total += len(found)
    assert total > 60 * 40
    assert false / total < 0.02


def test_intervals_count_where_there_are_any():
    """No hit in 1000 trials has an MCSE of zero; its interval still allows for 0.001, not for 0.1."""
    lower, upper = 0.0, 0.0036838
    base = {"p": [0.0, 0.0], "p_mcse": [0.0, 0.0], "p_lower": [lower] * 2, "p_upper": [upper] * 2}
    found = contradictions.find(pd.DataFrame(base | {"p_exact": [0.001, 0.1]}))
    assert list(found["row"]) == [1]


def test_a_table_with_one_number_a_row():
    names = {"x": "simulated", "x_mcse": "mcse", "x_exact": "exact"}
    table = honest(np.random.default_rng(9), 40).rename(columns=names)
    table["quantity"] = ["tail"] * 20 + ["delta"] * 20
    table.loc[30, "exact"] += 30 * table.loc[30, "mcse"]
    found = contradictions.find(table)
    assert list(found["quantity"]) == ["delta"]
    assert found.attrs["comparisons"] == 40


def test_an_interval_without_an_end_contradicts_nothing_there():
    table = pd.DataFrame({"x": [1.0, 1.0], "x_mcse": 0.01, "x_exact": [5.0, -5.0], "x_lower": 0.98, "x_upper": np.inf})
    assert list(contradictions.find(table)["row"]) == [1]


def test_what_cannot_be_compared_is_left_out():
    table = pd.DataFrame({"x": [np.nan, 1.0, 1.0], "x_mcse": [0.1, 0.0, np.nan], "x_exact": [1.0, 1.0, 5.0], "y": 0})
    found = contradictions.find(table)
    assert found.empty
    assert found.attrs["comparisons"] == 1


def test_a_table_without_exact_values(tmp_path, capsys):
    assert contradictions.report(pd.DataFrame({"x": [1.0]}), tmp_path / "c.csv", print) == 0
    assert "nothing was compared" in capsys.readouterr().out


def test_the_report_names_the_worst_and_writes_all(tmp_path, capsys):
    table = honest(np.random.default_rng(8), 50).assign(noise="gaussian", k=np.arange(50.0), at=0.0)
    table.loc[7, "x_exact"] += 40 * table.loc[7, "x_mcse"]
    coords = {"k": np.arange(50.0), "noise": np.array(["gaussian"] * 50, dtype=object), "order": np.zeros(50)}
    coords["id"] = np.array([f"{i:064d}" for i in range(50)], dtype=object)
    cells = xr.Dataset(coords={name: ("cell", values) for name, values in coords.items()})
    cells = cells.assign_attrs(axes=json.dumps(["noise", "k", "order"]))
    assert contradictions.report(table, tmp_path / "c.csv", print, cells) == 1
    out = capsys.readouterr().out
    assert "CONTRADICTION: 1 of 50" in out
    assert f": x of cell={0:016d} (noise=gaussian k=7 at=0): " in out
    written = pd.read_csv(tmp_path / "c.csv", dtype={"alarm_cell": str})
    assert list(written["noise"]) == ["gaussian"]
    assert written["alarm_quantity"].iloc[0] == "x"
    assert written["alarm_cell"].iloc[0] == f"{7:064d}"


def test_of_two_cells_that_share_their_axes_the_one_at_that_place_is_named(tmp_path, capsys):
    coords = {"k": [1.0, 1.0, 2.0], "order": [3.0, 5.0, 5.0]}
    coords["id"] = np.array(["a" * 64, "b" * 64, "c" * 64], dtype=object)
    cells = xr.Dataset(coords={name: ("cell", values) for name, values in coords.items()})
    cells = cells.assign_attrs(axes=json.dumps(["k", "order"]))
    row = {"quantity": "tail", "simulated": 1.0, "mcse": 0.1, "exact": 9.0, "k": 1.0}
    for at, named in ((5.0, "cell=bbbbbbbbbbbbbbbb (k=1 at=5)"), (4.0, "row 0 (k=1 at=4)")):
        contradictions.report(pd.DataFrame([row | {"at": at}]), tmp_path / "c.csv", print, cells)
        assert f"tail of {named}: 1 simulated, 9 exact" in capsys.readouterr().out


@pytest.mark.parametrize("expected", [0.3, 3, 9, 15, 40])
@pytest.mark.parametrize("scale", [1, 20])
def test_honest_counts_of_few_raise_no_alarm(expected, scale):
    """100 tables of 2000 binomial counts, as shares, as shares of misses, as densities: 6 alarms or more in no more
    than one of 1800 at the 1% of Benjamini-Hochberg (before exact standard errors counted: 23 of 100 tables)."""
    rng, trials = np.random.default_rng(11), 100_000
    alarms = mirrored = 0
    for _ in range(100):
        hits = rng.binomial(trials, expected / trials, 2000)
        lower = np.where(hits == 0, 0, stats.beta.ppf(0.025, np.maximum(hits, 1), trials - hits + 1))
        upper = stats.beta.ppf(0.975, hits + 1, trials - hits)
        share = hits / trials
        mcse = np.sqrt(share * (1 - share) / trials)
        columns = {"p": share, "p_mcse": mcse, "p_lower": lower, "p_upper": upper, "p_exact": expected / trials}
        alarms += len(contradictions.find(scale * pd.DataFrame(columns))) > 0
        columns |= {"p": 1 - share, "p_lower": 1 - upper, "p_upper": 1 - lower, "p_exact": 1 - expected / trials}
        mirrored += len(contradictions.find(pd.DataFrame(columns))) > 0
    assert max(alarms, mirrored) <= 5
    assert stats.binom.sf(5, 100, 0.01) < 1 / 1800


# Skewed laws


LAWS = {  # how they are drawn, their mean and standard deviation
    "normal": (lambda rng, shape: rng.standard_normal(shape), 0.0, 1.0),
    "exponential": (lambda rng, shape: rng.standard_exponential(shape), 1.0, 1.0),
    "squared normal": (lambda rng, shape: rng.standard_normal(shape) ** 2, 1.0, np.sqrt(2)),
    "lognormal": (lambda rng, shape: np.exp(rng.standard_normal(shape)), np.exp(0.5), np.sqrt(np.e * (np.e - 1))),
}


def means(rng, law, trials, rows, errors=0.0, parts=1):
    """A table of means of `rows` samples; its exact values are wrong by so many standard errors."""
    draw, truth, sd = LAWS[law]
    sums = np.zeros((3, rows))
    for _ in range(parts):
        x = draw(rng, (rows, trials // parts)) - truth
        square = x * x
        sums += x.sum(axis=1), square.sum(axis=1), (square * x).sum(axis=1)
    first, second, third = sums / trials
    variance = second - first**2
    table = pd.DataFrame({"x": truth + first, "x_mcse": np.sqrt(variance / (trials - 1)), "trials": trials})
    skewness = (third - 3 * first * second + 2 * first**3) / variance**1.5
    return table.assign(x_skewness=skewness, x_exact=truth + errors * sd / np.sqrt(trials))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("trials", "tables"), [(100, 100), (1000, 15)])
def test_means_of_few_skewed_trials_raise_no_alarm(law, trials, tables):
    """Tables of 300 true means, promised: 1% with an alarm. 6 of 100 would be once in 1800 times, 3 of 15 once in 2400.

    By the normal law 20% (exponential), 45% (squared normal) and 77% (lognormal) of the tables of 100 trials have one.
    """
    rng = np.random.default_rng(31)
    alarms = [len(contradictions.find(means(rng, law, trials, 300))) > 0 for _ in range(tables)]
    assert sum(alarms) <= {100: 5, 15: 2}[tables]
    if trials == 100 and law != "normal":
        plain = (means(rng, law, trials, 300).drop(columns="x_skewness") for _ in range(40))
        assert sum(len(contradictions.find(table)) > 0 for table in plain) >= 3


@pytest.mark.parametrize("law", LAWS)
def test_a_hundred_thousand_trials_raise_none_and_see_five_standard_errors(law):
    """One table of 300 true means; and, of 100 exact values 5 standard errors off on either side, how many are found.

    All 100 would be a third of the table: p <= 1% / 3, z > 2.94, in 98% of normal numbers around 5. Skewness takes up
    to 0.25 of z, and the lognormal's own error of its standard error some more: 79 leave 4 standard errors to spare.
    """
    rng = np.random.default_rng(32)
    honest_ones = means(rng, law, 100_000, 200, parts=20)
    assert contradictions.find(honest_ones).empty
    for errors in (5, -5):
        wrong = means(rng, law, 100_000, 100, errors, parts=20)
        found = contradictions.find(pd.concat([honest_ones, wrong], ignore_index=True))
        assert (found["row"] >= 200).sum() >= 79
        assert (found["row"] < 200).sum() <= 4


NEEDED = [(100, 2.0, 12.25), (1000, 2.0, 5.474), (100_000, 6.2, 4.501)]


@pytest.mark.parametrize(("trials", "skewness", "needed"), NEEDED)
def test_how_far_a_mean_has_to_be_off(trials, skewness, needed):
    """Alone in its table of 300: from so many standard errors (normal: 4.15), solved for by hand from the formula."""
    for times, alarm in ((0.99, False), (1.01, True)):
        table = honest(np.random.default_rng(33), 299).assign(x_skewness=0.0, trials=1e9)
        table["x_exact"] = table["x"]
        row = {"x": 0.0, "x_mcse": 1.0, "x_exact": times * needed, "x_skewness": skewness, "trials": trials}
        found = contradictions.find(pd.concat([table, pd.DataFrame([row])], ignore_index=True))
        assert len(found) == alarm


@pytest.mark.parametrize(("trials", "alarm"), [(2, False), (3, False), (10_000, True)])
@pytest.mark.parametrize("interval", [True, False])
def test_few_trials_without_a_skewness_contradict_by_students_law(trials, alarm, interval):
    """Two normal trials are 100 of their own standard errors off in .6% of all cases."""
    row = {"x": 1.0, "x_mcse": 0.01, "x_exact": 2.0, "trials": trials}
    ends = {"x_lower": 1 - 1.96 * 0.01, "x_upper": 1 + 1.96 * 0.01} if interval else {}
    assert len(contradictions.find(pd.DataFrame([row | ends]))) == alarm
    assert 2 * stats.t(1).sf(100) > 0.006


# Its power


@pytest.mark.parametrize("centre", [0.0, 1e-3, 0.004, -0.004, 1.0])
@pytest.mark.parametrize("errors", [6, -6, 8, 12])
def test_a_wrong_mean_is_found_wherever_the_simulated_one_lies(centre, errors):
    """Means of 10,000 normal numbers in 100 cells, one exact value wrong: missed with probability 0.01 at 6 errors.

    BH at 100 comparisons needs z = 3.9 and so 4.0 of 6 errors; 2 or more of 20 tables miss with probability 0.016.
    """
    rng, found = np.random.default_rng(41), 0
    for _ in range(20):
        sample = centre + rng.standard_normal(100) / 100
        table = pd.DataFrame({"x": sample, "x_mcse": 0.01, "x_exact": centre, "x_skewness": 0.01, "trials": 10_000})
        table = table.assign(x_lower=sample - 0.01959963984540054, x_upper=sample + 0.01959963984540054)
        table.loc[0, "x_exact"] += errors / 100
        found += 0 in contradictions.find(table)["row"].tolist()
        found_plain = contradictions.find(table.drop(columns="x_skewness"))["row"].tolist()
        assert (0 in found_plain) == (0 in contradictions.find(table)["row"].tolist())
    assert found >= 19


def test_a_95_percent_interval_is_read_as_one():
    """Half a width 1.96 means a standard error of 1: of 300 rows, one is found 4.3 of them off and not 4.0 (z = 4.15).

    Were they read as 90% intervals (1.645) they would be 3.6 and 3.4, and neither would be found; as 99%, both.
    """
    for errors, alarms in ((4.0, 0), (4.3, 1)):
        for side in (-1, 1):
            table = pd.DataFrame({"x": np.full(300, -10.0), "x_mcse": 0.5, "x_exact": -10.0})
            table = table.assign(x_lower=-11.959964, x_upper=-8.040036)
            table.loc[3, "x_exact"] += side * errors
            found = contradictions.find(table)
            assert len(found) == alarms
            if alarms:
                assert found["distance"].item() == pytest.approx(errors, rel=1e-6)


def test_a_p_value_that_is_given_counts():
    """Not the MCSE: also where simulated or exact value are infinite."""
    base = {"x": [0.0, 0.0, np.inf, 1.0, np.nan], "x_mcse": 1.0, "x_exact": [99.0, 0.0, 1.0, np.inf, 1.0]}
    table = pd.DataFrame(base | {"x_p_value": [0.5, 1e-9, 0.0, 1e-12, np.nan]})
    found = contradictions.find(table)
    assert list(found["row"]) == [2, 3, 1]
    assert found["distance"].iloc[2] == pytest.approx(stats.norm.isf(0.5e-9))
    assert found.attrs["comparisons"] == 4
