"""The study of private selection: its table and its figures, from small runs."""

import json

import numpy as np
import pandas as pd
import pytest
import table_rules
from figure_lines import curve, curves, key, keys, several_marked, shows, traces
from omegaconf import OmegaConf
from scipy import stats
from scipy.optimize import brentq

from tcdp_sim import exact, results
from tcdp_sim.engine.simulate import Batch, Task, run
from tcdp_sim.experiments import gap_max
from tcdp_sim.experiments.gap_max.exact_values import gap_scale
from tcdp_sim.experiments.gap_max.privacy_spent import spent
from tcdp_sim.mechanisms.gap_max import GapMax
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP
from tcdp_sim.report import plots
from tcdp_sim.results import published
from tcdp_sim.store import exact_values
from tcdp_sim.store import table as tabulation
from tcdp_sim.study import cells, groups
from tcdp_sim.study.points import points
from tcdp_sim.summaries.encoding import from_bytes

SMALL = ("experiment=gap_max", "cluster=serial", "trials=2000", "chunk=1000")


@pytest.fixture
def study(command, tmp_path):
    """Run a small study: study(*words) -> its table."""

    def ran(*words):
        code, _, err = command(*SMALL, *words)
        assert code == 0, err
        return published.table(gap_max, results.open_cells(tmp_path / "results" / "gap_max").load())

    return ran


@pytest.fixture(scope="module")
def table():
    """Every series at two k and four gaps, 2000 trials a cell; simulated once."""
    raw = OmegaConf.to_container(OmegaConf.load(str(groups.GROUPS / "experiment" / "gap_max.yaml")))
    axes = raw["experiment"]["axes"] | {"k": [10.0, 1e6], "gap": [40.0, 80.0, 120.0, 160.0]}
    noises = {name: groups.named("noise", name) for name in groups.options("noise")}
    paper = axes | {name: value for name, value in raw["also"]["paper"].items() if name != "unless_given"}
    blocks = {name: points(each, GapMax.axes) for name, each in (("sweep", axes), ("paper", paper))}
    plan = cells.plan(blocks, GapMax, {"beta": 0.05}, None, noises)
    summaries = [from_bytes(record.summary) for cell in plan.cells for record in run(_task(cell)).records]
    labels = {"noises": json.dumps({name: {"label": spec["label"]} for name, spec in noises.items()})}
    known = exact_values.of_experiment(gap_max)
    (table,) = tabulation.blocks(plan.cells, summaries, plan.counts, labels, exact_values=known)
    return published.table(gap_max, table)


def _task(cell):
    return Task(1, 2000, (Batch(cell.id, cell.law, cells.NO_COUNTS, (0,)),))


def drawn(table):
    with plots.style():
        return {name: (figure, shown) for name, figure, shown in gap_max.figures(table)}


def test_no_method_fails_more_often_than_proved(table):
    assert not table_rules.broken(gap_max, table)
    assert (table["fails_at_proved_exact"].dropna() <= table["claimed_at_proved"].dropna() * (1 + 1e-9)).all()


def test_rows_say_what_they_are(table):
    assert table["series"].nunique() == 5 * 3 + 2 + 4  # noises x reductions, the exponential mechanism twice, others
    assert set(table.loc[table["algorithm"] == "generalized_histogram", "accounting"]) == {"paper", "tight"}
    concentrated = table["noise"].isin(["gaussian", "sinh_normal", "sinh_normal_tight"])
    assert set(table.loc[(table["algorithm"] == "obvious_answer") & concentrated, "accounting"]) == {""}
    assert set(table.loc[(table["algorithm"] == "obvious_answer") & ~concentrated, "accounting"]) == {"tight"}
    assert (table["guarantee"] != "").all()
    row = table[(table["algorithm"] == "obvious_answer") & (table["noise"] == "gaussian") & (table["k"] == 1e6)].iloc[0]
    noise = Gaussian((2 * 0.01) ** -0.5)
    assert row["required_gap_exact"] == pytest.approx(exact.required_gap("obvious_answer", noise, 1e6, 0.05).estimate)


def test_algorithm_21_by_one_query_needs_less_than_by_two(table):
    part = table[table["algorithm"] == "generalized_histogram"].drop_duplicates(["noise", "accounting", "k"])
    gaps = part.pivot_table(index=["noise", "k"], columns="accounting", values="required_gap_exact")
    assert (gaps["tight"] < gaps["paper"]).all()


