"""Section 5: Theorem 20 applied to four notions of privacy."""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from tcdp_sim import exact
from tcdp_sim.calibration import calibrate
from tcdp_sim.experiments.papers.judge.evidence import Points
from tcdp_sim.experiments.papers.judge.forms import growing, growing_in_logs, largest_error
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, Laplace, Noise, TruncatedLaplace
from tcdp_sim.privacy import TCDP

EPSILON, RHO, BETA = 0.5, 0.1, 0.05
TARGET = TCDP(RHO, 4.0)
EXPONENTS = (1, 2, 4, 8, 16, 32, 64, 128, 200, 300)
FEW = (1, 4, 16, 64, 200, 300)


@claim("T.5c")
def by_sinh_normal(budget: Budget) -> Points:
    """Return points of Algorithm 21, charged as two queries of sensitivity 2, with the noise of Theorem 17."""
    noise = calibrate("sinh_normal", TARGET, 2.0, "paper", coordinates=2).noise
    form = TARGET.omega + 1 / float(np.sqrt(RHO))
    return _application(noise, lambda log_k: form * float(np.log(log_k)), budget.choose((8, 32, 300), EXPONENTS[3:]))


@claim("T.5c pure")
def by_laplace(budget: Budget) -> Points:
    """Return points of two queries of sensitivity 2, with scale 4/ε."""
    return _application(Laplace(4 / EPSILON), lambda log_k: log_k / EPSILON, budget.choose(FEW, EXPONENTS))


@claim("T.5c approximate")
def by_truncated_laplace(budget: Budget) -> Points:
    """Return points of two queries of sensitivity 2 at (ε/2, δ/2) each, for k far below 1/δ to far above."""
    half, delta = EPSILON / 2, 1e-20
    noise = TruncatedLaplace(2 / half, 2 * float(np.log1p(np.expm1(half) / delta)) / half)
    return growing(
        budget.choose(FEW, EXPONENTS),
        lambda k: exact.required_gap("generalized_histogram", noise, k, BETA),
        lambda k: float(np.log(min(k, 1 / delta))) / EPSILON,
    )


@claim("T.5c zCDP")
def by_gaussian(budget: Budget) -> Points:
    """Return points of two queries of sensitivity 2, with variance 4/ρ."""
    noise = Gaussian(float(np.sqrt(4 / RHO)))
    return _application(noise, lambda log_k: float(np.sqrt(log_k / RHO)), budget.choose(FEW, EXPONENTS))


def _application(noise: Noise, form: Callable[[float], float], exponents: Iterable[float]) -> Points:
    """Yield the exact gap, and beyond 10^300 what the union bound grants, which is enough for an O."""
    gap = partial(exact.required_gap, "generalized_histogram", noise, failure=BETA)
    yield from growing(exponents, gap, lambda k: form(float(np.log(k))))
    granted = partial(largest_error, noise, level=1 - BETA)
    yield from growing_in_logs((1e3, 1e4, 1e6, 1e8), lambda log_k: 2 * granted(log_k), form)
