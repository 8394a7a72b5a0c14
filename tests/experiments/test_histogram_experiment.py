"""The study's table and figures, from a small run."""

import csv

import numpy as np
import pandas as pd
import pytest
from figure_lines import caption, curves, key, keys, shows, traces
from scipy import stats

from tcdp_sim import results
from tcdp_sim.experiments import histogram
from tcdp_sim.experiments.histogram import figure_list
from tcdp_sim.experiments.histogram.series import few_series
from tcdp_sim.report import plots, saving
from tcdp_sim.results import published

RAN = []  # one run for all tests


@pytest.fixture
def table(tiny, folder):
    if not RAN:
        code, _, err = tiny("sweep.k=[10,1000,1e6]", "trials=20000", "chunk=10000")
        assert code == 0, err
        RAN.append(published.table(histogram, results.open_cells(folder).load()))
    return RAN[0].copy()


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


def test_the_simulated_quantile_is_below_the_bound(table):
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
    text = " ".join([*labels(found["error_vs_k_one_bin"]), caption(found["error_vs_k_one_bin"])])
    for word in (
        "Laplace",
        "Gaussian",
        "sinh-normal",
        "too small by √2",
        "(zCDP)",
        "95% interval",
        "proved bound (β = 0.05)",
    ):
        assert word in text


def test_figures_against_rho_for_a_fixed_domain(tiny, folder):
    code, _, err = tiny("data=flights_dest", "sweep.k=null", "sweep.rho=[1e-6,1e-3]")
    assert code == 0, err
    table = published.table(histogram, results.open_cells(folder).load())
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


def test_no_legend_is_longer_than_eight_entries_but_each_says_what_every_line_is(table):
    tight = table[table["noise"] == "sinh_normal"].assign(noise="sinh_normal_tight", noise_calibration="tight")
    tight["noise_label"] = "sinh-normal (tCDP, tight)"
    everything = pd.concat([table, tight], ignore_index=True)
    for name, figure in drawn(everything).items():
        assert all(len(legend.get_texts()) <= 8 for legend in figure.legends), name
    entries = [text.get_text() for text in drawn(table)["error_vs_k_one_bin"].legends[0].get_texts()]
    assert "sinh-normal (tCDP, Cor. 18), ω√ρ = 0.75 | 1 | 2" in entries
    assert "no mechanism can do better, ω√ρ = ∞ (zCDP) | 0.75 | 1 | 2" in entries


@pytest.mark.usefixtures("files_of_figures")
def test_saving_writes_three_files_and_the_same_bytes_again(table, tmp_path):
    before = {}
    for _ in range(2):
        with plots.style():
            saved = saving.save_all(histogram.figures(table), tmp_path / "f")
        names = {p.name: p.read_bytes() for p in (tmp_path / "f").iterdir()}
        assert {p.suffix for p in (tmp_path / "f").iterdir()} == {".png", ".pdf", ".csv"}
        assert all(path.exists() for path in saved)
        assert before in ({}, names)
        before = names
    read = pd.read_csv(tmp_path / "f" / "exceedance_one_bin.csv")
    pd.testing.assert_series_equal(read["linf_q95"], table["linf_q95"], rtol=1e-12)


# What a reader has to be able to tell


def widened(table, rhos=(0.1,), ks=(10, 1000, 1e6), data="one_bin", beta=0.05):
    """The table as if it had other rho and k: its numbers are wrong, what is drawn is complete."""
    base = table[table["k"] == 10]
    given = [{"rho": rho, "k": k, "least_n": base["omega"] * np.log10(k)} for rho in rhos for k in ks]
    return pd.concat([base.assign(data=data, beta=beta, **some) for some in given], ignore_index=True)


def with_full_legend(table):
    """As many omegas and deltas as fill a legend."""
    parts = [table.assign(omega_sqrt_rho=table["omega_sqrt_rho"] + i, delta=table["delta"] / 10**i) for i in range(4)]
    return pd.concat(parts, ignore_index=True)


