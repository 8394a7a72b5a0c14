"""Interior points as a mechanism of a sweep: laws, guarantees, what is simulated."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.hard_records import hard_data
from tcdp_sim.mechanisms.interior_point import InteriorPoint
from tcdp_sim.ordered.interior import exact_law, methods, sample
from tcdp_sim.ordered.interior.ledger import total
from tcdp_sim.privacy import TCDP, ZCDP, to_approx_dp
from tcdp_sim.study import groups

OPTIONS = {"accounting": "tight", "split": None, "beta": 0.05, "delta": 1e-6}


def point(**changed):
    told = {"method": "one_level", "noise": groups.named("noise", "sinh_normal_tight"), "shape": "solo", "draw": 0}
    return told | {"log2_k": 16, "n": 24, "rho": 0.5, "omega": 2.83} | changed


def built(**changed):
    described = json.loads(json.dumps(InteriorPoint.law(point(**changed), OPTIONS, None)))
    return InteriorPoint.build(described, None)


@pytest.mark.parametrize("method", methods.METHODS)
def test_every_method_simulates_what_it_says(method):
    mechanism = built(method=method, n=None, n_share=0.6)
    found = mechanism.simulate(np.random.default_rng(1), 500)
    assert all(values.shape == (500,) for values in found.values())
    assert set(found) <= {*mechanism.observables, *mechanism.events}
    if "fails_at_node" in found:
        fails = sum(found[f"fails_at_{step}"].astype(int) for step in ("level", "node", "end"))
        assert (fails + found["success"] == 1).all()
        assert ((found["depth"] > 0) == found["success"]).all()


def test_the_binary_search_is_run():
    """Its depths are those of searches: several of them, and success is a positive one."""
    found = built(method="binary_search", shape="skew", n=12).simulate(np.random.default_rng(1), 4000)
    assert len(np.unique(found["depth"])) > 3
    assert (found["success"] == (found["depth"] > 0)).all()
    assert (found["rank_error"] == np.abs(found["depth"] - 6)).all()


def test_only_the_stability_histogram_has_the_older_version():
    """Records of the other methods stay valid: what they draw has not changed."""
    versions = {method: InteriorPoint.law(point(method=method), OPTIONS, None)["version"] for method in methods.METHODS}
    assert versions.pop("stability") == 2
    assert set(versions.values()) == {3}


def test_success_is_the_exact_one():
    mechanism, trials = built(), 40000
    exact = exact_law.success_probability(mechanism.profile, mechanism.recipes[0])
    found = mechanism.simulate(np.random.default_rng(1), trials)["success"].mean()
    assert abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / trials)  # false alarm below 6e-7


@pytest.mark.parametrize("method", ["one_level", "stability", "surrogate_low"])
@pytest.mark.parametrize("moved", [0, 4])
def test_the_steps_of_failures_and_the_levels_have_their_exact_laws(method, moved):
    """Of 40,000 trials, at five standard errors and five trials: false alarm below 1e-4 for all levels together.

    Thresholds that are moved up, and a level that is hardly chosen by its quality, give levels without quality.
    """
    mechanism, trials = built(method=method, n=10, log2_k=8, shape="skew"), 40000
    (recipe,) = mechanism.recipes
    if moved:
        recipe = replace(recipe, lower=recipe.lower + moved, upper=recipe.upper + moved, epsilon_level=0.3)
        mechanism = replace(mechanism, recipes=(recipe,))
    found = mechanism.simulate(np.random.default_rng(1), trials)
    exact = exact_law.outcomes(mechanism.profile, recipe)
    assert sum(exact) == pytest.approx(1, abs=1e-9)
    levels = exact_law.level_law(mechanism.profile, recipe)
    drawn = np.bincount(found["level"].astype(int), minlength=len(levels)) / trials
    steps = [found[name].mean() for name in ("success", "fails_at_level", "fails_at_node", "fails_at_end")]
    for simulated, chance in ((np.array(steps), np.array(exact)), (drawn, levels)):
        assert (np.abs(simulated - chance) <= 5 * np.sqrt(chance * (1 - chance) / trials) + 5 / trials).all()
    assert min(exact[:2] if moved else exact[::2]) > 0.001


@pytest.mark.parametrize(
    ("method", "noise", "promise"),
    [
        ("one_level", "sinh_normal", TCDP(0.5, 2.83)),
        ("recursion_2", "sinh_normal_tight", TCDP(0.5, 2.83)),
        ("one_level", "gaussian", ZCDP(0.5)),
        ("exponential", None, ZCDP(0.5)),
        ("binary_search", None, ZCDP(0.5)),
        ("paper_recursion_2", "sinh_normal_tight", TCDP(0.5, 2.83)),
        ("surrogate_low", "sinh_normal_tight", TCDP(0.5, 2.83)),
    ],
)
def test_the_promise_is_the_target_and_what_the_ledger_says(method, noise, promise):
    spec = noise and groups.named("noise", noise)
    mechanism = built(method=method, noise=spec)
    assert mechanism.guarantee == promise
    if spec:
        spent = total(methods.ledger(method, methods.Budget(promise, spec["family"], spec["calibration"]), 16))
        assert type(spent) is type(promise)
        assert spent.rho == pytest.approx(promise.rho, rel=1e-9)


def test_the_stability_histogram_promises_less():
    """(epsilon, delta)-DP alone: as much as the target implies by Lemma 6, whose converse is false."""
    mechanism = built(method="stability", noise=None, n_share=0.9, n=None)
    assert mechanism.guarantee == to_approx_dp(TCDP(0.5, 2.83), 1e-6, method="paper")
    assert mechanism.recipes[0].floor > 1
    used = InteriorPoint.uses(point(method="stability"))
    assert "omega" in used
    assert "noise" not in used


def test_the_recursion_tells_at_which_step_it_failed():
    found = built(method="recursion_2", n=20).simulate(np.random.default_rng(1), 4000)
    assert all(found[f"fails_at_{step}"].any() for step in ("level", "node", "end"))


def test_the_step_at_fault_is_the_first_one():
    """Trial by trial: the level's quality from the literal tree, then whether any candidate was an interior point."""
    mechanism, trials = built(log2_k=5, n=12, shape="skew"), 4000
    parameters, k = mechanism.recipes[0], 2**5
    xs, rng = hard_data("skew", 12, k), np.random.default_rng
    heavy = [0, *(max(sum(x >> level == node for x in xs) for node in range(k >> level)) for level in range(6))]
    quality = np.array([min(heavy[i + 1] - parameters.lower, parameters.upper - heavy[i]) for i in range(6)])
    draws, found = sample(mechanism.profile, parameters, trials, rng=rng(1)), mechanism.simulate(rng(1), trials)
    failed, level = draws.depth == 0, quality[draws.level] <= 0
    assert (found["fails_at_level"] == (failed & level)).all()
    assert (found["fails_at_node"] == (failed & ~level & (draws.best == 0))).all()
    assert (found["fails_at_end"] == (failed & ~level & (draws.best > 0))).all()
    assert all(found[f"fails_at_{step}"].any() for step in ("level", "node", "end"))


def test_n_goes_before_n_share():
    told = point(n=24, n_share=0.5)
    assert InteriorPoint.law(told, OPTIONS, None)["n"] == 24
    assert "n_share" not in InteriorPoint.uses(told)


@pytest.mark.parametrize("split", [3, 0, "abc", [0.5, 0.5], [0.5, 0.6, -0.1], [0.5, 0.5, float("nan")]])
def test_a_split_that_is_none_is_one_line(split):
    with pytest.raises(UserError, match=r"split = .*"):
        InteriorPoint.check_options(OPTIONS | {"split": split})


def test_time_does_not_grow_with_the_domain():
    """The numbers drawn are counted, not the seconds: the generator is used up equally at 2^16 and at 2^65536."""

    class Counting(np.random.Generator):
        drawn = 0

        def standard_normal(self, size=None, **rest):
            Counting.drawn += np.prod(size if size is not None else rest["out"].shape)
            return super().standard_normal(size, **rest)

    used = []
    for log2_k in (16, 65536):
        Counting.drawn = 0
        built(log2_k=log2_k, n=60).simulate(Counting(np.random.SFC64(1)), 2000)
        used.append(Counting.drawn)
    assert used[1] < 4 * max(used[0], 2000)
