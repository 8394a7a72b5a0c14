"""Exact laws and exact epsilons of the audited methods, from definitions and from dp_accounting alone."""

from collections import Counter
from functools import cache
from itertools import combinations_with_replacement, product
from math import exp, factorial, inf, prod

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy import optimize, stats

from tcdp_sim.accounting import Allocated, Ledger
from tcdp_sim.mechanisms.audited import METHODS

INTERVAL = 5e-4  # of the losses of dp_accounting


@cache
def exact_value(name, planted):
    """Return the exact epsilon (or rho) of a method's neighbours, to compare with the number that it claims."""
    method = METHODS[name]
    delta = getattr(method.claim(planted), "delta", 0.0)
    if name == "candidates_scores":
        return rho_of_scores(method)
    if name.startswith("allocation"):
        return of_one_step(method.sigma, method.steps, delta)
    if name.startswith("prefix_sums"):
        return gaussian_epsilon(distance_of_sums(method, planted), delta)
    if name in ("ledger_noises", "ledger_samples"):
        return composed_epsilon(method.made if planted else method.releases, delta)
    if name == "ledger_new_key":
        return new_key_epsilon(method, planted, delta)
    return epsilon_of_laws(*laws(name, planted), delta)


@cache
def of_one_step(sigma, steps, delta):
    return Ledger([Allocated(sigma, steps)], "add_remove").epsilon(delta, 1e-5).estimate


def laws(name, planted):
    """Return the laws of a method with finitely many outputs, by label where it has labels."""
    method = METHODS[name]
    if name.startswith("ledger"):
        return law_of_list(method.made if planted and method.made else method.releases)
    if name.startswith("keys"):
        return tuple(law_of_keys(name, method, planted, first) for first in (True, False))
    if name.startswith("quantile"):
        return tuple(law_of_quantiles(method, planted, first) for first in (True, False))
    return tuple(law_of_answers(method, first) for first in (True, False))


def epsilon_of_laws(p, q, delta):
    """Return epsilon of two vectors of probabilities, the larger one of both directions."""
    if not delta:
        return float(np.abs(np.log(p) - np.log(q)).max())

    def one(p, q):
        def excess(e):
            return np.maximum(p - exp(e) * q, 0).sum() - delta

        if excess(60) > 0:
            return inf
        return optimize.brentq(excess, 0, 60) if excess(0) > 0 else 0.0

    return max(one(p, q), one(q, p))


def gaussian_epsilon(mu, delta):
    """Return epsilon of N(mu, 1) against N(0, 1), by the formula of Balle and Wang (2018)."""

    def excess(e):
        return stats.norm.cdf(mu / 2 - e / mu) - exp(e) * stats.norm.cdf(-mu / 2 - e / mu) - delta

    return optimize.brentq(excess, 0, 60)


def composed_epsilon(releases, delta):
    """Return epsilon of a list of additive noises by dp_accounting, whose rounding is upwards."""
    total = pld.identity(INTERVAL)
    for release in releases:
        make = pld.from_gaussian_mechanism if release["noise"] == "gaussian" else pld.from_laplace_mechanism
        given = {"sensitivity": release.get("sensitivity", 1.0), "sampling_prob": release.get("sampled", 1.0)}
        one = make(release["scale"], value_discretization_interval=INTERVAL, **given)
        total = total.compose(one.self_compose(release.get("times", 1)))
    return total.get_epsilon_for_delta(delta)


def law_of_list(releases):
    """Return the two laws of all outputs of a list together."""
    both = np.ones(1), np.ones(1)
    for release in releases:
        for _ in range(release.get("times", 1)):
            both = tuple(np.outer(one, two).ravel() for one, two in zip(both, law_of(release)))
    return both


def law_of(release):
    match release:
        case {"response": epsilon, "k": k}:
            p = np.array([exp(epsilon), 1, k - 2]) / (exp(epsilon) + k - 1)
            return p, p[[1, 0, 2]]
        case {"bounded_range": epsilon, "larger_loss": t}:
            p = (1 - exp(t - epsilon)) / (1 - exp(-epsilon))  # p e^-t + (1 - p) e^(epsilon - t) = 1
            return np.array([p, 1 - p]), np.array([p * exp(-t), (1 - p) * exp(epsilon - t)])
        case {"noise": "discrete_gaussian", "sigma": sigma}:
            x = np.arange(-30, 32)
            p, q = np.exp(-(x**2) / (2 * sigma**2)), np.exp(-((x - 1) ** 2) / (2 * sigma**2))
            return p / p.sum(), q / q.sum()
    raise ValueError(release)


