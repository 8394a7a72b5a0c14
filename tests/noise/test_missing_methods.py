"""Every public entry with a noise of six methods: it works, or it names the method whose definition makes it work."""

import importlib
import inspect
import re
from dataclasses import dataclass

import composed_pairs as of_pairs
import numpy as np
import pytest
from foreign_noises import Logistic, Student

from tcdp_sim import bounds, calibration, exact, per_record, samplers
from tcdp_sim.accounting import Additive
from tcdp_sim.calibration import search
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.mechanisms.privacy_loss import PrivacyLoss
from tcdp_sim.noise import FAMILIES, Noise, SinhNormal
from tcdp_sim.noise.missing import cannot, defines, undefined
from tcdp_sim.ordered import interior
from tcdp_sim.ordered.interior.records_needed import BudgetSplit
from tcdp_sim.ordered.interior.release import ReleaseParameters
from tcdp_sim.per_record import AdditiveRelease
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP
from tcdp_sim.samplers.extremes import first_above
from tcdp_sim.samplers.log_extremes import sample_max_log
from tcdp_sim.samplers.losses import hockey_stick_draws, loss_tail_draws, renyi_excess_draws
from tcdp_sim.selection.calibration import selection_parameters


@dataclass(frozen=True, eq=False)
class Six(Logistic):
    """Logistic noise from the six required methods."""

    family = "six"


class Definitions:
    """All else that logistic noise can say of itself, by hand: what the author of a plug-in would define."""

    log_concave = True
    log_concave_size = True

    def privacy_loss(self, y, shift):
        m, h = np.subtract(y, np.divide(shift, 2)) / (2 * self.scale), np.divide(shift, 4 * self.scale)
        return -4 * np.arctanh(np.tanh(m) * np.tanh(h))

    def largest_loss(self, shift):
        return shift / self.scale

    def isf_log(self, log_p):
        return self.scale * (np.log(-np.expm1(log_p)) - log_p)

    def affine_max_order(self, log_scale, shift):  # the tails are those of Laplace noise
        return -1 / np.expm1(log_scale) if log_scale < 0 else np.inf

    def smooth_shift(self, guarantee, smoothing):
        return 0.1

    @classmethod
    def can_meet(cls, guarantee):
        return True

    @classmethod
    def by_theorem(cls, guarantee, sensitivity, coordinates):  # epsilon-DP implies all the others that are asked for
        epsilon = getattr(guarantee, "epsilon", 0) or np.sqrt(2 * guarantee.rho)
        return cls(coordinates * sensitivity / epsilon)


def with_methods(names):
    """The family of six methods and these."""
    return dataclass(frozen=True, eq=False)(type("Six", (Six,), {name: vars(Definitions)[name] for name in names}))


