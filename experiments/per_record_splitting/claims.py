"""A number that a paper prints, beside what it really is, and the verdict."""

from dataclasses import dataclass
from math import isfinite, isnan, log10, nan
from typing import Any

import numpy as np

DIGITS = 8  # to which a printed formula is evaluated
VALUE, POLICY, LIMIT = "value", "policy", "limit"


@dataclass(frozen=True)
class Claim:
    """What is printed, "" for nothing, and what is computed.

    kind: VALUE, which has to round to the digits printed; POLICY, an upper bound of what is computed; LIMIT, which what
    is computed has to lie below.
    """

    where: str
    claim: str
    printed: str
    computed: float
    kind: str = VALUE

    @property
    def number(self) -> float:
        """What is printed, as a number; NaN where nothing is."""
        return float(self.printed.replace(",", "")) if self.printed else nan

    @property
    def half_unit(self) -> float:
        """Half a unit of the last digit printed."""
        return 0.5 * 10.0 ** -len(self.printed.partition(".")[2])

    @property
    def verdict(self) -> str:
        """right or wrong; of a policy tight, loose (by what factor) or FALSE; "not printed"."""
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
        """As a row of a table; `factor`: printed over computed, NaN where that is no number."""
        known = isfinite(self.number) and isfinite(self.computed) and self.computed != 0
        values = {"where": self.where, "claim": self.claim, "printed_text": self.printed, "computed": self.computed}
        return values | {"verdict": self.verdict, "factor": self.number / self.computed if known else nan}


def digits(value: float) -> str:
    """The value of a printed formula as text, not zero."""
    return f"{value:.{max(DIGITS - 1 - int(np.floor(log10(abs(value)))), 0)}f}"
