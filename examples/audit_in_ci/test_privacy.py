"""Three tests of privacy claims. The last one fails, because its mechanism has a bug."""

import numpy as np

from tcdp_sim.audits import answers, records
from tcdp_sim.privacy import ApproxDP, PureDP

AGES = [31, 44, 58]


def count(ages, rng, trials):
    return len(ages) + rng.laplace(0, 2, trials)


def noisy_max(counts, rng, trials):
    return np.argmax(counts + rng.exponential(2, (trials, len(counts))), axis=1)


def mean(ages, rng):
    """Return a private mean. Bug: the ages should be clipped to the range from 0 to 100 first."""
    return (sum(ages) + rng.laplace(0, 100)) / 10


def test_count(assert_private):
    assert_private(count, PureDP(0.5), neighbours=records(AGES, domain=[0, 99]), seconds=0.5)


def test_noisy_max(assert_private):
    assert_private(noisy_max, ApproxDP(1.0, 1e-6), neighbours=answers(3), seconds=0.5)


def test_mean(assert_private):
    assert_private(mean, PureDP(1.0), neighbours=records(AGES, domain=[0, 400]), seconds=0.5)
