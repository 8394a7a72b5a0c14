"""The best noise of all as a mechanism of the framework: what it promises, what it draws, what its law holds.

Its tables are judged by sums written out here. Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors
has a false-alarm rate of 4e-8.
"""

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tcdp_sim.calibration.optimal import Tail, optimal_noise
from tcdp_sim.mechanisms.optimal_noise import OptimalNoise
from tcdp_sim.privacy import TCDP, ZCDP

RHO = 0.1
OMEGA = 0.75 / np.sqrt(RHO)


def law(**more):
    return OptimalNoise.law({"rho": RHO, "omega": OMEGA, "k": 1e6} | more, {}, None)


def mechanism(**more):
    return OptimalNoise.build(law(**more), np.zeros(0))


def masses(noise, points=200):
    """(points, their probabilities), both signs, from the table and the geometric tail alone."""
    table = np.array(noise.log_mass)
    i = np.arange(points)
    log_mass = table[np.minimum(i, len(table) - 1)] - noise.fall * np.maximum(i - len(table) + 1, 0)
    x = noise.offset + i
    inner = slice(1 if noise.offset == 0 else 0, None)
    return np.concatenate([-x[inner][::-1], x]), np.exp(np.concatenate([log_mass[inner][::-1], log_mass]))


def test_law_and_build_are_inverse_and_plain():
    description = law()
    assert json.loads(json.dumps(description)) == description
    assert mechanism().guarantee == TCDP(RHO, OMEGA)
    assert (mechanism().k, mechanism().quantile, mechanism().least) == (1e6, 12.5, 12.5)


def test_an_infinite_omega_is_zcdp():
    assert law(omega=np.inf) == law(omega=None)
    assert "Infinity" not in json.dumps(law(omega=np.inf))
    assert mechanism(omega=None).guarantee == ZCDP(RHO)


@pytest.mark.parametrize(
    ("beyond", "log10_tail"),
    [(10, -3.89), (10.5, -4.48), (11, -5.20), (11.5, -6.10), (12, -7.24), (12.5, -8.69), (13, -10.56)],
)
def test_the_least_tails_of_two_coordinates(beyond, log10_tail):
    """Numbers of an independent convex solver, to its last digit."""
    tail = optimal_noise(TCDP(RHO, OMEGA), Tail(beyond), coordinates=2).bounds
    assert np.log10(tail.upper) == pytest.approx(log10_tail, abs=0.0051)
    assert tail.upper - tail.lower <= 1e-3 * tail.upper


@pytest.mark.parametrize("omega", [OMEGA, 2 / np.sqrt(RHO), np.inf])
def test_the_promise_is_kept_and_used_up(omega):
    """D_a <= a rho / 2 in each of two bins that change by one, at 400 orders, by sums over 400 points."""
    _, p = masses(mechanism(omega=omega).noise)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    log_p, log_q = np.log(p[1:]), np.log(p[:-1])
    most = min(omega, 12.0)
    orders = np.linspace(1, most, 401)[1:]
    d = [np.log(np.exp(a * log_p + (1 - a) * log_q).sum()) / (a - 1) for a in orders]
    share = np.array(d) / orders / (RHO / 2)
    assert share.max() <= 1 + 1e-9
    assert share.max() >= 0.999


@pytest.mark.parametrize(("k", "omega"), [(1, OMEGA), (4, OMEGA), (1e6, OMEGA), (1e6, np.inf), (1e12, np.inf)])
def test_draws_have_the_law_of_the_table(k, omega):
    """P[largest > t] = 1 - (1 - P[|Z| > t])^k at every t that some 50 draws pass, and do not pass."""
    own = mechanism(k=k, omega=omega)
    draws = own.simulate(np.random.default_rng(11), 200_000)["linf_error"]
    x, p = masses(own.noise)
    assert set(np.unique(draws)) <= set(np.abs(x))
    checked = 0
    for t in np.unique(draws):
        chance = -np.expm1(k * np.log1p(-p[np.abs(x) > t].sum()))
        if 50 < chance * len(draws) < len(draws) - 50:
            checked += 1
            assert abs((draws > t).mean() - chance) <= 5.5 * np.sqrt(chance * (1 - chance) / len(draws))
    assert checked >= 2


def test_the_largest_of_four_is_that_of_four_draws():
    own = mechanism(k=4)
    plain = np.abs(own.noise.sample((200_000, 4), rng=np.random.default_rng(1))).max(axis=1)
    drawn = own.simulate(np.random.default_rng(2), 200_000)["linf_error"]
    for t in (1.5, 3.5, 5.5, 7.5):
        a, b = (plain > t).mean(), (drawn > t).mean()
        assert abs(a - b) <= 5.5 * np.sqrt((a * (1 - a) + b * (1 - b)) / 200_000)


def test_the_quantile_is_that_of_its_noise():
    own = mechanism()
    x, p = masses(own.noise)
    beyond = {t: -np.expm1(1e6 * np.log1p(-p[np.abs(x) > t].sum())) for t in (own.quantile, own.quantile - 1)}
    assert beyond[own.quantile] <= 0.05 < beyond[own.quantile - 1]
    assert own.thresholds == {"linf_error": {"optimum": 12.5}}


def test_a_worker_needs_no_search_and_no_exact_law():
    code = f"""
import json, sys
import numpy as np
from tcdp_sim.engine.simulate import Batch, Task, run
batch = Batch("0" * 64, json.loads({json.dumps(law())!r}), np.zeros(0, np.int64), (0,))
assert len(run(Task(1, 10, (batch,))).records) == 1
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    oracles = ("tcdp_sim.exact", "tcdp_sim.calibration.optimal")
    assert not [name for name in done.stdout.split() if name.startswith(oracles)]


def test_the_page_on_limits_shows_what_it_computes():
    path = Path(__file__).parents[2] / "docs" / "explained" / "limits.md"
    page = path.read_text("utf-8").partition("## The best noise")[2]
    example = doctest.DocTestParser().get_doctest(page, {}, "limits.md", None, None)
    assert len(example.examples) == 5
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
    rows = re.findall(r"^\| (?:zCDP|tCDP, ω sqrt\(ρ\) = (\S+)) \| 10\^(\d+) \| \*\*(\S+)\*\* \|", page, re.MULTILINE)
    assert len(rows) == 6
    for scaled, exponent, optimum in rows:
        omega = float(scaled) / np.sqrt(RHO) if scaled else None
        assert mechanism(omega=omega, k=10.0 ** int(exponent)).quantile == float(optimum)
