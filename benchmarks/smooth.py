"""The cost of smooth sensitivity: certified noise, and the sensitivity of a million records."""

import time

import numpy as np

from tcdp_sim.calibration import calibrate_smooth
from tcdp_sim.data.smooth_sensitivity import smooth_sensitivity
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP

FAMILIES = ("arsinh_normal", "uniform_log_normal", "laplace_log_normal", "student_t", "gaussian", "laplace")
GUARANTEES = {"zCDP": ZCDP(0.1), "tCDP": TCDP(0.1, 5.0), "(ε, δ)-DP": ApproxDP(1.0, 1e-6)}
LIGHT = ("gaussian", "laplace")  # their tails admit no zCDP


def smooth():
    """Measure CPU time: certified noise of every family at smoothing 0.05, and S of 1e6 records."""
    for family in FAMILIES:
        for name, guarantee in GUARANTEES.items():
            if name == "zCDP" and family in LIGHT:
                continue
            seconds = _seconds(
                lambda family=family, guarantee=guarantee: calibrate_smooth(family, guarantee, 0.05).noise
            )
            yield f"smooth calibration of {family} to {name}", f"{seconds:.2f} s", "< 5 s"
    rng = np.random.default_rng(3)
    kinds = {"normal": rng.normal(size=10**6), "whole": rng.poisson(50, 10**6).astype(float)}
    for kind, records in kinds.items():
        bounds = (records.min() - 10, records.max() + 10)
        for statistic in ("median", ("trimmed_mean", 10**5)):
            seconds = _seconds(lambda x=records, b=bounds, s=statistic: smooth_sensitivity(x, b, 0.05, s))
            yield f"smooth sensitivity of 1e6 {kind} records, {statistic}", f"{seconds:.2f} s", "< 2 s"


def _seconds(task) -> float:
    """Return the CPU seconds of a single call, because answers are cached."""
    started = time.process_time()
    task()
    return time.process_time() - started
