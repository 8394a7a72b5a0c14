"""Figures of tables made up here, in which every column has numbers of its own: each line is what its label says."""

import numpy as np
import pandas as pd
import pytest
from figure_lines import colour, curve, key, shows, traces
from scipy import stats
from scipy.optimize import brentq

from tcdp_sim.experiments import crossover, thresholds
from tcdp_sim.experiments.gap_max import name_problems
from tcdp_sim.experiments.gap_max.series import series_of
from tcdp_sim.experiments.gap_max.series import styles as selection_styles
from tcdp_sim.experiments.interior_point import budget, series
from tcdp_sim.experiments.interior_point import drawing as interior
from tcdp_sim.report import plots


@pytest.fixture(autouse=True)
def house_style():
    with plots.style():
        yield


# Crossover


def ratios(ks=(3, 1e6, 1e12, 1e50, 1e300)):
    """Corollary 18's ratios at rho = 0.01, as they are; those of the tuned noise made up."""
    rows = []
    for scaled in (0.71, 2.0):
        for k in ks:
            z = stats.norm.isf(-np.expm1(np.log(0.95) / k) / 2)
            knee = 80 * scaled
            told = {"rho": 0.01, "omega": scaled / 0.1, "k": k}
            exact = knee * np.arcsinh(40 * z / knee) / (10 * z)
            for noise, accounting, ratio in (
                ("sinh_normal", "paper", exact),
                ("sinh_normal_tuned", "tight", 0.3 * exact),
            ):
                told |= {"noise": noise, "noise_label": noise, "accounting": accounting}
                told |= {"ratio_exact": ratio, "ratio": 1.01 * ratio}
                told |= {"ratio_lower": 0.98 * ratio, "ratio_upper": 1.03 * ratio}
                found = {"paper": {"crossover_0": 1e75 if scaled < 1 else np.inf}}
                found["tight"] = {"crossover_0.01": 4.0 * scaled, "crossover_0.1": 1e5 if scaled < 1 else 1e20}
                rows.append(told | found[accounting])
    return pd.DataFrame(rows)


def test_ratios_are_drawn_on_both_sides_of_the_break():
    table = ratios()
    figure = dict((name, figure) for name, figure, _ in crossover.figures(table))["error_over_gaussian"]
    paper, tuned = figure.axes[:2], figure.axes[2:]
    for panels, noise in ((paper, "sinh_normal"), (tuned, "sinh_normal_tuned")):
        for axes in panels:
            for scaled in (0.71, 2.0):
                rows = table[(table["noise"] == noise) & np.isclose(table["omega"], 10 * scaled)]
                rows = rows.assign(x=np.log10(rows["k"]))
                shows(axes, key(figure, f"= {scaled:g}"), rows, "x", "ratio")
                traces(axes, key(figure, f"= {scaled:g}"), rows, "x", "ratio_exact")


def test_an_axis_that_changes_its_scale_says_so_and_breaks():
    """Two panels that end and begin at 10^12, each with its scale on it, and a stroke at each of their ends."""
    found = dict((name, figure) for name, figure, _ in crossover.figures(ratios()))
    near, far = found["error_over_gaussian"].axes[:2]
    assert (near.get_xlabel(), far.get_xlabel()) == ("number of bins k (log axis)", "beyond $10^{12}$: log log axis")
    assert (near.get_xscale(), far.get_xscale()) == ("linear", "log")  # of log10 k
    assert 12 <= near.get_xlim()[1] < 12.5 > far.get_xlim()[0] > 11
    assert near.get_xlim()[0] == 0
    assert far.get_xlim()[1] >= 300
    assert far in near.get_shared_y_axes().get_siblings(near)
    far, near = found["crossover"].axes
    assert (near.get_ylabel(), far.get_ylabel()) == ("number of bins k (log axis)", "beyond $10^{12}$: log log axis")
    assert (near.get_yscale(), far.get_yscale()) == ("linear", "log")
    for axes in (*found["error_over_gaussian"].axes, near, far):
        assert len([line for line in axes.lines if line.get_label() == "_break"]) == 1
    found["crossover"].draw_without_rendering()
    assert [text.get_text() for text in near.get_yticklabels()] == [f"$10^{{{e}}}$" for e in (0, 3, 6, 9, 12)]


