"""Random lists of all kinds with known pairs, against sums of losses of finely cut outputs.

The oracle cuts the outputs of every pair into cells, whose masses are differences of distribution functions of scipy,
rounds the losses of cells to a grid so that means are kept, and adds lists by FFT. It shares no code with the ledger.
"""

import numpy as np
import pytest
from scipy.fft import irfft, rfft
from scipy.stats import binom, laplace, norm

from tcdp_sim.accounting import Additive, Distributions, Ledger, MixturePair, RandomisedResponse, Sampled
from tcdp_sim.exact import Mixture
from tcdp_sim.noise import DiscreteGaussian, Gaussian, Laplace

STEP, REACH, CELLS = 1e-3, 40.0, 40_000
SIZE = int(2 * REACH / STEP)
LAWS = {Gaussian: norm, Laplace: laplace}


def cut(noise, parts):
    """Masses of a mixture [(weight, shift)] in cells that are the same for all mixtures of a noise."""
    if isinstance(noise, DiscreteGaussian):
        x = np.arange(-60, 100)
        weights = np.exp(-(x**2) / (2 * noise.sigma**2))
        return sum(w * np.roll(weights / weights.sum(), int(s)) for w, s in parts)
    edges = np.linspace(-38 * noise.scale, 38 * noise.scale + 8, CELLS)
    law = LAWS[type(noise)](scale=noise.scale)
    return sum(w * np.where(edges[:-1] < s, np.diff(law.cdf(edges - s)), -np.diff(law.sf(edges - s))) for w, s in parts)


def random_release(rng):
    """A release, with the masses of its two laws."""
    noise = [Gaussian(rng.uniform(0.7, 3)), Laplace(rng.uniform(0.7, 3)), DiscreteGaussian(rng.uniform(1, 3))][
        rng.integers(3)
    ]
    shift, rate, group = float(rng.integers(1, 3)), rng.uniform(0.01, 0.5), int(rng.integers(2, 4))
    plain = Additive(noise, shift)
    still = [(1.0, 0.0)]
    of_group = [(float(binom.pmf(k, group, rate)), k * shift) for k in range(group + 1)]
    mixed = [(0.3, 0.0), (0.7, shift)], [(0.8, 0.0), (0.2, 2 * shift)]
    p, q = rng.dirichlet(np.ones(3), size=2)
    epsilon = rng.uniform(0.05, 1)
    odds = np.array([np.exp(epsilon), 1.0]) / (1 + np.exp(epsilon))
    kind = rng.integers(6)
    if kind == 0:
        return plain, cut(noise, [(1.0, shift)]), cut(noise, still)
    if kind == 1:
        return Sampled(plain, rate), cut(noise, [(1 - rate, 0.0), (rate, shift)]), cut(noise, still)
    if kind == 2:
        return Sampled(plain, rate, group=group), cut(noise, of_group), cut(noise, still)
    if kind == 3 and isinstance(noise, DiscreteGaussian):
        pair = (Mixture(noise, *reversed(tuple(zip(*part)))) for part in mixed)
        return MixturePair(*pair), *(cut(noise, part) for part in mixed)
    if kind == 4:
        return RandomisedResponse(epsilon), odds, odds[::-1]
    return Distributions(tuple(p), tuple(q)), p, q


def composed_delta(pairs, epsilon):
    """delta of the list of (P, Q, times) in one direction."""
    total, lost = np.ones(SIZE // 2 + 1, complex), 0.0
    for p, q, times in pairs:
        both = (p > 0) & (q > 0)
        loss = np.clip(np.log(p[both] / q[both]), -REACH + 1, REACH - 1) / STEP
        down = np.floor(loss).astype(int)
        up = (np.exp(-STEP * (loss - down)) - 1) / (np.exp(-STEP) - 1)  # keeps both masses
        law = np.zeros(SIZE)
        np.add.at(law, down % SIZE, p[both] * (1 - up))
        np.add.at(law, (down + 1) % SIZE, p[both] * up)
        total = total * rfft(law) ** times
        lost = 1 - (1 - lost) * (1 - p[q == 0].sum()) ** times
    law = irfft(total, SIZE)
    loss = STEP * ((np.arange(SIZE) + SIZE // 2) % SIZE - SIZE // 2)
    return lost + np.maximum(law, 0)[loss > epsilon] @ -np.expm1(epsilon - loss[loss > epsilon])


@pytest.mark.parametrize("seed", range(40))
def test_the_bracket_holds_the_sum_over_cells(seed):
    """The cells lose up to about 1e-3 of a delta, and the FFT 1e-13."""
    rng = np.random.default_rng([2026, seed])
    drawn = [(*random_release(rng), int(rng.integers(1, 4))) for _ in range(rng.integers(1, 4))]
    ledger = Ledger([(release, times) for release, _, _, times in drawn], "add_remove")
    for epsilon in (0.3, 1.0, 3.0):
        found = ledger.delta(epsilon)
        ways = [[(p, q, times) for _, p, q, times in drawn], [(q, p, times) for _, p, q, times in drawn]]
        oracle = max(composed_delta(way, epsilon) for way in ways)
        assert found.lower * (1 - 2e-3) - 1e-12 <= oracle <= found.upper * (1 + 2e-3) + 1e-12
