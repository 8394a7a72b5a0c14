"""Who comes out on top: against closed forms, 20-digit quadrature, SciPy's quadrature and plain simulation."""

from itertools import pairwise, product

import mpmath as mp
import numpy as np
import pytest
from exact_references import NOISES, pdf, power_of_cdf, sf
from scipy import integrate, stats

from tcdp_sim.exact import ranking, spurious_wins_probability, top_stays_probability
from tcdp_sim.noise import DiscreteGaussian, Gaussian, Laplace, LatticeNoise, SinhNormal, TruncatedLaplace

LAWS = (top_stays_probability, spurious_wins_probability)
noises = pytest.mark.parametrize("noise", NOISES, ids=repr)
HISTOGRAMS = {
    "two bins": ([3], 2),
    "two occupied bins": ([3, 1], 2),
    "ties at the top": ([5, 5, 5, 2, 2, 1], 9),
    "only ties": ([4, 4, 4], 3),
    "no empty bins": ([9, 7, 7, 3, 1, 1], 6),
    "more bins": ([12, 11, 7, 7, 3, 1, 1], 100),
    "a large domain": ([60, 58, 40], 1e12),
}
histograms = pytest.mark.parametrize(("counts", "bins"), HISTOGRAMS.values(), ids=HISTOGRAMS)


def contains(bounds, exact, relative=1e-8):
    assert bounds.lower <= bounds.estimate <= bounds.upper
    assert bounds.upper - bounds.lower <= relative * bounds.estimate
    assert bounds.lower <= exact <= bounds.upper


def winner_density(noise, counts, bins, z):
    """Density of the noise of the top bin that wins, times the probability that all others lose."""
    top = max(counts)
    ties = sum(c == top for c in counts)
    result = ties * pdf(noise, z) * power_of_cdf(noise, z, ties - 1)
    for value in set(counts) - {top}:
        result *= power_of_cdf(noise, z + (top - value), sum(c == value for c in counts))
    return result * power_of_cdf(noise, z + top, bins - len(counts))


def overtaken_density(noise, counts, bins, z):
    top = max(counts)
    ties = sum(c == top for c in counts)
    below = sf(noise, z + top)
    passes = 1 if below == 1 else -mp.expm1((bins - len(counts)) * mp.log1p(-below))
    return ties * pdf(noise, z) * power_of_cdf(noise, z, ties - 1) * passes


REFERENCES = {top_stays_probability: winner_density, spurious_wins_probability: overtaken_density}


def reference(law, noise, counts, bins):
    """The integral in 20 digits or more: the panels end where the density or the distribution function has a kink."""
    top = max(counts)
    levels = noise.isf(10.0 ** -np.array([250, 130, 100, 90, 75, 60, 45, 30, 20, 14, 10, 6, 3, 1]))
    points = np.concatenate([levels, -levels, [0.0]])
    cuts = np.concatenate([points, points - top, *([-g, levels[0] - g] for g in top - np.unique(counts))])
    cuts = np.unique(cuts[np.abs(cuts) <= levels[0]])
    with mp.workdps(20):
        value = mp.mpf(1)
        for _ in range(2):  # mpmath's tolerance is absolute: the first value only sets the scale
            relative, error = mp.quad(
                lambda z, unit=value: REFERENCES[law](noise, counts, mp.mpf(bins), z) / unit,
                [mp.mpf(float(c)) for c in cuts],
                method="gauss-legendre",
                error=True,
            )
            value *= relative
            if value == 0:
                return value
    assert error <= 1e-12
    return value


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "noise", [Gaussian(7.3), Laplace(2.0), TruncatedLaplace(2.0, 11.0), SinhNormal(6.0, 20.0)], ids=repr
)
def test_quadrature_in_20_digits(law, noise):
    counts, bins = HISTOGRAMS["a large domain"]
    exact = reference(law, noise, counts, bins)
    if exact > 0:
        contains(law(noise, counts, bins), exact)
    else:  # a gap beyond the support of both
        assert law(noise, counts, bins).upper < 1e-290


@pytest.mark.parametrize("gap", [0.1, 1, 10, 40, 95, 200])
def test_two_gaussian_bins(gap):
    """The difference of two Gaussian noises is Gaussian; down to 1e-176."""
    noise = Gaussian(5.0)
    loses = mp.erfc(mp.mpf(gap) / 10) / 2
    contains(spurious_wins_probability(noise, [gap], 2), loses)
    contains(top_stays_probability(noise, [gap], 2), 1 - loses)
    contains(top_stays_probability(noise, [gap + 7, 7], 2), 1 - loses)


