"""The calibrated noises of a run, kept in its folder so that the same command need not search for them again.

    calibrations.json    the parameters of each noise

Nothing stale is read (see `memories`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcdp_sim.store.memories import CALIBRATIONS

NAME = CALIBRATIONS.file
Noises = Mapping[str, Mapping[str, Any]]  # the parameters of noises, by the texts that name them


def read(folder: Path) -> Noises:
    """Return the noises that are kept in a run's folder; none if there are none, or if they are stale or damaged."""
    noises: Noises = CALIBRATIONS.read(folder, CALIBRATIONS.key()).get("noises", {})
    return noises if _is_of_noises(noises) else {}


def keep(folder: Path, noises: Noises) -> str:
    """Write the noises of a study, unless they are there, and return a line if their file is damaged, else "".

    Raises OSError.
    """
    damaged = CALIBRATIONS.damage(folder)
    if damaged or noises:
        CALIBRATIONS.write(folder, CALIBRATIONS.key(), {"noises": noises})
    return f"{folder / NAME} is damaged: its noises are calibrated again" if damaged else ""


def _is_of_noises(noises: Any) -> bool:
    """Return True if a value has the form of noises: numbers, or lists of them, by name."""
    if not isinstance(noises, dict):
        return False
    values = [value for each in noises.values() if isinstance(each, dict) for value in each.values()]
    numbers = [number for value in values for number in (value if isinstance(value, list) else [value])]
    return all(isinstance(each, dict) for each in noises.values()) and all(type(n) in (int, float) for n in numbers)
