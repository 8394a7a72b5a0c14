"""The command `tcdp-sim finish`, which publishes what the parts of a run have computed, and draws it."""

from functools import partial

from rich.console import Console

from tcdp_sim.cli.say import say
from tcdp_sim.core.errors import Failure
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.finish import finish
from tcdp_sim.engine.run import prepare
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.study import again
from tcdp_sim.study.settings import Settings


def main(settings: Settings, console: Console) -> int:
    """Publish and draw all cells that are complete. Return 3 if simulated numbers contradict exact ones, else 0.

    Nothing is simulated. Raises Failure at the end if chunks are missing.
    """
    missing = finish(prepare(settings), partial(say, console), known_exactly(settings.experiment.name))
    with interrupts.held():
        from tcdp_sim.cli import draw
    code = draw.main(settings, console)
    if again.is_sweep(settings.config):
        say(console, "exact values and bounds are code: the command of the sweep, without part=, adds them")
    if missing:
        raise Failure(f"{missing} chunks are missing; once their parts are done, `tcdp-sim finish` publishes them too")
    return code