def boxes(figure):
    """The boxes of the legend, the titles, and each panel with its labels and ticks."""
    titles = [figure._suptitle] if figure._suptitle else []
    titles += [axes.title for axes in figure.axes if axes.get_title()]
    yield from ((part, part.get_window_extent()) for part in (*figure.legends, *titles))
    yield from ((axes, axes.get_tightbbox()) for axes in figure.axes)


SHAPES = {
    "one panel": {"rhos": [0.1]},
    "two panels": {"rhos": [0.1, 0.2]},
    "three panels": {"rhos": [1e-10, 0.1, 0.2]},
    "more rhos than panels": {"rhos": [0.1, 0.2, 0.3, 0.4, 0.5]},
    "one k": {"rhos": [0.1, 0.2], "ks": [1e300]},
    "one k and one rho": {"ks": [10]},
    "a long name, another beta": {"ks": [10], "data": "a_data_set_of_which_much_can_be_said", "beta": 1 / 3},
    "another beta": {"beta": 1e-6},
}


@pytest.mark.parametrize(("shape", "many"), [*((s, False) for s in SHAPES), ("one panel", True), ("one k", True)])
def test_nothing_is_clipped_or_squeezed(table, shape, many):
    given = widened(table, **SHAPES[shape])
    with plots.style():
        for name, figure, _ in histogram.figures(with_full_legend(given) if many else given):
            figure.draw_without_rendering()
            paper = figure.bbox
            for part, box in boxes(figure):
                assert paper.x0 <= box.x0 <= box.x1 <= paper.x1, (name, part)
                assert paper.y0 <= box.y0 <= box.y1 <= paper.y1, (name, part)
            for axes in figure.axes:
                assert axes.lines, "an empty panel"
                assert not [part for part in figure.legends if part.get_window_extent().overlaps(axes.bbox)]
                assert axes.get_window_extent().height > 1.5 * figure.dpi


def lines(axes, label):
    """The lines of an axes in the style of a legend entry."""
    entry = keys(axes.figure)[label]
    drawn = [line for line in axes.lines if line.get_linestyle() != "None" and line.get_linewidth() > 0.7]
    return [line for line in drawn if (line.get_color(), dashes(line)) == (entry.get_color(), dashes(entry))]


def dashes(line):
    return line._unscaled_dash_pattern


def labels(figure):
    return [*keys(figure)]


@pytest.mark.slow
def test_the_largest_domains_are_drawn(tiny, folder):
    assert tiny("sweep.k=[10,1e300]", "sweep.omega_sqrt_rho=1")[0] == 0
    assert tiny("sweep.k=1e300", "sweep.rho=[0.1,0.2]", "sweep.omega_sqrt_rho=1", "name=one")[0] == 0
    assert (folder / "figures" / "exceedance_one_bin.png").exists()


def test_beta_is_the_studys(tiny, folder):
    code, _, err = tiny("mechanism.beta=0.2", "sweep.noise=[laplace,gaussian]")
    assert code == 0, err
    table = published.table(histogram, results.open_cells(folder).load())
    assert set(table["beta"]) == {0.2}
    found = drawn(table)
    assert "bound on the 80% quantile (β = 0.2)" in caption(found["error_vs_k_one_bin"])
    (axes,) = found["exceedance_one_bin"].axes
    assert "claimed: at most β\u00a0=\u00a00.2" in [t.get_text() for t in axes.texts]
    assert [0.2, 0.2] in [list(line.get_ydata()) for line in axes.lines]
    assert 0.05 not in {y for line in axes.lines for y in np.asarray(line.get_ydata(), dtype=float)}


