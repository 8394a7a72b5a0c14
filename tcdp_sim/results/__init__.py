"""Published results of a run: functions that open them, read single cells and make tidy tables."""

from tcdp_sim.results.cells import (
    cell_histogram,
    cell_mechanism,
    cell_p_values,
    divergence_interval,
    mean_interval,
    noise_labels,
    sample_skewness,
    table_p_values,
)
from tcdp_sim.results.distribution import distribution
from tcdp_sim.results.export import chosen, export
from tcdp_sim.results.open import cell_blocks, is_large, open_cells, open_results, readable, squeezed
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.results.tidy import tidy, tidy_blocks

__all__ = [
    "NUMBERS",
    "Cell",
    "Row",
    "cell_blocks",
    "cell_histogram",
    "cell_mechanism",
    "cell_p_values",
    "chosen",
    "distribution",
    "divergence_interval",
    "export",
    "is_large",
    "mean_interval",
    "noise_labels",
    "open_cells",
    "open_results",
    "readable",
    "sample_skewness",
    "squeezed",
    "table_p_values",
    "tidy",
    "tidy_blocks",
]
