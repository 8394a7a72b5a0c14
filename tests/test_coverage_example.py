"""The example outside privacy: coverage of confidence intervals for a proportion, at a small size."""

import importlib.util
import itertools
import warnings
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import binomtest

import tcdp_sim

FILE = Path(__file__).parent.parent / "examples" / "coverage_of_intervals.py"
WIDTH = 5  # standard errors; false-alarm rate of one comparison: 6e-7


@pytest.fixture(scope="module")
def example():
    found = importlib.util.spec_from_file_location("coverage_of_intervals", FILE)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize("n", [1, 2, 17, 60])
@pytest.mark.parametrize(("interval", "method"), [("Wilson", "wilson"), ("Clopper-Pearson", "exact")])
def test_the_ends_are_those_of_scipy(example, interval, method, n):
    low, high = example.ends(interval, n)
    for x in range(n + 1):
        known = binomtest(x, n).proportion_ci(0.95, method=method)
        np.testing.assert_allclose((low[x], high[x]), known, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 17, 60])
def test_the_ends_that_scipy_does_not_have(example, n):
    x, z = np.arange(n + 1), 1.959963984540054
    low, high = example.ends("Wald", n)
    for end in (low, high):  # the ends solve (x - n p)^2 = z^2 x (n - x) / n
        np.testing.assert_allclose((x - n * end) ** 2, z**2 * x * (n - x) / n, rtol=1e-9, atol=1e-12)
    assert (low <= high).all()
    low, high = example.ends("Jeffreys", n)
    assert low[0] == 0
    assert high[-1] == 1
    np.testing.assert_allclose(betainc(x + 0.5, n - x + 0.5, low)[1:], 0.025, rtol=1e-9)
    np.testing.assert_allclose(betainc(x + 0.5, n - x + 0.5, high)[:-1], 0.975, rtol=1e-9)
    low, high = example.ends("Agresti-Coull", n)
    middle = [sum(binomtest(k, n).proportion_ci(0.95, method="wilson")) / 2 for k in range(n + 1)]
    np.testing.assert_allclose((low + high) / 2, middle, rtol=1e-9)  # that of the Wilson interval
    np.testing.assert_allclose((high - middle) ** 2 * (n + z**2), z**2 * np.multiply(middle, np.subtract(1, middle)))


@pytest.mark.parametrize("interval", ["Wald", "Wilson", "Agresti-Coull", "Jeffreys", "Clopper-Pearson"])
def test_the_exact_coverage_is_the_sum_over_all_samples(example, interval):
    n, p = 7, Fraction(1, 5)
    low, high = example.ends(interval, n)
    total = Fraction(0)
    for sample in itertools.product((0, 1), repeat=n):
        x = sum(sample)
        if low[x] <= p <= high[x]:
            total += p**x * (1 - p) ** (n - x)
    assert example.coverage(interval, n, float(p)) == pytest.approx(float(total), rel=1e-12)


def test_the_statements_of_the_paper(example):
    """With integers and fractions: Wald's interval contains p if (x - n p)^2 <= z^2 x (n - x) / n."""
    square = Fraction(1.959963984540054) ** 2

    def wald(n, p):
        within = [x for x in range(n + 1) if (x - n * p) ** 2 <= square * x * (n - x) / n]
        return float(sum(comb(n, x) * p**x * (1 - p) ** (n - x) for x in within))

    for n, p in example.PAIRS:
        exact = Fraction(str(p))
        assert example.coverage("Wald", n, p) == pytest.approx(wald(n, exact), rel=1e-9)
    assert f"{example.coverage('Wald', 591, 0.005):.3f}" == "0.945"
    assert f"{example.coverage('Wald', 592, 0.005):.3f}" == "0.792"
    assert abs(example.coverage("Wald", 30, 0.2) - 0.95) < abs(example.coverage("Wald", 98, 0.2) - 0.95)
    grid = np.linspace(0.001, 0.999, 400)
    at = {interval: np.array([example.coverage(interval, 50, p) for p in grid]) for interval in example.INTERVALS}
    assert (at["Clopper-Pearson"] >= 0.95 - 1e-12).all()
    departures = {interval: np.mean(abs(values - 0.95)) for interval, values in at.items()}
    assert max(departures, key=departures.get) == "Wald"


def test_the_simulation_and_the_table(example):
    with warnings.catch_warnings():
        warnings.simplefilter("error", tcdp_sim.Contradiction)
        ds = example.simulated([(17, 0.5), (30, 0.2)], 2000)
    found = ds.where((ds["n"] == 30) & (ds["p"] == 0.2), drop=True)
    assert found.sizes["cell"] == 5
    assert (abs(found["covered"] - found["covered_exact"]) < WIDTH * found["covered_mcse"]).all()
    table = example.table(ds)
    assert list(table.index) == list(example.INTERVALS)
    assert table.shape == (5, 2)
    assert table[30, 0.2]["Wald"].endswith("(0.9463)")
    same = ds["covered"].where((ds["n"] == 17) & (ds["p"] == 0.5), drop=True)
    assert (same == same[0]).all()  # all five intervals contain 1/2 after the same x, and see the same samples


def test_the_figure_shows_every_cell(example, tmp_path, monkeypatch):
    monkeypatch.setattr(example, "DRAWN", 3)
    monkeypatch.setattr(example, "CURVE", 20)
    monkeypatch.setattr(example, "PAIRS", [(17, 0.5)])
    example.main(500, tmp_path)
    assert (tmp_path / "coverage_of_intervals.png").stat().st_size > 10_000
    lines = (tmp_path / "coverage_of_intervals.csv").read_text().splitlines()
    assert len(lines) == 1 + 5 * 3