def test_a_series_has_the_same_style_in_every_figure_and_panel(table):
    wide = pd.concat([widened(table, rhos=[0.1, 0.2]), widened(table, ks=[10], data="real")], ignore_index=True)
    gone = (wide["rho"] == 0.1) & (wide["noise"] == "truncated_laplace")
    found = drawn(wide[~gone].reset_index(drop=True))
    looks = {}
    for figure in found.values():
        for label, line in keys(figure).items():
            looks.setdefault(label, set()).add((line.get_color(), line.get_marker(), str(dashes(line))))
    assert all(len(look) == 1 for look in looks.values()), looks
    first, second = found["error_vs_k_one_bin"].axes
    label = "truncated Laplace (for comparison: (ε, δ)-DP), δ = 1e-6"
    assert (len(lines(first, label)), len(lines(second, label))) == (0, 1)
    assert len(lines(first, "Gaussian (zCDP; tCDP for every ω)")) == 1


def test_series_differ_in_omega_and_delta_however_they_are_given(tiny, folder):
    words = ("sweep.omega=[4,5]", "sweep.omega_sqrt_rho=null", "sweep.delta=[1e-6,1e-9]")
    code, _, err = tiny("sweep.noise=[truncated_laplace,sinh_normal]", *words)
    assert code == 0, err
    table = published.table(histogram, results.open_cells(folder).load())
    found = drawn(table)["error_vs_k_one_bin"]
    series = [label for label in labels(found) if "Laplace" in label or "sinh" in label]
    assert [label.split(", ")[-1] for label in series] == ["δ = 1e-6", "δ = 1e-9", "ω = 4", "ω = 5"]
    for label in series:
        (line,) = lines(found.axes[0], label)
        assert list(line.get_xdata()) == [10, 1e6]


def test_bounds_are_thin_and_exact_lines_are_not(table):
    (axes,) = drawn(table)["error_vs_k_one_bin"].axes
    gaussian = table[table["noise"] == "gaussian"].sort_values("k")
    for name, thin in (("linf_q95_exact", False), ("bound", True)):
        (line,) = [x for x in axes.lines if list(x.get_ydata()) == list(gaussian[name])]
        assert (line.get_linewidth() < 0.7) == thin


def test_what_no_mechanism_can_do_is_drawn_once_for_each_guarantee_in_grey(table):
    twice = pd.concat([table, table.assign(noise=table["noise"].replace("sinh_normal", "sinh_normal_tight"))])
    figure = drawn(twice.reset_index(drop=True))["error_vs_k_one_bin"]
    told = [label for label in labels(figure) if "can do better" in label]
    assert [label.split(", ")[-1] for label in told[1:]] == ["ω√ρ = 0.75", "ω√ρ = 1", "ω√ρ = 2"]
    assert told[0] == "no mechanism can do better, ω√ρ = ∞ (zCDP)"
    for label in told[1:]:
        (line,) = lines(figure.axes[0], label)
        scaled = float(label.split("= ")[-1])
        rows = table[(table["omega_sqrt_rho"] == scaled) & (table["least_error"] > 0)].sort_values("k")
        k, error = line.get_data()
        assert [error[np.searchsorted(k, each * (1 - 1e-9))] for each in rows["k"]] == list(rows["least_error"])
        assert line.get_color() == plots.GREY
        assert set(np.diff(error)) <= {0.0, 0.5}  # a staircase, which no straight line crosses


def best(figure, scaled):
    """The points of the line of the best additive noise, at one omega sqrt(rho)."""
    ((k, error),) = curves(figure.axes[0], key(figure, f"best additive noise, ω√ρ = {scaled}"), linewidth=0.9)
    return k, error


def test_the_title_names_the_lowest_of_all_drawn_lines(table):
    """Heights are read off the drawn lines of mechanisms; limits of all mechanisms are lower."""
    figure = drawn(table)["error_vs_k_one_bin"]
    (axes,), k = figure.axes, table["k"].max()
    heights = {}
    for label in [label for label in keys(figure) if "can do better" not in label and "printed" not in label]:
        for x, y in curves(axes, key(figure, label)):
            if len(x) > 1 and min(x) <= k <= max(x):
                height = float(np.exp(np.interp(np.log(k), np.log(x), np.log(y))))
                heights[label] = min(heights.get(label, np.inf), height)
    lowest, second = sorted(heights, key=heights.__getitem__)[:2]
    title = " ".join(figure.get_suptitle().split())
    assert lowest.startswith("best additive noise")
    assert f"is that of {lowest}, and {second.partition(' (')[0]}" in title


