"""Unit splitting beside Gaussian noise, from a small study; the claims of the per-record paper against mpmath.

Simulated and exact values are compared at 5.5 standard errors, quantiles by p-values at 1e-7: at a fresh seed a
false-alarm rate of 1e-7 each at most, of about 150.
"""

from fractions import Fraction
from math import ceil

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim import results
from tcdp_sim.data.skewed import skewed_records
from tcdp_sim.experiments import per_record_splitting
from tcdp_sim.experiments.per_record_splitting import paper
from tcdp_sim.experiments.per_record_splitting.claims import LIMIT, POLICY, Claim
from tcdp_sim.report import plots
from tcdp_sim.results import published

WORDS = ("experiment=per_record_splitting", "cluster=serial", "trials=4000", "chunk=4000")
BREACHES = {"file": "hhs_breaches.csv", "column": "individuals"}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results" / "per_record_splitting"


once = {}  # the small study: run by the first test that needs it


@pytest.fixture
def table(command, folder):
    if not once:
        code, _, err = command(*WORDS, "sweep.value_high=[5,0.05]", "also.clipped.clip=[2e6,4.5e6]")
        assert code == 0, err
        once["table"] = published.table(per_record_splitting, results.open_cells(folder).load())
    return once["table"].copy()


def pieces_of(row, value):
    """What is left of a record after it was cut into pieces, one by one, in fractions."""
    threshold = Fraction(int(row["threshold"]))
    count = ceil(Fraction(int(value)) / threshold)
    if row["rule"] == "capped":
        count = min(count, int(row["pieces"]))
    if row["rule"] == "sublinear":
        count = ceil(mp.power(mp.mpf(value) / int(row["threshold"]), row["exponent"]))
    piece = Fraction(int(value)) / max(count, 1)
    return sum(min(piece, threshold) for _ in range(max(count, 1)))


def test_what_splitting_loses_is_what_the_pieces_lose(table):
    """Every one of 1151 records is cut and clamped piece by piece; full splitting loses nothing."""
    values = skewed_records("breaches", BREACHES).values
    rows = table[(table["quantity"] == "bias") & (table["release"] == "unit_splitting") & (table["value_high"] == 5)]
    assert len(rows) == 1 + 3 + 4
    for row in rows.to_dict("records"):
        kept = float(sum(pieces_of(row, value) for value in values))
        assert row["exact"] == pytest.approx(kept - 41181144, abs=1e-3)
        assert (row["rule"] == "full") == (row["exact"] == 0)


def test_full_splitting_has_the_law_of_gaussian_noise(table):
    rows = table[(table["quantity"] == "quantile") & (table["value_high"] == 5)]
    full, gaussian = (rows[rows["series"] == name].set_index("at")["exact"] for name in ("split, full", "Gaussian"))
    np.testing.assert_allclose(full, gaussian, rtol=1e-12, atol=1e-3)
    np.testing.assert_allclose(gaussian[0.95], 1.6448536269514722 * 4.9e6 / np.sqrt(10), rtol=1e-9)


def test_errors_are_those_worked_out_beforehand(table):
    """Full splitting 1.55e6 at any size of pieces; the best clips: 4.5e6 (P = 5), 2e6 (P = 0.05)."""
    table["most"] = table["most"].round()
    rows = table[table["quantity"] == "rmse"].set_index(["series", "value_high", "most"])["exact"]
    assert rows["split, full", 5.0, 4.9e6].item() == pytest.approx(1.55e6, rel=1e-3)
    assert rows["clipped", 5.0, 4.5e6].item() == pytest.approx(1.478e6, rel=5e-4)
    assert rows["clipped", 0.05, 2e6].item() == pytest.approx(9.76e6, rel=1e-3)
    curve = table[table["quantity"] == "clipped"]
    for value, clip in ((5.0, 4.5e6), (0.05, 2e6)):
        own = curve[curve["value_high"] == value]
        assert own.loc[own["exact_rmse"].idxmin(), "most"] == pytest.approx(clip, rel=0.06)


def test_the_staircase_is_above_the_parabola_and_meets_it_at_whole_pieces(table):
    rows = table[(table["quantity"] == "policy") & (table["series"] == "split, full")]
    stairs = [max(ceil(x), 1) ** 2 for x in rows["at"]]
    np.testing.assert_allclose(rows["printed"], stairs, rtol=1e-12)
    np.testing.assert_allclose(rows["policy"], rows["at"] ** 2, rtol=1e-12)
    others = table[table["quantity"] == "policy"]
    assert (others["policy"] <= others["printed"] * (1 + 1e-12)).all()


