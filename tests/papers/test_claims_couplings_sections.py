"""Profiles, couplings and sampling: the numbers behind the claims, by other means."""

from fractions import Fraction as F
from math import comb

import mpmath as mp
import pytest

from tcdp_sim.experiments.papers.couplings import convexity, distances, profiles, schemes, subsamples
from tcdp_sim.experiments.papers.couplings.finite_laws import renyi_moment
from tcdp_sim.experiments.papers.couplings.subsamples import add_remove, substitute
from tcdp_sim.experiments.papers.couplings.transport import least_cost
from tcdp_sim.experiments.papers.registry import Budget


@pytest.mark.parametrize("theta", [0.3, 2.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.25, 1.7])
def test_closed_profiles_by_integrals(theta, epsilon):
    with mp.workdps(30):
        normal = mp.quad(
            lambda x: max(mp.npdf(x) - mp.exp(epsilon) * mp.npdf(x + theta), 0), [-14, epsilon / theta - theta / 2, 14]
        )
        cut = mp.mpf(theta - epsilon) / 2  # where the loss is epsilon
        places = sorted({mp.mpf(-60), mp.mpf(0), min(cut, mp.mpf(theta)), mp.mpf(theta), mp.mpf(60)})
        laplace = mp.quad(
            lambda x: max((mp.exp(-abs(x)) - mp.exp(epsilon - abs(x - theta))) / 2, 0), [x for x in places]
        )
    for bounds, truth in (
        (profiles.gaussian_profile(theta, epsilon), normal),
        (profiles.laplace_profile(theta, epsilon), laplace),
    ):
        assert bounds.estimate == pytest.approx(float(truth), abs=1e-10)


def test_the_moment_of_randomised_response_from_its_profile():
    """At s = 1 by hand: 1 + 2 ∫ (e^x + e^-2x) δ dx, δ = p - e^x (1-p), is p²/(1-p) + (1-p)²/p."""
    p = F(3, 4)
    response = (p, 1 - p), (1 - p, p)
    assert profiles.moment_from_profiles(*response, 1) == p**2 / (1 - p) + (1 - p) ** 2 / p
    with mp.workdps(30):
        top = mp.log(3)
        rest = mp.quad(lambda x: (mp.exp(3 * x) + mp.exp(-4 * x)) * (mp.mpf(3) / 4 - mp.exp(x) / 4), [0, top])
        assert float(profiles.moment_from_profiles(*response, 3)) == pytest.approx(float(1 + 12 * rest), rel=1e-14)


def test_the_moment_of_a_symmetric_pair_from_one_profile():
    p = (F(1, 2), F(1, 3), F(1, 6))
    both = profiles.moment_from_profiles(p, p[::-1], 2)
    assert both == profiles.moment_from_profiles(p, p[::-1], 2, one_profile=True) == renyi_moment(p, p[::-1], 3)
    other = (F(1, 2), F(1, 4), F(1, 4))  # its profile is not that of the reverse direction
    assert profiles.moment_from_profiles(p, other, 2) != profiles.moment_from_profiles(p, other, 2, one_profile=True)


def test_the_moment_of_gaussian_noise_from_its_profile():
    """E e^(sL) is e^(s(s+1)/2) at distance one."""
    for s in (0.5, 3.0):
        point = profiles._gaussian_moment(s)
        assert point.right.lower <= float(mp.exp(mp.mpf(s) * (s + 1) / 2)) <= point.right.upper
        assert point.right.upper - point.right.lower < 1e-8 * point.right.estimate


def test_the_first_chain_attains_the_black_box_bound():
    for point in profiles.groups_black_box(Budget()):
        if point.where.startswith("chain 0"):
            assert point.left == point.right
    assert point.right.lower > 0


def test_the_limit_of_the_divergence_is_0_for_some_pairs_and_not_for_others():
    rights = [point.right.estimate for point in convexity.limit_of_the_divergence(Budget())]
    assert 0 in rights
    assert max(rights) > 0.1