@pytest.mark.parametrize(
    ("ks", "panels"), [((3, 1e6), 1), ((3, 1e12), 1), ((1e12, 1e300), 1), ((1e30,), 1), ((1e12,), 1)]
)
def test_without_a_change_of_scale_there_is_no_break(ks, panels):
    figure = next(figure for _, figure, _ in crossover.figures(ratios(ks)))
    assert len(figure.axes) == 2 * panels
    assert not [line for axes in figure.axes for line in axes.lines if line.get_label() == "_break"]


def test_crossovers_are_the_rows_and_none_is_left_out():
    far, near = (figure := dict((n, f) for n, f, _ in crossover.figures(ratios()))["crossover"]).axes
    for axes in (far, near):
        x, y = curve(axes, key(figure, "the paper's constants"), marker="^")
        assert (list(x), list(y)) == ([0.71], [75])
        np.testing.assert_allclose(curve(axes, key(figure, "smaller by 10%"))[1], [5, 20])
        np.testing.assert_allclose(curve(axes, key(figure, "smaller by 1%"))[1], np.log10([4 * 0.71, 8]))
    like = key(figure, "beyond, nothing was looked for")
    (beyond,) = [line for line in far.lines if line.get_marker() == like.get_marker() and len(line.get_xdata())]
    assert list(beyond.get_xdata()) == [2.0]
    assert 300 < beyond.get_ydata()[0] < far.get_ylim()[1]
    assert colour(beyond) == colour(key(figure, "the paper's constants"))


# Interior points


def interior_cells():
    rows = []
    for method, noise, noise_label, share in (
        ("one_level", "gaussian", "Gaussian (zCDP)", 1.0),
        ("binary_search", np.nan, "", 0.9),
        ("exponential", np.nan, "", 0.8),
    ):
        for log2_k in (16, 1024):
            for n, success in ((20, 0.5), (40, 0.9), (80, 0.97), (160, 0.99)):
                told = {"method": method, "noise": noise, "rho": 0.5, "omega": 3.0 if share == 1 else np.nan, "n": n}
                told |= {"noise_label": noise_label}
                told |= {"log2_k": log2_k, "shape": "solo", "draw": 0, "trials": 4000, "beta": 0.05}
                told |= {"success": share * success, "success_lower": share * success - 0.01}
                told |= {"success_upper": share * success + 0.004, "required_n": 300.0 + log2_k}
                rows.append(told | {"zcdp_least_n": 1.0, "tcdp_least_n": 2.0})
    return pd.DataFrame(rows)


def test_success_of_interior_points_is_drawn_under_its_name():
    table = interior_cells()
    look = series.styles(table)
    figure = interior.success_figure(table, look)
    for axes, log2_k in zip(figure.axes, (16, 1024)):
        assert axes.get_title() == f"k = $2^{{{log2_k}}}$"
        for words, method in (("one level: Gaussian", "one_level"), ("noisy binary search", "binary_search")):
            rows = table[(table["method"] == method) & (table["log2_k"] == log2_k)]
            shows(axes, key(figure, words), rows, "n", "success")
            traces(axes, key(figure, words), rows, "n", "success", linewidth=0.9)


