"""Every question to a ledger, on random asymmetric lists, against full enumeration in rational arithmetic.

The lists have several releases of different sizes and directions, repetitions, splits and repeated splits.
"""

import inspect
from fractions import Fraction
from itertools import product
from typing import get_type_hints

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from tcdp_sim.accounting import Additive, Distributions, Ledger, Thresholded
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise import Gaussian, Laplace

SEEDS = range(24)
_UNITS = 64  # probabilities are multiples of 1/64, so that floats are exact


def random_vectors(rng, infinite):
    """Return p and q of two to four values, of which some may be impossible under one of them."""
    values = rng.integers(2, 5)

    def vector():
        shares = rng.multinomial(_UNITS - values, rng.dirichlet(np.ones(values))) + 1
        if infinite and rng.random() < 0.4:
            place = rng.integers(values)
            shares[(place + 1) % values] += shares[place]
            shares[place] = 0
        return tuple((shares / _UNITS).tolist())

    return vector(), vector()


def random_list(rng, infinite=True):
    return [(random_vectors(rng, infinite), int(rng.integers(1, 3))) for _ in range(rng.integers(1, 3))]


def ledger_of(entries, relation):
    return Ledger([(Distributions(p, q), times) for (p, q), times in entries], relation)


def outcomes(entries):
    """Return (P, Q) of all outcomes of all releases as fractions, with equal likelihood ratios added."""
    total = {None: (Fraction(1), Fraction(1))}
    for (p, q), times in entries:
        for _ in range(times):
            found = {}
            for (a, b), (c, d) in product(total.values(), zip(map(Fraction, p), map(Fraction, q))):
                ratio = (1, 0) if b * d == 0 and a * c else (Fraction(a * c, b * d) if b * d else 0, 1)
                x, y = found.get(ratio, (0, 0))
                found[ratio] = x + a * c, y + b * d
            total = found
    return [pair for pair in total.values() if any(pair)]


def worlds(entries, split, relation):
    """Return all lists that neighbours distinguish, in both directions."""
    repeated, parts = split
    if relation == "add_remove" or len(parts) == 1:
        touched = parts or [[]]
    else:
        touched = [parts[i] + parts[j] for i in range(len(parts)) for j in range(i)] or [[]]
    for part in touched:
        whole = entries + [(pair, times * repeated) for pair, times in part]
        yield from orders(whole) if relation == "substitute" else [whole, turned(whole, 2**60 - 1)]


def turned(entries, which):
    return [((q, p) if which >> i & 1 else (p, q), times) for i, ((p, q), times) in enumerate(entries)]


def orders(entries):
    """Return all orders of all pairs: under substitution each release may have either."""
    single = [(pair, 1) for pair, times in entries for _ in range(times)]
    return (turned(single, which) for which in range(2 ** len(single)))


def ratio_of(pair):
    return pair[0] / pair[1] if pair[1] else float("inf")


def delta(laws, epsilon):
    with mp.workdps(60):
        _, mantissa, exponent, _ = mp.exp(mp.mpf(epsilon))._mpf_
    a = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return max(sum(max(p - a * q, 0) for p, q in law) for law in laws)


def power(laws, alpha):
    """Return the largest power of a test with the type I error alpha, by Neyman and Pearson."""
    best = 0
    for law in laws:
        left, found = Fraction(alpha), Fraction(0)
        for p, q in sorted(law, key=ratio_of, reverse=True):
            share = min(Fraction(1), left / q) if q else Fraction(1)
            found, left = found + share * p, left - share * q
        best = max(best, found)
    return best


def attack(laws, prior):
    prior = Fraction(prior)
    return max(sum(max(prior * p, (1 - prior) * q) for p, q in law) for law in laws)


def posterior(laws, prior, chance):
    best = 0
    for law in laws:
        total = Fraction(0)
        for p, q in sorted(law, key=ratio_of, reverse=True):
            total += p
            if total >= Fraction(chance):
                best = max(best, Fraction(prior) * p / (Fraction(prior) * p + (1 - Fraction(prior)) * q))
                break
    return best


def renyi(laws, order):
    def one(law):
        if any(p and not q for p, q in law):
            return mp.inf
        terms = [(mp.mpf(p.numerator) / p.denominator, mp.log(ratio_of((p, q)))) for p, q in law if p]
        if order == 1:
            return mp.fsum(p * loss for p, loss in terms)
        if order == mp.inf:
            return max(loss for _, loss in terms)
        return mp.log(mp.fsum(p * mp.exp((order - 1) * loss) for p, loss in terms)) / (order - 1)

    with mp.workdps(40):
        return max(one(law) for law in laws)


def check_epsilon(ledger, laws, rng):
    for small in (10 ** -rng.uniform(0, 6), rng.uniform(0, 1)):
        low, middle, high = ledger.epsilon(small)
        assert low == 0 or (low == np.inf and delta(laws, 600.0) >= small) or delta(laws, low) >= small
        assert high == np.inf or delta(laws, high) <= small
        assert low <= middle <= high
        assert high < np.inf or delta(laws, 600.0) >= small


def contains(ledger, bounds, exact, width=1e-3):
    """Check a bracket. Under substitution the ends of several releases differ."""
    low, middle, high = bounds
    assert low <= exact <= high
    assert low <= middle <= high
    assert ledger.relation == "substitute" or low == high or high - low <= width


def check_delta(ledger, laws, rng):
    for epsilon in (0.0, rng.uniform(0, 2), rng.uniform(0, 6)):
        contains(ledger, ledger.delta(epsilon), delta(laws, epsilon))


def check_advantage(ledger, laws, rng):
    contains(ledger, ledger.advantage(), delta(laws, 0.0))


