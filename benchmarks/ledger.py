"""Ledgers of unequal releases: CPU time of one answer without caches, and the width of its bracket."""

import time
from statistics import median

import numpy as np

from benchmarks.peers.questions import KINDS
from tcdp_sim.accounting import Additive, BoundedRange, Ledger, Sampled, brackets
from tcdp_sim.accounting.releases import additive, blocks, sampled
from tcdp_sim.noise import DiscreteGaussian, Gaussian, Laplace

ROUNDS = 3
CACHES = (
    *(brackets.cases_of_list, brackets.least_epsilon, brackets.least_delta),
    *(additive.additive_loss, sampled._laws, blocks.block_loss),
)
LISTS = (  # title, relation, entries, delta, tolerance, aim
    (
        "1,000 releases of 20 sampled Gaussians",
        "add_remove",
        lambda: [(Sampled(Additive(Gaussian(sigma)), rate), times) for sigma, rate, times in KINDS],
        *(1e-6, 9e-5, "<= 0.3 s, 1e-4 wide"),
    ),
    (
        "64 unequal discrete Gaussians",
        None,
        lambda: [Additive(DiscreteGaussian(float(sigma))) for sigma in np.sqrt(np.geomspace(5, 400, 64))],
        *(1e-10, 1e-6, "<= 0.5 s, 1e-6 relative"),
    ),
    ("the same at delta 1e-35", None, lambda: LISTS[1][2](), 1e-35, 1e-6, "<= 0.5 s, 1e-6 relative"),
    ("100,000 Gaussians", None, lambda: [(Additive(Gaussian(300.0)), 100_000)], 1e-6, 5e-6, "4e-5 wide"),
    ("100,000 Laplace noises", None, lambda: [(Additive(Laplace(300.0)), 100_000)], 1e-6, 1.1e-5, "6e-5 wide"),
    ("a million bounded-range steps", None, lambda: [(BoundedRange(1e-3), 10**6)], 1e-6, 1e-4, "<= 10 s"),
    ("an epsilon of 0.01", None, lambda: [(Additive(Gaussian(1000.0)), 10)], 1e-6, 1e-4, "1e-4 relative"),
    ("delta = 1e-300", None, lambda: [(Additive(Gaussian(3.0)), 5)], 1e-300, 1e-4, "1e-4 relative"),
)


def ledgers():
    """Measure the CPU of an epsilon and the width of its bracket, for several lists."""
    for title, relation, entries, delta, tolerance, aim in LISTS:
        spent = []
        for _ in range(ROUNDS):
            for cache in CACHES:
                cache.cache_clear()
            started = time.process_time()
            found = Ledger(entries(), relation).epsilon(delta, tolerance)
            spent.append(time.process_time() - started)
        width = found.upper - found.lower
        yield title, f"{median(spent):.2f} s of CPU", aim
        yield "  width, relative", f"{width:.1e}, {width / max(found.upper, 1e-300):.1e}", ""