rng = np.random.default_rng
TIGHT, PAPER = {"family": "six", "calibration": "tight"}, {"family": "six", "calibration": "paper"}
LOSS, CONCAVE = {"privacy_loss"}, {"log_concave"}
ENTRIES = {  # what is called with a noise -> the methods that it names, one after another, until it works
    exact.Mixture: (lambda noise: exact.Mixture(noise), set()),
    exact.PrivacyLossDistribution: (lambda noise: exact.PrivacyLossDistribution(noise, 1.0).mean(), LOSS),
    exact.affine_divergence: (lambda noise: exact.affine_divergence(noise, 0.1, 1.0, 2.0), {"affine_max_order"}),
    of_pairs.dominating_pairs: (
        lambda noise: of_pairs.dominating_pairs(noise, 1.0, 0.5, "poisson"),
        CONCAVE,
    ),
    exact.histogram_information: (lambda noise: exact.histogram_information(noise, 1, 5), LOSS),
    exact.hockey_stick: (lambda noise: exact.hockey_stick(noise, 1.0, 0.1), set()),
    exact.max_abs_quantile: (lambda noise: exact.max_abs_quantile(noise, 10, 0.5), set()),
    exact.max_abs_sf: (lambda noise: exact.max_abs_sf(noise, 10, 3.0), set()),
    exact.max_order: (lambda noise: exact.max_order(noise, 1.0), set()),
    exact.max_quantile: (lambda noise: exact.max_quantile(noise, 10, 0.5), set()),
    exact.mutual_information: (lambda noise: exact.mutual_information(noise, [0, 1]), LOSS),
    exact.output_pair: (lambda noise: exact.output_pair("noisy_max", noise, 3, 1.0, 0.0), set()),
    exact.product_loss_sf: (lambda noise: exact.product_loss_sf(noise, 1.0, [0.1]), LOSS | CONCAVE),
    exact.product_profile: (lambda noise: exact.product_profile(noise, 1.0, 0.1), LOSS),
    exact.profile_from_losses: (lambda noise: exact.profile_from_losses(noise, 1.0, 0.1), set()),
    exact.record_epsilon: (lambda noise: exact.record_epsilon(AdditiveRelease(noise), 1.0, 1e-3), set()),
    exact.record_policy: (
        lambda noise: exact.record_policy(AdditiveRelease(noise), 1.0),
        {"privacy_loss", "largest_loss"},
    ),
    exact.record_profile: (lambda noise: exact.record_profile(AdditiveRelease(noise), 1.0, 0.1), set()),
    exact.record_renyi: (lambda noise: exact.record_renyi(AdditiveRelease(noise), 1.0, 2.0), set()),
    exact.renyi_divergence: (lambda noise: exact.renyi_divergence(noise, 1.0, 2.0), set()),
    exact.required_gap: (lambda noise: exact.required_gap("noisy_max", noise, 10, 0.05), set()),
    exact.selection_distribution: (lambda noise: exact.selection_distribution("noisy_max", noise, [1.0, 0.0]), set()),
    exact.selection_failure: (lambda noise: exact.selection_failure("noisy_max", noise, 3.0, 10), set()),
    exact.selection_probability: (lambda noise: exact.selection_probability("noisy_max", noise, 3.0, 10), set()),
    exact.spurious_wins_probability: (lambda noise: exact.spurious_wins_probability(noise, [3, 2], 5), set()),
    exact.subsampled: (lambda noise: exact.subsampled(noise, 1.0, 0.5), set()),
    of_pairs.subsampled_hockey_stick: (
        lambda noise: of_pairs.subsampled_hockey_stick(noise, 1.0, 0.1, 0.5),
        set(),
    ),
    of_pairs.subsampled_renyi: (lambda noise: of_pairs.subsampled_renyi(noise, 1.0, 2.0, 0.5), set()),
    exact.top_stays_probability: (lambda noise: exact.top_stays_probability(noise, [3, 2], 5), set()),
    exact.worst_pairs: (lambda noise: exact.worst_pairs("noisy_max", noise, 3), set()),
    bounds.histogram_error_bound: (lambda noise: bounds.histogram_error_bound(noise, 10, 0.05), set()),
    calibration.VARIANCE: (lambda noise: calibration.VARIANCE(noise), set()),
    calibration.CalibratedReleases: (
        lambda noise: calibration.calibrate_releases([Additive(noise)], ZCDP(0.3)),
        {"log_concave", "privacy_loss", "largest_loss"},
    ),
    calibration.LargestError: (lambda noise: calibration.LargestError(10, 0.95)(noise), set()),
    calibration.equal_privacy: (lambda noise: calibration.equal_privacy("six", 0.1), set()),
    "calibrate, pure": (
        lambda noise: calibration.calibrate("six", PureDP(0.7)),
        {"log_concave", "privacy_loss", "largest_loss"},
    ),
    "calibrate, zCDP": (
        lambda noise: calibration.calibrate("six", ZCDP(0.3)),
        CONCAVE,
    ),
    "calibrate, tCDP": (lambda noise: calibration.calibrate("six", TCDP(0.3, 4.0)), CONCAVE),
    "calibrate, approximate": (lambda noise: calibration.calibrate("six", ApproxDP(0.5, 1e-3)), CONCAVE),
    "calibrate, two coordinates": (
        lambda noise: calibration.calibrate("six", ApproxDP(1.0, 1e-2), coordinates=2),
        {"log_concave", "privacy_loss"},
    ),
    "calibrate, by theorem": (lambda noise: calibration.calibrate("six", PureDP(0.7), method="paper"), {"by_theorem"}),
    "calibrate, xi": (
        lambda noise: calibration.calibrate("six", ZCDP(0.1, xi=0.5), method="paper"),
        {"can_meet", "by_theorem"},
    ),
    "calibrate_smooth, approximate": (
        lambda noise: calibration.calibrate_smooth("six", ApproxDP(1.0, 1e-3), 0.05, "box"),
        {"log_concave_size"},
    ),
    "calibrate_smooth, tCDP": (
        lambda noise: calibration.calibrate_smooth("six", TCDP(0.3, 2.0), 0.05, "box"),
        {"log_concave_size", "affine_max_order"},
    ),
    "calibrate_smooth, published": (
        lambda noise: calibration.calibrate_smooth("six", ApproxDP(1.0, 1e-3), 0.05, "paper"),
        {"log_concave_size", "smooth_shift"},
    ),
    AdditiveRelease: (lambda noise: AdditiveRelease(noise).pure_policy(1.0), set()),
    "AdditiveRelease.policy": (lambda noise: AdditiveRelease(noise).policy(1.0), {"largest_loss"}),
    "AdditiveRelease.kurtosis": (lambda noise: AdditiveRelease(noise).kurtosis(1.0), set()),
    first_above: (lambda noise: first_above(noise, 2.0, 3, rng=rng(1)), set()),
    hockey_stick_draws: (lambda noise: hockey_stick_draws(noise, 1.0, 0.1), LOSS),
    loss_tail_draws: (lambda noise: loss_tail_draws(noise, 1.0, 0.1), LOSS),
    renyi_excess_draws: (lambda noise: renyi_excess_draws(noise, 1.0, 2.0), LOSS),
    samplers.sample_abs_max: (lambda noise: samplers.sample_abs_max(noise, 10, rng=rng(1)), set()),
    samplers.sample_extremes: (lambda noise: samplers.sample_extremes(noise, 10, rng=rng(1)), set()),
    samplers.sample_max: (lambda noise: samplers.sample_max(noise, 10, rng=rng(1)), set()),
    samplers.sample_top: (lambda noise: samplers.sample_top(noise, 10, 2, rng=rng(1)), set()),
    "sample_max_log": (lambda noise: sample_max_log(noise, 2000.0, 3, rng=rng(1)), {"isf_log"}),
    "selection, paper": (
        lambda noise: selection_parameters("generalized_histogram", PAPER, "paper", {"rho": 0.1}, 10, 1),
        {"by_theorem"},
    ),
    "selection, tight": (
        lambda noise: selection_parameters("generalized_histogram", PAPER, "tight", {"rho": 0.1}, 10, 2),
        {"by_theorem", "log_concave"},
    ),
    "histogram": (
        lambda noise: Histogram(noise, ZCDP(0.1), np.array([3]), 10.0).simulate(rng(1), 5),
        set(),
    ),
    "privacy loss": (lambda noise: PrivacyLoss(noise, None).simulate(rng(1), 5), LOSS),
    BudgetSplit: (lambda noise: interior.required_records(BudgetSplit(1.0, noise, 1.0), 10), set()),
    ReleaseParameters: (lambda noise: ReleaseParameters(1.0, noise, 1.0, 0.0, 5.0), set()),
}
TAKES_A_NOISE = (exact, bounds, calibration, per_record, samplers, interior)


