"""The cost of the best possible noise, and the distance of its certified bounds."""

from math import inf, sqrt

from benchmarks.drawing import seconds
from tcdp_sim.calibration.optimal import (
    LargestError,
    MeanAbsoluteError,
    MeanSquaredError,
    Tail,
    best_noise,
    optimal_noise,
)
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP

NARROW = 0.75  # omega sqrt(rho)
TAILS = ((0.1, NARROW, 12.5, "<= 0.3 s"), (0.1, inf, 17.0, "<= 0.3 s"), (0.001, NARROW, 133.5, "<= 5 s"))
QUANTILES = ((0.1, NARROW, 1e6, "12.5"), (0.001, NARROW, 1e6, "133.5"), (0.001, inf, 1e6, "172"))
QUANTILES += ((0.1, NARROW, 1e100, "18"),)


def optimal():
    """Measure least tails and quantiles under tCDP of two coordinates, and a mean error under (epsilon, delta)-DP."""
    for rho, scaled, beyond, aim in TAILS:
        guarantee = TCDP(rho, scaled / sqrt(rho))
        (spent,) = seconds(
            lambda guarantee=guarantee, beyond=beyond: optimal_noise(guarantee, Tail(beyond), 2).noise, rounds=5
        )
        best = optimal_noise(guarantee, Tail(beyond), 2)
        noise, tail = best.noise, best.bounds
        yield f"least tail beyond {beyond:g}, {guarantee}", f"{spent:.2f} s", aim
        yield f"  certified gap, {len(noise.log_mass)} unknowns", f"{1 - tail.lower / tail.upper:.2%}", "< 1%"
    for rho, scaled, k, expected in QUANTILES:
        guarantee = TCDP(rho, scaled / sqrt(rho))
        (spent,) = seconds(lambda guarantee=guarantee, k=k: _quantile(guarantee, k), rounds=3)
        yield f"least 95% quantile of {k:g} errors, {guarantee}", f"{_quantile(guarantee, k):g}", expected
        yield "  time", f"{spent:.2f} s", "<= 5 s"
    for rho, aim in ((0.5, "<= 1 s"), (0.001, "<= 1 s"), (3e-5, "<= 10 s")):
        (spent,) = seconds(lambda rho=rho: optimal_noise(ZCDP(rho), MeanSquaredError()).noise, rounds=3)
        square = optimal_noise(ZCDP(rho), MeanSquaredError()).bounds
        yield f"least mean square, {ZCDP(rho)}", f"{spent:.2f} s", aim
        yield "  certified gap", f"{1 - square.lower / square.upper:.2%}", "< 0.1%"
    guarantee = ApproxDP(0.3, 0.1)
    (spent,) = seconds(lambda guarantee=guarantee: optimal_noise(guarantee, MeanSquaredError()).noise, rounds=5)
    yield f"least mean square, {guarantee}", f"{1e3 * spent:.1f} ms", "<= 10 ms"
    guarantee = ApproxDP(0.1, 1e-9)
    (spent,) = seconds(lambda: optimal_noise(guarantee, MeanAbsoluteError()).noise, rounds=5)
    yield f"least mean absolute error, {guarantee}", f"{1e3 * spent:.1f} ms", "<= 10 ms"


def _quantile(guarantee, k):
    best_noise.least_tail.cache_clear()
    return optimal_noise(guarantee, LargestError(k, 0.95), 2).bounds.upper
