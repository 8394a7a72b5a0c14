"""The study of subsampling, from a small run. Simulated beside exact at 5.5 standard errors: 4e-8 false alarms each."""

import numpy as np
import pytest
from figure_lines import colour, curve, key, marked
from rich.console import Console
from scipy import integrate, optimize, stats

from tcdp_sim import results
from tcdp_sim.exact import hockey_stick
from tcdp_sim.experiments import subsampling
from tcdp_sim.experiments.subsampling import EXACT, theory
from tcdp_sim.mechanisms.subsampled.histogram import SubsampledHistogram
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.privacy import ZCDP
from tcdp_sim.report import plots
from tcdp_sim.results import published
from tcdp_sim.store import columns

SMALL = ("experiment=subsampling", "cluster=serial", "trials=1000", "chunk=1000", "also.error.sampling_fraction.num=2")
SMALL += ("also.selection.sampling_fraction.num=2", "also.selection.epsilon=[0.1]")
SMALL += ("also.loss.threshold.num=4", "also.error.epsilon=[0.1]", "sweep.noise=[laplace,gaussian]")

FRACTIONS = (1e-1, 1e-2, 1e-3, 1e-4)  # below one, as the study suggests

once = {}  # the small study: run by the first test that needs it


@pytest.fixture
def table(table_of_command, few_rows_of_theory):
    if not once:
        once["table"] = table_of_command(*SMALL)
    return once["table"].copy()


def lines(table, figure, **labels):
    rows = table[table["figure"] == figure]
    for name, value in labels.items():
        rows = rows[rows[name] == value]
    return rows.sort_values("at")


def test_nothing_proved_is_below_what_is_exact(table):
    """Renyi curves: exact <= certified <= 13 in units of s^2 rho a; Lemma 15 on the exact line; no sampling above."""
    for s in FRACTIONS:
        by = {name: rows for name, rows in lines(table, "curve", fraction=s).groupby("quantity")}
        exact = by["exact, Gaussian"].set_index("at")["exact"]
        proved = by["certified, any (ρ, ω')-tCDP"].set_index("at")["exact"].dropna()
        assert (exact[proved.index] <= proved).all()
        assert proved.max() < 3
        assert (exact <= by["no sampling"].set_index("at")["exact"] * (1 + 1e-9)).all()
        lemma = by["Lemma 15, Gaussian"]
        np.testing.assert_allclose(np.interp(lemma["at"][:5], exact.index, exact), lemma["exact"][:5], rtol=0.02)
        other = by["exact, Gaussian, other direction"].set_index("at")["exact"]
        assert (other <= exact * (1 + 1e-9)).all()
        np.testing.assert_allclose(by["Theorem 11"]["exact"].dropna(), 13)


def test_subsampling_stops_helping_at_high_orders(table):
    """The Gaussian comes within a quarter of no sampling at all at the largest order: CDP gains nothing."""
    rows = lines(table, "curve", fraction=1e-2)
    last = rows[rows["at"] == rows["at"].max()].set_index("quantity")["exact"]
    assert last["exact, Gaussian"] > 0.7 * last["no sampling"] == pytest.approx(0.7e4)


def test_profiles_are_those_of_the_theorems(table):
    rows = lines(table, "profile", noise="Laplace", accounting="tight")
    for scheme in ("poisson", "without_replacement"):
        part = rows[rows["quantity"] == scheme]
        inner = np.log1p(np.expm1(part["at"].to_numpy()) / 0.1)
        truth = 0.1 * hockey_stick(Laplace(1 / np.sqrt(0.2)), 1.0, inner).estimate
        np.testing.assert_allclose(part["exact"], truth, rtol=1e-9, atol=1e-300)
    table = table[table["noise"] != theory.MEMBERSHIP]
    loose = lines(table, "profile", accounting="black box").sort_values(["noise", "quantity", "at"])["exact"].to_numpy()
    tight = lines(table, "profile", accounting="tight").sort_values(["noise", "quantity", "at"])["exact"].to_numpy()
    assert (tight <= loose * (1 + 1e-9)).all()
    assert (tight < 0.99 * loose).any()