def check_renyi(ledger, laws, rng):
    for order in (1.0, 1 + 10 ** -rng.uniform(0, 8), rng.uniform(1, 30), np.inf):
        contains(ledger, ledger.renyi(order), renyi(laws, order))


def check_tradeoff(ledger, laws, rng):
    for alpha in (0.0, 1.0, rng.uniform(), 10 ** -rng.uniform(0, 6), 1 - 10 ** -rng.uniform(0, 6)):
        contains(ledger, ledger.tradeoff(alpha), 1 - power(laws, alpha))


def check_reconstruction(ledger, laws, rng):
    for candidates in (1, rng.uniform(1, 4), 10 ** rng.uniform(0, 6)):
        contains(ledger, ledger.reconstruction(candidates), power(laws, 1 / Fraction(candidates)))


def check_attack(ledger, laws, rng):
    for prior in (0.5, rng.uniform(), 10 ** -rng.uniform(0, 4), 1 - 10 ** -rng.uniform(0, 4)):
        contains(ledger, ledger.attack(prior), attack(laws, prior))


def check_posterior(ledger, laws, rng):
    for prior, chance in ((rng.uniform(), rng.uniform()), (0.01, 0.6), (0.5, 10 ** -rng.uniform(0, 3))):
        contains(ledger, ledger.posterior(prior, chance), posterior(laws, prior, chance), 4e-3)


def check_gaussian_mu(ledger, laws, rng):
    """The supremum over places 0.1 apart of the mu with the delta there; a grid misses at most 2% of these curves."""
    found = ledger.gaussian_mu()
    if any(p and not q for law in laws for p, q in law):
        assert found.lower == np.inf
        return
    mu = max(mu_at(e, float(delta(laws, float(e)))) for e in np.arange(0.0, 12.0, 0.1))
    assert mu * (1 - 1e-9) <= found.upper
    assert ledger.relation == "substitute" or found.lower <= 1.02 * mu + 1e-9


def mu_at(epsilon, delta):
    """The mu of the normal law with this delta, 0 for none."""

    def excess(mu):
        return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - delta

    return brentq(excess, 1e-6, 60, xtol=1e-12) if delta > 1e-12 else 0.0


QUESTIONS = {name[6:]: check for name, check in globals().items() if name.startswith("check_")}


def test_every_question_is_asked():
    methods = [name for name, each in inspect.getmembers(Ledger, inspect.isfunction) if not name.startswith("_")]
    answers = {name for name in methods if get_type_hints(getattr(Ledger, name)).get("return") is Bounds}
    assert answers == set(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_answers_of_random_asymmetric_lists_contain_the_truth(question, seed):
    rng = np.random.default_rng(seed)
    entries = random_list(rng, seed % 2 == 0)
    laws = [outcomes(world) for world in worlds(entries, (1, []), "add_remove")]
    QUESTIONS[question](ledger_of(entries, "add_remove"), laws, rng)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("seed", range(8))
def test_answers_of_repeated_splits_contain_the_truth(question, seed):
    rng = np.random.default_rng(100 + seed)
    parts = [[(random_vectors(rng, False), 1)] for _ in range(3)]
    common, repeated = [(random_vectors(rng, False), 1)], 1 + seed % 3
    split = ledger_of(parts[0], "add_remove").parallel(*(ledger_of(part, "add_remove") for part in parts[1:]))
    ledger = ledger_of(common, "add_remove") + split.times(repeated)
    laws = [outcomes(world) for world in worlds(common, (repeated, parts), "add_remove")]
    QUESTIONS[question](ledger, laws, rng)


@pytest.mark.parametrize("question", sorted(set(QUESTIONS) - {"posterior"}))
@pytest.mark.parametrize("seed", range(8))
def test_answers_under_substitution_contain_the_truth_of_every_order_and_choice_of_parts(question, seed):
    """A posterior is that of the dominating pair, which is another one here."""
    rng = np.random.default_rng(200 + seed)
    parts = [[(random_vectors(rng, seed % 2 == 0), 1)] for _ in range(3)]
    split = ledger_of(parts[0], "substitute").parallel(*(ledger_of(part, "substitute") for part in parts[1:]))
    ledger = ledger_of([], "substitute") + split.times(1 + seed % 2)
    laws = [outcomes(world) for world in worlds([], (1 + seed % 2, parts), "substitute")]
    QUESTIONS[question](ledger, laws, rng)


def test_a_longer_ledger_keeps_its_relation():
    """Without it, thresholds have no pair, and lists in two relations can be joined."""
    ledger = Ledger([Thresholded(Laplace(1.0), 15.0)], "add_remove")
    twice = ledger.times(2)
    assert twice.relation == "add_remove"
    assert twice.epsilon(1e-3) == (ledger + ledger).epsilon(1e-3)
    with pytest.raises(ValueError, match="one relation"):
        twice + Ledger([Additive(Gaussian(1.0))], "substitute")


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize("scales", [(2.0, 50.0, 2.0), (50.0, 2.0, 3.0, 2.5), (3.0, 4.0)])
def test_a_record_may_leave_any_part_of_a_repeated_split_and_enter_any_other(relation, times, scales):
    """Gaussian noise: squares of sensitivity over scale add up, over one part or the two with the least noise."""
    first, *others = (Ledger([Additive(Gaussian(scale))], relation) for scale in scales)
    touched = sorted(scales)[: 1 if relation == "add_remove" else 2]
    mu = np.sqrt(times * sum(scale**-2 for scale in touched))
    low, _, high = first.parallel(*others).times(times).epsilon(1e-6)
    alone = Ledger([Additive(Gaussian(1.0), float(mu))]).epsilon(1e-6)
    assert low <= alone.upper
    assert alone.lower <= high
    assert high - low <= 1e-3 * high