def needed():
    """What `least_n` gives, made up: n95 of every series far from what is proved."""
    rows = []
    for method, noise, omega, n95 in (
        ("one_level", "sinh_normal", 2 * np.sqrt(2), 50.0),
        ("algorithm_21", "gaussian", 2 * np.sqrt(2), 70.0),
        ("binary_search", np.nan, np.nan, 30.0),
        ("exponential", np.nan, np.nan, 90.0),
    ):
        for log2_k in (16, 64, 1024):
            value = n95 + log2_k / 100
            told = {"method": method, "noise": noise, "rho": 0.5, "omega": omega, "log2_k": log2_k, "n95": value}
            told |= {"noise_label": {"sinh_normal": "sinh-normal", "gaussian": "Gaussian"}.get(noise, "")}
            told |= {"n95_lower": value - 1, "n95_upper": value + 2, "required_n": 3 * value, "beta": 0.05}
            rows.append(told | {"zcdp_least_n": 1.0, "tcdp_least_n": 2.0})
    return pd.DataFrame(rows)


def test_what_is_proved_is_not_what_is_simulated():
    """A dashed line of required_n for the methods with a proof, none for Algorithm 21; n95 is a line with markers."""
    found = needed()
    figure = interior.needed_figure(found, series.styles(found))
    axes, below = figure.axes
    for words, method in (
        ("one level: sinh", "one_level"),
        ("Algorithm 21", "algorithm_21"),
        ("binary search", "binary_search"),
    ):
        rows = found[found["method"] == method].assign(x=lambda t: np.log2(t["log2_k"]))
        like = key(figure, words)
        traces(axes, like, rows, "x", "n95", marker=like.get_marker())
        dashed = [np.asarray(line.get_ydata()) for line in below.lines if _dashed(line, like)]
        if method == "one_level":
            np.testing.assert_allclose(dashed, [rows["required_n"]])
        if method == "algorithm_21":
            assert dashed == []


def _dashed(line, like):
    return line.get_linestyle() == "--" and line.get_color() == like.get_color()


def test_baselines_and_lower_bounds_are_drawn_by_their_formulas():
    """rho = 1/2, beta = 1/20. At log2 k = 1024: search 2 sqrt(1024) z with z of a wrong turn; packing by hand."""
    found = needed()
    figure = interior.needed_figure(found, series.styles(found))
    axes = figure.axes[1]

    def at_1024(line):
        return float(np.interp(10, line.get_xdata(), line.get_ydata()))

    def only(words, style):
        like = key(figure, words)
        (line,) = [line for line in axes.lines if (line.get_color(), line.get_linestyle()) == (like.get_color(), style)]
        return line

    search = 2 * 32 * stats.norm.isf(-np.expm1(np.log(0.95) / 1024))
    assert (
        at_1024(only("binary search (zCDP)", "--")) == pytest.approx(search, rel=1e-6) == pytest.approx(248.9, abs=0.1)
    )
    epsilon = brentq(lambda e: np.log(np.expm1(e) / e) - 1 + e / np.expm1(e) - 0.5, 1, 4)  # bounded range at rho
    log_k = 1024 * np.log(2)
    halves = 4 / epsilon * (log_k - np.log(2) + np.log(19))
    assert at_1024(only("exponential mechanism", "--")) == pytest.approx(halves, rel=1e-6)
    miss, hit = log_k - np.log(0.05), -np.log(0.95)
    divergence = 0.95 * (miss - hit) + 0.05 * np.log(0.05)  # of coins with chances 0.95 and 0.05 / k
    zcdp = at_1024(only("no zCDP algorithm", "-"))
    assert zcdp == pytest.approx(max(np.sqrt(divergence), np.sqrt(miss) - np.sqrt(hit)) / np.sqrt(0.5), rel=1e-6)
    omega = 2 * np.sqrt(2)  # two records by zCDP, every other one a factor omega / (omega - 1)
    growth, w = omega / (omega - 1), omega * (omega - 1)
    by_chain = 2 + np.log((divergence / 0.5 + w) / (4 + w)) / np.log(growth)
    like = key(figure, "no tCDP algorithm")
    (line,) = [line for line in axes.lines if _like(line, like)]
    assert at_1024(line) == pytest.approx(by_chain, rel=1e-6)
    assert at_1024(only("WEAKER", ":")) > at_1024(line)