def test_randomised_membership_is_on_the_line_of_the_theorems(table):
    """Theorem 13: what Theorems 8 to 10 promise is attained, but for rounding."""
    rows = lines(table, "profile", noise=theory.MEMBERSHIP)
    promised = rows[rows["accounting"] == "tight"].set_index(["quantity", "at"])["exact"]
    attained = rows[rows["accounting"] == "attained"].set_index(["quantity", "at"])["exact"]
    assert set(promised.index.get_level_values(0)) == {"poisson", "without_replacement", "with_replacement"}
    assert len(attained) == len(promised) > 100
    np.testing.assert_allclose(attained, promised.loc[attained.index], rtol=1e-9, atol=1e-15)
    assert (attained > 0).sum() > 60


def test_the_false_rule_is_below_the_exact_gaussian(table):
    """(s^2 rho, the same omega) would be 1 at every order."""
    for s in FRACTIONS:
        rows = lines(table, "curve", fraction=s)
        rule, exact = (
            rows[rows["quantity"] == name].set_index("at")["exact"] for name in (theory.RULE, "exact, Gaussian")
        )
        assert (rule == 1).all()
        assert (exact > 1.05).all()


def test_accountings_are_in_order(table):
    wide = lines(table, "releases").pivot_table(index="at", columns="quantity", values="exact")
    lower, upper = wide["numerical, lower end"], wide["numerical, upper end"]
    assert (lower <= upper).all()
    assert ((upper - lower) <= 0.01 * np.maximum(1, wide.index / 1000)).all()
    for name in set(wide) - {"numerical, lower end", "numerical, upper end"}:
        assert (wide[name] >= lower).all(), name
    assert (wide["Rényi, Lemma 15 (any mechanism)"] <= wide["Rényi, certified (any mechanism)"] * (1 + 1e-9)).all()


def test_the_best_fraction_of_one_release_is_one(table):
    """At a fixed final privacy sampling adds its own error and saves no noise."""
    found = subsampling.best(table)
    assert len(found) == 4
    assert (found["at"] == 1).all()
    assert (found["whole"] == found["exact"]).all()


def test_selection_on_fewer_records_misses_more(table):
    """At a fixed final epsilon, a thousandth of the records beside all of them; 5.5 standard errors, 4e-8 each."""
    rows = lines(table, "task", quantity="missed")
    assert set(rows["algorithm"]) == {"permute_and_flip", "exponential_mechanism"}
    for _, part in rows.groupby(["algorithm", "scheme"]):
        few, whole = part.iloc[0], part.iloc[-1]
        assert (few["at"], whole["at"]) == (pytest.approx(1e-3, rel=2e-3), 1)
        assert few["simulated"] - whole["simulated"] > 5.5 * np.hypot(few["mcse"], whole["mcse"])
    alone = lines(table, "task", quantity="missed_by_sampling")
    assert (alone.loc[alone["at"] == 1, "simulated"] == 0).all()


@pytest.mark.slow
def test_threshold_queries_on_subsamples(command, tmp_path):
    words = ("sweep.base=thresholds", "sweep.method=[median,tree_16]", "sweep.records=departures_AS", "sweep.rho=0.5")
    words += (
        "sweep.scheme=without_replacement",
        "sweep.noise=sinh_normal_tight",
        "name=queries",
        "trials=20",
        "chunk=20",
    )
    code, _, err = command(*SMALL, *words)
    assert code == 0, err
    found = published.table(subsampling, results.open_cells(tmp_path / "results" / "queries").load())
    assert set(found["quantity"]) == {"median_rank_error", "sup_error"}
    with plots.style():
        (name, figure, part), *more = subsampling.figures(found)
    assert (name, len(figure.axes), more) == ("tasks", 1, [])
    assert len(part.drop_duplicates()) == 12  # four fractions: the two smallest draw one record


