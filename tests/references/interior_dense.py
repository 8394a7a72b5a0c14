"""The release written down literally, node by node, for small domains: simulation and output law. Shares no code."""

import itertools

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.noise import Laplace, Noise


def counts_below(xs, k):
    """F(-1), F(0), ..., F(k - 1)."""
    return [sum(x <= j for x in xs) for j in range(-1, k)]


def tree_levels(f, k):
    """[[(j1, m, j2, value), ...] for every level], from F with F[0] = F(-1)."""
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
    """min(F(j), total - F(j - 1))."""
    return min(f[j + 1], f[-1] - f[j])


def exponential(quality, epsilon, sensitivity=1.0):
    """The exponential mechanism's probabilities."""
    weight = 0.5 * epsilon * np.asarray(quality, dtype=float) / sensitivity
    weight = np.exp(weight - weight.max())
    return weight / weight.sum()


def level_qualities(levels, lower, upper):
    """min(heaviest(l) - lower, upper - heaviest(l - 1)), heaviest(-1) = 0."""
    heavy = [0] + [max(value for *_, value in nodes) for nodes in levels]
    return [min(heavy[i + 1] - lower, upper - heavy[i]) for i in range(len(levels))]


def winner(values, noise: Noise):
    """P[value_i + Z_i is the largest], by the trapezoid rule in log space: divergences look at tiny probabilities."""
    values = np.asarray(values, dtype=float)
    reach = float(noise.isf(1e-40)) + np.ptp(values)
    y = np.linspace(values.max() - reach, values.max() + reach, 4001)
    log_cdf = noise.logcdf(y - values[:, None])
    density = np.exp(noise.logpdf(y - values[:, None]) + log_cdf.sum(axis=0) - log_cdf)
    return density.sum(axis=1) * (y[1] - y[0])


def output_pmf(xs, k, recipe):
    """P[output = j] for j = 0, ..., k - 1: histogram selection, thresholds and epsilons as in the recipe."""
    f = counts_below(xs, k)
    levels = tree_levels(f, k)
    p_level = exponential(level_qualities(levels, recipe.lower, recipe.upper), recipe.epsilon_level)
    out = np.zeros(k)
    for p, nodes in zip(p_level, levels):
        for q, (j1, m, j2, _) in zip(winner([node[-1] for node in nodes], recipe.noise), nodes):
            candidates = [j1, m, j2] if recipe.candidates == 3 else [j1, j2]
            for j, r in zip(candidates, exponential([depth_of(f, j) for j in candidates], recipe.epsilon_end)):
                out[j] += p * q * r
    return out


def simulate(xs, k, recipe, rng, trials):
    """Outputs of independent trials, every node drawn."""
    f = counts_below(xs, k)
    levels = tree_levels(f, k)
    p_level = exponential(level_qualities(levels, recipe.lower, recipe.upper), recipe.epsilon_level)
    out = []
    for level in rng.choice(len(levels), size=trials, p=p_level):
        nodes = levels[level]
        blurred = [value + recipe.noise.sample(rng=rng) for *_, value in nodes]
        j1, m, j2, _ = nodes[int(np.argmax(blurred))]
        candidates = [j1, m, j2] if recipe.candidates == 3 else [j1, j2]
        out.append(rng.choice(candidates, p=exponential([depth_of(f, j) for j in candidates], recipe.epsilon_end)))
    return np.array(out)


def neighbours(k, n):
    """All ordered pairs of multisets of n values below k that differ in one record."""
    for shared in itertools.combinations_with_replacement(range(k), n - 1):
        for a, b in itertools.permutations(range(k), 2):
            yield tuple(sorted((*shared, a))), tuple(sorted((*shared, b)))


def renyi(p, q, order):
    """D_order(p || q) of two positive laws, in nats; rows are laws."""
    return np.log((p**order * q ** (1 - order)).sum(axis=-1)) / (order - 1)


def level_pmf(xs, k, recipe):
    """P[level = 0], ... of the release with one tree."""
    qualities = level_qualities(tree_levels(counts_below(xs, k), k), recipe.lower, recipe.upper)
    return exponential(qualities, recipe.epsilon_level)


def recursive_pmf(f, k, recipes, unit=2.0, levels=None):
    """The law of the recursive release on F = f[1:], f[0] = F(-1) = 0; inner trees' weights are divided by `unit`.

    levels: the law of the level, if not that of the trees inside.
    """
    p_level = levels
    levels = tree_levels(f, k)
    first = recipes[0]
    held = [min(max(max(v for *_, v in nodes) - first.lower, 0), first.upper - first.lower) for nodes in levels]
    p_level = _levels_pmf([0, *held], recipes, unit) if p_level is None else p_level
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


def _levels_pmf(g, recipes, unit):
    if len(recipes) > 1:
        return recursive_pmf([x / unit for x in g], len(g) - 1, recipes[1:], unit)
    return exponential([depth_of(g, j) for j in range(len(g) - 1)], recipes[0].epsilon_level)


def noise_rho(noise: Noise, shift: float, omega: float) -> float:
    """The largest D_a(Z || Z + shift) / a of orders 1 < a < omega on a grid of 60: by the trapezoid rule or closed."""
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
