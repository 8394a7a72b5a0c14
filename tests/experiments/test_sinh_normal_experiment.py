"""Density and tails of sinh-normal noise, from a small run, against formulas written down here.

Simulated values are compared at 5.5 standard errors: for a fresh seed a false-alarm rate of 4e-8 each.
"""

import numpy as np
import pytest
from figure_lines import curve, keys, marked
from rich.console import Console
from scipy import integrate, stats

from tcdp_sim import results
from tcdp_sim.core.streams import generator
from tcdp_sim.experiments import sinh_normal
from tcdp_sim.report import plots
from tcdp_sim.results import published
from tcdp_sim.results.cells import cell_mechanism

SMALL = ("experiment=sinh_normal", "cluster=serial", "trials=20000", "chunk=10000")
GIVEN = {"scale": np.sqrt(2), "knee": 1.0}

once = {}  # the small study: run by the first test that needs it


@pytest.fixture
def study(command, tmp_path):
    if not once:
        code, _, err = command(*SMALL)
        assert code == 0, err
        once["flat"] = results.open_cells(tmp_path / "results" / "sinh_normal").load()
        once["table"] = published.table(sinh_normal, once["flat"])
    return once


@pytest.fixture
def table(study):
    return study["table"].copy()


def instance(table, quantity, **parameters):
    wanted = table["quantity"] == quantity
    for name, value in parameters.items():
        wanted &= np.isclose(table[name], value)
    rows = table[wanted]
    return rows[rows["trials"] > 0].sort_values("at"), rows[rows["trials"] == 0].sort_values("at")


def test_the_study_holds_the_papers_figure_and_log_concave_instances(table):
    found = table.drop_duplicates("noise_law")
    assert found["shape"].tolist().count("log-concave") == 2
    assert found[found["shape"] == "bimodal"][["scale", "knee"]].to_numpy() == pytest.approx(np.array([[2**0.5, 1.0]]))
    gaussian = found[found["family"] == "gaussian"]
    assert gaussian["scale"].item() == pytest.approx(np.sqrt(2))
    assert gaussian["guarantee"].item() == "0.25-zCDP"
    assert "(0.25, 2)-tCDP" in found["guarantee"].tolist()


def test_simulated_agrees_with_exact(table):
    """Variances and quantiles by their standard errors, bins and tails by binomial p-values of 4e-8."""
    rows = table[(table["trials"] > 0) & table["quantity"].isin(["variance", "quantile"])]
    assert ((rows["value"] - rows["value_exact"]).abs() <= 5.5 * rows["value_mcse"]).all()
    bins = table[(table["trials"] > 0) & table["quantity"].isin(["density", "exceedance"])]
    width = np.where(bins["quantity"] == "density", bins["to"] - bins["at"], 1.0)
    law = stats.binom(bins["trials"], bins["value_exact"] * width)
    hits = np.rint(bins["value"] * width * bins["trials"])
    assert (np.minimum(law.cdf(hits), law.sf(hits - 1)) > 2e-8).all()
    assert (bins["value_lower"] <= bins["value"]).all()
    assert (bins["value"] <= bins["value_upper"]).all()


def test_exact_values_are_those_of_the_gaussian_behind_the_noise(table):
    """Z = arsinh(N(0, 2)): tails by scipy's normal, masses of bins and variance by its quadrature."""
    normal = stats.norm(0, instance(table, "variance", **GIVEN)[0]["scale"].item())  # sqrt(2) to 12 digits

    def density(z):
        return normal.pdf(np.sinh(z)) * np.cosh(z)

    tails, curve = instance(table, "exceedance", **GIVEN)
    for rows in (tails, curve):
        np.testing.assert_allclose(rows["value_exact"], 2 * normal.sf(np.sinh(rows["at"])), rtol=1e-9)
    bins, curve = instance(table, "density", **GIVEN)
    for row in bins.to_dict("records"):
        mass = integrate.quad(density, row["at"], row["to"], epsabs=0, epsrel=1e-11)[0]
        assert row["value_exact"] * (row["to"] - row["at"]) == pytest.approx(mass, rel=1e-9)
    np.testing.assert_allclose(curve["value_exact"], density(curve["at"]), rtol=1e-9)
    variance, _ = instance(table, "variance", **GIVEN)
    truth = integrate.quad(lambda z: np.arcsinh(z) ** 2 * normal.pdf(z), -40, 40, epsabs=0, epsrel=1e-11)[0]
    assert variance["value_exact"].item() == pytest.approx(truth, rel=1e-10)
    quantiles, _ = instance(table, "quantile", **GIVEN)
    np.testing.assert_allclose(quantiles["value_exact"], np.arcsinh(normal.ppf(quantiles["at"])), rtol=1e-12)