def test_report_and_figures(table):
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    subsampling.report(table, console)
    text = " ".join(console.export_text().split())  # lines end where the terminal does
    assert "…" not in text
    assert "(0.1, 1e-06)-DP, neighbours add or remove one record: root-mean-square error" in text
    assert "(0.1, 1e-06)-DP, neighbours substitute one record: root-mean-square error" in text
    assert text.index("add or remove") < text.index("laplace, poisson: least error 14.14 counts at s = 1")
    assert "laplace, without_replacement: least error 28.28 counts at s = 1" in text
    assert "Different neighbours do not compare" in text
    with plots.style():
        found = {name: (figure, part) for name, figure, part in subsampling.figures(table)}
    assert list(found) == ["renyi_curves", "profiles", "releases", "error", "loss_tails", "tasks"]
    assert [len(figure.axes) for figure, _ in found.values()] == [4, 4, 1, 2, 2, 2]
    assert all(len(part) > 10 for _, part in found.values())


# What is compared with what, and what the lines are


def drawn(table, name):
    with plots.style():
        return {found: figure for found, figure, _ in subsampling.figures(table)}[name]


def test_rows_name_their_relation_and_unit(table):
    simulated = table[table["trials"] > 0].drop_duplicates(["figure", "scheme", "quantity"])
    told = {tuple(row) for row in simulated[["figure", "scheme", "quantity", "relation", "unit"]].to_numpy()}
    schemes = {"poisson": "add-remove", "without_replacement": "substitute"}
    assert told == {
        *(("tail", "poisson", "loss_tail", "add-remove", "1"),),
        *(
            ("error", s, q, r, "counts^2")
            for s, r in schemes.items()
            for q in ("square_error", "square_sampling_error")
        ),
        *(("task", s, q, r, "records") for s, r in schemes.items() for q in ("missed", "missed_by_sampling")),
    }
    known_rows = table[table["figure"].isin(["curve", "profile", "releases"])]
    assert known_rows[["relation", "unit"]].notna().all(axis=None)
    by = known_rows.groupby("quantity")["relation"].unique().map(list).to_dict()
    assert by["Theorem 11"] == by["tCDP, Theorem 11"] == by["poisson_substitution"] == ["substitute"]
    assert by["exact, Gaussian"] == by["hybrid"] == by["numerical, upper end"] == ["add-remove"]


def test_the_least_errors_are_those_of_laplace_noise_under_each_relation(table):
    """By hand: (0.1, 1e-6)-DP of one count has 1 / b = 0.1 - 2 log(1 - 1e-6); two counts at least half of 0.1 each."""
    found = subsampling.best(table)
    found = found[found["noise"] == "laplace"].set_index("relation")["exact"]
    assert np.sqrt(found["add-remove"]) == pytest.approx(np.sqrt(2) / (0.1 - 2 * np.log1p(-1e-6)), rel=1e-6)
    assert np.sqrt(found["substitute"]) == pytest.approx(2 * np.sqrt(2) / 0.1, rel=1e-3)


def test_errors_of_two_relations_are_never_in_one_panel(table):
    for name in ("error", "tasks"):
        figure = drawn(table, name)
        titles = [axes.get_title() for axes in figure.axes]
        assert [("add or remove" in title, "substitute" in title) for title in titles] == [(True, False), (False, True)]
        assert figure.axes[0].get_ylabel() in ("root-mean-square error (counts)", "records missed by the selected bin")
        for axes, own, other in zip(
            figure.axes, ("poisson", "without replacement"), ("without replacement", "poisson")
        ):
            shown = {colour(container.lines[0]) for container in axes.containers}
            words = ("Laplace", "Gaussian") if name == "error" else ("permute", "exponential")
            assert shown == {colour(key(figure, label)) for label in labels(figure, words, own)}
            assert len(axes.containers) == len(labels(figure, words, own))
            assert not looks(figure, labels(figure, words, own)) & looks(figure, labels(figure, words, other))