def test_the_best_additive_noise_is_drawn_where_steps_of_its_error_end(table):
    """For omega sqrt(rho) = 0.75: tails beyond 10, 10.5, ..., found by another solver."""
    k, error = best(drawn(table.assign(k=table["k"] ** 2))["error_vs_k_one_bin"], 0.75)
    log_tails = {10.0: -3.89, 10.5: -4.48, 11.0: -5.20, 11.5: -6.10, 12.0: -7.24, 12.5: -8.69, 13.0: -10.56}
    known = [i for i in range(len(k)) if error[i] in log_tails]
    assert known
    for i in known:
        assert np.log10(np.log(0.95) / -k[i]) == pytest.approx(log_tails[error[i]], abs=0.006)


def test_no_exact_error_under_tcdp_is_below_that_of_the_best_noise_of_all(table):
    figure = drawn(table)["error_vs_k_one_bin"]
    for scaled in (1, 2):
        rows = table[(table["omega_sqrt_rho"] == scaled) & table["guarantee"].str.endswith("tCDP")]
        k, error = best(figure, scaled)
        assert k[0] < 30
        assert k[-1] > 3e5
        for row in rows.to_dict("records"):
            assert (error[k < row["k"]] < row["linf_q95_exact"]).all()
        least = rows.sort_values("k")["least_error"].to_numpy()
        assert (np.interp(np.sort(rows["k"]), k, error) > least).all()


def test_the_best_noise_stands_in_the_file_of_the_figures_numbers(table):
    with plots.style():
        (*_, (name, figure, saved)) = histogram.figures(table)
    assert name == "error_vs_k_one_bin"
    points = saved[saved["least_additive_error"].notna()]
    k, error = best(figure, 2)
    own = points[points["omega_sqrt_rho"] == 2]
    assert (list(own["k"]), list(own["least_additive_error"])) == (list(k), list(error))
    assert (own["k_at_least"] <= own["k"]).all()
    assert len(saved) == len(table) + len(points)
    assert saved["trials"].dtype == "Int64"


def test_what_takes_long_to_find_is_left_out_and_said(table):
    given = widened(table, rhos=[0.001, 0.2])
    given["guarantee"] = [f"({rho:g}, 5)-tCDP" if omega > 0 else "" for rho, omega in zip(given["rho"], given["omega"])]
    figure = drawn(given)["error_vs_k_one_bin"]
    assert "best additive noise for 3 of 6 guarantees" in caption(figure)
    like = key(figure, "best additive noise, ω√ρ = 2")
    assert [len(curves(axes, like, linewidth=0.9)[0][0]) > 0 for axes in figure.axes] == [False, True]


def test_of_many_series_some_of_each_noise_are_drawn_and_said(table):
    many = pd.concat([table.assign(omega=omega, omega_sqrt_rho=omega) for omega in range(4, 12)], ignore_index=True)
    figure = drawn(many)["error_vs_k_one_bin"]
    others = ("best additive noise", "no mechanism", "lines: exact", "proved bound", "zCDP radius")
    series = [label for label in labels(figure) if not label.startswith(others)]
    assert len(series) == 8
    assert {label.split(", ω")[0] for label in series} == set(many["noise_label"])
    assert "8 of 32 series" in caption(figure)
    assert "series" not in caption(drawn(table)["error_vs_k_one_bin"])


def test_of_many_levels_of_rho_four_have_a_panel_and_it_is_said(table):
    figure = drawn(widened(table, rhos=[0.1, 0.2, 0.3, 0.4, 0.5]))["error_vs_k_one_bin"]
    assert "4 of 5 values of ρ" in caption(figure)
    assert "values of ρ" not in caption(drawn(table)["error_vs_k_one_bin"])