@pytest.mark.parametrize("gap", [0.1, 1, 10, 100, 460, 1000])
def test_two_laplace_bins(gap):
    """P[Z2 - Z1 > g] = (2 + g / b) exp(-g / b) / 4; down to 1e-214."""
    noise = Laplace(2.0)
    ratio = mp.mpf(gap) / 2
    loses = (2 + ratio) * mp.exp(-ratio) / 4
    contains(spurious_wins_probability(noise, [gap], 2), loses)
    contains(top_stays_probability(noise, [gap], 2), 1 - loses)


@pytest.mark.parametrize("gap", [1, 10, 21, 21.99, 22, 30])
def test_two_truncated_laplace_bins(gap):
    """Integrated by hand for g > B, where one noise must be positive and the other negative."""
    noise, b, bound = TruncatedLaplace(2.0, 11.0), mp.mpf(2), mp.mpf(11)
    mass = 2 * b * (1 - mp.exp(-bound / b))
    if gap < 11:
        loses = mp.quad(lambda x: pdf(noise, x) * sf(noise, x + gap), [-bound, -gap, 0, bound - gap])
    else:
        width = max(2 * bound - gap, 0)
        # of exp(x / b) (exp(-(x + g) / b) - exp(-B / b)) over -B < x < B - g
        loses = b / mass**2 * (width * mp.exp(-gap / b) - b * mp.exp(-2 * bound / b) * mp.expm1(width / b))
    if loses:
        contains(spurious_wins_probability(noise, [gap], 2), loses)
    else:
        assert spurious_wins_probability(noise, [gap], 2).upper < 1e-290


@pytest.mark.parametrize(("count", "bins"), [(10, 1e12), (1, 1e100), (20, 1e16)])
def test_one_laplace_bin_in_a_huge_domain(count, bins):
    """With b = 1 and k >> e^g the top bin must be above zero noise: e^g / k (1 - (1 - e^-g / 2)^k) = e^g / k."""
    stays = mp.exp(count) / mp.mpf(bins)  # the neglected terms are below exp(-k e^-g / 2) < exp(-1e6)
    noise = Laplace(1.0)
    contains(top_stays_probability(noise, [count], bins), stays * (1 + 1 / mp.mpf(bins)))
    contains(spurious_wins_probability(noise, [count], bins), 1 - stays)


@pytest.mark.parametrize("noise", [Gaussian(1.0), SinhNormal(1.0, 8.0)], ids=repr)
@pytest.mark.parametrize("bins", [1e12, 1e100])
def test_one_bin_in_a_huge_domain(noise, bins):
    contains(top_stays_probability(noise, [2], bins), reference(top_stays_probability, noise, [2], bins))


@noises
@pytest.mark.parametrize("ties", [1, 3])
@pytest.mark.parametrize("bins", [4, 1000, 1e12, 1e100])
def test_in_noise_that_drowns_the_counts_all_bins_are_equal(noise, ties, bins):
    """Counts of 1e-9 of the scale shift a probability by less than 1e-6 of itself, even at k = 1e100."""
    counts = [1e-9 * noise.scale] * ties
    if noise in (Gaussian(1.0), Gaussian(7.3), Laplace(2.0), SinhNormal(3.0, 20.0)):
        assert top_stays_probability(noise, counts, bins).estimate == pytest.approx(ties / bins, rel=1e-6)
    assert top_stays_probability(noise, counts, min(bins, 1000)).estimate == pytest.approx(
        ties / min(bins, 1000), rel=1e-5
    )


@noises
def test_one_bin_alone_stays(noise):
    contains(top_stays_probability(noise, [5], 1), 1)
    assert spurious_wins_probability(noise, [5], 1).estimate == 0


@noises
@pytest.mark.parametrize(("counts", "bins"), [([3], 2), ([4, 4, 4], 3), ([4, 4], 1000), ([30], 1e100)])
def test_when_all_occupied_bins_are_tied_either_they_or_an_empty_bin_wins(noise, counts, bins):
    stays, wins = (law(noise, counts, bins) for law in LAWS)
    assert stays.lower + wins.lower <= 1 <= stays.upper + wins.upper
    assert stays.upper + wins.upper - stays.lower - wins.lower < 1e-9


@noises
@histograms
def test_disjoint_events_do_not_exceed_one(noise, counts, bins):
    stays, wins = (law(noise, counts, bins) for law in LAWS)
    assert stays.lower + wins.lower <= 1


