"""The run that a command is about, as its words name it: by its folder, or by the words of its study."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tcdp_sim.store import recorded
from tcdp_sim.study.more_trials import with_trials
from tcdp_sim.study.settings import Settings, settings
from tcdp_sim.study.study import title


@dataclass(frozen=True)
class Given:
    """A run: its folder, the title that its results must have (None for any), and its settings once asked for."""

    folder: Path
    title: str | None
    read: Callable[[], Settings]

    @cached_property
    def settings(self) -> Settings:
        """The settings of the run. Raises UserError if the folder does not tell them."""
        return self.read()


def by_folder(path: str) -> Given:
    """Return the run in a folder, whose settings are those it was last started with."""
    folder = recorded.folder_of(path)
    return Given(folder, None, lambda: recorded.settings_of(recorded.run_folder(folder)))


def by_config(config: Mapping[str, Any]) -> Given:
    """Return the run that a resolved config stands for. Raises UserError if the config is not valid."""
    checked = settings(with_trials(dict(config)))
    return Given(checked.folder, title(checked), lambda: checked)