def test_of_many_values_of_k_some_are_drawn_and_all_are_in_the_file(table, monkeypatch):
    monkeypatch.setattr(figure_list, "MOST_LEVELS", 2)
    for name, figure, saved in histogram.figures(table):
        assert "2 of 3 values of k" in caption(figure), name
        found = {x for line in figure.axes[0].lines for x in line.get_xdata() if len(line.get_xdata()) == 2}
        assert found >= {10, 1e6}
        assert 1000 not in found
        assert set(saved.dropna(subset="noise")["k"]) == {10, 1000, 1e6}
    assert "values of k" not in caption(drawn(table[table["k"] > 10])["error_vs_k_one_bin"])


@pytest.mark.parametrize("rho", [50.0, 1e4])
def test_where_the_best_noise_has_no_error_or_no_float_no_line_is_drawn(table, rho):
    """At rho = 50 it is 0 up to 1e9 bins, which has no place on the axis; at 1e4 its tails are no floats."""
    only = table[(table["omega_sqrt_rho"] == 2) & table["guarantee"].str.endswith("tCDP")]
    figure = drawn(only.assign(rho=rho))["error_vs_k_one_bin"]
    assert not [label for label in labels(figure) if "best additive" in label]
    assert "best additive noise for 0 of 1 guarantees" in figure.legends[0].get_title().get_text().replace("\n", " ")


def test_points_of_the_best_noise_are_finite_near_order_one(table):
    """Tails there fall below every float after a few steps; a step that is known only from above is not drawn."""
    only = table[table["guarantee"].str.endswith("tCDP")].assign(omega=1 + 1e-9, omega_sqrt_rho=0.75)
    k, error = best(drawn(only)["error_vs_k_one_bin"], 0.75)
    assert len(k) >= 2
    assert np.isfinite(k).all()
    assert (error > 0).all()


def test_a_study_of_the_best_noise_has_it_already(table):
    own = table.assign(noise_family="lattice")
    assert not [label for label in labels(drawn(own)["error_vs_k_one_bin"]) if "best additive" in label]


def test_no_exact_error_is_below_what_any_mechanism_needs(table):
    known = table[table["least_error"] > 0]
    assert set(known["noise"]) >= {"laplace", "gaussian", "sinh_normal"}
    assert (known["least_error"] <= known["linf_q95_exact"]).all()


def test_a_line_does_not_end_where_its_probability_is_zero(table):
    table["exceeds_bound_exact"] = table["exceeds_bound_exact"].where(table["k"] < 1e6, 0)
    table["spurious_wins_exact"] = 0.0
    (axes,) = drawn(table)["exceedance_one_bin"].axes
    (line,) = lines(axes, "Laplace (pure DP)")
    assert 0 < line.get_ydata()[-1] < axes.get_ylim()[0]  # it leaves through the floor
    figure = drawn(widened(table, rhos=[0.1, 0.2], ks=[10]))["stability_one_bin"]
    (line,) = lines(figure.axes[2], "Laplace (pure DP)")
    assert list(line.get_ydata()) == [0, 0]


def test_the_legend_names_only_what_is_there(table):
    found = drawn(table[table["noise"] == "laplace"].reset_index(drop=True))
    assert labels(found["exceedance_one_bin"]) == ["claimed: at most β = 0.05", "Laplace (pure DP)"]
    assert not any("as printed" in label or "can do better" in label for label in labels(found["error_vs_k_one_bin"]))


# What the lines are, against formulas written down here: noise of a histogram whose neighbours substitute a record


def radius(noise, rho, k, omega, chance):
    """What |noise| exceeds in none of k bins with probability 1 - chance (exact), or its bound at chance = "bound"."""
    if chance == "bound":
        log_ratio = np.log(k / 0.05)
        z, e = np.sqrt(2 * log_ratio), log_ratio
    else:
        each = -np.expm1(np.log1p(-chance) / k)
        z, e = stats.norm.isf(each / 2), -np.log(each)
    if noise == "laplace":
        return e * 2 / np.sqrt(2 * rho)
    if noise == "gaussian":
        return z / np.sqrt(rho)
    return 8 * omega * np.arcsinh(4 / np.sqrt(rho) * z / (8 * omega))  # Corollary 18, which is for two bins


