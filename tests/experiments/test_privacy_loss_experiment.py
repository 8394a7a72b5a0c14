"""The study of the privacy loss, from a small run.

Simulated and exact values are compared at 5.5 standard errors: for a fresh seed a false-alarm rate of 4e-8 each.
"""

import numpy as np
import pandas as pd
import pytest
from figure_lines import caption, colour, curve, curves, key, keys, marked
from scipy import stats

from tcdp_sim import results
from tcdp_sim.experiments import privacy_loss
from tcdp_sim.report import plots
from tcdp_sim.report.labels import short
from tcdp_sim.results import published

WORDS = ("experiment=privacy_loss", "cluster=serial", "trials=2000", "chunk=1000")
EPSILON = "also.tail.epsilon={from:-0.5,to:3,num:8}"  # steps of 1/2
SMALL = (*WORDS, EPSILON, "also.renyi.order={from:1.2,to:30,num:3}")  # 1.2, 6, 30


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results" / "privacy_loss"


once = {}  # the small study: run by the first test that needs it


@pytest.fixture
def study(table_of_command, folder):
    if not once:
        once["folder"], once["table"] = folder, table_of_command(*SMALL)
    return once


@pytest.fixture
def table(study):
    return study["table"].copy()


def drawn(table, noise, quantity):
    rows = table[(table["noise"] == noise) & (table["quantity"] == quantity) & (table["trials"] > 0)]
    return rows.sort_values("at")


def test_exact_values_are_those_of_closed_forms(table):
    """The loss of Gaussian noise is N(rho, 2 rho); that of Laplace noise is at most epsilon."""
    law = stats.norm(0.1, np.sqrt(0.2))
    for quantity, truth in (
        ("tail", law.sf),
        ("profile", lambda e: law.sf(e) - np.exp(e) * stats.norm(-0.1, np.sqrt(0.2)).sf(e)),
        ("renyi", lambda order: 0.1 * order),
        ("quantile", law.ppf),
    ):
        rows = drawn(table, "gaussian", quantity)
        np.testing.assert_allclose(rows["exact"], truth(rows["at"]), rtol=1e-7)
    laplace = drawn(table, "laplace", "tail")
    assert ((laplace["exact"] > 0) == (laplace["at"] < np.sqrt(0.2))).all()
    np.testing.assert_allclose(drawn(table, "truncated_laplace", "profile")["exact"][-2:], 1e-6, rtol=1e-9)


def test_no_noise_breaks_its_promise(table):
    """At the simulated points and all along the curves, 1e-9 for rounding; and promises are not idle."""
    told = table[table["promised"].notna()]
    assert (told["exact"] <= told["promised"] * (1 + 1e-9)).all()
    assert len(told) > 2000
    gaussian = drawn(table, "gaussian", "renyi")
    np.testing.assert_allclose(gaussian["exact"], gaussian["promised"])
    beyond = drawn(table, "sinh_normal", "renyi")
    assert beyond["promised"].tolist()[-1] == np.inf == beyond["simulated"].tolist()[-1]
    assert not told["noise"].eq("truncated_laplace")[told["quantity"] == "renyi"].any()


def test_quantities_have_the_axes_they_depend_on(study):
    ds, table = results.open_results(study["folder"], squeeze=False), study["table"]
    common = ("noise", "rho", "omega_sqrt_rho", "delta", "shift")
    assert ds["privacy_loss_mean"].dims == common
    assert ds["hockey_stick_mean"].dims == (*common, "epsilon") == ds["loss_tail_mean"].dims
    assert ds["renyi_excess_mean"].dims == (*common, "order")
    assert (ds.sizes["epsilon"], ds.sizes["order"]) == (8, 3)
    found = ds["hockey_stick_mean"].sel(noise="gaussian", epsilon=0.5).values.item()
    rows = drawn(table, "gaussian", "profile")
    assert found == rows.loc[rows["at"] == 0.5, "simulated"].item()
    assert ds["privacy_loss_mean"].notnull().all()


@pytest.mark.slow
def test_groups_are_promised_what_group_privacy_gives(command, folder):
    words = ("sweep.noise=[laplace,gaussian,sinh_normal_tight]", "sweep.shift=[0.5,2,9]", "also.tail.epsilon.num=3")
    code, _, err = command(*SMALL, *words)
    assert code == 0, err
    table = published.table(privacy_loss, results.open_cells(folder).load())
    told = table[table["promised"].notna()]
    assert (told["exact"] <= told["promised"] * (1 + 1e-9)).all()
    gaussian = table[(table["noise"] == "gaussian") & (table["quantity"] == "renyi") & (table["at"] == 6)]
    np.testing.assert_allclose(gaussian.sort_values("shift")["promised"], [0.6, 4 * 0.6, 81 * 0.6])
    vast = table[(table["noise"] == "gaussian") & (table["shift"] == 9) & (table["at"] == 30) & (table["trials"] > 0)]
    assert vast["exact"].item() == pytest.approx(243)
    assert vast["lower"].item() < 243 < vast["simulated"].item() == np.inf  # a moment above 1e150
    panels = drawn_figures(table)["loss_tail"].axes
    assert [axes.get_title() for axes in panels][::8] == ["0.4472-DP, shift 0.5", "(0.1, 6.325)-tCDP, shift 9"]