@pytest.mark.slow
def test_figures_of_a_sweep_over_gaps_and_candidates(table):
    found = drawn(table)
    assert set(found) == {"success_vs_gap", "required_gap", "theorem_20", "privacy_spent"}
    assert [a.get_title() for a in found["success_vs_gap"][0].axes] == ["k = 10", "k = $10^{6}$"]
    figure = found["required_gap"][0]
    said = " ".join([figure._supxlabel.get_text().replace("\n", " "), *keys(figure)])
    for word in ("Alg. 21", "Alg. 22", "exponential mechanism", "2m queries", "95% interval", "Section 1.2"):
        assert word in said
    for _, shown in found.values():
        assert "law" not in shown


@pytest.mark.slow
def test_figures_against_rho(study):
    table = study(
        *("sweep.algorithm=[obvious_answer,exponential_mechanism]", "sweep.noise=gaussian", "sweep.k=1e6"),
        *("sweep.rho=[1e-3,1e-2,1e-1]", "sweep.accounting=tight", "also=null"),
    )
    found = drawn(table)
    assert "required_gap" not in found
    figure, _ = found["against_rho_m1_gap100"]
    assert [axes.get_xlabel() for axes in figure.axes] == ["privacy ρ"] * 2


@pytest.mark.slow
def test_figures_of_the_top_m(study):
    table = study(
        *("sweep.algorithm=[generalized_histogram,exponential_mechanism]", "sweep.noise=gaussian", "sweep.m=[1,4]"),
        *("sweep.k=1e6", "also=null"),
    )
    figure, shown = drawn(table)["top_m"]
    assert set(shown["m"]) == {1, 4}
    assert figure.axes[0].get_xlabel() == "number of winners m"
    assert (table["fails_at_proved_exact"] <= 0.05 * (1 + 1e-9)).all()


def test_nothing_spends_more_than_it_promises(table):
    told = spent(table)
    assert set(told["kind"]) == {"delta", "renyi"}
    assert (told["spent"] <= told["promised"] * (1 + 1e-8) + 1e-12).all()


def test_scales_of_the_gap():
    assert gap_scale(PureDP(0.5), 1e6) == pytest.approx(27.631, abs=1e-3)
    assert gap_scale(ApproxDP(0.5, 1e-3), 1e6) == pytest.approx(13.8155, abs=1e-4)
    assert gap_scale(ZCDP(0.01), 1e6) == pytest.approx(37.169, abs=1e-3)
    assert gap_scale(TCDP(0.01, 10), 1e6) == pytest.approx(10 * np.log(1 + 3.7169), abs=1e-3)


# What the lines are

RHO, K = 0.01, np.array([10.0, 1e6])
NAMES = {  # words of a label -> (algorithm, noise, accounting)
    "permute-and-flip": ("permute_and_flip", "", "tight"),
    "noisy max, Gaussian": ("noisy_max_gaussian", "", "tight"),
    "distance-based stability": ("stability", "", "tight"),
    "sparse vector": ("sparse_vector", "", "tight"),
    "exponential mechanism (pure DP)": ("exponential_mechanism", "", "paper"),
    "exponential mechanism (bounded range, zCDP)": ("exponential_mechanism", "", "tight"),
    "Alg. 22, Laplace": ("obvious_answer", "laplace", "tight"),
    "Alg. 22, Gaussian": ("obvious_answer", "gaussian", ""),
    "Alg. 22, sinh-normal (tCDP, Cor. 18)": ("obvious_answer", "sinh_normal", ""),
    "Alg. 22, sinh-normal (tCDP, tight)": ("obvious_answer", "sinh_normal_tight", ""),
}


once = {}


def figures_of(table):
    """The figures of the whole table, drawn once."""
    if not once:
        once.update(drawn(table))
    return once


def rows_of(table, label):
    algorithm, noise, accounting = NAMES[label]
    named = (table["algorithm"] == algorithm) & (table["noise"] == noise) & (table["accounting"] == accounting)
    return table[named].drop_duplicates("k")


def panel(figure, title):
    (axes,) = [axes for axes in figure.axes if axes.get_title().startswith(title)]
    return axes


@pytest.mark.parametrize("label", NAMES)
def test_a_required_gap_is_that_of_the_method_it_is_called(table, label):
    figure, _ = figures_of(table)["required_gap"]
    axes = panel(figure, "Alg. 22" if label.startswith("Alg.") else "other methods")
    rows = rows_of(table, label)
    assert len(rows) == 2
    shows(axes, key(figure, label), rows, "k", "required_gap")
    traces(axes, key(figure, label), rows, "k", "required_gap_exact")


