"""Every function of `exact` that takes a noise, for every family: it agrees with a brute force, or refuses in one line.

The brute force knows the density (or the masses) of the noise alone, and sums over the family's own support: over the
points of its lattice, or over the nodes of a fine composite rule. The tolerance is that of the rule.
"""

import inspect
from functools import cache, partial

import composed_pairs as of_pairs
import numpy as np
import pytest
from public_names import members

from tcdp_sim import exact
from tcdp_sim.exact import Mixture
from tcdp_sim.noise import (
    FAMILIES,
    ArsinhNormal,
    DiscreteGaussian,
    DiscreteLaplace,
    DitheredLattice,
    ExponentialPolylogarithmic,
    Gaussian,
    GeneralizedGaussian,
    Laplace,
    LaplaceLogNormal,
    LatticeNoise,
    RoundedGaussian,
    RoundedLaplace,
    RoundedSinhNormal,
    RoundedSinhSquared,
    SinhNormal,
    SinhSquared,
    StudentT,
    TruncatedLaplace,
    UniformLogNormal,
)

LOG_MASSES = (-1.0, -1.5, -2.5)
NOISES = {
    "arsinh_normal": ArsinhNormal(2.0, 1.0),
    "discrete_gaussian": DiscreteGaussian(2.0),
    "discrete_laplace": DiscreteLaplace(2.0),
    "dithered_lattice": DitheredLattice(0.0, LOG_MASSES, 0.5),
    "exponential_polylogarithmic": ExponentialPolylogarithmic(1.0, 2.0, 5.0, 3.0),
    "gaussian": Gaussian(2.0),
    "generalized_gaussian": GeneralizedGaussian(3.0, 0.5),
    "laplace": Laplace(2.0),
    "laplace_log_normal": LaplaceLogNormal(2.0, 0.5),
    "lattice": LatticeNoise(0.5, LOG_MASSES, 0.5),
    "rounded_gaussian": RoundedGaussian(2.0, step=0.5),
    "rounded_laplace": RoundedLaplace(2.0),
    "rounded_sinh_normal": RoundedSinhNormal(4.0, 20.0),
    "rounded_sinh_squared": RoundedSinhSquared(4.0, 20.0),
    "sinh_normal": SinhNormal(3.0, 5.0),
    "sinh_squared": SinhSquared(3.0, 5.0),
    "student_t": StudentT(2.0, 3.0),
    "truncated_laplace": TruncatedLaplace(2.0, 9.0),
    "uniform_log_normal": UniformLogNormal(2.0, 0.5),
}
DISCRETE = [family for family in NOISES if NOISES[family].is_discrete]
SHIFT, EPSILON, ORDER, S = 1.0, 0.3, 1.5, 0.4
CLOSE = 3e-5  # relative error of the composite rule, at kinks of an integrand inside a panel
CUSP = 1e-3  # the same for a density with a cusp, beside which it is steep
OF_SUMS = 2e-3  # the same for sums of two losses, which are taken from fewer nodes


@cache
def nodes(noise, parts=6, cut=0.0, shifts=(0.0, SHIFT, -SHIFT), per_panel=4):
    """Return points x and their weights: sums of weight * f(x) are sums or integrals of f over all outputs."""
    if noise.is_discrete:
        step, end = noise.step_length, np.ceil(float(noise.isf_log(-60.0)) / noise.step_length) + 5
        own = (np.arange(-end, end + 0.5) + noise.offset) * step
        x = np.unique(np.round(np.add.outer(own, shifts).ravel() / step * 2**20)) * step / 2**20
        return x, np.ones_like(x)
    tails = np.concatenate([np.linspace(0.5, 0.02, 60), np.geomspace(0.019, 1e-280, 400)])
    arm = np.unique(np.concatenate([[0.0], noise.isf(tails), noise.kinks[noise.kinks > 0]]))
    arm = np.concatenate([arm, arm[-1] * np.geomspace(1.01, 1e3, 60) if np.isinf(noise.isf(0.0)) else []])
    arm = arm[np.append(True, np.diff(arm) > 1e-13 * arm[1:])]
    edges = np.unique(np.append(np.add.outer(np.concatenate([-arm[::-1], arm]), shifts), [-cut, cut]))
    edges = np.append((edges[:-1, None] + np.diff(edges)[:, None] * np.arange(parts) / parts).ravel(), edges[-1])
    unit, weight = np.polynomial.legendre.leggauss(per_panel)
    half, middle = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
    return (middle + half * unit).ravel(), (half * weight).ravel()


def densities(noise, *mixtures, parts=6):
    """Return the densities of mixtures, each a dict {shift: weight}, at the nodes, and the weights of the nodes."""
    x, weight = nodes(noise, parts)
    with np.errstate(all="ignore"):
        return *(sum(w * noise.pdf(x - m) for m, w in mixture.items()) for mixture in mixtures), weight