def takes_a_noise(public):
    """Whether a parameter of a public name is a noise, as annotated; "Drawable" is the draws of one."""
    if not callable(public) or inspect.isabstract(public):
        return False
    kinds = [str(one.annotation) for one in inspect.signature(public).parameters.values()]
    words = {word for kind in kinds if "Callable" not in kind for word in re.findall(r"\w+", kind)}
    return bool(words & {"Noise", "Distribution", "HasPrivacyLoss", "Drawable", "Release"})


def test_every_public_name_that_takes_a_noise_is_an_entry():
    for package in TAKES_A_NOISE:
        found = {name for name in package.__all__ if takes_a_noise(getattr(package, name))}
        missing = {name for name in found if getattr(package, name) not in ENTRIES}
        assert not missing, package.__name__


def ask(call, names, monkeypatch):
    """What a call gives for the noise of six methods and these, or the refusal."""
    kind = with_methods(sorted(names))
    monkeypatch.setitem(FAMILIES, "six", kind)
    try:
        return call(kind(2.236)), None
    except ValueError as told:
        return None, str(told)


SLOW = {
    exact.record_policy,
    "calibrate, two coordinates",
    "calibrate, tCDP",
}  # one quadrature after another
CASES = [pytest.param(entry, marks=[pytest.mark.slow] if entry in SLOW else []) for entry in ENTRIES]


@pytest.mark.parametrize("entry", CASES, ids=lambda entry: getattr(entry, "__name__", entry))
def test_it_works_or_names_what_makes_it_work(entry, monkeypatch):
    call, expected = ENTRIES[entry]
    named = set()
    value, refusal = ask(call, named, monkeypatch)
    while refusal is not None:
        assert re.search(r"[sS]ix", refusal), refusal  # the family
        assert refusal.startswith("cannot ") or ": " in refusal, refusal
        assert "\n" not in refusal
        more = set(re.findall(r"`(\w+)`", refusal)) - named
        assert more, refusal
        assert "or choose " in refusal, refusal
        named |= more
        value, refusal = ask(call, named, monkeypatch)
    assert named == expected
    if isinstance(value, Bounds):  # what the noise says beyond need makes it better known, and no other
        better, _ = ask(
            call, set(vars(Definitions)) & {"log_concave", "privacy_loss", "largest_loss"} | named, monkeypatch
        )
        assert np.all(value.lower <= better.upper)
        assert np.all(better.lower <= value.upper)


