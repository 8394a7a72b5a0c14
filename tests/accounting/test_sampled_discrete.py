"""Discrete noise on a sample of the records: ledgers against sums over the integers, and against dp_accounting."""

from itertools import permutations
from math import comb, exp, fsum

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from tcdp_sim.accounting import Additive, Ledger, MixturePair, Sampled
from tcdp_sim.accounting.brackets import cases_of_list, worst
from tcdp_sim.accounting.releases.sampled_lattice import of_labelled
from tcdp_sim.exact import Mixture
from tcdp_sim.exact.losses.lists import bracket
from tcdp_sim.exact.losses.questions import delta_question, epsilon_question
from tcdp_sim.exact.subsampling import LabelledPair, labelled_pairs
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, RoundedGaussian, RoundedLaplace

FAR = 120  # the tails beyond are below 1e-25
X = np.arange(-FAR, FAR + 1)


def normalised(weights):
    return weights / fsum(weights)


def cells(distribution):
    """The probabilities of the integers nearest to a continuous number with this distribution function."""
    return np.diff(distribution(np.arange(-FAR, FAR + 2) - 0.5))


def laplace_cdf(x, scale=2.0):
    return np.where(x < 0, 0.5 * np.exp(-np.abs(x) / scale), 1 - 0.5 * np.exp(-np.abs(x) / scale))


def gauss_cells(sigma):
    """By the complementary error function of the standard library, tail by tail."""
    from math import erfc, sqrt

    tail = np.array([0.5 * erfc((abs(k) - 0.5) / sigma / sqrt(2)) for k in X])
    beyond = np.array([0.5 * erfc((abs(k) + 0.5) / sigma / sqrt(2)) for k in X])
    return np.where(X == 0, 1 - 2 * beyond, tail - beyond)


NOISES = {
    "gaussian": (DiscreteGaussian(2.5), normalised(np.exp(-(X**2) / (2 * 2.5**2)))),
    "laplace": (DiscreteLaplace(2.0), normalised(np.exp(-np.abs(X) / 2.0))),
    "rounded gaussian": (RoundedGaussian(2.5), gauss_cells(2.5)),
    "rounded laplace": (RoundedLaplace(2.0), cells(laplace_cdf)),
}


def moved(pmf, shift):
    """The law of the noise on an answer that moves by whole steps."""
    found = np.zeros_like(pmf)
    source = slice(max(-shift, 0), len(pmf) - max(shift, 0))
    found[max(shift, 0) : len(pmf) + min(shift, 0)] = pmf[source]
    return found


def pairs(pmf, shift, rate, scheme, records=None):
    """The directions of a scheme, each a list of (probability of the label, p, q), from the definitions."""
    q = pmf
    if scheme == "poisson_substitution":
        up, down = ((1 - rate) * q + rate * moved(pmf, side * shift) for side in (1, -1))
        return [[(1.0, up, down)]]
    if scheme in ("poisson", "without_replacement"):
        p = (1 - rate) * q + rate * moved(pmf, shift)
        return [[(1.0, p, q)], [(1.0, q, p)]] if scheme == "poisson" else [[(1.0, p, q)]]
    draws = round(rate * records)
    eta = 1 - (1 - 1 / records) ** draws
    labels = [(k, comb(draws, k) / records**k * (1 - 1 / records) ** (draws - k)) for k in range(1, draws + 1)]
    there = [
        (weight / eta, (1 - eta) * q + eta * moved(pmf, k * shift), q) for k, weight in labels if k * shift < FAR / 2
    ]
    if scheme == "with_replacement":
        return [there]
    return [there, [(weight, q, p) for weight, p, q in there]]


def profile(pmf, shift, rate, scheme, epsilon, records=None):
    """The largest sum of p - e^epsilon q where it is positive."""
    return max(
        fsum(weight * fsum(np.maximum(p - exp(epsilon) * q, 0)) for weight, p, q in labels)
        for labels in pairs(pmf, shift, rate, scheme, records)
    )


