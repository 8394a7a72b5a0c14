"""The studies whose results the claims read: ordinary studies, with few trials in the fast subset and more in full."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class PaperStudy:
    """A study of an experiment.

    `fast` and `full` are trials per cell and multiples of `chunk`, so that the fast trials are among the full ones.
    `keys` are the entries that differ from conf/experiment (sweep, also, data, mechanism ...).
    """

    experiment: str
    fast: int = 2000
    full: int = 100_000
    chunk: int = 2000
    keys: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def arguments(self, full: bool) -> dict[str, Any]:
        """Return the arguments of `tcdp_sim.run`, except for the folder and the cluster."""
        trials = self.full if full else self.fast
        return {"experiment": self.experiment, "trials": trials, "chunk": self.chunk, **self.keys}


FEW_RECORDS = {  # some records of one airline's departures, because all airlines take minutes
    "sweep": {"records": "departures_AS", "method": ["medians_2", "deciles", "tree_2", "tree_16"], "rho": 0.5},
    "also": None,
}
STUDIES: Mapping[str, PaperStudy] = MappingProxyType(
    {
        "histogram": PaperStudy("histogram", keys={"also": None}),
        "privacy_loss": PaperStudy("privacy_loss"),
        "crossover": PaperStudy("crossover"),
        "gap_max": PaperStudy("gap_max"),
        "tightness": PaperStudy("tightness"),
        "sinh_normal": PaperStudy("sinh_normal"),
        "subsampling": PaperStudy("subsampling"),
        "interior_point": PaperStudy("interior_point", fast=200, full=4000, chunk=200, keys={"also": None}),
        "thresholds": PaperStudy("thresholds", fast=20, full=60, chunk=20, keys=FEW_RECORDS),
    }
)
