"""The cost of exact numbers: profiles, conversions, tight calibration."""

import time
from itertools import product
from statistics import median

import numpy as np

from tcdp_sim.accounting import Additive, Ledger, Sampled
from tcdp_sim.calibration import LargestError, calibrate
from tcdp_sim.exact import hockey_stick
from tcdp_sim.mechanisms.privacy_loss import PrivacyLoss
from tcdp_sim.noise import Gaussian, SinhNormal
from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    MeanConcentratedDP,
    PureDP,
    delta_at,
    to_approx_dp,
)
from tcdp_sim.statistics.epsilon_bounds import epsilon_from_losses


def profiles():
    """Measure delta(epsilon) on 100 points."""
    epsilons = np.linspace(0.01, 3, 100)
    for noise, aim in ((SinhNormal(4.0, 20.0), "< 50 ms"), (Gaussian(4.0), "< 1 ms")):
        seconds = _median(lambda noise=noise: hockey_stick(noise, 1.0, epsilons))
        yield f"delta(epsilon) on 100 points, {noise.family}", f"{1e3 * seconds:.2f} ms", aim


def conversions():
    """Measure the best known epsilon at delta = 1e-6."""
    for guarantee, aim in ((ZCDP(0.1), "2.141939"), (TCDP(0.1, 5), "3.292022")):
        seconds = _median(lambda guarantee=guarantee: to_approx_dp(guarantee, 1e-6, "tight"))
        found = to_approx_dp(guarantee, 1e-6, "tight").epsilon
        yield f"{guarantee} to (epsilon, 1e-6)-DP: epsilon", f"{found:.6f}", aim
        yield "  time", f"{1e3 * seconds:.2f} ms", "< 1 ms"
    others = (PureDP(1.0), MeanConcentratedDP(0.1, 1.0), RDP(10, 1.0), ApproxZCDP(1e-9, 0.1), ZCDP(0.1), TCDP(0.1, 5))
    calls = [lambda told=told: to_approx_dp(told, 1e-6) for told in others]
    calls += [lambda told=told: delta_at(told, 1.0) for told in others]
    yield "slowest conversion of all notions, either way", f"{1e3 * max(map(_median, calls)):.2f} ms", "< 1 ms"


def calibration():
    """Measure tight calibration, each time to a new target."""
    fresh = iter(np.linspace(0.1, 0.2, 100))
    targets = {
        "tCDP, two bins": lambda rho: TCDP(rho, 4.0),
        "(epsilon, delta)-DP, two bins": lambda rho: ApproxDP(10 * rho, 1e-6),
    }
    for (what, target), family in product(targets.items(), ("sinh_normal", "sinh_squared")):
        seconds = _median(
            lambda target=target, family=family: (
                calibrate(family, target(next(fresh)), coordinates=2, objective=LargestError(1e6, 0.95)).noise
            )
        )
        yield f"tight calibration of {family} to {what}", f"{1e3 * seconds:.0f} ms", "< 500 ms"


def composition():
    """Measure a thousand Poisson-subsampled Gaussian releases, s = 0.01, sigma = 1; best known epsilon: 2.124515."""
    started = time.process_time()
    ledger = Ledger([(Sampled(Additive(Gaussian(1.0)), 0.01), 1000)], relation="add_remove")
    found = ledger.epsilon(1e-6, tolerance=4e-5)
    seconds = time.process_time() - started
    yield "epsilon of 1000 subsampled releases: bracket", f"{found.lower:.5f}, {found.upper:.5f}", "2.124515"
    yield "  width", f"{found.upper - found.lower:.1e}", "<= 1e-4"
    yield "  CPU time", f"{seconds:.2f} s", "< 0.5 s"


def audits():
    """Measure a lower 95% confidence bound on the epsilon of Gaussian noise from a million losses; exact: 4.377."""
    noise, rng = Gaussian(1.0), np.random.default_rng(11)
    losses = [noise.privacy_loss(noise.sample(10**6, rng=rng), 1.0) for _ in range(7)]
    found = [epsilon_from_losses(loss, 1e-5) for loss in losses]
    yield "audit of Gaussian noise, sigma = 1, delta = 1e-5, n = 1e6: epsilon", f"{median(found):.3f}", ">= 4.2"
    yield "  smallest of 7, largest of 7", f"{min(found):.3f}, {max(found):.3f}", ""
    yield "  time", f"{1e3 * _median(lambda: epsilon_from_losses(losses[0], 1e-5)):.0f} ms", "< 1 s"
    draws = (PrivacyLoss(noise, ZCDP(0.5), epsilon=12.0), np.random.default_rng(12))
    values = draws[0].simulate(draws[1], 10**5)["hockey_stick"]
    relative = values.std() / values.mean() / np.sqrt(len(values))
    yield f"delta = {values.mean():.1e} by 1e5 draws: relative standard error", f"{relative:.3%}", "< 1%"


def _median(call, repeats=7) -> float:
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return median(seconds)