def profile_without_labels(pmf, shift, rate, epsilon, records):
    """The larger profile of both orders for an adversary who does not know how often the record was drawn."""
    draws = round(rate * records)
    chances = [comb(draws, k) / records**k * (1 - 1 / records) ** (draws - k) for k in range(draws + 1)]
    p = sum(chance * moved(pmf, k * shift) for k, chance in enumerate(chances) if k * shift < FAR / 2)
    return max(fsum(np.maximum(one - exp(epsilon) * other, 0)) for one, other in ((p, pmf), (pmf, p)))


def relation(scheme):
    return "add_remove" if scheme in ("poisson", "hybrid") else "substitute"


SCHEMES = [
    ("poisson", None),
    ("poisson_substitution", None),
    ("without_replacement", None),
    ("with_replacement", 20),
    ("hybrid", 20),
]


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize(("scheme", "records"), SCHEMES)
@pytest.mark.parametrize(("rate", "shift"), [(0.05, 1), (0.4, 3), (1.0, 2)])
def test_one_release_is_a_sum_over_the_integers(name, scheme, records, rate, shift):
    noise, pmf = NOISES[name]
    ledger = Ledger([Sampled(Additive(noise, float(shift)), rate, scheme, records)], relation(scheme))
    for epsilon in (0.0, 0.1, 0.7, 2.0):
        low, _, high = ledger.delta(epsilon, 1e-6)
        truth = profile(pmf, shift, rate, scheme, epsilon, records)
        least = truth if records is None else profile_without_labels(pmf, shift, rate, epsilon, records)
        assert least * (1 - 1e-9) - 2e-14 <= low <= least * (1 + 1e-9) + 1e-15
        assert truth * (1 - 1e-9) - 1e-15 <= high <= truth * (1 + 1e-9) + 2e-14


def composed(labels, times):
    """The law of the sum of the losses of a few releases, by enumeration: losses and P-masses."""
    loss, mass = (np.concatenate(parts) for parts in zip(*(_losses(*label) for label in labels)))
    total, weight = np.zeros(1), np.ones(1)
    for _ in range(times):
        total, weight = (total[:, None] + loss).ravel(), (weight[:, None] * mass).ravel()
    return total, weight


def _losses(weight, p, q):
    seen = (p > 1e-13) & (q > 1e-300)
    return np.log(p[seen]) - np.log(q[seen]), weight * p[seen]


@pytest.mark.parametrize("name", ["gaussian", "laplace"])
@pytest.mark.parametrize(("scheme", "records"), [("poisson", None), ("poisson_substitution", None), ("hybrid", 20)])
def test_two_releases_are_an_enumeration(name, scheme, records):
    """What the enumeration leaves out has a probability below 1e-10."""
    noise, pmf = NOISES[name]
    ledger = Ledger([(Sampled(Additive(noise, 1.0), 0.1, scheme, records), 2)], relation(scheme))
    for epsilon in (0.0, 0.2, 1.0):
        found = []
        for labels in pairs(pmf, 1, 0.1, scheme, records):
            loss, mass = composed(labels, 2)
            found.append(fsum(np.maximum(-np.expm1(epsilon - loss), 0) * mass))
        low, _, high = ledger.delta(epsilon, 1e-5)
        assert low - 1e-10 <= max(found) <= high + 1e-10


@pytest.mark.parametrize("times", [1, 2, 3])
def test_losses_of_without_replacement_are_mirrored(times):
    """Its profile has one law for both directions: H(-e) = 1 - e^-e (1 - H(e)), by sums over all sign patterns."""
    noise, pmf = NOISES["gaussian"]
    p = 0.7 * pmf + 0.3 * moved(pmf, 1)
    loss, mass = _losses(1.0, p, pmf)
    loss, mass = loss[loss > 0], mass[loss > 0]
    loss, mass = np.concatenate([loss, -loss]), np.concatenate([mass, mass * np.exp(-loss)])
    loss, mass = np.append(loss, 0.0), np.append(mass, 1 - fsum(mass))
    total, weight = np.zeros(1), np.ones(1)
    for _ in range(times):
        total, weight = (total[:, None] + loss).ravel(), (weight[:, None] * mass).ravel()
    ledger = Ledger([(Sampled(Additive(noise), 0.3, "without_replacement"), times)], "substitute")
    for epsilon in (0.0, 0.1, 0.5):
        truth = fsum(np.maximum(-np.expm1(epsilon - total), 0) * weight)
        low, _, high = ledger.delta(epsilon, 1e-5)
        assert low - 1e-10 <= truth <= high + 1e-10
        assert high <= truth * (1 + 1e-4) + 1e-10


