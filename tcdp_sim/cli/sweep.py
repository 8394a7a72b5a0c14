"""The command `tcdp-sim sweep`, which simulates a function of the user's own file and draws the results."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tcdp_sim.cli.say import say
from tcdp_sim.core.errors import Failure

if TYPE_CHECKING:
    from rich.console import Console

HELP = """\
Simulate a function of your own at every point of its axes, keep the results in a folder, and draw them.

  tcdp-sim sweep my_file.py:median_error sweep.n=[11,101] sweep.epsilon=1 trials=1e5 cluster=slurm

The file is imported, and no other. Its function is f(rng, trials, **axes), which returns an array of shape (trials,),
or f(rng, **axes), which returns one trial. Keys:

  sweep.AXIS=VALUES     the values of an axis: a value, a list, or {from: 1, to: 9, num: 5}
  sweep.zip, sweep.where, sweep.cells, also.NAME={...}     as in a study
  exact.NAME=FUNCTION   a function of the axes in the same file: the exact mean of a number, or probability of an event
  bound.NAME=FUNCTION   the same for an upper bound
  units.NAME=UNIT       the unit of a number
  ranges.NAME=[A,B]     the least and the largest value of a trial, which judge means of equal trials
  trials, chunk, seed, quantiles, target_mcse, share, cluster, name, results_dir     as in `tcdp_sim.sweep`
  target.NAME={...}     cells stop when it is decided which value of an axis has the larger mean: {across: AXIS}, or on
                        which side of a number the mean lies: {threshold: 0.5}, or after 100 events: {events: 100}
  max_trials            the most trials of a cell under target or target_mcse
  on_error=continue     an error of the function leaves its cell without numbers, and the others go on
  on_error=count        an error in a trial makes it missing; the table has the rate of errors, errors.csv the first
  redraw=true, redraw=N a failed trial is drawn again, 50 or N times at most
  trial_seconds=T       a draw of one trial that takes longer fails
  code=any             use stored chunks that another state of tcdp_sim, NumPy, SciPy or a plug-in has computed
  numerics=strict       refuse workers whose elementary functions differ in the last bits
  part=17/1000          compute one part in this process alone; `tcdp-sim finish FOLDER` publishes all parts

A name that an installed plug-in brings stands for FILE.py:FUNCTION. The name of the folder is by default that of the
function, and the cluster is local. The exit code is 3 if simulated numbers
contradict exact ones or bounds. `verify` and `replay` of the folder need function=FILE.py:FUNCTION again."""


def main(console: "Console", words: Sequence[str]) -> int:
    """Run or resume a sweep and draw it, or compute a part of it.

    Return 3 if simulated numbers contradict exact ones or bounds, else 0. Raises UserError for a mistake, and Failure
    for an error that the user's function raises: at once, or at the end with on_error=continue.
    """
    from tcdp_sim.cli import draw, user_function  # slow to import, and the help needs only the text above
    from tcdp_sim.sweeps import run

    sweep, part = user_function.asked(words)
    failed = run.kept(sweep, partial(say, console), part)
    code = 0 if part else draw.draw(sweep.settings.folder, console)
    if failed:
        raise Failure(failed)
    return code
