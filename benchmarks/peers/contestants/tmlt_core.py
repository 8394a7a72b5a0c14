"""Tumult Core: exact samplers, one number at a time."""

from benchmarks.peers.answers import draws

SHARE, RECORD_SHARE = 0.02, 0.002  # shares of the requested numbers that are drawn


def gaussian_draws(sigma, count):
    from tmlt.core.random.discrete_gaussian import sample_dgauss

    sample = [sample_dgauss(sigma**2) for _ in range(max(int(SHARE * count), 1))]
    return lambda: draws(sample, "discrete, on the whole numbers, exact")


def per_record_draws(count):
    from tmlt.core.utils.prdp import square_root_gaussian_mechanism

    sample = [square_root_gaussian_mechanism(1.0) for _ in range(max(int(RECORD_SHARE * count), 1))]
    return lambda: draws(sample, "continuous, rounded exactly")


def first_result():
    return gaussian_draws(4.0, 1)
