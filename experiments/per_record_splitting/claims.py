"""A number that a paper prints, its correct value, and the verdict."""

from dataclasses import dataclass
from math import isfinite, isnan, log10, nan
from typing import Any

import numpy as np

DIGITS = 8  # significant digits of an evaluated printed formula
VALUE, POLICY, LIMIT = "value", "policy", "limit"


@dataclass(frozen=True)
class Claim:
    """A printed number and the computed value.

    - `where`: place in the paper.
    - `claim`: the claim in words.
    - `printed`: the number as printed; "" if the paper prints none.
    - `computed`: the computed value.
    - `kind`: VALUE if the printed number must be `computed` rounded to its digits; POLICY if it must be an upper
      bound on `computed`; LIMIT if `computed` must lie below it.
    """

    where: str
    claim: str
    printed: str
    computed: float
    kind: str = VALUE

    @property
    def number(self) -> float:
        """The printed number; NaN where nothing is printed."""
        return float(self.printed.replace(",", "")) if self.printed else nan

    @property
    def half_unit(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0 ** -len(self.printed.partition(".")[2])

    @property
    def verdict(self) -> str:
        """The verdict: "right", "wrong" or "not printed"; for a policy "tight", "loose" with a factor, or "FALSE"."""
        if isnan(self.number):
            return "not printed"
        off = self.number - self.computed
        if self.kind == LIMIT:
            return "right" if off > 1e-9 * abs(self.number) else "wrong"
        if abs(off) <= self.half_unit * (1 + 1e-9):
            return "right" if self.kind == VALUE else "tight"
        if self.kind == VALUE:
            return "wrong"
        return f"loose, {self.number / self.computed:.3g} times" if off > 0 else "FALSE"

    @property
    def row(self) -> dict[str, Any]:
        """The claim as a row of a table. `factor` is printed over computed, NaN if that is no finite number."""
        known = isfinite(self.number) and isfinite(self.computed) and self.computed != 0
        values = {"where": self.where, "claim": self.claim, "printed_text": self.printed, "computed": self.computed}
        return values | {"verdict": self.verdict, "factor": self.number / self.computed if known else nan}


def digits(value: float) -> str:
    """Return the nonzero value of a printed formula as text with DIGITS significant digits."""
    return f"{value:.{max(DIGITS - 1 - int(np.floor(log10(abs(value)))), 0)}f}"
