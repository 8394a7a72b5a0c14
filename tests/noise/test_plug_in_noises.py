"""What the base class answers for a noise that gives the six required methods alone: right, or refused."""

from types import SimpleNamespace

import numpy as np
import pytest
from foreign_noises import Logistic, OwnLogistic, Student, SureLogistic, TwoPeaks, Uniform
from noise_examples import EXAMPLES
from scipy.optimize import brentq
from scipy.special import ndtri

from tcdp_sim.bounds.accuracy import histogram_error_bound
from tcdp_sim.calibration import LargestError, calibrate, search
from tcdp_sim.calibration.search import need_monotone_loss
from tcdp_sim.core import registry
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise import FAMILIES, Gaussian, Laplace, Noise, SinhNormal, TruncatedLaplace
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP

FOREIGN = {cls.family: cls for cls in (Student, Uniform, TwoPeaks)} | {"sure": SureLogistic, "own": OwnLogistic}


@pytest.fixture
def known(monkeypatch):
    """The foreign noises as families, by the names of FOREIGN."""
    for name, noise_class in FOREIGN.items():
        monkeypatch.setitem(FAMILIES, name, noise_class)


def log_ratio(scale, y, shift):
    """log p(y) / p(y - shift) of logistic noise, written down here."""

    def log_density(x):
        return -np.abs(x) / scale - 2 * np.log1p(np.exp(-np.abs(x) / scale))

    return log_density(y) - log_density(y - shift)


def renyi(scale, order, shift=1.0):
    """D_order of logistic noise and itself moved, by the trapezoid rule."""
    y, step = np.linspace(-80 * scale, 80 * scale + shift, 200_001, retstep=True)
    log_p = -np.abs(y) / scale - 2 * np.log1p(np.exp(-np.abs(y) / scale)) - np.log(scale)
    return np.log(np.exp(log_p + (order - 1) * log_ratio(scale, y, shift)).sum() * step) / (order - 1)


@pytest.mark.parametrize("noise", [Logistic(2.0), Student(1.0), TwoPeaks(3.0)], ids=repr)
@pytest.mark.parametrize(("bins", "beta"), [(10, 0.05), (1e6, 0.01), (1e300, 0.05)])
def test_the_radius_of_any_noise_is_the_union_bounds(noise, bins, beta):
    radius = histogram_error_bound(noise, bins, beta)  # 2 k P[Z > radius] = beta
    assert np.log(2 * bins) + noise.logsf(radius) == pytest.approx(np.log(beta), rel=1e-9)


def test_any_noise_is_compared_at_zcdp_and_depends_on_rho_alone():
    assert Student.equal_privacy(0.3, 5.0, 1e-6) == ZCDP(0.3)
    assert Student.depends_on == ("rho",)
    assert Student.parameters() == ("scale",)


def test_deep_quantiles_are_refused_by_the_fallback_alone():
    assert Logistic(2.0).isf_log(-600.0) == pytest.approx(1200, rel=1e-12)
    with pytest.raises(ValueError, match=r"quantiles of Logistic.* beyond e\^-690: .* Define `isf_log`"):
        Logistic(2.0).isf_log(-1e4)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "guarantee"), [("sure", TCDP(0.3, 4.0)), ("own", TCDP(2.0, 30.0))])
def test_a_search_finds_the_least_scale_for_tcdp(known, family, guarantee):
    noise = calibrate(family, guarantee, 2.0, coordinates=2).noise
    orders = 1 + (guarantee.omega - 1) * np.array([1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.6, 0.999])
    ratios = [2 * renyi(noise.scale, order, 2.0) / (guarantee.rho * order) for order in orders]
    assert 0.999 < max(ratios) <= 1


@pytest.mark.slow
def test_a_search_finds_the_least_scale_for_zcdp(known):
    noise = calibrate("own", ZCDP(0.3)).noise
    ratios = [renyi(noise.scale, order) / (0.3 * order) for order in (1.0001, 1.01, 1.1, 2, 4, 10)]
    assert 0.999 < max(ratios) <= 1


@pytest.mark.slow
def test_without_a_bound_on_the_largest_loss_zcdp_costs_no_more_noise(known):
    """The loss of "sure" is a difference, of which no upper end at infinite order is known."""
    assert calibrate("sure", ZCDP(3.0)).noise.scale == pytest.approx(calibrate("own", ZCDP(3.0)).noise.scale, rel=1e-3)


@pytest.mark.parametrize(("sensitivity", "coordinates"), [(1.0, 1), (3.0, 2)])
def test_a_search_finds_the_least_scale_for_pure_dp(known, sensitivity, coordinates):
    noise = calibrate("own", PureDP(0.7), sensitivity, coordinates=coordinates).noise
    assert coordinates * sensitivity / noise.scale <= 0.7  # the largest loss of logistic noise is shift / scale
    assert coordinates * sensitivity / noise.scale == pytest.approx(0.7, rel=1e-6)


def test_the_upper_end_of_the_largest_loss_decides(known, monkeypatch):
    """Bounds that are wide by a known factor cost noise: what is given meets epsilon with that factor on top."""
    exact = search.renyi_divergence

    def wide(*arguments):
        low, middle, high = exact(*arguments)
        return Bounds(low, middle, high * 1.001)

    monkeypatch.setattr(search, "renyi_divergence", wide)
    noise = search.by_loss.__wrapped__(OwnLogistic, 0.7)
    assert 1.001 / noise.scale <= 0.7