def test_the_papers_figure_2_is_bimodal_with_modes_at_0_881(table):
    _, curve = instance(table, "density", **GIVEN)
    mode = abs(curve.loc[curve["value_exact"].idxmax(), "at"])
    assert mode == pytest.approx(np.arccosh(np.sqrt(2)), abs=0.02)
    assert sinh_normal._description(curve.iloc[0])[1:] == ["bimodal: knee 1 < scale 1.41", "modes at ±0.881"]


def test_bins_put_together_are_those_of_the_draws_themselves(study):
    """The chunks are drawn again, and counted by numpy: not one draw is in another bin."""
    flat, table = study["flat"], study["table"]
    for i, law in enumerate(flat["noise_law"].values):
        mechanism = cell_mechanism(flat, i)
        draws = [generator(2018, str(flat["id"].values[i]), chunk) for chunk in (0, 1)]
        z = np.concatenate([mechanism.simulate(rng, 10_000)["noise"] for rng in draws])
        bins, _ = instance(table[table["noise_law"] == law], "density")
        edges = [*bins["at"], bins["to"].iloc[-1]]
        counted = bins["value"] * (bins["to"] - bins["at"]) * 20_000
        np.testing.assert_allclose(counted, np.histogram(z, edges)[0], atol=1e-6)
        assert counted.sum() == pytest.approx(20_000)
        tails, _ = instance(table[table["noise_law"] == law], "exceedance")
        np.testing.assert_allclose(tails["value"], [np.mean(np.abs(z) > x) for x in tails["at"]], atol=1e-12)


def test_scale_and_knee_are_axes(command, tmp_path):
    code, _, err = command(*SMALL, "sweep.noise=sinh_normal", "sweep.scale=[1,2]", "sweep.knee=[0.5,1,3]")
    assert code == 0, err
    ds = results.open_results(tmp_path / "results" / "sinh_normal")
    assert {name: size for name, size in ds["noise_mean"].sizes.items() if size > 1} == {"scale": 2, "knee": 3}
    assert ds["noise_sd"].notnull().all()
    saved = {path.stem for path in (tmp_path / "results" / "sinh_normal" / "figures").glob("*.png")}
    assert saved == {"density_1", "density_2", "tail"}


def test_other_families_have_their_place(command, tmp_path):
    words = ("sweep.noise=[laplace,truncated_laplace]", "+sweep.delta=1e-3")
    code, _, err = command(*SMALL, *words)
    assert code == 0, err
    table = published.table(sinh_normal, results.open_cells(tmp_path / "results" / "sinh_normal").load())
    assert set(table["shape"]) == {""}


def test_a_report_says_what_no_theorem_covers(table):
    console = Console(width=80, record=True, quiet=False, file=open("/dev/null", "w"))  # noqa: SIM115
    sinh_normal.report(table, console)
    text = " ".join(console.export_text().split())
    assert all(words in text for words in ("bimodal", "log-concave", "no theorem covers that"))