def looks(figure, names):
    """Colour, marker and dashes of each of these names in the legend."""
    keys = [key(figure, name) for name in names]
    return {(colour(one), one.get_marker(), one.get_fillstyle(), str(one._unscaled_dash_pattern)) for one in keys}


def labels(figure, words, scheme):
    found = [text.get_text() for text in figure.legends[0].get_texts()]
    return [label for label in found if label.startswith(words) and label.endswith(f", {scheme}")]


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("scheme", ["poisson", "without_replacement"])
def test_errors_are_roots_of_the_rows(table, noise, scheme):
    figure = drawn(table, "error")
    (label,) = labels(figure, {"laplace": "Laplace", "gaussian": "Gaussian"}[noise], scheme.replace("_", " "))
    axes = figure.axes[scheme != "poisson"]
    rows = lines(table, "error", noise=noise, scheme=scheme, quantity="square_error", epsilon=0.1)
    x, *seen = marked(axes, key(figure, label))
    for values, name in zip(seen, ("simulated", "lower", "upper")):
        np.testing.assert_allclose(values, np.sqrt(rows[name]), rtol=1e-9)
    np.testing.assert_allclose(x, rows["at"])
    exact = curve(axes, key(figure, label))
    np.testing.assert_allclose(exact[1], np.sqrt(rows["exact"]), rtol=1e-12)
    (star,) = [line for line in axes.lines if line.get_marker() == "*" and colour(line) == colour(key(figure, label))]
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (1, pytest.approx(np.sqrt(rows["exact"].min())))


def test_tails_and_tasks_are_the_rows(table):
    figure = drawn(table, "loss_tails")
    assert "base of ρ = 0.1" in figure.notes["base"]
    for axes, noise in zip(figure.axes, ("laplace", "gaussian")):
        for s, label in ((1, "s = 1 (base)"), (0.1, "s = 0.1"), (0.01, "s = 0.01")):
            rows = lines(table, "tail", noise=noise, fraction=s)
            seen = marked(axes, key(figure, label))
            kept = rows[(rows["trials"] > 0) & (rows["simulated"] > 0)]
            for values, name in zip(seen, ("at", "simulated", "lower", "upper")):
                np.testing.assert_allclose(values, kept[name], rtol=1e-9)
            x, y = curve(axes, key(figure, label))
            law = stats.norm(0.1, np.sqrt(0.2))
            if noise == "gaussian":  # the mixture exceeds t where the base loss exceeds log(1 + (e^t - 1) / s)
                inner = np.log1p(np.expm1(x) / s)
                np.testing.assert_allclose(
                    y, s * law.sf(inner) + (1 - s) * stats.norm(-0.1, np.sqrt(0.2)).sf(inner), 1e-7
                )
    figure = drawn(table, "tasks")
    for axes, scheme in zip(figure.axes, ("poisson", "without_replacement")):
        for algorithm in ("permute_and_flip", "exponential_mechanism"):
            rows = lines(table, "task", algorithm=algorithm, scheme=scheme, quantity="missed")
            (label,) = labels(figure, algorithm.replace("_", " "), scheme.replace("_", " "))
            for values, name in zip(marked(axes, key(figure, label)), ("at", "simulated", "lower", "upper")):
                np.testing.assert_allclose(values, rows[name], rtol=1e-9)


