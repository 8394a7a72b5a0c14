"""Old names of public functions and arguments warn, and give what the new ones give."""

import importlib
import inspect

import numpy as np
import pytest

from tcdp_sim import bounds, exact, privacy
from tcdp_sim.noise import (
    DiscreteGaussian,
    Gaussian,
    Laplace,
    LatticeNoise,
    RoundedGaussian,
    SinhSquared,
    TruncatedLaplace,
)
from tcdp_sim.privacy import TCDP, ZCDP
from tcdp_sim.releases import AdditiveRelease, ClippedRelease, Root, TransformedRelease

NOISE = Gaussian(2.0)
ONE, OTHER = exact.Mixture(NOISE), exact.Mixture(NOISE, (1.0,))
ORDERS, EPSILONS = np.array([1.5, 2.0]), np.array([0.1, 0.5])
FUNCTIONS = {
    "bounds.told_apart": "packing_divergence",
    "bounds.lower.told_apart": "packing_divergence",
    "exact.spent_delta": "worst_delta",
    "exact.spent_renyi": "worst_renyi",
    "privacy.chance_drawn": "inclusion_probability",
    "privacy.drawn_again": "draw_count_probabilities",
    "privacy.drawn_more_often": "draw_count_tail",
    "privacy.draws": "draw_sizes",
    "privacy.group": "group_privacy",
    "privacy.lemma_38_delta": "approx_zcdp_delta",
    "privacy.lemma_8": "renyi_to_approx_dp",
}
ARGUMENTS = [  # function, positional arguments, old keyword, new keyword, value
    (privacy.amplify, (privacy.PureDP(1.0),), "sampling_fraction", "sampling_probability", 0.1),
    (privacy.draw_sizes, (), "sampling_fraction", "sampling_probability", 0.1),
    (privacy.draw_count_probabilities, (), "sampling_fraction", "sampling_probability", 0.1),
    (privacy.draw_count_tail, (), "sampling_fraction", "sampling_probability", 0.1),
    (privacy.inclusion_probability, (), "sampling_fraction", "sampling_probability", 0.1),
    (privacy.cheat_sheet, (TCDP(0.1, 5.0), 1e-6, 1.0), "sampling_fraction", "sampling_probability", 0.1),
    (exact.subsampled, (NOISE, 1.0), "sampling_fraction", "sampling_probability", 0.1),
    (exact.subsampled_renyi, (NOISE, 1.0, 2.0), "sampling_fraction", "sampling_probability", 0.1),
    (exact.subsampled_hockey_stick, (NOISE, 1.0, 0.1), "sampling_fraction", "sampling_probability", 0.1),
    (exact.dominating_pairs, (NOISE, 1.0), "sampling_fraction", "sampling_probability", 0.1),
    (exact.equilateral_renyi, (NOISE, 1.0, 2), "sampling_fraction", "sampling_probability", 0.1),
    (exact.renyi_divergence_between, (ONE, OTHER), "orders", "order", ORDERS),
    (exact.hockey_stick_between, (ONE, OTHER), "epsilons", "epsilon", EPSILONS),
    (exact.max_abs_sf, (NOISE,), "count", "k", 7),
    (exact.max_quantile, (NOISE, 7), "q", "level", 0.9),
    (exact.max_abs_quantile, (NOISE, 7), "q", "level", 0.9),
    (exact.PrivacyLossDistribution(NOISE, 1.0).ppf, (), "q", "level", 0.9),
    (exact.top_stays_probability, (NOISE, [5, 3]), "bins", "k", 7),
    (exact.spurious_wins_probability, (NOISE, [5, 3]), "bins", "k", 7),
    (exact.required_gap, ("noisy_max", NOISE, 4), "beta", "failure", 0.1),
    (bounds.fano, (7,), "beta", "failure", 0.1),
    (bounds.packing_divergence, (7,), "beta", "failure", 0.1),
    (bounds.histogram_records, (ZCDP(0.1), 7), "beta", "failure", 0.1),
    (bounds.histogram_error, (ZCDP(0.1), 7), "beta", "failure", 0.1),
    (bounds.selection_gap, (ZCDP(0.1), 7), "beta", "failure", 0.1),
    (bounds.interior_records, (ZCDP(0.1), 7), "beta", "failure", 0.1),
    (bounds.histogram_error_bound, (NOISE, 7), "beta", "failure", 0.1),
    (bounds.zcdp_printed_radius, (0.1, 7), "beta", "failure", 0.1),
    (bounds.least_sample_size, (TCDP(0.001, 10.0),), "bins", "k", 1e6),
    (NOISE.printed_radius, (0.1, 7), "beta", "failure", 0.1),
    *((each.accuracy_radius, (7,), "beta", "failure", 0.1) for each in (NOISE, Laplace(1.0), SinhSquared(1.0, 8.0))),
    *((each.closed_renyi, (1.0,), "orders", "order", ORDERS) for each in (NOISE, Laplace(1.0), SinhSquared(1.0, 8.0))),
    *((each.closed_affine_renyi, (0.1, 1.0), "orders", "order", ORDERS) for each in (NOISE, Laplace(1.0))),
    *((each.closed_hockey_stick, (1.0,), "epsilons", "epsilon", EPSILONS) for each in (NOISE, Laplace(1.0))),
    (TruncatedLaplace(1.0, 5.0).closed_hockey_stick, (1.0,), "epsilons", "epsilon", EPSILONS),
]
REST = {"scheme": "poisson", "records": 100, "times": 2, "threshold": 1.0}