def test_epsilon_or_order_given_make_the_study_about_that(table_of_command):
    table = table_of_command(*WORDS, "sweep.noise=gaussian", "sweep.epsilon=1")
    assert set(table["quantity"]) == {"tail", "profile"}
    assert set(drawn_figures(table)) == {"loss_tail", "delta_epsilon"}


@pytest.mark.slow
def test_a_noise_whose_parameters_are_given_promises_nothing(command, folder):
    words = ("sweep.noise=laplace", "+sweep.scale=2", "also.tail.epsilon.num=3", "also.renyi.order.num=3")
    code, _, err = command(*SMALL, *words)
    assert code == 0, err
    table = published.table(privacy_loss, results.open_cells(folder).load())
    assert table["promised"].isna().all()
    assert table.loc[table["quantity"] == "renyi", "exact"].max() <= 0.5
    assert drawn_figures(table)["loss_tail"].axes[0].get_title() == "no promise"


def drawn_figures(table):
    with plots.style():
        return {name: figure for name, figure, _ in privacy_loss.figures(table)}


def test_figures(table):
    found = drawn_figures(table)
    assert list(found) == ["loss_tail", "delta_epsilon", "renyi_curve", "loss_law"]
    panels = found["loss_tail"].axes
    assert [axes.get_title() for axes in panels] == [
        "0.4472-DP",
        "(0.4472, 1e-06)-DP",
        "0.1-zCDP",
        "(0.1, 6.325)-tCDP",
    ]
    assert all(axes.get_yscale() == "log" for axes in panels)
    text = " ".join([caption(found["loss_tail"]), *keys(found["loss_tail"])])
    for word in ("Laplace", "Gaussian", "sinh-normal", "95% interval", "guarantee allows", "Rényi DP", "importance"):
        assert word in text
    assert "trials for each marker show probabilities down to" in caption(found["loss_tail"])
    curves = table[(table["quantity"] == "tail") & (table["trials"] == 0) & (table["exact"] > 1e-12)]
    shares = (curves["exact"] / curves["promised"]).groupby(curves["noise_label"]).max()
    assert (shares <= 1).all()  # no noise reaches more than its guarantee allows
    title = " ".join(found["loss_tail"].get_suptitle().split())
    assert f"reaches {shares.max():.0%} of what its guarantee allows with {short(shares.idxmax())}" in title
    assert title.endswith(f"at most {shares.min():.0%} with {short(shares.idxmin())}")
    assert "infinite at every order: truncated Laplace (ε, δ)" in caption(found["renyi_curve"])
    assert found["renyi_curve"].axes[0].get_ylim() == (0, 2)
    assert found["delta_epsilon"].axes[0].get_ylabel() == "δ(ε)"


def test_a_noise_has_one_colour_in_every_figure(table):
    seen = {}
    for figure in drawn_figures(table).values():
        for legend in figure.legends:
            for handle, text in zip(legend.legend_handles, legend.get_texts()):
                seen.setdefault(text.get_text(), set()).add((handle.get_color(), handle.get_linestyle()))
    noises = {label: styles for label, styles in seen.items() if "exact" not in label and "allows" not in label}
    assert len(noises) == 5
    assert all(len(styles) == 1 for styles in noises.values())
    assert len(set.union(*noises.values())) == 5


# What the lines are: Gaussian noise at rho = 0.1, whose loss is N(rho, 2 rho), and its promises, written down here

GAUSSIAN = "Gaussian (zCDP; tCDP for every ω)"
LAW = stats.norm(0.1, np.sqrt(0.2))


def profile_of_gaussian(epsilon):
    return LAW.sf(epsilon) - np.exp(epsilon) * stats.norm(-0.1, np.sqrt(0.2)).sf(epsilon)


def points_of(rows):
    """What is drawn on a log axis: zeros are not."""
    rows = rows[rows["simulated"] > 0]
    return tuple(rows[name].to_numpy() for name in ("at", "simulated", "lower", "upper"))