def test_curves_and_releases_are_the_rows_of_their_names(table):
    figure = drawn(table, "renyi_curves")
    for axes, s in zip(figure.axes, FRACTIONS):
        assert axes.get_title() == f"s = {s:g} (no sampling, beyond the axis: {1 / s**2:,.0f})"  # in units of s^2 rho a
        for label in ("exact, Laplace", "certified, any", "Theorem 11"):
            rows = table[(table["figure"] == "curve") & (table["fraction"] == s)]
            rows = rows[rows["quantity"].str.startswith(label)].sort_values("at")
            x, y = curve(axes, key(figure, label))
            np.testing.assert_allclose(x, rows["at"])
            np.testing.assert_allclose(y, rows["exact"])
        promised = curve(axes, key(figure, "Theorem 11"))[1]
        np.testing.assert_allclose(promised[np.isfinite(promised)], 13)
    figure = drawn(table, "releases")
    for label in ("numerical, upper end", "numerical, lower end", "Lemma 15", "certified", "advanced", "no gain"):
        rows = table[(table["figure"] == "releases") & table["quantity"].str.contains(label)].sort_values("at")
        np.testing.assert_allclose(curve(figure.axes[0], key(figure, label))[1], rows["exact"])
    # rho = 0.1 T at order 1 + sqrt(log(1 / delta) / rho) or so: Canonne-Kamath-Steinke's epsilon at its best order
    for t, epsilon in zip((1, 100, 1000), curve(figure.axes[0], key(figure, "no gain"))[1]):
        a = 1 + np.geomspace(1e-2, 1e3, 200_000)
        best = (0.1 * t * a + np.log1p(-1 / a) + (np.log(1e6) - np.log(a)) / (a - 1)).min()
        assert epsilon == pytest.approx(best, rel=1e-6)


def whole(scheme, s, sigma=2.0, records=50):
    counts = np.array([records])
    return SubsampledHistogram(Gaussian(sigma), ZCDP(0.125), counts, 1.0, scheme, s)


def test_records_drawn_have_a_binomial_law_or_a_fixed_number():
    poisson, fixed = whole("poisson", 0.2), whole("without_replacement", 0.2)
    law = stats.binom(50, 0.2)
    assert EXACT["records_drawn_mean"](poisson) == pytest.approx(law.mean(), rel=1e-12)
    np.testing.assert_array_equal(EXACT["records_drawn_quantile"](poisson), law.ppf(columns.QUANTILES))
    assert EXACT["records_drawn_mean"](fixed) == 10
    np.testing.assert_array_equal(EXACT["records_drawn_quantile"](fixed), 10)
    for one in (poisson, fixed):
        assert EXACT["square_noise_error_mean"](one) == pytest.approx(4.0 / 0.2**2, rel=1e-12)


@pytest.mark.parametrize(("s", "error"), [(1e-150, 2e300), (1e-160, np.inf), (1e-300, np.inf)])
@pytest.mark.parametrize("noise", [Gaussian(np.sqrt(2)), Laplace(1.0)])
def test_a_tiny_sampling_fraction_has_an_error_that_may_be_no_float(noise, s, error):
    """Noise of variance 2 over s; s^2 is 0 in floats for s = 1e-300."""
    one = SubsampledHistogram(noise, ZCDP(0.125), np.array([50]), 1.0, "poisson", s)
    assert EXACT["square_noise_error_mean"](one) == pytest.approx(error, rel=1e-12)
    assert EXACT["square_error_mean"](one) == pytest.approx(error, rel=1e-12)
    assert EXACT["square_sampling_error_mean"](one) == pytest.approx(50 / s, rel=1e-12)


def test_the_law_of_a_subsampled_loss_by_quadrature():
    """The output is N(0, 2^2), or N(1, 2^2) with probability 0.2: quantiles and mean of its loss by scipy."""
    normal, moved, s = stats.norm(0, 2), stats.norm(1, 2), 0.2
    ratio = lambda y: np.log1p(s * np.expm1((2 * y - 1) / 8))  # noqa: E731
    tail = lambda y: s * moved.sf(y) + (1 - s) * normal.sf(y)  # noqa: E731
    density = lambda y: s * moved.pdf(y) + (1 - s) * normal.pdf(y)  # noqa: E731
    poisson = whole("poisson", s)
    mean = integrate.quad(lambda y: density(y) * ratio(y), -30, 30, epsabs=1e-13, limit=200)[0]
    assert EXACT["privacy_loss_mean"](poisson) == pytest.approx(mean, rel=1e-7)
    outputs = [optimize.brentq(lambda y, level=level: tail(y) - (1 - level), -30, 30) for level in columns.QUANTILES]
    np.testing.assert_allclose(EXACT["privacy_loss_quantile"](poisson), ratio(np.array(outputs)), rtol=1e-7)