def best_of_orders(p, q, times, epsilon, adaptive):
    """The largest delta of releases whose two laws may be swapped, in each by a choice after the earlier outputs."""

    def still(ratio, left):
        """The share of delta for each product of q / p so far, times e^epsilon."""
        if not left:
            return np.maximum(1 - ratio, 0)
        ways = [
            (one * still((ratio[:, None] * other / one).ravel(), left - 1).reshape(len(ratio), -1)).sum(axis=1)
            for one, other in ((p, q), (q, p))
        ]
        return np.maximum(*ways)

    if adaptive:
        return float(still(np.array([exp(epsilon)]), times)[0])
    orders = [[(p, q)] * (times - turned) + [(q, p)] * turned for turned in range(times + 1)]
    found = []
    for order in orders:
        ratio, mass = np.array([exp(epsilon)]), np.ones(1)
        for one, other in order:
            ratio, mass = np.outer(ratio, other / one).ravel(), np.outer(mass, one).ravel()
        found.append(float((mass * np.maximum(1 - ratio, 0)).sum()))
    return max(found)


@pytest.mark.parametrize(("scheme", "records"), [("without_replacement", None), ("with_replacement", 4)])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_lower_ends_of_samples_of_fixed_size_are_attained(scheme, records, times):
    """No adversary who chooses the order of each pair reaches the upper end, but one attains the lower end."""
    noise, rate = DiscreteLaplace(0.4), 0.5
    x = np.arange(-9, 14)
    q = normalised(np.exp(-np.abs(x) / 0.4))
    chances = [1 - rate, rate] if records is None else [(3 / 4) ** 2, 2 * 3 / 16, 1 / 16]
    p = sum(chance * normalised(np.exp(-np.abs(x - k) / 0.4)) for k, chance in enumerate(chances))
    ledger = Ledger([(Sampled(Additive(noise), rate, scheme, records), times)], "substitute")
    for epsilon in (0.3, 1.0, 2.5):
        low, _, high = ledger.delta(epsilon, 1e-6)
        fixed, adaptive = (best_of_orders(p, q, times, epsilon, each) for each in (False, True))
        assert low <= adaptive * (1 + 1e-6)
        assert low >= fixed * (1 - 1e-5)
        assert adaptive <= high * (1 + 1e-6)
        if times > 1 and epsilon < 2:
            assert adaptive < 0.999 * high  # so the pair in both orders is not attained


@pytest.mark.parametrize(("rate", "times"), [(0.1, 1), (0.1, 10), (0.5, 100), (0.01, 1000)])
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_dp_accounting_is_not_below(family, rate, times):
    """Its losses are rounded up by at most 1e-4 each, and so is its epsilon, by all of them."""
    if family == "laplace":
        theirs = pld.from_discrete_laplace_mechanism(0.5, 1, sampling_prob=rate)
        noise = DiscreteLaplace(2.0)
    else:
        theirs, noise = pld.from_discrete_gaussian_mechanism(3.0, 1, sampling_prob=rate), DiscreteGaussian(3.0)
    epsilon = theirs.self_compose(times).get_epsilon_for_delta(1e-6)
    low, _, high = Ledger([(Sampled(Additive(noise), rate), times)], "add_remove").epsilon(1e-6)
    assert low <= epsilon <= high + 1e-4 * times
    assert high - low <= 1.5e-4 * high


@pytest.mark.parametrize("noise", [DiscreteGaussian(3.0), DiscreteLaplace(2.0)])
@pytest.mark.parametrize(("scheme", "records"), SCHEMES)
def test_a_thousand_releases_to_a_millionth(noise, scheme, records):
    """The ends of the pairs that dominate, and of those that are attained where they differ."""
    entries = ((Sampled(Additive(noise), 0.05, scheme, records), 1000),)
    question = epsilon_question(1e-6, lambda high: 1e-6 * high)
    for attained in (False, True):
        low, high = worst(cases_of_list(entries, relation(scheme), attained), question)
        assert 0 < low <= high <= low * (1 + 1e-6)


