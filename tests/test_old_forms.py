"""Old forms of calls in interior, thresholds, selection, samplers, statistics, results and data warn and still work."""

import numpy as np
import pytest

from tcdp_sim import interior, results, samplers, statistics, thresholds
from tcdp_sim.data import Counts
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.privacy import TCDP
from tcdp_sim.samplers import ImportanceSampler, fit_importance_sampler
from tcdp_sim.selection import GeneralizedHistogram, NoisyMax, ObviousAnswer, Scores, SparseVector, Stability

BUDGET = TCDP(0.5, 20.0)
SPLIT = interior.split_budget(BUDGET, 10, split=(0.4, 0.3, 0.3), family="gaussian")
PUBLIC_PARAMETERS = interior.release_parameters(SPLIT, 10, 2000)
PROFILE = interior.LevelProfile.of([100] * 1000 + [700] * 1000, k=1024)
SCORES = Scores([20.0, 19.0, 18.0], others=100, sensitivity=1.0)
RECORDS = [i % 16 for i in range(6000)]
NORMAL = fit_importance_sampler(lambda x: -x * x / 2, np.linspace(-40, 40, 81))
SAMPLES = np.random.default_rng(3).laplace(size=(2, 2000))


def rng():
    return np.random.default_rng(1)


OLD_FORMS = {  # an old form -> the new one, and how many warnings the old one gives
    "samplers.sample_max": (
        lambda: samplers.sample_max(Laplace(1.0), rng(), 1e6, 3),
        lambda: samplers.sample_max(Laplace(1.0), 1e6, 3, rng=rng()),
        1,
    ),
    "samplers.sample_abs_max": (
        lambda: samplers.sample_abs_max(Laplace(1.0), rng(), count=1e6, size=3),
        lambda: samplers.sample_abs_max(Laplace(1.0), 1e6, 3, rng=rng()),
        2,
    ),
    "samplers.sample_extremes": (
        lambda: samplers.sample_extremes(Laplace(1.0), count=1e6, size=3, rng=rng()),
        lambda: samplers.sample_extremes(Laplace(1.0), 1e6, 3, rng=rng()),
        1,
    ),
    "samplers.sample_top": (
        lambda: samplers.sample_top(Laplace(1.0), rng(), 1e6, 2, 3),
        lambda: samplers.sample_top(Laplace(1.0), 1e6, 2, 3, rng=rng()),
        1,
    ),
    "samplers.first_above": (
        lambda: samplers.first_above(Laplace(1.0), rng(), 5.0, 3),
        lambda: samplers.first_above(Laplace(1.0), 5.0, 3, rng=rng()),
        1,
    ),
    "samplers.ImportanceSampler.sample": (lambda: NORMAL.sample(rng(), 3), lambda: NORMAL.sample(3, rng=rng()), 1),
    "interior.split_budget": (
        lambda: interior.split_budget(0.5, 20.0, 10, family="gaussian"),
        lambda: interior.split_budget(BUDGET, 10, family="gaussian"),
        1,
    ),
    "interior.best_split": (
        lambda: interior.best_split(rho=0.5, omega=20.0, log2_k=10, family="gaussian", calibration="paper"),
        lambda: interior.best_split(BUDGET, 10, "gaussian", calibration="paper"),
        1,
    ),
    "interior.ledger": (
        lambda: interior.ledger(SPLIT, 0.5, 20.0, (0.4, 0.3, 0.3), "tight", "tight"),
        lambda: interior.ledger(SPLIT, BUDGET, (0.4, 0.3, 0.3), "tight", "tight"),
        1,
    ),
    "interior.release_parameters": (
        lambda: interior.release_parameters(bought=SPLIT, log2_k=10, n=100, beta=0.1),
        lambda: interior.release_parameters(SPLIT, 10, 100, 0.1),
        2,
    ),
    "interior.required_records": (
        lambda: interior.required_records(parts=SPLIT, log2_k=10, beta=0.1),
        lambda: interior.required_records(SPLIT, 10, 0.1),
        2,
    ),
    "interior.thresholds": (
        lambda: interior.thresholds(parts=SPLIT, log2_k=10, n=100, beta=0.1),
        lambda: interior.thresholds(SPLIT, 10, 100, 0.1),
        2,
    ),
    "interior.tcdp_least_n": (
        lambda: interior.tcdp_least_n(0.5, 20.0, 1000, beta=0.1),
        lambda: interior.tcdp_least_n(BUDGET, 1000, 0.1),
        2,
    ),
    "interior.zcdp_least_n": (
        lambda: interior.zcdp_least_n(0.5, 1000, beta=0.1),
        lambda: interior.zcdp_least_n(0.5, 1000, 0.1),
        1,
    ),
    "interior.sample": (
        lambda: interior.sample(PROFILE, rng=rng(), trials=5, recipe=PUBLIC_PARAMETERS).depth,
        lambda: interior.sample(PROFILE, PUBLIC_PARAMETERS, 5, rng=rng()).depth,
        1,
    ),
    "interior.sample, positional": (
        lambda: interior.sample(PROFILE, PUBLIC_PARAMETERS, rng(), 5).depth,
        lambda: interior.sample(PROFILE, PUBLIC_PARAMETERS, 5, rng=rng()).depth,
        1,
    ),
    "interior.released_points": (
        lambda: interior.released_points(PROFILE, interior.sample(PROFILE, PUBLIC_PARAMETERS, 5, rng=rng()), rng()),
        lambda: interior.released_points(PROFILE, interior.sample(PROFILE, PUBLIC_PARAMETERS, 5, rng=rng()), rng=rng()),
        1,
    ),
    "thresholds.private_interior_point": (
        lambda: thresholds.private_interior_point(RECORDS, 16, 0.5, 20.0, rng(), 0.1),
        lambda: thresholds.private_interior_point(RECORDS, 16, BUDGET, 0.1, rng=rng()),
        2,
    ),
    "thresholds.private_quantiles": (
        lambda: thresholds.private_quantiles(RECORDS, 16, rho=0.5, omega=20.0, rng=rng(), levels=(0.2, 0.7), beta=0.1),
        lambda: thresholds.private_quantiles(RECORDS, 16, BUDGET, (0.2, 0.7), 0.1, rng=rng()),
        3,
    ),
    "thresholds.private_cdf": (
        lambda: thresholds.private_cdf(RECORDS, 16, 0.5, 20.0, rng(), "medians", levels=2, beta=0.1),
        lambda: thresholds.private_cdf(RECORDS, 16, BUDGET, "medians", 2, 0.1, rng=rng()),
        4,
    ),
    "statistics.epsilon_from_losses": (
        lambda: statistics.epsilon_from_losses(SAMPLES[0], 0.01, confidence=0.8),
        lambda: statistics.epsilon_from_losses(SAMPLES[0], 0.01, 0.8),
        1,
    ),
    "statistics.epsilon_from_outputs": (
        lambda: statistics.epsilon_from_outputs(SAMPLES[0], SAMPLES[1] + 1, 0.01, confidence=0.8),
        lambda: statistics.epsilon_from_outputs(SAMPLES[0], SAMPLES[1] + 1, 0.01, 0.8),
        1,
    ),
}
SELECTIONS = {
    "noisy max": NoisyMax(Laplace(1.0)),
    "Algorithm 21": GeneralizedHistogram(Laplace(1.0)),
    "Algorithm 22": ObviousAnswer(Laplace(1.0)),
    "stability": Stability(Laplace(1.0), 1e-3),
    "sparse vector": SparseVector(1.0, 10.0),
}


