"""The command `tcdp-sim finish`, which publishes and draws the results of the parts of a run."""

from functools import partial

from rich.console import Console

from tcdp_sim.cli.planning import planned
from tcdp_sim.cli.say import say
from tcdp_sim.core.errors import Failure
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.finish import finish
from tcdp_sim.store import exact_columns
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.study import rerun
from tcdp_sim.study.settings import Settings


def main(settings: Settings, console: Console) -> int:
    """Publish and draw all cells that are complete. Return 3 if simulated numbers contradict exact ones, else 0.

    Nothing is simulated. Raises Failure at the end if chunks or stored exact values are missing.
    """
    study, tell = planned(settings), partial(say, console)
    values = exact_columns.of_folders(study, [study.folder]) if rerun.is_sweep(settings.config) else None
    missing = finish(study, tell, values or known_exactly(settings.experiment.name))
    with interrupts.held():
        from tcdp_sim.cli import draw
    code = draw.main(settings, console)
    if values is not None and not values.width:
        say(
            console,
            "no part has exact values or bounds, which are code: the command of the sweep with exact.NAME= adds them",
        )
    lacking = [f"{missing} chunks"] if missing else []
    lacking += [f"the exact values of {len(values.unknown)} cells"] if values is not None and values.unknown else []
    if lacking:
        raise Failure(
            f"{' and '.join(lacking)} are missing; once their parts are done, `tcdp-sim finish` publishes them too"
        )
    return code
