"""Published results of a run: functions that open them and make tables."""

from tcdp_sim.results.distribution import distribution
from tcdp_sim.results.export import export
from tcdp_sim.results.open import open_cells, open_results
from tcdp_sim.results.rows import Cell
from tcdp_sim.results.tidy import tidy

__all__ = [
    "Cell",
    "distribution",
    "export",
    "open_cells",
    "open_results",
    "tidy",
]