def test_tails_and_what_each_notion_allows(table):
    figure = drawn_figures(table)["loss_tail"]
    zcdp, tcdp = figure.axes[2:]
    x, y = curve(zcdp, key(figure, GAUSSIAN))
    np.testing.assert_allclose(y, LAW.sf(x), rtol=1e-7)
    seen = marked(zcdp, key(figure, GAUSSIAN))
    kept = np.isfinite(seen[1])
    for values, truth in zip(seen, points_of(drawn(table, "gaussian", "tail"))):
        np.testing.assert_allclose(values[kept], truth, rtol=1e-9)

    def subgaussian(t):
        return np.where(t > 0.1, np.exp(-((np.maximum(t, 0.1) - 0.1) ** 2) / 0.4), 1.0)

    x, y = curve(zcdp, key(figure, "the most that the guarantee allows"))
    np.testing.assert_allclose(y, subgaussian(x), rtol=1e-9)
    omega = 2 / np.sqrt(0.1)
    found = curves(tcdp, key(figure, "ρ-zCDP allows"))
    np.testing.assert_allclose(found[0][1], subgaussian(found[0][0]), rtol=1e-9)
    x, y = curve(tcdp, key(figure, "Rényi DP allows"))
    np.testing.assert_allclose(y, np.minimum(1, np.exp((omega - 1) * (0.1 * omega - x))), rtol=1e-9)
    steep = 0.2 * omega - 0.1  # from there on tCDP's tail is a line: Lemma 6
    x, y = curves(tcdp, key(figure, "the most that the guarantee allows"))[0]
    truth = np.where(x <= steep, subgaussian(x), np.exp((omega - 1) * ((omega - 1) * 0.1 - (x - 0.1))))
    np.testing.assert_allclose(y, truth, rtol=1e-9)


def test_profiles_curves_and_laws_are_those_of_the_named_noise(table):
    figures = drawn_figures(table)
    truths = {"delta_epsilon": profile_of_gaussian, "renyi_curve": lambda order: 1 + 0 * order, "loss_law": LAW.cdf}
    for name, truth in truths.items():
        figure = figures[name]
        (axes,) = figure.axes
        like = key(figure, GAUSSIAN)
        x, y = curve(axes, like)
        np.testing.assert_allclose(y, truth(x), rtol=1e-6)
    quantity = {"delta_epsilon": "profile", "renyi_curve": "renyi", "loss_law": "quantile"}
    for name, column in quantity.items():
        rows = drawn(table, "gaussian", column)
        unit = 0.1 * rows["at"] if column == "renyi" else 1.0
        own = [(rows[end] / unit)[rows["simulated"] > 0 if column == "profile" else slice(None)] for end in ENDS]
        seen = marked(figures[name].axes[0], key(figures[name], GAUSSIAN), "x" if name == "loss_law" else "y")
        seen = (seen[0] if name == "loss_law" else seen[1], *seen[2:])
        assert len(own[0]) >= 3
        for values, truth in zip(seen, own):
            np.testing.assert_allclose(values[np.isfinite(values)], truth[np.isfinite(truth)], rtol=1e-9)


ENDS = ("simulated", "lower", "upper")


def test_a_promise_has_the_colour_of_its_noise_and_lies_above_it(table):
    figure = drawn_figures(table)["delta_epsilon"]
    (axes,) = figure.axes
    for label in ("tCDP, tight", GAUSSIAN):
        like = key(figure, label)
        (bound,) = [line for line in axes.lines if line.get_linewidth() == 0.8 and colour(line)[:3] == colour(like)[:3]]
        y = curve(axes, like)[1]
        above = np.isfinite(bound.get_ydata())
        assert above.sum() > 100
        assert (np.asarray(bound.get_ydata())[above] >= y[above] * (1 - 1e-9)).all()
    (bound,) = [line for line in axes.lines if line.get_linewidth() == 0.8 and colour(line)[:3] == colour(like)[:3]]
    at_one = np.interp(1.0, bound.get_xdata(), np.log(bound.get_ydata()))
    assert at_one == pytest.approx(np.log(delta_of_the_best_test(1.0, 0.1)), abs=1e-3)


def delta_of_the_best_test(epsilon, rho):
    """The largest p - e^epsilon q with p^a q^(1-a) + (1-p)^a (1-q)^(1-a) <= e^((a-1) rho a), for the best order a."""
    order, q = np.geomspace(2, 50, 400)[:, None], np.geomspace(1e-8, 0.5, 2000)
    low, high = q + 0 * order, np.ones((len(order), len(q)))
    for _ in range(40):  # the left side rises in p above q
        p = 0.5 * (low + high)
        surely = order * np.log(p) + (1 - order) * np.log(q)
        otherwise = order * np.log1p(-p) + (1 - order) * np.log1p(-q)
        allowed = np.logaddexp(surely, otherwise) <= (order - 1) * rho * order
        low, high = np.where(allowed, p, low), np.where(allowed, high, p)
    return (low - np.exp(epsilon) * q).max(axis=1).min()


@pytest.mark.parametrize("name", ["delta_epsilon", "renyi_curve", "loss_law"])
def test_a_figure_names_rho_and_omega(table, name):
    figure = drawn_figures(table)[name]
    told = caption(figure)
    assert told.startswith("ρ = 0.1; ω = 6.325; δ = 1e-06;")
    assert "shift 1" in told


def test_noises_that_differ_in_delta_alone_are_two_lines(table):
    one = table[table["noise"] == "truncated_laplace"]
    both = pd.concat([one, one.assign(delta=1e-3, exact=one["exact"] / 2)], ignore_index=True)
    figure = drawn_figures(both)["delta_epsilon"]
    one, other = (curve(figure.axes[0], key(figure, f"δ = {delta}"))[1] for delta in ("1e-06", "0.001"))
    np.testing.assert_allclose(other, one / 2, rtol=1e-9)