def hockey(noise, p, q, epsilon=EPSILON):
    p, q, weight = densities(noise, p, q)
    return float(weight @ np.maximum(p - np.exp(epsilon) * q, 0.0))


def renyi(noise, p, q, order=ORDER):
    p, q, weight = densities(noise, p, q)
    if (weight * p)[q == 0].sum() > 1e-100:  # more than underflow
        return np.inf
    there = (p > 0) & (q > 0)
    logs = order * np.log(p[there]) + (1 - order) * np.log(q[there])
    return float(np.log(weight[there] @ np.exp(logs)) / (order - 1))


def of_sum(noise, p, q, epsilon, above=False):
    """delta(epsilon) of two draws, or the chance of a loss above epsilon, from all pairs of losses.

    The losses of one draw are merged on a fine grid.
    """
    p, q, weight = densities(noise, p, q, parts=1)
    mass = weight * p
    with np.errstate(all="ignore"):
        loss = np.where(mass > 0, np.log(p) - np.log(q), 0.0)
    infinite = float(mass[np.isposinf(loss)].sum())
    loss, mass = loss[np.isfinite(loss)], mass[np.isfinite(loss)]
    at = np.round(loss.clip(-60, 60) * 2000).astype(int)
    merged = np.bincount(at - at.min(), mass)
    mean = np.bincount(at - at.min(), mass * loss.clip(-60, 60)) / np.maximum(merged, 1e-300)
    kept = merged > 1e-18
    total = np.add.outer(mean[kept], mean[kept])
    both = total > epsilon if above else np.maximum(-np.expm1(np.minimum(epsilon - total, 0.0)), 0.0)
    return 1 - (1 - infinite) ** 2 + float(merged[kept] @ both @ merged[kept])


FROM, TO, MIXED = {0.0: 1.0}, {SHIFT: 1.0}, {0.0: 1 - S, SHIFT: S}
DOWN = {0.0: 1 - S, -SHIFT: S}


def mixture(noise, weights):
    return Mixture(noise, tuple(weights), tuple(weights.values()))


def worst_of_two(noise, brute):
    return max(brute(noise, MIXED, FROM), brute(noise, FROM, MIXED))


def tail(noise, t):
    x, weight = nodes(noise, cut=t)
    return float((weight * noise.pdf(x))[np.abs(x) > t].sum())


def information(noise, shifts):
    x, weight = nodes(noise)
    with np.errstate(all="ignore"):
        f = np.array([noise.pdf(x - shift) for shift in shifts])
        mean = f.mean(axis=0)
        terms = np.where(f > 1e-290, f * (np.log(f) - np.log(mean)), 0.0)
    return float((terms @ weight).mean())


def smallest(noise, k, level, sides):
    """The least t such that the largest of k draws is at most t with probability `level`, by bisection on sums."""
    x, weight = nodes(noise)
    mass = weight * noise.pdf(x)

    def holds(t):
        return (1 - mass[(np.abs(x) if sides == 2 else x) > t * (1 + 1e-12)].sum()) ** k >= level

    candidates = np.unique(np.abs(x)) if sides == 2 else np.unique(x)
    low, high = 0, len(candidates) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(candidates[middle]) else (middle + 1, high)
    return float(candidates[low])


def pairs(noise):
    return of_pairs.dominating_pairs(noise, SHIFT, S, "poisson")