@pytest.mark.parametrize(("old", "new", "told"), OLD_FORMS.values(), ids=OLD_FORMS)
def test_an_old_form_warns_and_gives_the_same(old, new, told):
    with pytest.warns(DeprecationWarning, match="is now|takes") as warned:
        found = old()
    assert len(warned) == told
    assert {each.filename for each in warned} == {__file__}
    np.testing.assert_equal(found, new())


@pytest.mark.parametrize("method", SELECTIONS.values(), ids=SELECTIONS)
def test_selections_take_the_generator_in_its_old_place(method):
    with pytest.warns(DeprecationWarning, match="takes its generator as rng="):
        found = method.select(SCORES, rng(), 50)
    np.testing.assert_array_equal(found, method.select(SCORES, 50, rng=rng()))
    with pytest.warns(DeprecationWarning, match="takes its generator as rng="):
        found = method.needed_gap(1e6, rng(), 50)
    np.testing.assert_array_equal(found, method.needed_gap(1e6, 50, rng=rng()))


@pytest.mark.parametrize(
    ("package", "old", "new"),
    [
        (interior, "parts", interior.split_budget),
        (interior, "recipe", interior.release_parameters),
        (interior, "Recipe", interior.ReleaseParameters),
        (interior, "outputs", interior.released_points),
        (interior, "required_n", interior.required_records),
        (samplers, "importance", fit_importance_sampler),
        (samplers, "Importance", ImportanceSampler),
        (results, "chance_of_quantiles", results.cell_p_values),
        (results, "chances_of_quantile", results.table_p_values),
    ],
)
def test_an_old_name_warns_and_gives_the_new_thing(package, old, new):
    with pytest.warns(DeprecationWarning, match=rf"{package.__name__}\.{old} is now {package.__name__}\.\w+$"):
        assert getattr(package, old) is new
    assert old not in package.__all__


def test_methods_with_old_words_warn():
    records = thresholds.Records.of([1, 2, 3, 4], 8)
    with pytest.warns(DeprecationWarning, match=r"argument p= of Records\.quantile\(\) is now level="):
        assert records.quantile(p=0.5) == records.quantile(level=0.5) == 2
    with pytest.warns(DeprecationWarning, match=r"^LevelProfile\.fhat is now LevelProfile\.heaviest_at$"):
        assert PROFILE.fhat(range(3)).tolist() == PROFILE.heaviest_at(range(3)).tolist()


def test_the_size_of_a_domain_of_counts_is_k():
    with pytest.warns(DeprecationWarning, match="the argument bins= of Counts"):
        counts = Counts("coins", [3, 5], bins=4, source="tossed by hand")
    with pytest.warns(DeprecationWarning, match=r"^Counts\.bins is now Counts\.k$"):
        assert counts.bins == counts.k == 4


def test_a_guarantee_of_another_kind_is_refused():
    with pytest.raises(ValueError, match=r"guarantee = .* is not valid; valid: TCDP\(rho, omega\) or ZCDP\(rho\)"):
        interior.split_budget(Gaussian(1.0), 10)


def test_too_few_records_are_told_at_the_callers_line():
    with pytest.warns(UserWarning, match="n = 3 records") as warned:
        thresholds.private_interior_point([3] * 3, 16, BUDGET, rng=rng())
    assert warned[0].filename == __file__