SERIES = {
    "Laplace (pure DP)": ("laplace", np.nan),
    "Gaussian (zCDP; tCDP for every ω)": ("gaussian", np.nan),
    "sinh-normal (tCDP, Cor. 18), ω√ρ = 0.75": ("sinh_normal", 0.75),
    "sinh-normal (tCDP, Cor. 18), ω√ρ = 2": ("sinh_normal", 2.0),
}


@pytest.mark.parametrize("label", SERIES)
def test_every_line_of_the_error_is_what_its_name_says(table, label):
    noise, scaled = SERIES[label]
    rows = table[(table["noise"] == noise) & (table["omega_sqrt_rho"].fillna(0) == np.nan_to_num(scaled))]
    figure = drawn(table)["error_vs_k_one_bin"]
    (axes,), like = figure.axes, key(figure, label)
    k = np.array([10.0, 1e3, 1e6])
    shows(axes, like, rows, "k", "linf_q95")
    traces(axes, like, rows, "k", "linf_q95_exact", linewidth=1.2)
    truth = radius(noise, 0.1, k, scaled / np.sqrt(0.1), 0.05)
    np.testing.assert_allclose(rows.sort_values("k")["linf_q95_exact"], truth, rtol=1e-9)
    thin = [line for line in axes.lines if (line.get_linewidth(), line.get_color()) == (0.6, like.get_color())]
    np.testing.assert_allclose(thin[0].get_ydata(), radius(noise, 0.1, k, scaled / np.sqrt(0.1), "bound"), rtol=1e-9)
    assert len(thin) == 1


def test_the_printed_bound_and_the_least_error_are_drawn_where_they_are(table):
    figure = drawn(table)["error_vs_k_one_bin"]
    (axes,) = figure.axes
    k = np.array([10.0, 1e3, 1e6])
    found = [y for x, y in curves(axes, key(figure, "zCDP radius as printed")) if np.isfinite(y).all()]
    np.testing.assert_allclose(found, [np.sqrt(np.log(k / 0.05) / 0.1)], rtol=1e-9)
    ((k, zcdp),) = curves(axes, key(figure, "(zCDP)"))
    p, q = 0.95, 0.05 / (k - 1)
    kl = p * np.log(p / q) + 0.05 * np.log(0.05 / (1 - q))
    order = np.sqrt(np.log(1 / q)) - np.sqrt(np.log(1 / p))  # the best Renyi order of two coins, squared
    records = np.sqrt(np.maximum(kl, order**2) / 0.1)
    assert (k[0], k[-1]) == pytest.approx((10.0, 1e6))
    np.testing.assert_array_equal(zcdp, (np.ceil(records) - 1) / 2)
    for scaled in (1, 2):
        ((x, y),) = curves(axes, key(figure, f"no mechanism can do better, ω√ρ = {scaled}"))
        omega = scaled / np.sqrt(0.1)
        printed = np.log1p((0.95 * np.log(x) - np.log(2)) / (omega * (omega - 1) * 0.1)) / -np.log1p(-1 / omega)
        assert (y <= zcdp).all()
        assert (y >= (np.ceil(printed) - 1) / 2).all()


def test_exceedances_are_those_of_each_bound(table):
    figure = drawn(table)["exceedance_one_bin"]
    (axes,) = figure.axes
    for label, (noise, scaled) in SERIES.items():
        rows = table[(table["noise"] == noise) & (table["omega_sqrt_rho"].fillna(0) == np.nan_to_num(scaled))]
        shows(axes, key(figure, label), rows, "k", "exceeds_bound")
        traces(axes, key(figure, label), rows, "k", "exceeds_bound_exact")
        k, e = rows.sort_values("k")["k"], np.log(rows.sort_values("k")["k"] / 0.05)
        each = np.exp(-e) if noise == "laplace" else 2 * stats.norm.sf(np.sqrt(2 * e))
        np.testing.assert_allclose(rows.sort_values("k")["exceeds_bound_exact"], -np.expm1(k * np.log1p(-each)), 1e-9)
    rows = table[table["noise"] == "gaussian"]
    shows(axes, key(figure, "Gaussian, radius as printed"), rows, "k", "exceeds_printed")
    traces(axes, key(figure, "Gaussian, radius as printed"), rows, "k", "exceeds_printed_exact")


