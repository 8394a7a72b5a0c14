"""The run that a command is about, as its words name it: by its folder, or by the words of its study.

What takes long to import is imported where it is used: a mistake in the words is told before that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tcdp_sim.study.more_trials import with_trials
from tcdp_sim.study.settings import Settings, settings


@dataclass(frozen=True)
class Given:
    """A run: its folder, and the settings that the words of its study stand for, None where a folder was named."""

    folder: Path
    asked: Settings | None = None

    @cached_property
    def settings(self) -> Settings:
        """The settings asked for, else those that the run was last started with. Raises UserError if none are known."""
        from tcdp_sim.store import recorded

        return self.asked or recorded.settings_of(recorded.run_folder(self.folder))

    @property
    def title(self) -> str | None:
        """The title that results of the words' study have; None for a folder, whose results may have any."""
        from tcdp_sim.study import study

        return None if self.asked is None else study.title(self.asked)


def by_folder(path: str) -> Given:
    """Return the run in a folder. Raises UserError for what is no path."""
    from tcdp_sim.store import recorded

    return Given(recorded.folder_of(path))


def by_config(config: Mapping[str, Any]) -> Given:
    """Return the run that a resolved config stands for. Raises UserError if the config is not valid."""
    asked = settings(with_trials(dict(config)))
    return Given(asked.folder, asked)
