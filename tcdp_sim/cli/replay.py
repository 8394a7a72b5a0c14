"""The command `tcdp-sim replay`, which computes one chunk, or one trial of it, again in this process."""

from rich.console import Console

from tcdp_sim.cli.planning import planned
from tcdp_sim.cli.say import say
from tcdp_sim.cli.user_function import code_of
from tcdp_sim.core import own_noises
from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import simulate
from tcdp_sim.store.run_folder import is_started, open_run
from tcdp_sim.study.settings import Settings
from tcdp_sim.summaries.encoding import from_bytes
from tcdp_sim.summaries.estimates import mean


def main(
    settings: Settings,
    console: Console,
    cell: str | None = None,
    index: int = 0,
    trial: str | None = None,
    function: str | None = None,
) -> None:
    """Run a chunk of the cell whose id starts with `cell`, and compare its bits. An error ends with its traceback.

    `trial` is the place of a trial in the chunk, such as errors.csv has it. It is run alone, after the draws of those
    before it. The chunks of a sweep come from `function`, FILE.py:FUNCTION.

    For a debugger use `python -m pdb -c continue -m tcdp_sim replay FOLDER cell=... index=...`. Raises UserError for an
    index below 0, a trial that the chunk does not have, and unless `cell` matches exactly one cell.
    """
    if index < 0:
        raise UserError(f"index = {index} is not valid; valid: a whole number, at least 0")
    own_noises.require_all(settings.noises)
    study = planned(settings)
    with code_of(settings, function):
        found = _cell(study, cell)
        if trial is None:
            _replay(study, found, index, console)
        else:
            _replay_trial(study, found, index, _place(trial, settings.chunk), console)


def _place(trial: str, trials: int) -> int:
    """Return the place of a trial in its chunk. Raises UserError."""
    if not trial.isdecimal() or int(trial) >= trials:
        raise UserError(f"trial = {trial} is not valid; valid: a whole number from 0 to {trials - 1}")
    return int(trial)


def _replay_trial(study, cell, index, place, console) -> None:
    for name, value in simulate.one_trial(_task(study, cell, index), place).items():
        say(console, f"{name} = {value}")


def _replay(study, cell, index, console) -> None:
    encoded = simulate.one_chunk(_task(study, cell, index))
    for axis, value in cell.coords.items():
        say(console, f"{axis} = {value}")
    if cell.noise or cell.guarantee:
        say(console, f"{cell.noise}, {cell.guarantee}")
    summary = from_bytes(encoded)
    for name, distribution in summary.observables.items():
        value, mcse, _ = mean(distribution)
        say(console, f"{name}: mean {value:.6g} ± {mcse:.2g}")
    for name, hits in summary.events.items():
        say(console, f"{name}: {hits} of {summary.trials}")
    run = open_run(study) if is_started(study) else None
    if run is None or not run.has(cell.id, index):
        say(console, "this chunk is not stored yet")
    else:
        say(console, "the same bits as stored" if run.record(cell.id, index) == encoded else "NOT the stored bits")


def again(study, chunks) -> list[simulate.Record]:
    """Return the records of (cell, chunk index) pairs, computed again in this process."""
    return [simulate.run(_task(study, cell, index)).records[0] for cell, index in chunks]


def _task(study, cell, index) -> simulate.Task:
    s = study.settings
    return simulate.Task(
        s.seed, s.chunk, (simulate.Batch(cell.id, cell.law, study.plan.counts[cell.counts], (index,)),)
    )


def _cell(study, prefix):
    if prefix is None:
        raise UserError("cell is not given; give cell=ID, the first digits of a cell's id (`id` in the results)")
    matching = [place for place, cell in enumerate(study.plan.laws.ids()) if cell.startswith(prefix)]
    if len(matching) != 1:
        many = f"the ids of {len(matching)} cells begin" if matching else "no cell's id begins"
        lists = "`tcdp-sim table FOLDER` lists the ids, and problems.csv those of cells that failed"
        advice = "give more digits" if matching else lists
        raise UserError(f"cell: {many} with {prefix!r}; {advice}")
    return study.plan.laws[matching[0]]
