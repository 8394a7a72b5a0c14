"""numpy and scipy alone, as in a script without a framework."""

from benchmarks.peers.answers import draws, estimate


def gaussian_profile(sigma, epsilons):
    import numpy as np
    from scipy.special import ndtr

    epsilons = np.asarray(epsilons)
    high = ndtr(0.5 / sigma - epsilons * sigma)
    return estimate(high - np.exp(epsilons) * ndtr(-0.5 / sigma - epsilons * sigma), "closed form")


def gaussian_draws(sigma, count):
    from numpy.random import default_rng

    sample = sigma * default_rng(1).standard_normal(count)
    return lambda: draws(sample, "continuous, in floating point")


def per_record_draws(count):
    from numpy.random import default_rng
    from scipy.stats import gennorm

    sample = gennorm.rvs(0.5, size=count, random_state=default_rng(1))
    return lambda: draws(sample, "continuous, in floating point")


def selections(epsilon, candidates, count):
    import numpy as np

    scores = np.arange(candidates)
    chance = np.exp(0.5 * epsilon * (scores - candidates))
    chosen = np.random.default_rng(1).choice(candidates, count, p=chance / chance.sum())
    return lambda: draws(chosen, "probabilities in floating point")


def first_result():
    return gaussian_profile(1.0, [1.0])["value"]