# name -> (the function's answer, the brute force, the relative tolerance)
AGREES = {
    "hockey_stick": (lambda n: exact.hockey_stick(n, SHIFT, EPSILON), lambda n: hockey(n, FROM, TO), CLOSE),
    "hockey_stick_between": (
        lambda n: of_pairs.hockey_stick_between(mixture(n, MIXED), mixture(n, DOWN), EPSILON),
        lambda n: hockey(n, MIXED, DOWN),
        CLOSE,
    ),
    "subsampled_hockey_stick": (
        lambda n: of_pairs.subsampled_hockey_stick(n, SHIFT, EPSILON, S, "reverse"),
        lambda n: hockey(n, FROM, MIXED),
        CLOSE,
    ),
    "renyi_divergence": (lambda n: exact.renyi_divergence(n, SHIFT, ORDER), lambda n: renyi(n, FROM, TO), CLOSE),
    "renyi_divergence_between": (
        lambda n: of_pairs.renyi_divergence_between(mixture(n, MIXED), mixture(n, DOWN), ORDER),
        lambda n: renyi(n, MIXED, DOWN),
        CLOSE,
    ),
    "subsampled_renyi": (
        lambda n: of_pairs.subsampled_renyi(n, SHIFT, ORDER, S, "reverse"),
        lambda n: renyi(n, FROM, MIXED),
        CLOSE,
    ),
    "subsampled": (
        lambda n: of_pairs.hockey_stick_between(*exact.subsampled(n, SHIFT, S), EPSILON),
        lambda n: hockey(n, MIXED, FROM),
        CLOSE,
    ),
    "Mixture": (
        lambda n: float(exact.Mixture(n, (0.0, SHIFT), (1 - S, S)).sf(2.0)),
        lambda n: (1 - S) * tail(n, 2.0) / 2 + S * (tail(n, 1.0) / 2),
        CLOSE,
    ),
    "profile_from_losses": (
        lambda n: exact.profile_from_losses(n, SHIFT, EPSILON),
        lambda n: hockey(n, FROM, TO),
        CLOSE,
    ),
    "PrivacyLossDistribution": (
        lambda n: float(exact.PrivacyLossDistribution(n, SHIFT).sf(0.25)),
        lambda n: loss_tail(n, 0.25),
        0.01,  # the rule cuts a panel where the loss crosses the level
    ),
    "product_profile": (
        lambda n: exact.product_profile(n, SHIFT, EPSILON),
        lambda n: of_sum(n, FROM, TO, EPSILON),
        OF_SUMS,
    ),
    "product_loss_sf": (
        lambda n: exact.Bounds(*(float(end[0]) for end in exact.product_loss_sf(n, SHIFT, [EPSILON]))),
        lambda n: of_sum(n, FROM, TO, EPSILON, above=True),
        0.012,  # its two sums are a hundredth apart
    ),
    "composed_profile": (
        lambda n: of_pairs.composed_profile(pairs(n), 2, EPSILON),
        lambda n: worst_of_two(n, partial(of_sum, epsilon=EPSILON)),
        0.012,  # the function's own tolerance is 1%
    ),
    "composed_epsilon": (
        lambda n: of_pairs.composed_epsilon(pairs(n), 2, worst_of_two(n, partial(of_sum, epsilon=EPSILON))),
        lambda _: EPSILON,
        5e-3,
    ),
    "max_abs_sf": (lambda n: exact.max_abs_sf(n, 7, 3.2), lambda n: 1 - (1 - tail(n, 3.2)) ** 7, CLOSE),
    "max_abs_quantile": (lambda n: exact.max_abs_quantile(n, 7, 0.9), lambda n: smallest(n, 7, 0.9, 2), 1e-2),
    "max_quantile": (lambda n: exact.max_quantile(n, 7, 0.9), lambda n: smallest(n, 7, 0.9, 1), 1e-2),
    "mutual_information": (
        lambda n: exact.mutual_information(n, [0.0, SHIFT]),
        lambda n: information(n, (0.0, SHIFT)),
        CLOSE,
    ),
}
ELSEWHERE = {  # name -> the test of its values; what discrete noise gives there is tested too
    "DominatingPair": "test_exact_composed.py",
    "dominating_pairs": "test_exact_composed.py",
    "affine_divergence": "test_affine.py",
    "equilateral_renyi": "test_exact_subsampling.py",
    "histogram_information": "test_exact_information.py",
    "max_order": "test_exact_divergence.py",
    "output_pair": "test_exact_selection.py",
    "required_gap": "test_exact_selection.py",
    "selection_distribution": "test_exact_selection.py",
    "selection_failure": "test_exact_selection.py",
    "selection_probability": "test_exact_selection.py",
    "spurious_wins_probability": "test_exact_ranking.py",
    "top_stays_probability": "test_exact_ranking.py",
    "worst_pairs": "test_exact_selection.py",
}


def loss_tail(noise, level):
    p, q, weight = densities(noise, FROM, TO)
    with np.errstate(all="ignore"):
        return float((weight * p)[(p > 0) & (np.log(p) - np.log(q) > level)].sum())


def takes_a_noise(thing):
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(word in str(each.annotation) for each in parameters for word in ("noise.", "Mixture", "DominatingPair"))


def test_every_function_that_takes_a_noise_is_here():
    taken = {name for name, thing in members("exact") if takes_a_noise(thing)}
    below_the_ledger = set(of_pairs.__all__)
    assert taken == {*AGREES, *ELSEWHERE} - below_the_ledger
    assert set(NOISES) == set(FAMILIES)


def answered(ask, noise):
    """Return the answer, or None if the function refuses with one line that says what would be valid."""
    try:
        return ask(noise)
    except ValueError as error:
        refusal = str(error)
    assert "\n" not in refusal
    assert any(word in refusal.lower() for word in ("valid", "define", "choose"))
    return None