def test_a_search_finds_the_least_scale_for_approximate_dp(known):
    epsilon, delta = 0.5, 1e-4
    noise = calibrate("own", ApproxDP(epsilon, delta)).noise

    def profile(scale):  # the loss falls with y: it exceeds epsilon below one point
        if 1 / scale <= epsilon:
            return 0.0
        cut = brentq(lambda y: log_ratio(scale, y, 1.0) - epsilon, -200 * scale, 200 * scale)
        return 1 / (1 + np.exp(-cut / scale)) - np.exp(epsilon) / (1 + np.exp(-(cut - 1) / scale))

    assert profile(noise.scale) <= delta
    assert profile(noise.scale * (1 - 1e-6)) > delta


@pytest.mark.parametrize(
    ("family", "guarantee", "message"),
    [
        (
            "student",
            ApproxDP(1.0, 1e-5),
            "calibrate student by a search: .* Define `log_concave` in the noise class, or",
        ),
        ("student", TCDP(0.1, 3.0), "cannot calibrate student by a search: it is not known to be log-concave"),
        ("uniform", ZCDP(0.1), r"uniform tightly over \(bound\): .* one parameter, `scale`. Define `by_theorem` in"),
        ("two_peaks", PureDP(1.0), r"cannot calibrate two_peaks tightly over \(apart\)"),
        (
            "own",
            ZCDP(0.1, xi=0.5),
            "no search .* Define `can_meet` and `by_theorem` .*, or choose PureDP, Ap",
        ),
        ("own", ApproxDP(1.0, 1e-5), "for coordinates = 3: its exact profile is known for 1 or 2. Define `by_theorem`"),
    ],
)
def test_what_no_search_is_proved_for_is_refused_in_one_line(known, family, guarantee, message):
    with pytest.raises(ValueError, match=message) as refusal:
        calibrate(family, guarantee, coordinates=3 if "coordinates = 3" in message else 1)
    assert "\n" not in str(refusal.value)


def test_no_theorem_is_known_of_a_foreign_noise(known):
    with pytest.raises(ValueError, match=r"student to 1-DP by a theorem: .* Define `by_theorem` .* method 'tight'"):
        calibrate("student", PureDP(1.0), method="paper")


@pytest.mark.parametrize(
    "noise", [Gaussian(2.0), Laplace(3.0), TruncatedLaplace(2.0, 5.0), SinhNormal(2.0, 7.0)], ids=repr
)
def test_scaled_noise_is_the_noise_times_a_factor(noise):
    for p in (0.3, 1e-3, 1e-9):
        assert noise.scaled(2.5).isf(p) == pytest.approx(2.5 * noise.isf(p), rel=1e-12)


@pytest.mark.parametrize("noise", [Gaussian(2.0), Laplace(3.0), SinhNormal(2.0, 2.0), SinhNormal(2.0, 7.0)], ids=repr)
def test_widened_noise_has_the_larger_scale_and_stays_log_concave(noise):
    wider = noise.widened(1.5)
    assert wider.scale == 1.5 * noise.scale
    assert wider.log_concave
    assert wider.isf(0.01) > noise.isf(0.01)


def test_isotropy_and_linear_divergences_are_the_gaussians_alone():
    """Two coordinates that each move by one, seen along the diagonal: the Gaussian's law alone is that of one."""
    assert [noise.family for noise in FAMILIES.values() if noise.isotropic] == ["gaussian"]
    linear = {noise.family for noise in FAMILIES.values() if noise.linear_in_order}
    assert linear == {"gaussian", "discrete_gaussian"}  # the latter at whole orders, and less in between
    loss = Gaussian(2.0).privacy_loss(np.array([0.3, 1.4]), 1.0).sum()
    assert loss == pytest.approx(Gaussian(2.0).privacy_loss(1.7 / np.sqrt(2), np.sqrt(2)), rel=1e-12)


def test_the_printed_radius_is_the_gaussians_alone_and_too_small():
    printed = {
        family: FAMILIES[family](*[3.0] * len(noises[0].parameters())).printed_radius(0.1, 1000, 0.05)
        for family, noises in EXAMPLES.items()
    }
    assert [family for family, radius in printed.items() if radius is not None] == ["gaussian"]
    noise = calibrate("gaussian", ZCDP(0.1), coordinates=2).noise
    assert printed["gaussian"] < -noise.scale * ndtri(0.05 / 2000) < noise.accuracy_radius(1000, 0.05)


def test_the_registry_knows_what_the_folder_defines():
    assert all(registry.noise(family) is noise for family, noise in FAMILIES.items())
    assert issubclass(registry.noise("laplace"), Noise)


def test_the_objective_of_a_spec_may_count_to_k():
    from tcdp_sim.calibration import VARIANCE
    from tcdp_sim.noise.objectives import spec_objective

    assert spec_objective({}, 7) is VARIANCE
    assert spec_objective({"objective": {"count": "k", "level": 0.9}}, 7) == LargestError(7, 0.9)
    assert spec_objective({"objective": {"count": 3, "level": 0.9}}, 7) == LargestError(3, 0.9)


def test_a_foreign_noise_that_is_discrete_is_refused_as_that():
    """No advice to call itself log-concave, which would not help: the search moves a density by any amount."""
    noise = SimpleNamespace(is_discrete=True, log_concave=False, family="coins", log_concave_if="never")
    with pytest.raises(ValueError, match=r"coins by a search: it is discrete.* Define `by_theorem` in the noise class"):
        need_monotone_loss(noise)