def _like(line, like):
    return (line.get_color(), line._unscaled_dash_pattern) == (like.get_color(), like._unscaled_dash_pattern)


def test_the_budget_is_stacked_step_on_step():
    table = pd.DataFrame(
        [
            {"noise": "sinh_normal", "noise_label": "sinh-normal", "log2_k": v, "step": step}
            | {"rho_spent": rho, "records": 100 * rho + v}
            for v in (16, 64)
            for step, rho in (("level", 0.1), ("node", 0.15), ("end", 0.25))
        ]
    )
    figure = budget.budget_figure(table)
    for axes, name in zip(figure.axes, ("rho_spent", "records")):
        base = np.zeros(2)
        for step, bars in zip(("level", "node", "end"), axes.containers):
            rows = table[table["step"] == step]
            assert bars.get_label() == step
            np.testing.assert_allclose([bar.get_height() for bar in bars], rows[name])
            np.testing.assert_allclose([bar.get_y() for bar in bars], base)
            base += rows[name].to_numpy()


def test_depths_are_drawn_by_depth():
    table = pd.DataFrame(
        [
            {"rho": 0.5, "omega": 3.0, "log2_log2_k": x, "depth": d, "required_n": 100 * d + x}
            for x in (4, 64)
            for d in (1, 2, 3)
        ]
    )
    figure = budget.depth_figure(table)
    for d, words in ((1, "1 level"), (2, "2 levels"), (3, "3 levels")):
        x, y = curve(figure.axes[0], key(figure, words))
        np.testing.assert_allclose((x, y), ([4, 64], [100 * d + 4, 100 * d + 64]))


# Thresholds


def cdf_rows():
    rows = []
    for i, method in enumerate(("windows", "tree_2", "median")):
        for rho in (0.1, 0.5):
            told = {
                "method": method,
                "noise": "sinh_normal",
                "records": "delays",
                "rho": rho,
                "omega": 3.0,
                "beta": 0.05,
            }
            told |= {
                "n": 1000,
                "log2_k": 11,
                "trials": 60,
                "sup_error_bound": 500.0 + i if method != "tree_2" else np.nan,
            }
            for j, name in enumerate(thresholds.SHOWN):
                value = (10 * (i + 1) + j) / rho if name != "sup_error_share" else 0.01 * (i + 1)
                told |= {name: value, f"{name}_mcse": 0.01 * value, f"{name}_q95": 2 * value}
            if method == "median":
                told |= {"sup_error": np.nan}
            for p in thresholds.LEVELS:
                at = round(100 * p)
                told |= {f"value_at_q{at:02d}": 3.0 * at, f"true_at_q{at:02d}": p}
                told |= {f"cdf_at_q{at:02d}_q{q:02d}": p + (q - 45) / 1000 + 0.02 * i for q in (5, 50, 95)}
            rows.append(told)
    return pd.DataFrame(rows)


def test_a_private_cdf_is_drawn_around_the_true_one():
    table = cdf_rows()
    figure = {name: figure for name, figure, _ in thresholds.figures(table)}["cdf_delays"]
    levels = np.array(thresholds.LEVELS)
    for i, axes in enumerate(figure.axes[:2]):
        assert axes.get_title().startswith(("T1", "noisy binary tree")[i])
        assert f"{0.01 * (i + 1):.2%} of n" in axes.get_title()
        truth, low, high, middle = axes.lines
        places = [3.0 * round(100 * p) for p in levels]
        for line, shift in ((truth, None), (low, -0.04), (high, 0.05), (middle, 0.005)):
            np.testing.assert_allclose(line.get_xdata(), places)
            np.testing.assert_allclose(
                line.get_ydata(), levels + (0 if shift is None else shift + 0.02 * i), atol=1e-12
            )
        assert truth.get_color() == "#000000"
        assert middle.get_linestyle() == "None"


