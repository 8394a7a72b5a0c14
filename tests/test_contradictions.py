"""The alarm: silent on honest tables, loud where an exact value is wrong."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tcdp_sim import contradictions


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
    from rich.console import Console

    contradictions.report(pd.DataFrame({"x": [1.0]}), tmp_path / "c.csv", Console())
    assert "0 simulated numbers" in capsys.readouterr().out


def test_the_report_names_the_worst_and_writes_all(tmp_path, capsys):
    from rich.console import Console

    table = honest(np.random.default_rng(8), 50).assign(noise="gaussian")
    table.loc[7, "x_exact"] += 40 * table.loc[7, "x_mcse"]
    contradictions.report(table, tmp_path / "c.csv", Console(width=300))
    assert "CONTRADICTION: 1 of 50" in capsys.readouterr().out
    written = pd.read_csv(tmp_path / "c.csv")
    assert list(written["noise"]) == ["gaussian"]
    assert written["alarm_quantity"].iloc[0] == "x"


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
