"""The magnitudes of a guarantee's numbers for which noise can be found."""

from math import inf
from typing import Any

LEAST, MOST = 1e-60, 1e60  # powers of noise scales beyond are no floats


def need_moderate(guarantee: Any) -> None:
    """Raise ValueError unless the numbers of a guarantee are 0, inf, or between 1e-60 and 1e60."""
    for name in ("rho", "epsilon", "xi", "mu", "tau", "omega", "order"):
        value = getattr(guarantee, name, 0.0)
        if 0 < value < inf and not LEAST <= value <= MOST:
            raise ValueError(f"{name} = {value:g} of {guarantee} is not valid for noise; valid: {LEAST:g} to {MOST:g}")
