"""The study's table and figures, from a small run."""

import csv

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from tcdp_sim import plots, results
from tcdp_sim.experiments import histogram


@pytest.fixture
def table(tiny, folder):
    code, _, err = tiny("sweep.k=[10,1000,1e6]", "trials=20000", "chunk=10000")
    assert code == 0, err
    return histogram.reference(results.open_cells(folder).load())


def gaussian(table, k):
    return table[(table["noise"] == "gaussian") & (table["k"] == k)].iloc[0]


def test_errata_e1_is_shown(table):
    """Known values at beta = 0.05: printed radius .194 and .8081, corrected .0113 and .0085 (k = 10, 1000)."""
    for k, printed, corrected in ((10, 0.194, 0.0113), (1000, 0.8081, 0.0085)):
        row = gaussian(table, k)
        assert row["exceeds_printed_exact"] == pytest.approx(printed, abs=6e-4)
        assert row["exceeds_bound_exact"] == pytest.approx(corrected, abs=6e-5)
        # 4.9 standard errors: false alarm below 1e-6
        for name, truth in (("exceeds_printed", printed), ("exceeds_bound", corrected)):
            assert abs(row[name] - truth) < 4.9 * np.sqrt(truth * (1 - truth) / 20000) + 6e-4
    assert table.loc[table["noise"] != "gaussian", "exceeds_printed"].isna().all()


def test_simulated_and_exact_stand_side_by_side(table):
    for name in ("linf_q95", "exceeds_bound", "top_stays", "spurious_wins"):
        assert {name, f"{name}_mcse", f"{name}_lower", f"{name}_upper", f"{name}_exact"} <= set(table)
        close = (table[name] - table[f"{name}_exact"]).abs() <= 5.5 * table[f"{name}_mcse"] + 1e-9
        assert close.all(), table.loc[~close, [name, f"{name}_exact", f"{name}_mcse"]]
    assert (table["linf_q95"] <= table["bound"] * 1.01).all()


def test_the_lower_bound_is_given_for_tcdp_only(table):
    assert table.loc[table["noise"] != "sinh_normal", "least_n"].isna().all()
    wide = table[(table["noise"] == "sinh_normal") & (table["k"] == 1e6) & (table["omega_sqrt_rho"] == 1)]
    omega = np.sqrt(10)
    assert wide["least_n"].item() == pytest.approx((omega - 1) * np.log((np.log(1e6 / 4)) / 2))


def test_every_row_says_its_guarantee_and_accounting(table):
    assert (table["guarantee"] != "").all()
    assert set(table["accounting"]) == {"paper"}
    assert gaussian(table, 10)["guarantee"] == "0.1-zCDP"


def test_report_fits_a_terminal_of_80_columns(table):
    console = Console(width=80, record=True, quiet=False, file=open("/dev/null", "w"))  # noqa: SIM115
    histogram.report(table, console)
    text = console.export_text()
    assert "…" not in text
    assert "P[top]" in text
    assert "of 18 cells" in text


def drawn(table):
    with plots.style():
        return {name: figure for name, figure, _ in histogram.figures(table)}


def test_figures_against_k(table):
    found = drawn(table)
    assert set(found) == {"error_vs_k_one_bin", "exceedance_one_bin"}
    (axes,) = found["error_vs_k_one_bin"].axes
    assert axes.get_ylabel() == "largest error, 95% quantile (counts)"
    assert axes.get_xlabel() == "number of bins k"
    assert axes.get_xscale() == axes.get_yscale() == "log"
    text = " ".join(t.get_text() for t in found["error_vs_k_one_bin"].legends[0].get_texts())
    for word in ("Laplace", "Gaussian", "sinh-normal", "WRONG", "Cor. 27", "95% interval"):
        assert word in text


def test_figures_against_rho_for_a_fixed_domain(tiny, folder):
    code, _, err = tiny("data=flights_dest", "sweep.k=null", "sweep.rho=[1e-6,1e-3]")
    assert code == 0, err
    table = histogram.reference(results.open_cells(folder).load())
    found = drawn(table)
    assert set(found) == {"stability_flights_dest"}
    assert [a.get_xlabel() for a in found["stability_flights_dest"].axes] == ["privacy ρ"] * 3
    with (folder / "figures" / "stability_flights_dest.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(table) == 12
    np.testing.assert_allclose([float(r["linf_q95"]) for r in rows], table["linf_q95"], rtol=1e-12)


def test_one_cell_is_drawn_too(table):
    found = drawn(table.iloc[[2]])
    assert list(found) == ["stability_one_bin"]


def test_saving_writes_three_files_and_the_same_bytes_again(table, tmp_path):
    before = {}
    for _ in range(2):
        with plots.style():
            saved = plots.save_all(histogram.figures(table), tmp_path / "f")
        names = {p.name: p.read_bytes() for p in (tmp_path / "f").iterdir()}
        assert {p.suffix for p in (tmp_path / "f").iterdir()} == {".png", ".pdf", ".csv"}
        assert all(path.exists() for path in saved)
        assert before in ({}, names)
        before = names
    read = pd.read_csv(tmp_path / "f" / "exceedance_one_bin.csv")
    pd.testing.assert_series_equal(read["linf_q95"], table["linf_q95"], rtol=1e-12)


def test_colours_are_told_apart_in_grey_by_their_markers():
    assert len(set(plots.MARKERS)) == len(plots.MARKERS) >= len(plots.COLOURS)