def test_required_gaps_of_closed_form(table):
    """The exponential mechanism misses with odds (k - 1) e^(-epsilon gap / 2), with the least rho of epsilon-DP or of
    bounded range: epsilon^2 / 8 - epsilon^4 / 576 + epsilon^6 / 25920.

    Algorithm 22 with Gaussian noise of variance 1 / (2 rho) has to lift gap / 2 - 1 over the t with P[Z > t] = 1 / k.
    """
    figure, _ = figures_of(table)["required_gap"]
    ranged = brentq(lambda e: e**2 / 8 - e**4 / 576 + e**6 / 25920 - RHO, 0.2, 0.4, xtol=1e-14)
    for label, epsilon in (("(pure DP)", np.sqrt(2 * RHO)), ("(bounded range", ranged)):
        ours = curves(panel(figure, "other"), key(figure, f"exponential mechanism {label}"))
        assert any(np.allclose(y, 2 / epsilon * np.log(19 * (K - 1)), rtol=1e-7) for _, y in ours)
    _, y = curve(panel(figure, "Alg. 22"), key(figure, "Alg. 22, Gaussian"))
    z = stats.norm.isf(1 / K) + stats.norm.isf(0.05)
    np.testing.assert_allclose(y, 2 + 2 * z / np.sqrt(2 * RHO), rtol=1e-7)
    far = panel(figure, "Algorithm 22, exact")
    ((x, y),) = [line for line in curves(far, key(figure, "Alg. 22, Gaussian")) if len(line[0]) == 40]
    z = stats.norm.isf(1 / np.round(10.0**x)) + stats.norm.isf(0.05)
    np.testing.assert_allclose(y, 2 + 2 * z / np.sqrt(2 * RHO), rtol=1e-7)


def test_what_no_selection_can_do_is_drawn_below_all_that_keep_the_guarantee(table):
    """The largest whole gap that does not suffice; zCDP by hand: two coins of chances 0.95 and 0.05 / (k - 1)."""
    figure, _ = figures_of(table)["required_gap"]
    hit = -np.log(0.95)
    panels = [panel(figure, title) for title in ("Alg. 22", "Alg. 21", "other", "Algorithm 22, exact")]
    for axes, far in zip(panels, (False, False, False, True)):
        ((x, zcdp),) = curves(axes, key(figure, "no zCDP selection"))
        miss = np.log((10**x if far else x) - 1) - np.log(0.05)
        divergence = 0.95 * (miss - hit) + 0.05 * (np.log(0.05) - np.log1p(-np.exp(-miss)))
        records = np.maximum(np.sqrt(divergence), np.sqrt(miss) - np.sqrt(hit)) / np.sqrt(RHO)
        np.testing.assert_array_equal(zcdp, np.ceil(records) - 1)
        assert far or set(np.diff(zcdp)) <= {0.0, 1.0}  # a staircase, which no straight line crosses
        ((_, tcdp),) = curves(axes, key(figure, "no tCDP selection can do better, ω = 7.5"))
        assert (tcdp <= zcdp).all()
        assert tcdp[-1] < zcdp[-1]
    for label, limit in (("Alg. 22, Gaussian", "no zCDP"), ("Alg. 22, sinh-normal (tCDP, tight)", "no tCDP")):
        k, needed = curve(panels[0], key(figure, label))
        ((x, least),) = curves(panels[0], key(figure, limit))
        assert (np.interp(k, x, least) < needed).all()


def test_success_against_the_gap_goes_through_the_rows(table):
    figure, shown = figures_of(table)["success_vs_gap"]
    for axes, k in zip(figure.axes, K):
        for label in ("Alg. 22, Gaussian", "permute-and-flip", "distance-based stability"):
            algorithm, noise, _ = NAMES[label]
            rows = shown[(shown["k"] == k) & (shown["algorithm"] == algorithm) & (shown["noise"] == noise)]
            like = key(figure, {"Alg. 22, Gaussian": "every ω), algorithm = 22"}.get(label, label))
            shows(axes, like, rows, "gap", "top_selected")
            truth = rows.sort_values("gap")["top_selected_exact"]
            through = [np.interp([40, 80, 120, 160], *line) for line in curves(axes, like)]
            assert any(np.allclose(y, truth, rtol=1e-7) for y in through)


def test_theorem_20_shows_success_not_failure(table):
    figure, shown = figures_of(table)["theorem_20"]
    (axes,) = figure.axes
    for words, algorithm, name in (
        ("Alg. 21 at the gap", "generalized_histogram", "theorem_20"),
        ("WRONG (E6)", "obvious_answer", "theorem_20"),
        ("4 t(k) + 2", "obvious_answer", "proved"),
    ):
        rows = shown[shown["algorithm"] == algorithm].drop_duplicates("k").sort_values("k")
        fails = f"fails_at_{name}"
        all_marked = several_marked(axes, key(figure, words))  # two of them differ in the filling alone
        ((x, y, low, high),) = [seen for seen in all_marked if seen[1][0] == 1 - rows[fails].iloc[0]]
        for seen, column in ((y, fails), (low, f"{fails}_upper"), (high, f"{fails}_lower")):
            np.testing.assert_allclose(seen, 1 - rows[column], rtol=1e-9)
        np.testing.assert_allclose(x, K)
        np.testing.assert_allclose(curve(axes, key(figure, words))[1], 1 - rows[f"{fails}_exact"])
    least = 1 - shown.loc[shown["algorithm"] == "obvious_answer", "fails_at_theorem_20_exact"].max()
    assert f"{100 * least:.3g}% by Alg. 22" in " ".join(figure.get_suptitle().split())


