"""Mechanisms that the tests of audits share. They are at module level, so that workers and sources find them."""

import numpy as np
import pytest

WEAK = pytest.mark.filterwarnings("ignore::tcdp_sim.audits.WeakAudit")  # of audits that are weak on purpose
EPSILON = 1.0
ONE = [(np.zeros(1), np.ones(1))]


def laplace(data, rng, trials):
    return data + rng.laplace(0, 1 / EPSILON, (trials, len(data)))


def half_laplace(data, rng, trials):
    """Add Laplace noise of half the right scale, which is a planted bug."""
    return data + rng.laplace(0, 0.5 / EPSILON, (trials, len(data)))


def noisy_max(data, rng, trials):
    return np.argmax(data + rng.standard_exponential((trials, len(data))) * (2 / EPSILON), axis=1)


def noisy_max_value(data, rng, trials):
    """Return the noisy maximum instead of its index, which satisfies no epsilon-DP."""
    return np.max(data + rng.standard_exponential((trials, len(data))) * (2 / EPSILON), axis=1)


def response(data, rng, trials):
    """Answer by randomised response with odds of 3 to 1 for the truth, which is log(3)-DP."""
    return (rng.random(trials) < 0.75) == (data[0] > 0.5)


def gaussian(data, rng, trials):
    return data + rng.normal(size=(trials, len(data)))


def labels(data, rng, trials):
    """Return the answer as a name instead of a number, which is log(3)-DP as well."""
    return np.where(response(data, rng, trials), "yes", "no")


def shared_noise(data, rng, trials):
    """Add the same noise to both answers. Their difference reveals the input."""
    return data + rng.laplace(0, 1.0, (trials, 1))


def one_of_many(data, rng, trials):
    """Return one of a thousand outputs that are independent of the data."""
    return rng.integers(0, 1000, trials)


def naive_laplace(data, rng, trials):
    """Draw Laplace noise by inversion of 53-bit uniforms. The lowest bits refute every claim."""
    sign = np.where(rng.random((trials, 1)) < 0.5, -1.0, 1.0)
    return data - sign * np.log1p(-rng.random((trials, 1))) / EPSILON


def called_by_its_name(flip):
    """Call the object that the mechanism holds."""

    def mechanism(data, rng, trials):
        return flip(data, rng, trials)

    return mechanism


class Flip:
    """Randomised response with a probability of the truth."""

    def __init__(self, truth):
        self.truth = truth

    def __call__(self, data, rng, trials):
        return (rng.random(trials) < self.truth) == (data[0] > 0.5)


def one_at_a_time(data, rng):
    return data[0] + rng.laplace()


class Known:
    """A mechanism of two coordinates with independent noise, which states its log likelihood ratio."""

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, data, rng, trials):
        return data + rng.laplace(0, self.scale, (trials, len(data)))

    def log_likelihood_ratio(self, outputs, data, other):
        return (np.abs(outputs - other) - np.abs(outputs - data)).sum(axis=1) / self.scale
