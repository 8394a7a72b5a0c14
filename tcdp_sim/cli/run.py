"""`tcdp-sim run`: simulate what is missing, publish the snapshot, draw it."""

from functools import partial

from rich.console import Console

from tcdp_sim.cli.say import say
from tcdp_sim.core.errors import Failure
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.run import execute, prepare
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.study.settings import Settings


def main(settings: Settings, console: Console) -> int:
    """Run or resume a study, then draw it; the exit code: 3 if simulated numbers contradict exact ones, else 0.

    Raises Failure at the end if errors left cells without numbers.
    """
    failed, cells = _executed(settings, console)
    with interrupts.held():  # no signal tears an import in two; it takes a second, which no start has to wait for
        from tcdp_sim.cli import draw
    code = draw.main(settings, console)
    if failed:
        raise Failure(f"errors left {failed} of {cells} cells without numbers (see problems.csv)")
    return code


def _executed(settings: Settings, console: Console) -> tuple[int, int]:
    """How many cells have no numbers, and how many there are; what the study takes in memory is free again."""
    study = prepare(settings)
    failed = execute(study, partial(say, console), known_exactly(settings.experiment.name))
    return failed, len(study.plan.laws)
