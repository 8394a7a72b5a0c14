"""Filters: CPU time of a million queries, for one release again and again and for a hundred in turn."""

import time
from statistics import median

from tcdp_sim.accounting import Additive, Filter
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.privacy import ZCDP, ApproxDP

QUERIES, ROUNDS = 10**6, 3
ONE = [Additive(Gaussian(1e3))]
HUNDRED = [Additive(noise(1e3 + i)) for i in range(50) for noise in (Gaussian, Laplace)]
FILTERS = (  # title, filter, releases
    ("rho, one release", lambda: Filter(ZCDP(10.0)), ONE),
    ("rho, 100 releases in turn", lambda: Filter(ZCDP(10.0)), HUNDRED),
    ("three orders, one release", lambda: Filter(ApproxDP(30.0, 1e-6), order=[2.0, 8.0, 32.0]), ONE),
    ("three orders, 100 releases in turn", lambda: Filter(ApproxDP(30.0, 1e-6), order=[2.0, 8.0, 32.0]), HUNDRED),
)


def filters():
    """Measure a million queries, most of which are admitted."""
    for title, made, releases in FILTERS:
        spent = median(_seconds(made(), releases) for _ in range(ROUNDS))
        yield f"10^6 queries, {title}", f"{spent:.2f} s of CPU", "<= 1 s"


def _seconds(budget, releases):
    admit, rounds = budget.admit, QUERIES // len(releases)
    started = time.process_time()
    for _ in range(rounds):
        for release in releases:
            admit(release)
    return time.process_time() - started
