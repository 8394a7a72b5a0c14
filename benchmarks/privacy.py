"""What an exact number costs: profiles, conversions, tight calibration."""

import time
from statistics import median

import numpy as np

from tcdp_sim.calibration import LargestError, calibrate
from tcdp_sim.exact import hockey_stick
from tcdp_sim.noise import Gaussian, SinhNormal
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, to_approx_dp


def profiles():
    """delta(epsilon) on 100 points."""
    epsilons = np.linspace(0.01, 3, 100)
    for noise, aim in ((SinhNormal(4.0, 20.0), "< 50 ms"), (Gaussian(4.0), "< 1 ms")):
        seconds = _median(lambda noise=noise: hockey_stick(noise, 1.0, epsilons))
        yield f"delta(epsilon) on 100 points, {noise.family}", f"{1e3 * seconds:.2f} ms", aim


def conversions():
    """The best known epsilon at delta = 1e-6."""
    for guarantee, aim in ((ZCDP(0.1), "2.141939"), (TCDP(0.1, 5), "3.328375")):
        seconds = _median(lambda guarantee=guarantee: to_approx_dp(guarantee, 1e-6, "tight"))
        found = to_approx_dp(guarantee, 1e-6, "tight").epsilon
        yield f"{guarantee} to (epsilon, 1e-6)-DP: epsilon", f"{found:.6f}", aim
        yield "  time", f"{1e3 * seconds:.2f} ms", "< 1 ms"


def calibration():
    """Tight calibration, each time to a target that was not seen before."""
    fresh = iter(np.linspace(0.1, 0.2, 100))
    targets = {
        "sinh-normal to tCDP, two bins": lambda rho: TCDP(rho, 4.0),
        "sinh-normal to (epsilon, delta)-DP, two bins": lambda rho: ApproxDP(10 * rho, 1e-6),
    }
    for what, target in targets.items():
        seconds = _median(
            lambda target=target: calibrate(
                "sinh_normal", target(next(fresh)), coordinates=2, objective=LargestError(1e6, 0.95)
            )
        )
        yield f"tight calibration of {what}", f"{1e3 * seconds:.0f} ms", "< 500 ms"


def _median(call, repeats=7) -> float:
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return median(seconds)