def new_key_epsilon(method, planted, delta):
    """Return epsilon of a new key and a Gaussian answer: the key is shown, or its silence has a constant loss."""
    shown = stats.laplace.sf(method.threshold - planted - 1, scale=method.noise.scale)
    mu = 1 / method.answer.scale

    def profile(e):
        return stats.norm.cdf(mu / 2 - e / mu) - exp(e) * stats.norm.cdf(-mu / 2 - e / mu)

    silent = -np.log1p(-shown)
    there = (
        optimize.brentq(lambda e: shown + (1 - shown) * profile(e + silent) - delta, 0, 60) if shown < delta else inf
    )
    back = optimize.brentq(lambda e: profile(e - silent) - delta, 0, 60)
    return max(there, back)


def law_of_keys(name, method, planted, first):
    """Return the law of the number of released keys, which all have the same number of records."""
    records = method.others[0] + ((method.planted_added if planted else method.added) if first else 0)
    p = {"keys_above": above, "keys_at_least": at_least, "keys_several": laplace, "keys_best": best}[name]
    chance = p(records, planted) if records else 0.0
    return stats.binom.pmf(np.arange(len(method.others) + 1), len(method.others), chance)


def above(n, planted):
    return stats.dlaplace.sf(3 - n if planted else 4 - n, 1.0)


def at_least(n, planted):
    x = np.arange(-40, 41)
    p = np.exp(-(x**2) / (2 * 1.5**2))
    return p[x >= 5 - n].sum() / p.sum()


def laplace(n, planted):
    return stats.laplace.sf(11.0 - n, scale=4.0)


def best(n, planted):
    """Return the curve of Desfontaines et al. (2022) by its recursion."""
    chance = 0.0
    for _ in range(n):
        chance = min(np.e * chance + 0.01, 1 - (1 - chance - 0.01) / np.e, 1.0)
    return chance


def law_of_answers(method, first):
    """Return the law of the best of a geometric number of answers."""
    odds = exp(method.epsilon)
    good, fair = (1 / (1 + odds), odds * method.fair) if first else (odds / (1 + odds), method.fair)
    stop = 1 / method.tries.mean

    def none_better(chance):  # E (1 - chance)^K
        return stop * (1 - chance) / (1 - (1 - stop) * (1 - chance))

    ends = [none_better(chance) for chance in (0, good, good + fair, 1)]
    return -np.diff(ends)


def rho_of_scores(method):
    """Return sup D_a / a over orders up to omega of the best of a Poisson number of Gaussian scores, by quadrature."""
    shift, mean = method.shift, method.tries.mean
    y, step = np.linspace(-12, 14, 40_001, retstep=True)
    one, two = (mean * np.exp(-mean * stats.norm.sf(y - s)) * stats.norm.pdf(y - s) for s in (shift, 0.0))
    assert abs(one.sum() * step - (1 - exp(-mean))) < 1e-9

    def rho(order, p, q):
        total = exp(-mean) + (p**order * q ** (1 - order)).sum() * step
        return np.log(total) / (order - 1) / order

    orders = np.linspace(1.01, method.omega, 200)
    with np.errstate(divide="ignore", invalid="ignore"):
        return max(np.nanmax([rho(a, one, two), rho(a, two, one)]) for a in orders)


def distance_of_sums(method, planted):
    """Return the distance of the two means of all prefix sums, in standard deviations of their noise."""
    kinds = {"SquareRoot": square_root, "Tree": tree}
    left, right = kinds[type(method.factorisation).__name__](16)
    change = np.zeros(16)
    change[method.added] += 1
    if method.removed >= 0:
        change[method.removed] -= 1
    pairs = [right[:, i] for i in range(16)]
    if method.removed >= 0 and not planted:
        pairs = [one - two for one, two in product(pairs, pairs)]
    sensitivity = max(np.linalg.norm(pair) for pair in pairs)
    if planted and method.removed < 0:
        sensitivity = 1.0  # of one level
    sums = left @ right @ change
    return float(np.sqrt(sums @ np.linalg.pinv(left @ left.T) @ sums)) / (method.sigma * sensitivity)


