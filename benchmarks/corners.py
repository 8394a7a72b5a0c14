"""The costs of exact numbers at the corners of their arguments: CPU seconds of the slowest call, and errors.

A call may return bounds or refuse with a ValueError of one line. Any other exception, any warning, and a message of
several lines is a fault.
"""

import itertools
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from tcdp_sim import bounds, exact
from tcdp_sim.accounting import Additive, Ledger, Sampled
from tcdp_sim.calibration import calibrate
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.noise.exponential_polylogarithmic import ExponentialPolylogarithmic
from tcdp_sim.noise.generalized_gaussian import GeneralizedGaussian
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.noise.student_t import StudentT
from tcdp_sim.per_record import AdditiveRelease
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP, to_approx_dp

GIVEN_UP = 60.0  # seconds of CPU
LOSSES = [
    Gaussian(1.0),
    Laplace(1.0),
    SinhNormal(4.0, 1.0),
    TruncatedLaplace(1.0, 3.0),
    GeneralizedGaussian(1.0, 1.0),
    GeneralizedGaussian(1.0, 0.02),
    ExponentialPolylogarithmic(1.0, 2.0, 5.0, 3.0),
    StudentT(1.0, 1.0),
    LatticeNoise(0.0, (-1.0, -1.5, -2.5), 1e-3),
]
HIDING = [AdditiveRelease(noise) for noise in LOSSES[:-1]]
SHIFTS = [1e-300, 1e-9, 1.0, 1e9, 1e300]
FEW_SHIFTS = [1e-9, 1.0, 1e3]
DELTAS = [1e-300, 1e-9, 0.9999]
GUARANTEES = [PureDP(1e-6), PureDP(50.0), ZCDP(1e-6), ZCDP(100.0), TCDP(1e-6, 1.0 + 1e-6), TCDP(0.1, 1e6)]
APPROXIMATE = [ApproxDP(1e-6, 1e-300), ApproxDP(1e-6, 0.5), ApproxDP(50.0, 1e-9)]
FUNCTIONS: dict[str, tuple[Callable[..., Any], list[list[Any]]]] = {
    "hockey_stick": (exact.hockey_stick, [LOSSES, SHIFTS, [0.0, 1e-9, 1.0, 1e9]]),
    "renyi_divergence": (exact.renyi_divergence, [LOSSES, SHIFTS, [1.0, 1 + 1e-9, 2.0, 1e6, float("inf")]]),
    "record_epsilon": (exact.record_epsilon, [HIDING, SHIFTS, DELTAS]),
    "record_policy": (exact.record_policy, [HIDING, SHIFTS, [1 + 1e-6, 2.0, 1e6, float("inf")]]),
    "product_profile": (exact.product_profile, [LOSSES, FEW_SHIFTS, [0.0, 1.0]]),
    "Ledger.epsilon": (
        lambda noise, rate, releases, delta: Ledger(
            [(Sampled(Additive(noise), rate), releases)], relation="add_remove"
        ).epsilon(delta),
        [[Gaussian(1.0), Gaussian(1e6), Laplace(1.0), SinhNormal(4.0, 1.0)], [1e-6, 1.0], [1, 10**6], [1e-100, 0.5]],
    ),
    "mutual_information": (exact.mutual_information, [LOSSES, [[0.0, 1e-9], [0.0, 1.0], [0.0, 1e9]]]),
    "histogram_information": (exact.histogram_information, [LOSSES, [1e-9, 1.0, 1e9], [2.0, 1e280]]),
    "selection_probability": (
        lambda noise, gap, k: exact.selection_probability("noisy_max", noise, gap, k),
        [LOSSES[:-1], [0.0, 1e-9, 1.0, 1e9], [2.0, 1e300]],
    ),
    "required_gap": (
        lambda noise, k, beta: exact.required_gap("noisy_max", noise, k, beta),
        [LOSSES[:-1], [2.0, 1e300], [1e-250, 0.5]],
    ),
    "to_approx_dp": (to_approx_dp, [GUARANTEES, DELTAS]),
    "calibrate": (calibrate, [["gaussian", "laplace", "sinh_normal"], GUARANTEES + APPROXIMATE]),
    "interior_records": (bounds.interior_records, [GUARANTEES + APPROXIMATE, [1e-300, 1e300], [1e-300, 0.5]]),
}


class _TooLong(Exception):
    pass


def corners() -> Iterator[tuple[str, str, str]]:
    """Yield the slowest corner of every function, those that are refused in one line among them, and all faults."""
    previous = signal.signal(signal.SIGVTALRM, _stop)
    for name, (function, values) in FUNCTIONS.items():
        calls = list(itertools.product(*values))
        tried = [(*_tried(function, call), call) for call in calls]
        seconds, _, slowest = max(tried, key=lambda corner: corner[0])
        shown = f"{seconds:.2f} s" if seconds < GIVEN_UP else f"not within {GIVEN_UP:.0f} s"
        yield f"{name}, the slowest of {len(calls)} corners", f"{shown}: {slowest!r}", "< 10 s of CPU"
        for _, fault, call in tried:
            if fault:
                yield f"{name}, a fault", f"{fault}: {call!r}", "bounds, or a ValueError of one line"
    signal.signal(signal.SIGVTALRM, previous)


def _tried(function: Callable[..., Any], call: tuple[Any, ...]) -> tuple[float, str]:
    """Return the CPU seconds of a call, and its fault; "" if it has none."""
    started, fault = time.process_time(), ""
    signal.setitimer(signal.ITIMER_VIRTUAL, GIVEN_UP)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            function(*call)
    except ValueError as error:  # refused, with the reason
        fault = "a refusal of several lines" if "\n" in str(error) else ""
    except _TooLong:
        return GIVEN_UP, ""
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - started, fault


def _stop(number: int, frame: Any) -> None:
    raise _TooLong
