"""Gap-Max as a mechanism of a sweep: its law, its identity, its simulation against the exact laws, its bad input.

Statistical tests have fixed seeds and a p-value of 1e-6 each; there are about 60 of them.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from tcdp_sim import exact
from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms.gap_max import GapMax
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP
from tcdp_sim.selection.calibration import ALGORITHMS, WITH_NOISE, WITH_TOP_M, has_accounting
from tcdp_sim.study import groups

SURE = 1e-6
OPTIONS = {"beta": 0.05}
methods = pytest.mark.parametrize("algorithm", ALGORITHMS)


def point(algorithm="obvious_answer", noise="gaussian", **changed):
    base = {
        "algorithm": algorithm,
        "noise": groups.named("noise", noise) if noise else None,
        "accounting": "tight",
        "m": 1.0,
    }
    return base | {"k": 1000.0, "gap": 80.0, "rho": 0.01, "omega": 20.0, "delta": 1e-6} | changed


def law(*arguments, **changed):
    return GapMax.law(point(*arguments, **changed), OPTIONS, None)


def built(*arguments, **changed):
    return GapMax.build(law(*arguments, **changed), None)


@methods
@pytest.mark.parametrize(
    ("changed", "concerns"),
    [
        ({"rho": 0.02}, set(ALGORITHMS)),
        ({"k": 2000.0}, set(ALGORITHMS)),
        ({"gap": 81.0}, set(ALGORITHMS)),
        ({"accounting": "paper"}, set(ALGORITHMS) - {"obvious_answer"}),
        ({"delta": 1e-7}, {"noisy_max_gaussian", "stability"}),
        ({"omega": 30.0}, set()),
    ],
    ids=lambda value: "-".join(sorted(value)),  # of a set the order differs from process to process
)
def test_a_law_holds_only_what_the_method_depends_on_and_says_so(algorithm, changed, concerns):
    differs = law(algorithm, **changed) != law(algorithm)
    assert differs == (algorithm in concerns)
    (axis,) = changed
    assert (axis in GapMax.uses(point(algorithm))) == differs


# a selection by noise that is not log-concave is refused
@pytest.mark.parametrize("noise", [name for name in groups.options("noise") if name != "generalized_gaussian"])
@methods
def test_methods_without_free_noise_ignore_it(algorithm, noise):
    free = algorithm in WITH_NOISE
    assert (law(algorithm, noise) == law(algorithm)) == (noise == "gaussian" or not free)
    assert ("noise" in GapMax.uses(point(algorithm, noise))) == free
    if not free:
        assert law(algorithm, None) == law(algorithm, noise)


def test_the_guarantees():
    assert built("generalized_histogram").guarantee == ZCDP(0.01) == built("exponential_mechanism").guarantee
    assert built("obvious_answer", "sinh_normal").guarantee == TCDP(0.01, 20)
    epsilon = np.sqrt(0.02)
    assert built("exponential_mechanism", accounting="paper").guarantee == PureDP(epsilon)
    largest = brentq(lambda e: e * np.tanh(e / 2) - 0.01, 0.1, 0.2, xtol=1e-15)
    assert largest > epsilon * 1.0005
    for accounting, value in (("paper", epsilon), ("tight", pytest.approx(largest, rel=1e-12))):
        for algorithm in ("permute_and_flip", "noisy_max_laplace", "sparse_vector"):
            promise = built(algorithm, accounting=accounting).guarantee
            assert isinstance(promise, PureDP)
            assert promise.epsilon == value
        cases = (("noisy_max_gaussian", None), ("stability", None), ("obvious_answer", "truncated_laplace"))
        for algorithm, noise in cases:
            promise = built(algorithm, *filter(None, [noise]), accounting=accounting).guarantee
            assert isinstance(promise, ApproxDP)
            assert (promise.epsilon, promise.delta) == (value, 1e-6)


def test_only_noise_for_zcdp_and_tcdp_has_one_accounting():
    """Algorithm 22 with Gaussian noise: the axis is not in its law. With Laplace noise it is."""
    assert not has_accounting("obvious_answer", "gaussian")
    assert "accounting" not in law("obvious_answer", "gaussian")
    assert law("obvious_answer", "laplace") != law("obvious_answer", "laplace", accounting="paper")


def exact_arguments(mechanism):
    """(algorithm, its noise or epsilon, delta) of the exact laws."""
    algorithm, parameters = mechanism.algorithm, law(mechanism.algorithm)["parameters"]
    if algorithm in ("exponential_mechanism", "permute_and_flip", "sparse_vector"):
        return algorithm, parameters["epsilon"], None
    return "noisy_max" if algorithm.startswith("noisy") else algorithm, mechanism.noise, parameters.get("delta")


@methods
@pytest.mark.parametrize("k", [1000.0, 1e12])
def test_simulation_agrees_with_the_exact_law(algorithm, k):
    known, noise, delta = exact_arguments(built(algorithm, k=k))
    gap = exact.required_gap(known, noise, k, 0.4, delta=delta).estimate
    values = built(algorithm, k=k, gap=gap).simulate(np.random.default_rng(4), 20_000)
    right = exact.selection_probability(known, noise, gap, k, delta=delta).estimate
    assert stats.binomtest(int(values["top_selected"].sum()), 20_000, right).pvalue > SURE
    assert np.array_equal(values["top_selected"], (values["needed_gap"] < gap) | (values["needed_gap"] == 0))


@methods
@pytest.mark.parametrize("k", [10.0, 1e6])
def test_sufficient_gaps_suffice(algorithm, k):
    mechanism = built(algorithm, k=k)
    known, noise, delta = exact_arguments(mechanism)
    bounds = mechanism.thresholds["needed_gap"]
    assert ("theorem_20" in bounds) == (algorithm in WITH_NOISE)
    if "proved" in bounds:
        fails = exact.selection_failure(known, noise, bounds["proved"], k, delta=delta)
        claimed = 1 / k if algorithm == "obvious_answer" else 0.05
        assert fails.lower <= claimed * (1 + 1e-9)


def test_erratum_e6_by_simulation():
    """Noise of scale 10 at the gap where P[|Z| >= gap / 2] = 0.01 / k: success 0.810 at k = 1e6, not nearly one."""
    mechanism = built("obvious_answer", rho=0.005, k=1e6)
    assert mechanism.noise == Gaussian(10.0)
    gap = mechanism.thresholds["needed_gap"]["theorem_20"]
    assert gap == pytest.approx(20 * stats.norm.isf(0.005e-6), rel=1e-12)
    needed = mechanism.simulate(np.random.default_rng(2), 100_000)["needed_gap"]
    assert abs((needed < gap).mean() - 0.810) < 4.9 * np.sqrt(0.81 * 0.19 / 1e5) + 5e-4
    histogram = built("generalized_histogram", rho=0.005, k=1e6)
    gap = histogram.thresholds["needed_gap"]["theorem_20"]
    assert (histogram.simulate(np.random.default_rng(2), 20_000)["needed_gap"] > gap).mean() < 0.01


@pytest.mark.parametrize("algorithm", WITH_TOP_M)
def test_more_winners_need_more_noise(algorithm):
    one, four = built(algorithm), built(algorithm, m=4.0)
    assert four.m == 4
    assert four.noise.scale == pytest.approx(2 * one.noise.scale, rel=1e-3)  # each selection has a quarter of rho
    assert four.simulate(np.random.default_rng(1), 10)["needed_gap"].shape == (10,)
    assert one.work < four.work


def test_noise_tuned_to_the_number_of_candidates():
    few, many = (built("obvious_answer", "sinh_normal_tuned", k=k).noise for k in (10.0, 1e12))
    assert many.knee < few.knee


def test_cost_does_not_depend_on_k():
    assert built(k=10.0).work == built(k=1e300).work
    assert built(k=1e300).simulate(np.random.default_rng(1), 5)["needed_gap"].shape == (5,)


def test_mistakes_in_the_sweep_itself():
    with pytest.raises(UserError, match=r"sweep.algorithm = best"):
        GapMax.uses(point("best"))
    with pytest.raises(UserError, match=r"sweep.noise is missing; obvious_answer needs one"):
        GapMax.uses(point("obvious_answer", None))
    for beta in (2, True, "0.05", float("nan")):
        with pytest.raises(UserError, match=r"mechanism.beta = .* is not valid; valid: one number, 0 < beta < 1"):
            GapMax.check_options({"beta": beta})