def square_root(k):
    """Return both factors of the square root of the matrix of prefix sums."""
    coefficients = np.cumprod([1.0, *((2 * i - 1) / (2 * i) for i in range(1, k))])
    factor = np.array([[coefficients[i - j] if i >= j else 0.0 for j in range(k)] for i in range(k)])
    return factor, factor


def tree(k):
    """Return the sums of the nodes that cover each prefix, and the nodes of a binary tree below its root."""
    spans = [(i * size, (i + 1) * size) for size in (2**i for i in range(k.bit_length() - 1)) for i in range(k // size)]
    right = np.array([[float(low <= i < high) for i in range(k)] for low, high in spans])
    left = np.zeros((k, len(spans)))
    for end in range(1, k + 1):
        start = 0
        while start < end:  # the largest node that begins here and ends in time
            widest = max(high for low, high in spans if low == start and high <= end)
            left[end - 1, spans.index((start, widest))] = 1.0
            start = widest
    return left, right


def law_of_quantiles(method, planted, first):
    """Return the law of the labels of quantiles, from the densities of the methods."""
    epsilon = method.planted_epsilon if planted else method.epsilon
    records = np.array(method.records)
    seen = records if first else np.delete(records, method.removed)
    law = {"Independent": smith, "Joint": joint, "Recursive": recursive}[method.kind.__name__]
    found = law(epsilon, method.levels, seen, np.array([0.0, *records, 8.0]))
    kinds = len(records) + 1
    masses = np.zeros(kinds ** len(method.levels))
    for cells, mass in found.items():
        masses[sum(cell * kinds**i for i, cell in enumerate(cells))] = mass
    return masses[masses > 0] / masses.sum()


def smith(epsilon, levels, seen, cuts):
    (level,) = levels
    return {(i,): mass for i, mass in enumerate(cells_of_one(epsilon, level, seen, cuts))}


def cells_of_one(epsilon, level, seen, cuts):
    """Return the law of one exponential mechanism on the cells between cuts, whose range of losses is epsilon."""
    middle = 0.5 * (cuts[1:] + cuts[:-1])
    rank = (seen[:, None] < middle).sum(axis=0)
    weights = np.diff(cuts) * np.exp(-epsilon / (2 * max(level, 1 - level)) * np.abs(rank - level * len(seen)))
    return weights / weights.sum()


def joint(epsilon, levels, seen, cuts):
    """Return the law of JointExp: cells with several outputs have a part of their cube."""
    shares = np.diff([0.0, *levels, 1.0])
    eta = epsilon / (4 * (1 - shares.min()))
    size, middle = np.diff(cuts), 0.5 * (cuts[1:] + cuts[:-1])
    below = (seen[:, None] < middle).sum(axis=0)
    found = {}
    for cells in combinations_with_replacement(range(len(size)), len(levels)):
        between = np.diff([0, *below[list(cells)], len(seen)])
        volume = prod(size[list(cells)]) / prod(map(factorial, Counter(cells).values()))
        found[cells] = volume * np.exp(-eta * np.abs(between - len(seen) * shares).sum())
    return found


def recursive(epsilon, levels, seen, cuts):
    """Return the law of the recursion for three quantiles, by Gauss-Legendre quadrature over the place of the first."""
    assert levels == (0.25, 0.5, 0.75)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    found = Counter()
    for j, mass in enumerate(cells_of_one(epsilon / 2, 0.5, seen, cuts)):
        for node, weight in zip(nodes, weights):
            z = cuts[j] + (cuts[j + 1] - cuts[j]) * 0.5 * (1 + node)
            low = cells_of_one(epsilon / 2, 0.5, seen[seen < z], np.append(cuts[: j + 1], z))
            high = cells_of_one(epsilon / 2, 0.5, seen[seen > z], np.append(z, cuts[j + 1 :]))
            for i, k in product(range(len(low)), range(len(high))):
                found[i, j, j + k] += mass * 0.5 * weight * low[i] * high[k]
    return found


__all__ = ["exact_value", "laws"]