def same(one, other):
    """Return True if the answers have the same bits; NaN equals NaN."""
    return repr(one) == repr(other)


@pytest.mark.parametrize(("old", "new"), FUNCTIONS.items())
def test_an_old_function_is_the_new_one(old, new):
    package, _, name = old.rpartition(".")
    module = importlib.import_module(f"tcdp_sim.{package}")
    with pytest.warns(DeprecationWarning, match=rf"\.{name} is now .*\.{new}$"):
        assert getattr(module, name) is getattr(module, new)


@pytest.mark.parametrize(("function", "given", "old", "new", "value"), ARGUMENTS)
def test_an_old_argument_gives_the_same_answer(function, given, old, new, value):
    rest = {name: REST[name] for name in inspect.signature(function).parameters if name in REST}
    with pytest.warns(DeprecationWarning, match=rf"the argument {old}= of .* is now {new}="):
        before = function(*given, **rest, **{old: value})
    assert same(before, function(*given, **rest, **{new: value}))


def test_an_old_argument_of_a_profile_gives_the_same_profile():
    def profile(epsilon):
        return np.exp(-9 - epsilon)

    with pytest.warns(DeprecationWarning, match="sampling_fraction= .* is now sampling_probability="):
        before = privacy.amplified_profile(profile, sampling_fraction=0.1, scheme="poisson")
    assert before(0.2) == privacy.amplified_profile(profile, 0.1, "poisson")(0.2)


def test_a_generator_in_front_draws_the_same_numbers():
    def rng():
        return np.random.default_rng(1)

    lattices = LatticeNoise(0.0, (0.0, -1.0), 1.0), DiscreteGaussian(1.0), RoundedGaussian(1.0)
    lattices = *lattices, *(each.with_density() for each in lattices[:2])
    for noise in (NOISE, Laplace(1.0), SinhSquared(1.0, 8.0), TruncatedLaplace(1.0, 5.0), *lattices):
        with pytest.warns(DeprecationWarning, match=r"\.sample\(\) takes its generator as rng=$"):
            before = noise.sample(rng(), 3)
        np.testing.assert_array_equal(before, noise.sample(3, rng=rng()))
        one, other = np.empty(3), np.empty(3)
        with pytest.warns(DeprecationWarning, match=r"\.fill\(\) takes its generator as rng=$"):
            noise.fill(rng(), one)
        noise.fill(other, rng=rng())
        np.testing.assert_array_equal(one, other)
    for release in (AdditiveRelease(NOISE), ClippedRelease(4.0, 1.0), TransformedRelease(Root(2), 1.0)):
        with pytest.warns(DeprecationWarning, match=r"\.sample\(\) takes its generator as rng=$"):
            before = release.sample(rng(), 2.0, 3)
        np.testing.assert_array_equal(before, release.sample(2.0, 3, rng=rng()))


def test_a_pair_of_numbers_gives_what_the_guarantee_gives():
    with pytest.warns(DeprecationWarning, match=r"cheat_sheet\(\) takes guarantee=TCDP"):
        assert privacy.cheat_sheet(0.1, 5.0, 1e-6, 1.0) == privacy.cheat_sheet(TCDP(0.1, 5.0), 1e-6, 1.0)
    with pytest.warns(DeprecationWarning, match=r"cheat_sheet\(\) takes guarantee=TCDP"):
        sheet = privacy.cheat_sheet(rho=0.1, omega=5.0, delta=1e-6, epsilon=1.0)
    assert sheet == privacy.cheat_sheet(TCDP(0.1, 5.0), 1e-6, 1.0)
    with pytest.warns(DeprecationWarning, match=r"least_sample_size\(\) takes guarantee=TCDP"):
        assert bounds.least_sample_size(0.001, 10.0, 1e6) == bounds.least_sample_size(TCDP(0.001, 10.0), 1e6)