@pytest.mark.parametrize("rate", [0.02, 0.6])
def test_a_fine_lattice_is_nearly_continuous(rate):
    """The discrete Gaussian of step 1/100 differs from the Gaussian by less than the bracket, rounding aside."""
    fine = Sampled(Additive(DiscreteGaussian(2.0, step=0.01)), rate)
    smooth = Sampled(Additive(Gaussian(2.0)), rate)
    ours, theirs = (Ledger([(each, 10)], "add_remove").epsilon(1e-6) for each in (fine, smooth))
    assert ours.lower <= theirs.upper * (1 + 1e-3)
    assert theirs.lower <= ours.upper * (1 + 1e-3)


@pytest.mark.parametrize(("sigma", "rate"), [(1e3, 0.5), (2e3, 1e-2)])
def test_a_bound_of_all_losses_may_be_far_above_those_that_floats_show(sigma, rate):
    """Without the record the loss is at most -log(1 - rate), but at most about rate 40 / sigma where floats see it."""
    x = np.arange(-int(12 * sigma), int(12 * sigma) + 2)
    plain, up = (normalised(np.exp(-0.5 * ((x - shift) / sigma) ** 2)) for shift in (0, 1))
    p, q = plain, (1 - rate) * plain + rate * up
    base = Mixture(DiscreteGaussian(sigma))
    pair = MixturePair(base, Mixture(DiscreteGaussian(sigma), (0.0, 1.0), (1 - rate, rate)), "forward")
    target = fsum(np.maximum(p - exp(2 * rate / sigma) * q, 0))
    low, _, high = Ledger([pair], "add_remove").epsilon(target)
    assert 2 * rate / sigma * (1 - 1e-3) <= low <= 2 * rate / sigma * (1 + 1e-9)
    assert 2 * rate / sigma * (1 - 1e-9) <= high <= 2 * rate / sigma * (1 + 1e-3)
    many = Ledger([(pair, 100)], "add_remove")
    low, _, high = many.epsilon(1e-6)
    assert 0 < low <= high <= low * (1 + 1e-3)
    low, _, high = many.delta(low, 1e-3)
    assert 1e-6 * (1 - 3e-3) <= low <= high <= 1e-6 * (1 + 3e-3)
    most = -100 * np.log1p(-rate)
    assert 0 < many.epsilon(0.0).lower <= most <= many.epsilon(0.0).upper <= most * (1 + 1e-9)
    assert many.renyi(np.inf).upper == pytest.approx(most, rel=1e-9)


def test_losses_of_labels_are_bounded_far_above_those_that_floats_show():
    law = of_labelled(labelled_pairs(DiscreteGaussian(1e3), 1.0, 0.5, "hybrid", 4)[1])
    low, high = bracket(((law, 1),), epsilon_question(1e-6, lambda high: 1e-4 * high))
    assert 0 < low <= high <= low * (1 + 1e-3)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("shift", [0, 1, 3, None])
def test_labels_that_are_left_out_of_mirrored_losses(shift, times):
    """They may reveal nothing, a little, more, or everything (None): the truth is an enumeration with all labels.

    The lower end has them at a loss of 0, as if all their outputs and the mirrored ones were merged.
    """
    noise, pmf = NOISES["gaussian"]
    mixed = Mixture(noise, (0.0, 1.0), (0.5, 0.5)), Mixture(noise)
    law = of_labelled(LabelledPair(((0.9, *mixed),), True, 0.1))
    labels = [(0.9, 0.5 * pmf + 0.5 * moved(pmf, 1))] + ([] if shift is None else [(0.1, moved(pmf, shift))])
    loss, mass = (np.concatenate(parts) for parts in zip(*(_losses(weight, p, pmf) for weight, p in labels)))
    loss, mass = loss[loss > 0], mass[loss > 0]
    lost = 0.1 if shift is None else 0.0
    loss, mass = np.concatenate([loss, -loss, [0.0]]), np.concatenate([mass, mass * np.exp(-loss), [0.0]])
    mass[-1] = 1 - lost - fsum(mass)
    total, weight = np.zeros(1), np.ones(1)
    for _ in range(times):
        total, weight = (total[:, None] + loss).ravel(), (weight[:, None] * mass).ravel()
    for epsilon in (0.0, 0.05, 0.3):
        truth = 1 - (1 - lost) ** times + fsum(np.maximum(-np.expm1(epsilon - total), 0) * weight)
        low, high = bracket(((law, times),), delta_question(epsilon, lambda high: 1e-4), rounds=3)
        assert low - 1e-10 <= truth <= high + 1e-10
        assert truth - low <= (1e-3 if shift == 0 else 0.11 * times)