def test_figures(table):
    with plots.style():
        found = {name: figure for name, figure, _ in sinh_normal.figures(table)}
    assert list(found) == ["density", "tail"]
    titles = [axes.get_title() for axes in found["density"].axes]
    assert titles[0].startswith("N(0, 2)")
    assert titles[1].startswith("arsinh N(0, 2)\nbimodal")
    assert sum("log-concave" in title for title in titles) == 2
    assert [axes.get_yscale() for axes in found["density"].axes] == ["linear"] * 4 + ["log"] * 4
    assert all(axes.get_yscale() == "log" for axes in found["tail"].axes)
    assert len(found["tail"].legends[0].get_texts()) == 5
    assert found["density"].get_suptitle() == "1 of 4 noises is bimodal (red)"
    far = stats.norm.isf(0.5e-12) * np.sqrt(2)  # of N(0, 2), which has the heaviest tail
    assert found["tail"].get_suptitle().endswith(f" to {far:.3g} counts")


# What the lines are


def test_densities_are_those_of_the_titles(table):
    """N(0, 2), and Z = arsinh(N(0, 2)), linear above and logarithmic below; the bars are the histogram's."""
    with plots.style():
        found = {name: figure for name, figure, _ in sinh_normal.figures(table)}["density"]
    normal = stats.norm(0, np.sqrt(2))
    truths = (normal.pdf, lambda z: normal.pdf(np.sinh(z)) * np.cosh(z))
    laws = ({"scale": np.sqrt(2), "family": "gaussian"}, GIVEN)
    for column, (truth, law) in enumerate(zip(truths, laws)):
        rows = table[table["family"] == "gaussian"] if "family" in law else instance(table, "density", **law)[0]
        rows = rows[(rows["quantity"] == "density") & (rows["trials"] > 0)].sort_values("at")
        for axes in (found.axes[column], found.axes[column + 4]):
            (line,) = [line for line in axes.lines if len(line.get_xdata()) == sinh_normal.FINE]
            np.testing.assert_allclose(line.get_ydata(), truth(np.asarray(line.get_xdata())), rtol=1e-8)
            (container,) = axes.containers
            seen = rows[rows["value"] > 0]
            np.testing.assert_allclose(container.lines[0].get_xdata().astype(float), (seen["at"] + seen["to"]) / 2)
            np.testing.assert_allclose(container.lines[0].get_ydata().astype(float), seen["value"])
            ends = np.array([segment[:, 1] for segment in container.lines[2][0].get_segments()])
            np.testing.assert_allclose(ends, seen[["value_lower", "value_upper"]].to_numpy(float), rtol=1e-9)
        (bars,) = found.axes[column].patches
        np.testing.assert_allclose(bars.get_data().values, rows["value"])
        np.testing.assert_allclose(bars.get_data().edges[:-1], rows["at"])


def test_tails_are_those_of_the_legend(table):
    """Left P[|Z| > x], right its negative logarithm, where the ends of an interval change places."""
    with plots.style():
        figure = {name: figure for name, figure, _ in sinh_normal.figures(table)}["tail"]
    falling, rising = figure.axes
    normal = stats.norm(0, np.sqrt(2))
    tails = {"arsinh N(0, 2)": lambda x: 2 * normal.sf(np.sinh(x)), "N(0, 2), Gaussian": lambda x: 2 * normal.sf(x)}
    for label, tail in tails.items():
        (like,) = [entry for text, entry in keys(figure).items() if text.startswith(label)]
        x, y = curve(falling, like)
        np.testing.assert_allclose(y, tail(x), rtol=1e-8)
        x, y = curve(rising, like)
        np.testing.assert_allclose(y, -np.log(tail(x)), rtol=1e-8)
        x, y, low, high = marked(falling, like)
        assert ((low <= y) & (y <= high) & (low < high)).all()
        assert (np.abs(y - tail(x)) <= 2.9 * (high - low)).all()  # 5.5 standard errors or more
        at, logs, below, above = marked(rising, like)
        shared = np.isin(x, at)
        for ours, theirs in ((logs, y), (below, high), (above, low)):
            np.testing.assert_allclose(ours, -np.log(theirs[shared]), rtol=1e-9)