def test_eta_by_counting_is_the_formula():
    for n, m in ((2, 3), (4, 2), (5, 4)):
        drawn = subsamples.with_replacement(m)
        assert schemes._distance(drawn, tuple(range(n)), tuple(range(1, n + 1))) == 1 - F(n - 1, n) ** m


def test_the_laws_of_theorem_7_are_compatible_and_have_several_distances():
    seen = set()
    for i in range(60):
        near, far = distances._compatible(i)
        assert sum(near.values()) == sum(far.values()) == 1
        assert not {*near} & {*far}
        seen |= {distances._to_support(x, far) for x in near}
        off = [[F(add_remove(x, y) > distances._to_support(x, far)) for y in far] for x in near]
        assert least_cost(tuple(near.values()), tuple(far.values()), off).upper < 1e-12
    assert seen == {1, 2, 3}


def test_laws_that_are_not_compatible_cost_more_than_the_sum():
    """Half of ν is next to (0,), the other half too, but ν' has only a quarter there."""
    near, far = {(): F(1, 2), (0, 1): F(1, 2)}, {(0,): F(1, 4), (0, 1, 2): F(3, 4)}
    costs = [[F(add_remove(x, y)) for y in far] for x in near]
    least = least_cost(tuple(near.values()), tuple(far.values()), costs)
    nearest = sum(c * distances._to_support(x, far) for x, c in near.items())
    assert nearest == 1
    assert least.lower == pytest.approx(0.25 * 1 + 0.25 * 3 + 0.5 * 1)


@pytest.mark.parametrize(("others", "chance"), [(2, F(1, 3)), (3, F(1, 2))])
def test_how_far_poisson_couples_under_substitution(others, chance):
    """Sets of a size couple at distance one; sizes k of those with the record, and of those without, are binomial."""

    def size(k):
        return comb(others, k) * chance**k * (1 - chance) ** (others - k) if k >= 0 else 0

    truth = sum(min(size(k - 1), size(k)) for k in range(1, others + 1))
    drawn, none, other = distances._poisson_parts(others, chance)
    assert distances._at_nearest(drawn, none, substitute).estimate == pytest.approx(float(truth), abs=1e-12)
    assert distances._at_nearest(drawn, other, substitute).lower > 1 - 1e-12
    assert distances._at_nearest(drawn, none, add_remove).lower > 1 - 1e-12


def test_poisson_under_substitution_is_attained_by_randomised_membership():
    """All groups of it have the profile (p - a (1-p))₊, and the bound is γ times that."""
    for point in list(distances.poisson_under_substitution(Budget())):
        if "membership" in point.where:
            a = F(point.where.split("= ")[-1])
            assert point.left.estimate == pytest.approx(float(F(1, 3) * (F(2, 3) - a / 3)), rel=1e-15)
            assert point.left == point.right


@pytest.mark.parametrize(
    ("setting", "eta"),
    [
        (schemes.poisson_setting(F(1, 3)), F(1, 3)),
        (schemes.without_replacement_setting(4, 3), F(3, 4)),
        (schemes.with_replacement_setting(3, 2), F(5, 9)),
        (schemes.hybrid_setting(2, 3), F(7, 8)),
    ],
)
def test_eta_is_the_distance_between_subsamples(setting, eta):
    assert setting.eta() == eta
    assert max(schemes._distance(setting.sampling, x, y) for x, y in setting.pairs) == eta
    assert setting.outer(F(2)) == 1 + eta


def test_the_bounds_are_attained_exactly():
    for setting in (schemes.with_replacement_setting(3, 2), schemes.hybrid_setting(3, 3)):
        bit = subsamples.membership(setting.inputs, 0, F(3, 4))
        for a in schemes.RATIOS:
            assert setting.attained(bit, a) == setting.bound(bit, a) == setting.eta() * (F(3, 4) - a / 4)