def test_errors_of_thresholds_and_their_proved_bounds_have_one_colour():
    table = cdf_rows()
    figure = {name: figure for name, figure, _ in thresholds.figures(table)}["error_delays"]
    (axes,) = figure.axes
    looks = thresholds._looks(table)
    for method in ("windows", "tree_2"):
        rows = table[table["method"] == method]
        (container,) = [c for c in axes.containers if c.lines[0].get_color() == looks[method]["color"]]
        assert container.get_label() == thresholds.LABELS[method]
        np.testing.assert_allclose(container.lines[0].get_ydata(), rows["sup_error"])
        half = 1.96 * rows["sup_error_mcse"]
        ends = np.array([segment[:, 1] for segment in container.lines[2][0].get_segments()])
        np.testing.assert_allclose(ends, np.array([rows["sup_error"] - half, rows["sup_error"] + half]).T)
        own = [line for line in axes.lines if line.get_color() == looks[method]["color"]]
        (bound,) = [line for line in own if line.get_linestyle() == "--"]
        np.testing.assert_allclose(bound.get_ydata(), rows["sup_error_bound"])


def test_medians_are_drawn_against_n():
    table = cdf_rows()
    table = pd.concat(
        [
            table[table["method"] == "median"].iloc[:1].assign(n=n, median_rank_error=e)
            for n, e in ((29, 5.0), (712, 9.0))
        ]
    )
    figure = {name: figure for name, figure, _ in thresholds.figures(table)}["medians"]
    ranks, values = figure.axes
    for axes, name in ((ranks, "median_rank_error"), (values, "median_value_error")):
        (container,) = axes.containers
        assert list(container.lines[0].get_xdata()) == [29, 712]
        np.testing.assert_allclose(container.lines[0].get_ydata(), table[name])
        ends = np.array([segment[:, 1] for segment in container.lines[2][0].get_segments()])
        np.testing.assert_allclose(np.diff(ends).ravel(), 2 * 1.96 * table[f"{name}_mcse"])


# The 276 problems


def test_single_problems_and_means_are_drawn_by_name():
    rows = []
    for i, algorithm in enumerate(("permute_and_flip", "stability")):
        for rho in (1e-3, 1e-2):
            told = {"algorithm": algorithm, "noise": "", "accounting": "", "rho": rho, "omega": np.nan, "m": 1}
            for n in name_problems.SIZES:
                rows.append(told | {"kind": "all", "n": n, "mean": 0.1 * (i + 1) + rho + n / 1e7, "median": 0.9})
            for j, name in enumerate(("1880 F: A, B", "1886 M: C, D", "1990 F: E, F")):
                p = 0.1 + 0.2 * i + 0.05 * j + 10 * rho
                shown = {"top_selected": p, "top_selected_lower": p - 0.02, "top_selected_upper": p + 0.01}
                shown |= {"top_selected_exact": p + 0.003, "gap": 100.0 - j, "problem": name, "n": 1e4}
                rows.append(told | {"kind": "one"} | shown)
    table = pd.DataFrame([row | {"series": series_of(row)} for row in rows])
    figure = name_problems.problems_figure(table, selection_styles(table))
    for words, algorithm in (("permute-and-flip", "permute_and_flip"), ("stability", "stability")):
        like, own = key(figure, words), table[table["algorithm"] == algorithm]
        for axes, n in zip(figure.axes[:3], name_problems.SIZES):
            traces(axes, like, own[(own["kind"] == "all") & (own["n"] == n)], "rho", "mean")
        for axes, name in zip(figure.axes[3:], ("1880 F: A, B", "1886 M: C, D", "1990 F: E, F")):
            assert axes.get_title().startswith(name)
            shows(axes, like, own[own["problem"] == name], "rho", "top_selected")
            traces(axes, like, own[own["problem"] == name], "rho", "top_selected_exact")