@noises
def test_every_occupied_bin_wins_with_its_own_probability(noise):
    """Over a full histogram without ties the winners' probabilities add up to one; here by SciPy's quadrature."""
    counts = np.array([6.0, 4.0, 3.0])
    others = 0.0
    for i in (1, 2):
        shifts = np.delete(counts, i) - counts[i]
        end = noise.isf(1e-25)
        points = [*(-noise.isf([0.5, 0.1]) - s for s in shifts), *(end + s for s in shifts), *(s - end for s in shifts)]
        inside = sorted({0.0, *(float(np.squeeze(p)) for group in points for p in np.atleast_1d(group))})
        edges = [-end, *(p for p in inside if -end < p < end), end]
        others += sum(
            integrate.quad(lambda z, s=shifts: noise.pdf(z) * np.prod(noise.cdf(z - s)), a, b, epsabs=1e-13)[0]
            for a, b in pairwise(edges)
        )
    assert top_stays_probability(noise, counts, 3).estimate == pytest.approx(1 - others, abs=1e-10)


@pytest.mark.parametrize(
    ("noise", "law"),
    [(Gaussian(2.5), stats.norm(scale=2.5)), (Laplace(2.5), stats.laplace(scale=2.5))],
    ids=["gaussian", "laplace"],
)
@pytest.mark.parametrize("name", ["two bins", "ties at the top", "no empty bins", "more bins"])
def test_scipy_distributions_and_quadrature(noise, law, name):
    counts, bins = HISTOGRAMS[name]
    top, ties = max(counts), counts.count(max(counts))

    def density(z):
        return ties * law.pdf(z) * law.cdf(z) ** (ties - 1)

    def stays(z):
        return (
            density(z)
            * np.prod([law.cdf(z + top - c) for c in counts[ties:]])
            * law.cdf(z + top) ** (bins - len(counts))
        )

    def wins(z):
        return density(z) * (1 - law.cdf(z + top) ** (bins - len(counts)))

    for mine, f in ((top_stays_probability, stays), (spurious_wins_probability, wins)):
        value = integrate.quad(f, -90, 90, points=[-top, -1, 0, 1], epsabs=1e-12, epsrel=1e-12, limit=500)[0]
        assert mine(noise, counts, bins).estimate == pytest.approx(value, abs=1e-10)


@noises
@pytest.mark.parametrize("name", ["two bins", "ties at the top", "only ties", "no empty bins", "more bins"])
def test_plain_simulation(noise, name):
    """100 000 releases; each of the two exact binomial tests at 1e-6, 70 of them: a false alarm in 1e-4."""
    counts, bins = HISTOGRAMS[name]
    data = np.zeros(bins)
    data[: len(counts)] = counts
    release = data + noise.sample((100_000, bins), rng=np.random.default_rng(7))
    best = release[:, data == max(counts)].max(axis=1)
    empty = release[:, data == 0].max(axis=1, initial=-np.inf)
    for law, seen in ((top_stays_probability, best == release.max(axis=1)), (spurious_wins_probability, empty > best)):
        exact = law(noise, counts, bins).estimate
        assert stats.binomtest(int(seen.sum()), len(seen), exact).pvalue > 1e-6


@pytest.mark.parametrize("law", LAWS)
@noises
def test_the_order_of_the_counts_does_not_matter(law, noise):
    assert law(noise, [1, 12, 7, 3, 12], 100) == law(noise, [12, 12, 7, 3, 1], 100)


@noises
def test_without_empty_bins_only_differences_count(noise):
    here, there = top_stays_probability(noise, [9, 7, 1], 3), top_stays_probability(noise, [1009, 1007, 1001], 3)
    assert here.estimate == pytest.approx(there.estimate, rel=1e-9)


@noises
def test_a_larger_lead_and_a_smaller_domain_help(noise):
    by_lead = [top_stays_probability(noise, [8 + lead, 8, 3], 50).estimate for lead in range(1, 8)]
    by_domain = [top_stays_probability(noise, [9, 8, 3], bins).estimate for bins in (3, 10, 1e3, 1e6)]
    assert np.all(np.diff(by_lead) > -1e-9)
    assert np.all(np.diff(by_domain) < 1e-9)
    assert by_lead[-1] > by_lead[0] or noise.isf(0) < 1  # a lead of one already wins for sure


def test_a_bin_far_below_changes_nothing():
    noise = Laplace(1.0)
    near = top_stays_probability(noise, [10**6, 10**6 - 2], 2).estimate
    assert top_stays_probability(noise, [10**6, 10**6 - 2, 10], 3).estimate == pytest.approx(near, rel=1e-12)


def test_many_distinct_counts():
    """1000 successive counts: against the product of all distribution functions by SciPy's quadrature."""
    noise, law = Laplace(20.0), stats.laplace(scale=20.0)
    gaps = np.arange(1, 1000)

    def f(z):
        return law.pdf(z) * np.exp(law.logcdf(z + gaps).sum())

    value = sum(integrate.quad(f, a, b, epsabs=1e-13)[0] for a, b in ((-200, 0), (0, 100), (100, 300), (300, 900)))
    contains(top_stays_probability(noise, np.arange(1001, 1, -1), 1000), value)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("bins", [2, np.nan, np.inf])