def test_privacy_spent_lies_on_closed_forms(table):
    """Promised: rho a, and the profile of Gaussian noise. Lines are shares of what is promised, and never above 1."""
    figure, shown = figures_of(table)["privacy_spent"]
    law, other = (stats.norm(sign * RHO, np.sqrt(2 * RHO)) for sign in (1, -1))
    of_one = shown[(shown["noise"] == "gaussian") & (shown["algorithm"] == "obvious_answer")]
    delta, renyi = (of_one[of_one["kind"] == kind] for kind in ("delta", "renyi"))
    x = delta["x"].to_numpy()
    np.testing.assert_allclose(delta["promised"], law.sf(x) - np.exp(x) * other.sf(x), rtol=1e-6)
    np.testing.assert_allclose(renyi["promised"], RHO * renyi["x"])
    deltas, divergences = np.split(np.array(figure.axes), 2)
    (place,) = [i for i, axes in enumerate(deltas) if axes.get_title() == "Gaussian"]
    for axes, rows in ((deltas[place], delta), (divergences[place], renyi)):
        drawn = [np.asarray(line.get_ydata()) for line in axes.lines if line.get_linewidth() != 5]
        assert any(len(y) == len(rows) and np.allclose(y, rows["spent"] / rows["promised"]) for y in drawn)
    for axes in figure.axes:
        thin, thick = ([line for line in axes.lines if (line.get_linewidth() == 5) == flag] for flag in (False, True))
        assert [list(line.get_ydata()) for line in thick] == [[1, 1]]
        assert all((np.asarray(line.get_ydata()) <= 1 + 1e-8).all() for line in thin)
        assert (
            any(len(line.get_xdata()) for line in thin) == axes.get_visible()
        )  # no Renyi divergence is promised in the panels that are not there


def test_against_rho_and_m_the_rows_are_drawn_by_name(table):
    """Numbers of their own for each rho and m, from the rows of one k."""
    base = table[(table["k"] == 10) & (table["gap"] == 80) & table["algorithm"].isin(["obvious_answer", "stability"])]
    names = [n for n in base if n.startswith(("required_gap", "top_selected"))]
    wide = pd.concat(
        [base.assign(rho=RHO * by, **{n: base[n] * by for n in names}) for by in (1, 1.2)], ignore_index=True
    )
    (figure,) = (figure for name, (figure, _) in drawn(wide).items() if name.startswith("against_rho"))
    for axes, name in zip(figure.axes, ("top_selected", "required_gap")):
        for label in ("Alg. 22, Gaussian", "distance-based stability"):
            algorithm, noise, _ = NAMES[label]
            rows = wide[(wide["algorithm"] == algorithm) & (wide["noise"] == noise)]
            like = key(figure, {"Alg. 22, Gaussian": "every ω), algorithm = 22"}.get(label, label))
            shows(axes, like, rows, "rho", name)
            traces(axes, like, rows, "rho", f"{name}_exact")
    (gap,) = [line for line in figure.axes[1].lines if line.get_linewidth() == 3]
    assert set(gap.get_ydata()) == {80}
    several = pd.concat([base.assign(m=m, **{n: base[n] * m for n in names}) for m in (1, 2)], ignore_index=True)
    figure, _ = drawn(several)["top_m"]
    label = "distance-based stability"
    shows(figure.axes[0], key(figure, label), several[several["algorithm"] == "stability"], "m", "required_gap")
    traces(figure.axes[0], key(figure, label), several[several["algorithm"] == "stability"], "m", "required_gap_exact")
    assert len(keys(figure)) > 2


def test_algorithms_that_take_no_noise_alone(command, tmp_path):
    words = ("experiment=gap_max", "cluster=serial", "trials=500", "chunk=500", "also=null", "sweep.k=10")
    code, _, err = command(*words, "sweep.algorithm=[exponential_mechanism,permute_and_flip]", "sweep.accounting=tight")
    assert (code, err) == (0, "")
    flat = results.open_cells(tmp_path / "results" / "gap_max").load()
    assert set(published.table(gap_max, flat)["noise_label"]) == {""}