def test_poisson_sampling_is_the_pair_of_mixtures():
    noise = DiscreteLaplace(3.0)
    p, q = Mixture(noise, (0.0, 2.0), (0.8, 0.2)), Mixture(noise)
    pair = Ledger([(MixturePair(p, q), 5)], "add_remove")
    sampled = Ledger([(Sampled(Additive(noise, 2.0), 0.2), 5)], "add_remove")
    assert sampled.epsilon(1e-5) == pair.epsilon(1e-5)


def test_no_sampling_is_the_noise_itself():
    noise = DiscreteGaussian(1.5)
    for scheme, records in SCHEMES[:3]:
        all_of_them = Ledger([(Sampled(Additive(noise), 1.0, scheme, records), 3)], relation(scheme))
        shift = 2.0 if scheme == "poisson_substitution" else 1.0
        alone = Ledger([(Additive(noise, shift), 3)], relation(scheme))
        for epsilon in (0.0, 0.5, 2.0):
            ours, theirs = (each.delta(epsilon, 1e-6) for each in (all_of_them, alone))
            assert max(ours.lower, theirs.lower) <= min(ours.upper, theirs.upper) * (1 + 1e-9)
    assert Ledger([Sampled(Additive(noise), 0.0)], "add_remove").delta(0.0).upper == 0


def test_lists_of_both_kinds_of_noise():
    """A bracket of a mixed list contains neither end of one of its parts, and order does not count."""
    parts = [
        Sampled(Additive(DiscreteGaussian(2.0)), 0.1),
        Sampled(Additive(Laplace(2.0)), 0.2),
        Additive(Gaussian(9.0)),
    ]
    found = {Ledger(list(order), "add_remove").epsilon(1e-6, 1e-5) for order in permutations(parts)}
    low, high = max(each.lower for each in found), min(each.upper for each in found)
    assert low <= high
    assert low > max(Ledger([part], "add_remove").epsilon(1e-6).upper for part in parts)


def test_renyi_divergences():
    """Of Poisson sampling by the sum over the integers; those of fixed sizes are refused, as for continuous noise."""
    noise, pmf = NOISES["laplace"]
    p = 0.7 * pmf + 0.3 * moved(pmf, 1)
    step = Sampled(Additive(noise), 0.3)
    for order in (2.0, 5.0):
        seen = pmf > 1e-24
        both = [np.log(fsum(a[seen] ** order * b[seen] ** (1 - order))) / (order - 1) for a, b in ((p, pmf), (pmf, p))]
        low, _, high = Ledger([step], "add_remove").renyi(order)
        assert low * (1 - 1e-9) <= max(both) <= high * (1 + 1e-9)
    with pytest.raises(ValueError, match="fixed size are not known"):
        Ledger([Sampled(Additive(noise), 0.3, "without_replacement")], "substitute").renyi(2.0)


@pytest.mark.parametrize("records", range(1, 30))
def test_one_draw_is_a_sample_of_one_record(records):
    """With and without replacement alike, for continuous noise; the quotient of chances may round above 1."""
    step = Additive(Gaussian(2.0))
    one, other = (
        Ledger([(Sampled(step, 1 / records, scheme, n), 2)], "substitute")
        for scheme, n in (("with_replacement", records), ("without_replacement", None))
    )
    assert one.delta(0.2) == pytest.approx(other.delta(0.2), rel=1e-3)