def test_the_fallbacks_are_known_from_what_a_class_defines():
    assert undefined(Six, "privacy_loss", "largest_loss", "log_concave") == (
        "privacy_loss",
        "largest_loss",
        "log_concave",
    )
    assert undefined(Student(1.0), "sf", "isf_log") == ("isf_log",)
    assert defines(SinhNormal, "by_theorem")  # by the class that both families with a knee derive from
    assert defines(with_methods(["can_meet"]), "can_meet")
    assert not defines(Six, "no_such_name")


def test_the_advice_fits_what_is_known():
    assert str(cannot("sail", "there is no wind")) == "cannot sail: there is no wind."
    assert str(cannot("sail", "x", instead="oars")) == "cannot sail: x. Choose oars."
    both = "cannot sail: x. Define `a` and `b` in the noise class, or choose oars."
    assert str(cannot("sail", "x", "a", "b", instead="oars")) == both


def test_noises_that_say_what_they_are_get_no_advice_to_say_more():
    """Sinh-normal noise of two modes is not log-concave, and defining that it is would be false."""
    with pytest.raises(ValueError, match="is not log-concave") as told:
        of_pairs.dominating_pairs(SinhNormal(2.0, 1.0), 1.0, 0.1, "poisson")
    assert "efine" not in str(told.value)
    assert "knee >= scale" in str(told.value)


@dataclass(frozen=True, eq=False)
class Kneed(Six):
    """A family with a knee that says nothing of the search over it, and two parameters for smooth sensitivity."""

    knee: float = 1.0
    family = "kneed"
    log_concave_size = True


def test_a_search_over_two_parameters_names_what_it_asks_of_the_family(monkeypatch):
    monkeypatch.setitem(FAMILIES, "kneed", Kneed)
    with pytest.raises(
        ValueError, match=r"kneed tightly .*`limit` and `widest` and `least_knee` and `fast_divergences`"
    ):
        calibration.calibrate("kneed", TCDP(0.1, 3.0))
    with pytest.raises(ValueError, match=r"kneed over \(scale, knee\): .* Define `tail_range` in the noise class"):
        calibration.calibrate_smooth("kneed", ApproxDP(1.0, 1e-3), 0.05)


def test_smooth_sensitivity_names_at_once_what_a_concentrated_guarantee_needs(monkeypatch):
    monkeypatch.setitem(FAMILIES, "six", Six)
    with pytest.raises(ValueError, match=r"six gives no .* Define `log_concave_size` and `affine_max_order` in"):
        calibration.calibrate_smooth("six", TCDP(0.3, 2.0), 0.05)
    with pytest.raises(ValueError, match=r"six gives no .* Define `log_concave_size` in the noise class"):
        calibration.calibrate_smooth("six", ApproxDP(1.0, 1e-3), 0.05)


def test_smooth_sensitivity_names_the_bound_that_zcdp_needs(monkeypatch):
    kind = with_methods(["log_concave_size", "affine_max_order"])
    monkeypatch.setitem(FAMILIES, "six", kind)
    with pytest.raises(
        ValueError, match=r"quadrature confirms no scale.* Define `affine_tail` in the noise class, or choose"
    ):
        calibration.calibrate_smooth("six", ZCDP(0.1), 0.05)


def test_where_bounds_are_too_wide_the_loss_without_digits_is_named():
    for names, advice in (
        ([], "Define `privacy_loss` in the noise class, or choose a less"),
        (["privacy_loss"], "Choose a"),
    ):
        with pytest.raises(ValueError, match=f"six at delta = 0: quadrature confirms no noise. {advice}"):
            search.widened_until_met(with_methods(names)(1.0), lambda noise: False, "delta = 0")


def test_a_class_without_the_six_is_refused_by_the_names_of_the_six():
    six = {"logpdf", "sf", "logsf", "isf", "var", "sample"}
    assert Noise.__abstractmethods__ == six
    with pytest.raises(TypeError, match="logpdf"):
        type("Empty", (Noise,), {"family": "empty"})()


@pytest.mark.parametrize("concern", ["distribution", "privacy_loss", "stretched", "calibratable", "accuracy"])
def test_a_concern_is_one_short_file(concern):
    """A reader of one concern sees that one: it knows the distribution and no other concern."""
    module = importlib.import_module(f"tcdp_sim.noise.{concern}")
    source = inspect.getsource(module)
    assert len(source.splitlines()) < 150
    others = {"privacy_loss", "stretched", "calibratable", "accuracy", "base"} - {concern}
    assert not {other for other in others if f"tcdp_sim.noise.{other}" in source}


def test_a_noise_is_the_sum_of_its_concerns():
    """No public name of a noise stands in two concerns."""
    names = [name for base in Noise.__mro__[1:-1] for name in vars(base) if not name.startswith("_")]
    assert len(names) == len(set(names))
