"""Published results of a run: functions that open them, read single cells and make tidy tables."""

from tcdp_sim.results.cells import (
    cell_histogram,
    cell_mechanism,
    chance_of_quantiles,
    chances_of_quantile,
    divergence_interval,
    mean_interval,
    noise_labels,
    sample_skewness,
)
from tcdp_sim.results.open import cell_blocks, is_large, open_cells, open_results, readable
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.results.tidy import export, tidy, tidy_blocks

__all__ = [
    "NUMBERS",
    "Cell",
    "Row",
    "cell_blocks",
    "cell_histogram",
    "cell_mechanism",
    "chance_of_quantiles",
    "chances_of_quantile",
    "divergence_interval",
    "export",
    "is_large",
    "mean_interval",
    "noise_labels",
    "open_cells",
    "open_results",
    "readable",
    "sample_skewness",
    "tidy",
    "tidy_blocks",
]