@pytest.mark.parametrize("family", NOISES)
@pytest.mark.parametrize("name", AGREES)
def test_it_agrees_with_brute_force_or_refuses(name, family):
    ask, brute, tolerance = AGREES[name]
    tolerance = max(tolerance, CUSP) if family == "generalized_gaussian" else tolerance
    noise = NOISES[family]
    found = answered(ask, noise)
    if found is None:
        return
    truth = brute(noise)
    ends = found if isinstance(found, tuple) else (found, found, found)
    if np.isinf(truth):
        assert ends[2] == np.inf
        return
    assert ends[0] <= truth * (1 + tolerance)
    assert truth * (1 - tolerance) <= ends[2]
    assert ends[2] - ends[0] <= max(tolerance, 1e-3) * truth + 1e-200 or ends[2] == np.inf


@pytest.mark.parametrize("family", DISCRETE)
def test_shifts_between_the_points_of_a_lattice_reveal_everything_that_they_move(family):
    noise, apart = NOISES[family], NOISES[family].step_length / 2
    assert of_pairs.subsampled_hockey_stick(noise, apart, EPSILON, S).estimate == pytest.approx(S, rel=1e-12)
    assert of_pairs.subsampled_renyi(noise, apart, ORDER, S).lower == np.inf
    one, both = Mixture(noise, (0.0, apart), (0.5, 0.5)), Mixture(noise, (apart, 1 + apart), (0.5, 0.5))
    brute = 0.5 + hockey(noise, {0.0: 0.5}, {SHIFT: 0.5, 0.0: 0.5}, 0.0)  # on the lattice moved by half a step
    assert of_pairs.hockey_stick_between(one, both, 0.0).estimate == pytest.approx(brute, rel=CLOSE)


@pytest.mark.parametrize("sigma", [0.01, 0.1])
def test_a_lattice_on_which_one_point_has_all_the_mass(sigma):
    """P and Q are 0 and a mixture of 0 and one shift, so that delta and D_order have closed forms."""
    noise = DiscreteGaussian(sigma)
    for shift in (1e-6, 1.0):
        p, q = exact.subsampled(noise, shift, S)
        found = of_pairs.renyi_divergence_between(q, p, 1 + 1e-9)
        assert found.lower <= -np.log(1 - S) * (1 + 1e-6)
        assert -np.log(1 - S) * (1 - 1e-6) <= found.upper < 1
        assert of_pairs.hockey_stick_between(p, q, 0.0).estimate == pytest.approx(S, rel=1e-9)


def test_every_family_is_answered_by_some_functions():
    """A function that refused everything would pass the test above."""
    for family, noise in NOISES.items():
        assert answered(AGREES["hockey_stick_between"][0], noise) is not None, family
        assert answered(AGREES["max_abs_sf"][0], noise) is not None, family


def test_the_largest_loss_of_a_mixture_on_a_lattice():
    laplace, gaussian, fall = NOISES["discrete_laplace"], NOISES["discrete_gaussian"], 1 / 2
    forward, back = np.log(1 - S + S * np.exp(fall)), -np.log(1 - S + S * np.exp(-fall))
    ends = of_pairs.subsampled_renyi(laplace, SHIFT, np.inf, S)
    assert ends.lower <= forward <= ends.upper <= forward * (1 + 1e-9)
    ends = of_pairs.subsampled_renyi(laplace, SHIFT, np.inf, S, "reverse")
    assert ends.lower <= back <= ends.upper <= back * (1 + 1e-9)
    assert of_pairs.subsampled_renyi(gaussian, SHIFT, np.inf, S).lower == np.inf
    ends = of_pairs.subsampled_renyi(gaussian, SHIFT, np.inf, S, "reverse")  # far to the left q is all of the mixture
    assert ends.lower <= -np.log(1 - S) <= ends.upper <= -np.log(1 - S) * (1 + 1e-6)
    table = NOISES["lattice"]
    x = np.arange(-40, 40) + table.offset
    brute = (np.logaddexp(np.log(1 - S) + table.logpdf(x), np.log(S) + table.logpdf(x - SHIFT)) - table.logpdf(x)).max()
    ends = of_pairs.subsampled_renyi(table, SHIFT, np.inf, S)
    assert ends.lower <= brute <= ends.upper <= brute * (1 + 1e-9)


@pytest.mark.parametrize("order", [40.0, 1000.0])
def test_large_orders_of_a_mixture_peak_where_probabilities_are_no_floats(order):
    """At s near 1, D_order of discrete Gaussian noise is nearly order / (2 sigma^2), up to about log s."""
    ends = of_pairs.subsampled_renyi(NOISES["discrete_gaussian"], SHIFT, order, 0.999)
    pure = exact.renyi_divergence(NOISES["discrete_gaussian"], SHIFT, order).estimate
    least = order / (order - 1) * np.log(0.999) + pure
    assert least <= ends.upper
    assert ends.lower <= pure
    assert ends.upper - ends.lower < 1e-9 * pure