# The claims


def verdicts():
    return {(claim.where, claim.claim): claim for claim in paper.claims()}


def test_examples_are_the_formulas_in_mpmath():
    for where, f in (("Example 4.6", lambda x: mp.root(x, 4)), ("Example 4.8", lambda x: mp.log(1 + x))):
        for i, value in enumerate((5, 5, 10, 20, 30, 10000), 1):
            claim = verdicts()[where, f"P of establishment {i}, {value:,} employees"]
            assert claim.computed == pytest.approx(float(f(mp.mpf(value)) ** 2 / 8), rel=1e-12)
            assert claim.verdict == "right"
    for i, known in enumerate((0.25, 0.25, 1.0, 4.0, 9.0, 1e6), 1):
        value = (5, 5, 10, 20, 30, 10000)[i - 1]
        claim = verdicts()["Example 2.16", f"P of establishment {i}, {value:,} employees: exact"]
        assert claim.computed == pytest.approx(known, rel=1e-12)
        assert claim.verdict == ("loose, 4 times" if i < 3 else "tight")
    assert verdicts()["Table 1", "P of establishment 6 over that of 1: exact"].verdict == "wrong"
    assert verdicts()["Table 1", "P of establishment 6 over that of 1: by the formula"].verdict == "right"


def test_transformations_are_compared_at_equal_error():
    """Moments of the estimators at q = 10070 by mpmath's integrals; the Gaussian's policy is t^2 / (2 MSE)."""
    q = mp.mpf(10070)
    v = mp.root(q, 4)
    log_mse = mp.expm1(4) * (q + 1) ** 2
    fourth = normal_mean(lambda x: (x**4 - 24 * x**2 + 48 - q) ** 2, v, 2)
    for where, mse, known in (("Example 4.6", fourth, 8769), ("Example 4.8", log_mse, 73731)):
        rmse = verdicts()[where, "RMSE of the total, 10,070"].computed
        assert rmse == pytest.approx(float(mp.sqrt(mse)), rel=1e-10)
        assert round(rmse) == known
        fair = verdicts()[where, "P of establishment 6 by Gaussian noise of that RMSE"].computed
        assert fair == pytest.approx(float(mp.mpf(10) ** 8 / 2 / mse), rel=1e-10)
        assert verdicts()[where, '"significantly smaller" P: the least over that of Gaussian noise'].verdict == "wrong"


def normal_mean(f, mean, sd):
    with mp.workdps(30):
        return mp.quad(lambda z: f(mean + sd * z) * mp.npdf(z), [-30, -5, 0, 5, 30])


def test_table_2_by_integrals_of_hermite_polynomials():
    """q = 7, a = 3, sigma = 0.9, from He_(k+1) = x He_k - k He_(k-1)."""
    q, a, sigma = mp.mpf(7), mp.mpf(3), mp.mpf("0.9")

    def hermite(k, x):
        before, value = mp.mpf(0), mp.mpf(1)
        for i in range(k):
            before, value = value, x * value - i * before
        return value

    for k in range(1, 8):
        v = mp.root(q + a, k)
        second = normal_mean(lambda x, k=k: (sigma**k * hermite(k, x / sigma) - a - q) ** 2, v, sigma)
        claim = verdicts()["Table 2", f"variance of the estimator, root, k = {k}"]
        assert claim.computed == pytest.approx(float(second), rel=1e-10)
        assert claim.verdict == "right"


@pytest.mark.parametrize(("p", "a", "d", "where"), [(1, 2, 5, "Table 3, p = 1"), (2, mp.e, 1.5, "Table 3, p = 2")])
def test_table_3_by_integrals_of_the_density(p, a, d, where):
    """At z = 4, sigma = 3; of power 1 the printed variance is five times the true one."""

    def height(z):
        return mp.exp(-mp.mpf(d) * mp.log(z / 3 + a) ** p)

    ends = [0, 4, 50, 1e3, 1e5, 1e9, mp.inf]
    mass = 2 * mp.quad(height, ends)
    variance = 2 * mp.quad(lambda z: z**2 * height(z), ends) / mass
    names = ("variance",) if p == 1 else ("variance, as far as the text goes", "variance, with + offset^2 added")
    for name in names:
        assert verdicts()[where, name].computed == pytest.approx(float(variance), rel=1e-9)
    assert [verdicts()[where, name].verdict for name in names] == (["wrong"] if p == 1 else ["wrong", "right"])
    assert verdicts()[where, "density"].computed == pytest.approx(float(height(4) / mass), rel=1e-10)
    cdf = 0.5 + float(mp.quad(height, [0, 4]) / mass)
    assert verdicts()[where, "CDF"].computed == pytest.approx(cdf, rel=1e-10)
    assert verdicts()[where, "CDF"].verdict == verdicts()[where, "density"].verdict == "right"
    if p == 1:
        assert verdicts()[where, "variance"].printed == "60.000000"
        quantile = 6 * ((1 - mp.mpf("0.8")) ** (-mp.mpf(1) / 4) - 1)
        assert verdicts()[where, "quantile of level 0.9"].computed == pytest.approx(float(quantile), rel=1e-12)


