"""The numbers of a training run from what a library counted: an opacus accountant, its history, or an event tree."""

from collections.abc import Sequence
from math import ceil
from typing import Any

from tcdp_sim.accounting.imports.events import Entry, of_event
from tcdp_sim.accounting.imports.histories import of_opacus
from tcdp_sim.accounting.releases.additive import gaussian_ratio
from tcdp_sim.accounting.releases.sampled import Sampled

_CLOSE = 1e-6  # by which a batch may miss a whole number, relative
_VALID = "valid: Poisson samples with Gaussian noise, all steps alike"


def numbers_of(counted: Any, records: int) -> tuple[float, int, int]:
    """Return the noise multiplier, the batch and the number of epochs of the run. Raises ValueError.

    The batch is the sample rate times `records`, and the epochs are the steps over those of a pass.
    """
    is_history = hasattr(counted, "history") or (isinstance(counted, Sequence) and not hasattr(counted, "_fields"))
    sigma, rate, steps = _step(of_opacus(counted) if is_history else of_event(counted, "add_remove"))
    batch = _batch(rate, records)
    a_pass = ceil(records / batch)
    if steps % a_pass:
        raise ValueError(f"{steps:,} steps are no whole epochs of {a_pass:,} steps; valid: sigma, batch and epochs")
    return sigma, batch, steps // a_pass


def _batch(rate: float, records: int) -> int:
    """Return the batch of a rate batch / records, or of opacus' rate: 1 over the number of batches of a pass."""
    batch = rate * records
    if abs(batch - round(batch)) <= _CLOSE * batch and 1 <= round(batch) <= records:
        return round(batch)
    batches = round(1 / rate) if rate else 0
    if batches and abs(rate * batches - 1) <= _CLOSE and ceil(records / ceil(batch)) == batches:
        return ceil(batch)
    raise ValueError(f"records = {records:,} is not valid: at the sample rate {rate:g} a batch has {batch:g} records")


def _step(entries: list[Entry]) -> tuple[float, float, int]:
    """Return noise multiplier, rate and number of the steps, which have to be alike."""
    kinds = {release for release, _ in entries}
    (release,) = kinds if len(kinds) == 1 else (None,)
    ratio = gaussian_ratio(release.release) if isinstance(release, Sampled) and release.is_poisson else None
    if not isinstance(release, Sampled) or ratio is None:
        found = "different steps" if len(kinds) > 1 else ", ".join(type(kind).__name__ for kind in kinds) or "no steps"
        raise ValueError(f"what was counted has {found}; {_VALID}")
    return 1 / ratio, release.sampling_probability, sum(times for _, times in entries)
