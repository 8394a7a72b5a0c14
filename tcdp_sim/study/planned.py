"""The cells that a study simulates, without the mechanism that simulates them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcdp_sim.study.packed_cells import Cells
from tcdp_sim.study.settings import Settings


class OfSettings:
    """The base class of what has the settings of a study, and with them the place and the identity of its run."""

    settings: Settings

    @property
    def folder(self) -> Path:
        """The folder of the run's results."""
        return self.settings.folder

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that stored numbers depend on besides their cells."""
        return self.settings.identity


@dataclass(frozen=True)
class Planned(OfSettings):
    """A plan as far as the progress of its run depends on it: settings, and the first cell of each law.

    `notes` has a line for each deviation from the config.
    """

    settings: Settings
    laws: Cells
    notes: Sequence[str]
