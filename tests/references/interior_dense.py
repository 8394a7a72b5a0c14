"""The interior point release, node by node for small domains: simulation and output law. It shares no code."""

import itertools

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.noise import Laplace, Noise


def counts_below(xs, k):
    """Return F(-1), F(0), ..., F(k - 1)."""
    return [sum(x <= j for x in xs) for j in range(-1, k)]


def tree_levels(f, k):
    """Return [[(j1, m, j2, value), ...] for every level], from F with F[0] = F(-1)."""
    depth = max((k - 1).bit_length(), 1)
    levels = []
    for level in range(depth + 1):
        nodes = []
        for j1 in range(0, k, 2**level):
            j2 = min(j1 + 2**level - 1, k - 1)
            m = min(j1 + 2 ** (level - 1) - 1, k - 1) if level else j1
            nodes.append((j1, m, j2, f[j2 + 1] - f[j1]))
        levels.append(nodes)
    return levels


def depth_of(f, j):
    """Return min(F(j), total - F(j - 1))."""
    return min(f[j + 1], f[-1] - f[j])


def exponential(quality, epsilon, sensitivity=1.0):
    """Return the probabilities of the exponential mechanism."""
    weight = 0.5 * epsilon * np.asarray(quality, dtype=float) / sensitivity
    weight = np.exp(weight - weight.max())
    return weight / weight.sum()


def level_qualities(levels, lower, upper):
    """Return min(heaviest(l) - lower, upper - heaviest(l - 1)), heaviest(-1) = 0."""
    heavy = [0] + [max(value for *_, value in nodes) for nodes in levels]
    return [min(heavy[i + 1] - lower, upper - heavy[i]) for i in range(len(levels))]


def winner(values, noise: Noise):
    """Return P[value_i + Z_i is the largest], by the trapezoid rule in log space: divergences need tiny values."""
    values = np.asarray(values, dtype=float)
    reach = float(noise.isf(1e-40)) + np.ptp(values)
    y = np.linspace(values.max() - reach, values.max() + reach, 4001)
    log_cdf = noise.logcdf(y - values[:, None])
    density = np.exp(noise.logpdf(y - values[:, None]) + log_cdf.sum(axis=0) - log_cdf)
    return density.sum(axis=1) * (y[1] - y[0])


def output_pmf(xs, k, parameters):
    """Return P[output = j] for j = 0, ..., k - 1, with histogram selection and the given parameters."""
    f = counts_below(xs, k)
    levels = tree_levels(f, k)
    p_level = exponential(level_qualities(levels, parameters.lower, parameters.upper), parameters.epsilon_level)
    out = np.zeros(k)
    for p, nodes in zip(p_level, levels):
        for q, (j1, m, j2, _) in zip(winner([node[-1] for node in nodes], parameters.noise), nodes):
            candidates = [j1, m, j2] if parameters.candidates == 3 else [j1, j2]
            for j, r in zip(candidates, exponential([depth_of(f, j) for j in candidates], parameters.epsilon_end)):
                out[j] += p * q * r
    return out


def simulate(xs, k, parameters, rng, trials):
    """Simulate independent trials, drawing the noise of every node."""
    f = counts_below(xs, k)
    levels = tree_levels(f, k)
    p_level = exponential(level_qualities(levels, parameters.lower, parameters.upper), parameters.epsilon_level)
    out = []
    for level in rng.choice(len(levels), size=trials, p=p_level):
        nodes = levels[level]
        blurred = [value + parameters.noise.sample(rng=rng) for *_, value in nodes]
        j1, m, j2, _ = nodes[int(np.argmax(blurred))]
        candidates = [j1, m, j2] if parameters.candidates == 3 else [j1, j2]
        out.append(rng.choice(candidates, p=exponential([depth_of(f, j) for j in candidates], parameters.epsilon_end)))
    return np.array(out)


def neighbours(k, n):
    """Yield all ordered pairs of multisets of n values below k that differ in one record."""
    for shared in itertools.combinations_with_replacement(range(k), n - 1):
        for a, b in itertools.permutations(range(k), 2):
            yield tuple(sorted((*shared, a))), tuple(sorted((*shared, b)))


def renyi(p, q, order):
    """Return D_order(p || q) of positive laws in nats. Each row is a law."""
    return np.log((p**order * q ** (1 - order)).sum(axis=-1)) / (order - 1)


def level_pmf(xs, k, parameters):
    """Return P[level = 0], P[level = 1], ... of the release with one tree."""
    qualities = level_qualities(tree_levels(counts_below(xs, k), k), parameters.lower, parameters.upper)
    return exponential(qualities, parameters.epsilon_level)


def recursive_pmf(f, k, trees, unit=2.0, levels=None):
    """Return the law of the recursive release on F = f[1:], f[0] = F(-1) = 0. Weights of inner trees are over `unit`.

    levels: the law of the level, if not that of the trees inside.
    """
    p_level = levels
    levels = tree_levels(f, k)
    first = trees[0]
    held = [min(max(max(v for *_, v in nodes) - first.lower, 0), first.upper - first.lower) for nodes in levels]
    p_level = _levels_pmf([0, *held], trees, unit) if p_level is None else p_level
    out = np.zeros(k)
    for p, nodes in zip(p_level, levels):
        values = [node[-1] for node in nodes]
        if first.selection == "surrogate":
            floor = f[-1] / 2 if first.floor is None else first.floor
            values = [max(value - floor, 0) for value in values]
        for q, (j1, m, j2, _) in zip(winner(values, first.noise), nodes):
            candidates = (j1, m, j2) if first.candidates == 3 else (j1, j2)
            for j, r in zip(candidates, exponential([depth_of(f, j) for j in candidates], first.epsilon_end)):
                out[j] += p * q * r
    return out


def _levels_pmf(g, trees, unit):
    if len(trees) > 1:
        return recursive_pmf([x / unit for x in g], len(g) - 1, trees[1:], unit)
    return exponential([depth_of(g, j) for j in range(len(g) - 1)], trees[0].epsilon_level)


def noise_rho(noise: Noise, shift: float, omega: float) -> float:
    """Return the largest D_a(Z || Z + shift) / a on a grid of 60 orders 1 < a < omega, by trapezoids or closed form."""
    s = (omega - 1) * np.geomspace(1e-6, 1, 60)
    if isinstance(noise, Laplace):
        t = shift / noise.scale
        both = np.log1p(s) + s * t, np.log(s) - (1 + s) * t
        return float(((np.logaddexp(*both) - np.log(1 + 2 * s)) / (s * (s + 1))).max())
    reach = omega * shift + 60 * noise.scale
    y = np.linspace(-reach, reach, 20001)
    loss = noise.logpdf(y) - noise.logpdf(y - shift)
    terms = np.array([noise.logpdf(y) + each * loss for each in s])
    assert (terms[:, [0, -1]].max(axis=1) < terms.max(axis=1) - 30).all(), "the integral reaches further"
    return float(((logsumexp(terms, axis=1) + np.log(y[1] - y[0])) / (s * (s + 1))).max())
