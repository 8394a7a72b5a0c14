"""The runs that the words of a study ask for, and the file of the study that the words override."""

from collections.abc import Sequence

from tcdp_sim.cli import overrides, run_argument
from tcdp_sim.cli.command import SEVERAL
from tcdp_sim.cli.run_argument import Given
from tcdp_sim.study import own_noises, study_file


def runs(study: Sequence[str], path: str | None = None) -> list[Given]:
    """Return the runs of the words of a study, after checking all of them: one, or several with --multirun.

    The words override the keys of the study in the file `path`. Raises UserError, which names the line of a mistake in
    the file.
    """
    words = [word for word in study if word not in SEVERAL]
    file = study_file.NONE if path is None else study_file.read(path).under(overrides.places(words))
    with file.located():
        configs = overrides.configs(words, len(words) < len(study), file.keys)
        configs = [own_noises.completed(config, words) for config in configs]
        if len(configs) == 1:
            return [run_argument.by_config(configs[0], file)]
        from tcdp_sim.study import several  # slow to import

        return [run_argument.by_config(config, file, tuple(notes)) for config, notes in several.with_own_axes(configs)]