def test_domains_smaller_than_the_data_are_refused(law, bins):
    with pytest.raises(ValueError, match=r"k = .* is not valid; valid: 3 <= k"):
        law(Gaussian(1.0), [3, 2, 1], bins)


def test_what_the_quadrature_leaves_out_is_in_the_upper_end():
    """1e300 bins that all but tie: the top one stays with 1e-300, much of it where the tail is below 1e-300."""
    found = top_stays_probability(Laplace(1e12), [1], 1e300)
    assert found.lower <= 1e-300 <= found.upper
    assert found.lower < 0.99e-300


LATTICES = [LatticeNoise(0.0, (0.0, -0.4, -1.1, -2.5), 1.3), LatticeNoise(0.5, (0.0, -0.3, -1.7), 0.9)]


@pytest.mark.parametrize("noise", [*LATTICES, DiscreteGaussian(4.0, step=2.0)], ids=str)
@pytest.mark.parametrize(("counts", "empty"), [([3, 1], 0), ([3, 3, 0], 0), ([3], 2), ([2, 2], 1)])
def test_on_a_lattice_all_outcomes_are_enumerated(noise, counts, empty):
    """What ties is not on top and does not overtake. A gap of 3 is no whole number of steps of 2."""
    x = (np.arange(-22.0, 22.0) + noise.offset) * noise.step_length
    chance = np.exp(noise.logpdf(x))
    stays = spurious = 0.0
    values = np.array([*counts, *([0] * empty)], dtype=float)
    top, others = values == max(counts), np.array([*([False] * len(counts)), *([True] * empty)])
    for which in product(range(len(x)), repeat=len(values)):
        noisy = values + x[list(which)]
        weight = np.prod(chance[list(which)])
        stays += weight * (noisy[top].max() > noisy[~top].max(initial=-np.inf))
        spurious += weight * (noisy[others].max(initial=-np.inf) > noisy[top].max())
    for law, known in ((top_stays_probability, stays), (spurious_wins_probability, spurious)):
        bounds = law(noise, counts, len(values))
        assert bounds.lower <= bounds.estimate <= bounds.upper
        assert bounds.estimate == pytest.approx(known, abs=5e-8)  # what lies beyond 22 counts is left out here


@pytest.mark.parametrize("law", LAWS)
def test_on_a_lattice_blocks_change_nothing(monkeypatch, law):
    noise, counts = DiscreteGaussian(20.0), [90, 70, 70, 33, 1]
    whole = law(noise, counts, 50)
    monkeypatch.setattr(ranking, "_BLOCK", 101)
    assert law(noise, counts, 50).estimate == pytest.approx(whole.estimate, rel=1e-14)


def test_wide_noise_on_a_lattice_costs_no_more_than_its_points():
    """With 2,000 different counts a matrix would take 9 GB, and too many points are refused.

    Ties with the top count half of a step each: here it stands half a count lower, and all are doubled.
    """
    counts = np.arange(2000)
    continuous = top_stays_probability(Gaussian(16000.0), [*2 * counts[:-1], 2 * 1999 - 1], 2000)
    assert top_stays_probability(DiscreteGaussian(8000.0), counts, 2000).estimate == pytest.approx(
        continuous.estimate, rel=1e-7
    )
    with pytest.raises(ValueError, match=r"sum of 7.41e\+06 terms; valid: at most 4,194,304, a wider step"):
        top_stays_probability(DiscreteGaussian(1e5), [3, 1], 2)


def test_on_a_lattice_far_tails_keep_their_digits():
    """One occupied bin of 300 records, and a million empty ones: in 60 digits."""
    noise = LATTICES[0]
    with mp.workdps(60):
        table = [mp.exp(mp.mpf(a)) for a in (0.0, -0.4, -1.1, -2.5)]
        mass = [table[i] if i < 4 else table[3] * mp.exp(-mp.mpf(1.3) * (i - 3)) for i in range(700)]
        total = mass[0] + 2 * mp.fsum(mass[1:])
        beyond = [mp.fsum(mass[i:]) / total for i in range(700)]  # P[Z >= i]

        def overtaken(z):
            tail = beyond[z + 301] if z > -301 else 1 - beyond[-z - 300]
            return -mp.expm1(mp.mpf(10) ** 6 * mp.log1p(-tail))

        known = float(mp.fsum(mass[abs(z)] / total * overtaken(z) for z in range(-690, 390)))
    bounds = spurious_wins_probability(noise, [300], 1e6 + 1)
    contains(bounds, known)
    assert known == pytest.approx(7.2094656e-162, rel=1e-6)
