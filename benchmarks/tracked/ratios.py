"""Numbers that asv follows over the commits. Each is a ratio within one run, or a count."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # asv puts this folder's parent on the path, not the repository

from benchmarks import drawing, growth, interior, per_record

RATIOS = {
    "largest error: k = 1e12 over k = 1e3": (drawing.maximum, "largest error"),
    "largest error: every bin over order statistics": (drawing.maximum, "k = 1e6"),
    "discrete Gaussian over numpy's normal": (drawing.discrete, "a draw of discrete Gaussian"),
    "discrete Laplace over numpy's Laplace": (drawing.discrete, "a draw of discrete Laplace"),
    "dense path, share of numpy's generator": (drawing.dense, "dense path"),
    "opening results: 30,000 levels over 1,000, each": (growth.opening, "open_results"),
    "merging: 8,000 chunks over 1,000, each": (growth.merging, "merging"),
    "interior point: slowest over fastest domain": (interior.interior, "  slowest over fastest"),
    "generalised Gaussian over numpy's normal": (per_record.draws, "  generalised Gaussian, power 1/2"),
}


class Ratios:
    """All ratios, by their names."""

    params = tuple(RATIOS)
    param_names = ("ratio",)
    timeout = 600

    def track_ratio(self, name):
        """Return the number at the end of the row's measured value: 1.09, 1,670,482 x, 84%, or 2.68 in 20.3, 2.68."""
        benchmark, begins = RATIOS[name]
        reached = next(reached for what, reached, _ in benchmark() if what.startswith(begins))
        return float(re.findall(r"\d[\d,]*\.?\d*(?=\D*$)", reached)[-1].replace(",", "")) if reached else None
