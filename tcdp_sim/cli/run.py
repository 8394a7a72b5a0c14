"""The command `tcdp-sim run`, which simulates missing chunks, publishes the snapshot and draws it.

A run with nothing left to do is recognised before anything slow is imported.
"""

from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console

from tcdp_sim.cli import memory
from tcdp_sim.cli.imports import importing
from tcdp_sim.cli.say import say, say_all
from tcdp_sim.core import log
from tcdp_sim.core.errors import Failure
from tcdp_sim.engine import preload
from tcdp_sim.store import finished

if TYPE_CHECKING:
    from tcdp_sim.store.exact_values import ExactValues
    from tcdp_sim.study.settings import Settings

SILENT = ("serial", "local")  # clusters that a part leaves unused without a word: the default, and what a part is


def main(settings: "Settings", console: Console, exact_values: "ExactValues | None" = None) -> int:
    """Run or resume a study, then draw it. Return 3 if simulated numbers contradict exact ones, else 0.

    `exact_values` are by default the exact values of the study's experiment. Raises Failure at the end if errors left
    cells without numbers.
    """
    done = exact_values is None and _is_finished(settings, console)
    failed, cells = (0, 0) if done else _executed(settings, console, exact_values)
    memory.give_back_now()  # figures need more than a run does
    with importing():
        from tcdp_sim.cli import draw
    code = draw.main(settings, console)
    if failed:
        raise Failure(f"errors left {failed} of {cells} cells without numbers (see problems.csv)")
    return code


def part(settings: "Settings", name: str, console: Console) -> int:
    """Compute a part of a run, such as 17/1000, in this process alone. Publish and draw nothing.

    Raises Failure at the end if errors left cells without numbers.
    """
    with importing():
        from tcdp_sim.cli.planning import planned
        from tcdp_sim.engine import parts
        from tcdp_sim.store.exact_values import known_exactly
    if settings.cluster["name"] not in SILENT:
        say(console, f"part={name} is computed by this process alone: cluster={settings.cluster['name']} is not used")
    own = parts.alone(settings).model_copy(update={"part": name})
    study = planned(own)
    parts.compute(study, partial(say, console), known_exactly(own.experiment.name))
    return 0


def _is_finished(settings: "Settings", console: Console) -> bool:
    """Tell the lines of a run with nothing left to do, and return True if it is one."""
    lines = finished.read(settings)
    if lines is None:
        return False
    try:
        with log.kept(settings.folder):
            say_all(console, lines)
    except OSError:  # the run itself says what is wrong
        return False
    return True


def _executed(settings: "Settings", console: Console, values: "ExactValues | None") -> tuple[int, int]:
    """Return the number of cells without numbers and of all cells. The memory of the study is free afterwards."""
    with preload.imports(settings):
        with importing():
            from tcdp_sim.cli.planning import planned
            from tcdp_sim.engine.run import execute
            from tcdp_sim.store.exact_values import known_exactly
        study = planned(settings)
        failed = execute(study, partial(say, console), values or known_exactly(settings.experiment.name))
        return failed, len(study.plan.laws)