def test_exceedance_says_why_five_noises_are_one_line(table):
    said = caption(drawn(table)["exceedance_one_bin"])
    assert "one line for 4 series, Gaussian and sinh-normal" in said
    other = table.assign(exceeds_bound_exact=table["exceeds_bound_exact"] * (1 + (table["noise"] == "gaussian")))
    for part in (table[table["noise"] == "gaussian"], other):
        assert "one line" not in caption(drawn(part)["exceedance_one_bin"])


def test_the_panels_of_stability_show_what_they_are_titled(table):
    """Numbers of their own for each rho, so that no two columns are alike."""
    base = table[table["k"] == 10]
    names = [name for name in base if base[name].dtype.kind == "f" and name not in ("k", "omega_sqrt_rho", "delta")]
    wide = pd.concat([base.assign(**{n: base[n] * by for n in names}) for by in (1.0, 1.7)], ignore_index=True)
    figure = drawn(wide)["stability_one_bin"]
    panels = (("error", "linf_q95"), ("top bin", "top_stays"), ("spurious", "spurious_wins"))
    for axes, (word, name) in zip(figure.axes, panels):
        assert word in axes.get_title()
        for label, (noise, scaled) in SERIES.items():
            rows = wide[(wide["noise"] == noise) & (wide["omega_sqrt_rho"].fillna(0) == np.nan_to_num(scaled))]
            shows(axes, key(figure, label), rows, "rho", name)
            traces(axes, key(figure, label), rows, "rho", f"{name}_exact", linewidth=1.2)


def test_the_title_of_stability_names_the_rho_at_which_noises_differ_most(table):
    few = table[(table["k"] == 10) & table["noise"].isin(["laplace", "gaussian"])]
    chances = {("laplace", 0.1): 0.3, ("gaussian", 0.1): 0.5, ("laplace", 0.2): 0.45, ("gaussian", 0.2): 0.9}
    wide = widened(few, rhos=[0.1, 0.2], ks=[10])
    wide["top_stays"] = [chances[row] for row in zip(wide["noise"], wide["rho"])]
    said, of_one = (
        " ".join(drawn(rows)["stability_one_bin"].get_suptitle().split())
        for rows in (wide, wide[wide["noise"] == "laplace"])
    )
    assert said.startswith("At ρ = 0.2 the true top of")
    assert said.endswith("in 45% of the trials with Laplace (pure DP) and in 90% of the trials with Gaussian")
    assert of_one.endswith("stays on top in 30% of the trials with Laplace (pure DP)")


def test_figures_have_at_most_eight_lines_and_every_early_noise_has_one():
    """Three noises of six variants have two lines each; of ten noises the first eight have one."""
    for noises, variants, kept in ((3, 6, 2), (10, 3, 1)):
        names = [(f"noise {i}", f"noise {i}, {j}") for i in range(noises) for j in range(variants)]
        rows = pd.DataFrame(names * 2, columns=["noise_label", "series"])
        rows = rows.assign(noise=rows["noise_label"], noise_family="gaussian", noise_calibration="tight")
        rows["data"] = np.repeat(["one", "other"], len(names))
        shown, styles, left_out = few_series(rows)
        assert shown["noise"].unique().tolist() == [f"noise {i}" for i in range(min(noises, 8))]
        assert set(shown.groupby(["data", "noise"])["series"].nunique()) == {kept}
        assert set(styles) == set(shown["series"])
        assert left_out == f"; {min(noises, 8) * kept} of {noises * variants} series"
