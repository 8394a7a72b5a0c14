"""The break-even domain of interior points, from tables whose crossings are known."""

import numpy as np
import pandas as pd
import pytest

from tcdp_sim.experiments.thresholds import break_even
from tcdp_sim.report import plots


def table(**errors):
    """Return rows of records at a fixed share of three domains; `errors` are functions of log2 of the size."""
    rows = [
        {"records": f"r{bits}", "n": 100, "rho": 0.5, "log2_k": bits, "value_at_q50": 3 << (bits - 3), "method": method}
        | {"sup_error": error(bits), "sup_error_mcse": 0.1, "omega": np.nan}
        for bits in (20, 60, 600)
        for method, error in errors.items()
    ]
    return pd.DataFrame(rows)


def flat(_):
    return 50.0


def drawn_title(rows, part):
    with plots.style():
        styles = {method: {"color": "#000000", "marker": "o", "label": method} for method in set(rows["method"])}
        return break_even.figure(part, styles).get_suptitle().replace("\n", " ")


def test_the_crossing_is_interpolated():
    rows = table(deciles=flat, tree_2=lambda bits: float(bits), square_root=lambda bits: bits / 2)
    ((name, part),) = break_even.families(rows)
    assert name == "r20"
    found = break_even.crossings(part)
    assert found["tree_2"] == ("deciles", pytest.approx(50.0))
    assert found["square_root"] == ("deciles", pytest.approx(100.0))
    (line,) = break_even.lines(rows)
    assert "100 records at ρ = 0.5" in line
    assert "deciles from 2^50 on (tree_2)" in line
    title = drawn_title(rows, part)
    assert "beat the square_root from k = $2^{100}$ on" in title
    assert title.endswith("and the tree_2 from k = $2^{50}$ on")


def test_a_method_that_is_never_beaten_or_always_has_no_crossing():
    rows = table(deciles=flat, tree_2=lambda bits: 10.0, square_root=lambda bits: 60.0)
    assert break_even.crossings(rows) == {}
    assert drawn_title(rows, rows).endswith("interior points break even with no tree on these domains")
    assert list(break_even.lines(rows)) == []


def test_other_records_are_no_family():
    rows = table(deciles=flat, tree_2=float)
    rows.loc[rows["log2_k"] == 60, "value_at_q50"] = 5  # another median
    assert list(break_even.families(rows)) == []
    assert list(break_even.families(table(deciles=flat).assign(sup_error=np.nan))) == []
