"""Plans: CPU time from errors to noise and budget, for lists of 3 and of 100 different queries."""

import time
from statistics import median

from benchmarks.ledger import CACHES
from tcdp_sim.accounting import CountTarget, plan_budget
from tcdp_sim.privacy import ZCDP, ApproxDP

ROUNDS = 1
NOISES = ("gaussian", "laplace", "discrete_gaussian", "discrete_laplace")
CASES = (  # what is asked, arguments of plan_budget
    ("the least rho", {}),
    ("equal ratios, rho", {"budget": ZCDP(0.5)}),
    ("equal ratios, (epsilon, delta)", {"budget": ApproxDP(1.0, 1e-6)}),
    ("least sum of errors, (epsilon, delta)", {"budget": ApproxDP(1.0, 1e-6), "objective": "error"}),
)


def plans():
    """Measure plans for lists with one noise, with no answer of a ledger known."""
    for count in (3, 100):
        for noise in NOISES:
            for what, asked in CASES:
                spent = median(_seconds(count, noise, asked, turn) for turn in range(ROUNDS))
                yield f"{count} queries, {noise}: {what}", f"{spent:.2f} s of CPU", "about 1 s"


def _seconds(count, noise, asked, turn):
    targets = [
        CountTarget(largest_error=(10.0 + 1e-3 * turn) * (1 + i % 7), k=10 + i, noise=noise, weight=1 + i % 3)
        for i in range(count)
    ]
    for cached in CACHES:
        cached.cache_clear()
    started = time.process_time()
    plan_budget(targets, **asked)
    return time.process_time() - started