def test_the_other_claims():
    found = {claim.where: claim for claim in paper.claims()}
    group = found["Lemma 2.15"]
    assert group.computed == pytest.approx((0.1**0.5 + 0.4**0.5 + 2.5**0.5) ** 2)  # = 6.4
    assert (group.printed, group.verdict) == ("9.0000000", "loose, 1.41 times")
    assert (found["Section 5"].computed, found["Section 5"].verdict) == (pytest.approx(9 / 8), "wrong")
    assert found["Corollary 5.6"].verdict == "wrong"
    growth = {name: claim for (where, name), claim in verdicts().items() if where == "Section 3"}
    assert [claim.verdict for claim in growth.values()] == ["wrong", "right", "right"]
    tight = {name: claim.verdict for (where, name), claim in verdicts().items() if where == "Theorem 5.5"}
    assert len(tight) == 18
    assert all((verdict == "tight") == name.startswith("PRDP") for name, verdict in tight.items())
    assert tight["PRzCDP policy at P = 0.1: generalised Gaussian, power 0.25"] == "loose, 49.3 times"


@pytest.mark.parametrize(
    ("printed", "computed", "kind", "verdict"),
    [
        ("0.7", 0.6846, "value", "right"),
        ("0.7", 0.6499, "value", "wrong"),
        ("1,000,000", 1000000.4, "value", "right"),
        ("10.6", 10.604, POLICY, "tight"),
        ("10.6", 10.66, POLICY, "FALSE"),
        ("9", 6.4, POLICY, "loose, 1.41 times"),
        ("2", 2.0, LIMIT, "wrong"),
        ("2", 1.9, LIMIT, "right"),
        ("", 1.9, "value", "not printed"),
    ],
)
def test_verdicts_go_by_the_digits_printed(printed, computed, kind, verdict):
    assert Claim("", "", printed, computed, kind).verdict == verdict


def test_figures(table):
    with plots.style():
        found = {name: (figure, rows) for name, figure, rows in per_record_splitting.figures(table)}
    assert list(found) == ["splitting_law", "splitting_policy", "splitting_error", "claims"]
    figure, rows = found["claims"]
    assert len(rows) == len(paper.claims())  # all of them in the CSV
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert len(labels) == len([claim for claim in paper.claims() if claim.row["factor"] > 0 and wrong_or_loose(claim)])
    titles = [axes.get_title().split("\n")[0] for axes in found["splitting_error"][0].axes]
    assert titles == ["P = 5 at the largest record", "P = 0.05 at the largest record"]
    assert "illustration" in found["splitting_error"][0].legends[0].get_title().get_text()


def wrong_or_loose(claim):
    return claim.verdict not in ("right", "tight")


@pytest.mark.slow
def test_a_scale_may_be_given_in_place_of_an_anchor(command, folder):
    code, out, err = command(*WORDS, "sweep.release=clipped", "sweep.clip=1e6", "+sweep.scale=2e6")
    assert code == 0, err
    table = published.table(per_record_splitting, results.open_cells(folder).load())
    lost = np.minimum(skewed_records("breaches", BREACHES).values, 1e6).sum() - 41181144
    rows = table[table["quantity"] == "rmse"]
    assert rows["exact"].item() == pytest.approx(np.hypot(2e6, lost))
    with plots.style():
        assert [name for name, *_ in per_record_splitting.figures(table)] == [
            "splitting_law",
            "splitting_policy",
            "claims",
        ]
    assert "illustration" not in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("sweep.release=fourth_root", "+sweep.offset=10", "sweep.value_high=5"),
            "cannot use cell 0; valid: one sum",
        ),
        (
            ("sweep.release=gaussian", "sweep.value_high=5", "+sweep.group_by=state"),
            "cannot use cell 0; valid: one sum",
        ),
    ],
)
def test_mistakes_are_one_line(command, words, said):
    code, _, err = command(*WORDS, *words)
    assert code == 2
    assert err.count("\n") == 1
    assert said in err
