"""Histories of opacus and measurements of OpenDP as lists of releases."""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

from tcdp_sim.accounting.imports.events import EVERYTHING, Entry
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.claimed import Claimed
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.releases.sampled import Sampled
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import ZCDP, ApproxDP, Guarantee, PureDP

_FORM = "a list of (noise_multiplier, sample_rate, num_steps), or an accountant with such a history"


def of_opacus(history: Any) -> list[Entry]:
    """Return the steps of an opacus accountant, Poisson samples with Gaussian noise. Raises ValueError."""
    steps = getattr(history, "history", history)
    if isinstance(steps, str) or not isinstance(steps, Iterable):
        raise ValueError(f"history = {history!r} is not valid; valid: {_FORM}")
    return [(_step(noise, rate), count) for noise, rate, count in map(_read, steps)]


def _read(step: Any) -> tuple[float, float, int]:
    if not isinstance(step, Sequence) or isinstance(step, str) or len(step) != 3:
        raise ValueError(f"history has {step!r}; valid: {_FORM}")
    noise = scalar("noise_multiplier", step[0], 0, closed=True)
    return noise, scalar("sample_rate", step[1], 0, 1, closed=True, finite=False), whole("num_steps", step[2], 1, 10**7)


def _step(noise: float, rate: float) -> Release:
    if not noise:
        return EVERYTHING
    return Sampled(Additive(Gaussian(noise)), rate)


def of_opendp(measurement: Any, d_in: Any) -> list[Entry]:
    """Return what an OpenDP measurement states about inputs at a distance, as a black box. Raises ValueError."""
    measure = " ".join(str(getattr(measurement, "output_measure", "")).split())
    if not measure or not callable(getattr(measurement, "map", None)):
        raise ValueError(f"measurement = {measurement!r} is not valid; valid: a measurement of OpenDP")
    guarantee = _guarantee(measure, measurement.map(d_in))
    return [] if guarantee is None else [(Claimed(guarantee), 1)]


def _guarantee(measure: str, loss: Any) -> Guarantee | None:
    """Return the guarantee of a loss in a measure, None for no loss."""
    if measure == "MaxDivergence":
        return PureDP(_finite(loss)) if loss else None
    if measure == "ZeroConcentratedDivergence":
        return ZCDP(_finite(loss)) if loss else None
    if measure in ("Approximate(MaxDivergence)", "FixedSmoothedMaxDivergence"):
        epsilon, delta = loss
        return ApproxDP(_finite(epsilon), float(delta)) if epsilon or delta else None
    valid = "MaxDivergence, ZeroConcentratedDivergence, or Approximate(MaxDivergence), as make_fix_delta gives it"
    raise ValueError(f"output_measure = {measure} has no release; valid: {valid}")


def _finite(loss: Any) -> float:
    if not float(loss) < inf:
        raise ValueError(f"the measurement states a loss of {loss}; valid: a finite one")
    return float(loss)
