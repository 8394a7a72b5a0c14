"""The run that a command is about, named by its folder, or by the words or the file of its study.

Modules that are slow to import are imported where they are used, so that a mistake in the words is reported at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.study import study_file
from tcdp_sim.study.study_file import StudyFile

if TYPE_CHECKING:
    from tcdp_sim.study.settings import Settings


@dataclass(frozen=True)
class Given:
    """A run: its folder, its settings and the file of its study. The settings are None if the words named a folder.

    `part` is the part of the run that the words name, such as 17/1000. The settings belong to the whole run. `notes`
    has a line for each word that the run leaves out.
    """

    folder: Path
    asked: "Settings | None" = None
    file: StudyFile = study_file.NONE
    part: str | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def settings(self) -> "Settings":
        """The settings in the words, else the settings of the run's last start. Raises UserError if there are none."""
        from tcdp_sim.store import run_settings

        return self.asked or run_settings.settings_of(run_settings.run_folder(self.folder))

    @property
    def config(self) -> Mapping[str, Any]:
        """The config of the settings. The config of a folder is not checked. Raises UserError if there is none."""
        from tcdp_sim.store import run_settings

        return self.asked.config if self.asked else run_settings.config_of(run_settings.run_folder(self.folder))

    @property
    def title(self) -> str | None:
        """The title of the results that the words describe; None for a folder, whose results may have any title."""
        from tcdp_sim.study import study

        return None if self.asked is None else study.title(self.asked)


def by_folder(path: str) -> Given:
    """Return the run in a folder. Raises UserError if the text is not a path."""
    from tcdp_sim.store import run_settings

    return Given(run_settings.folder_of(path))


def by_config(config: Mapping[str, Any], file: StudyFile = study_file.NONE, notes: tuple[str, ...] = ()) -> Given:
    """Return the run of a resolved config and its file, if it has one. Raises UserError if the config is not valid."""
    if config.get("part") and str(config.get("trials")).startswith("+"):
        raise UserError(f"trials = {config['trials']} is not valid with part, whose results may change in between")
    from tcdp_sim.study.more_trials import with_trials
    from tcdp_sim.study.settings import settings

    asked = settings(with_trials(dict(config)))
    return Given(asked.folder, asked.model_copy(update={"part": None}), file, asked.part, notes)
