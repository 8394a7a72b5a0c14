"""Mechanisms whose trials with a NaN are missing, and counted (`on_error=count`)."""

from dataclasses import replace
from typing import Any

from tcdp_sim.mechanisms.base import Draws, Law, Mechanism
from tcdp_sim.mechanisms.functions import failed_trials
from tcdp_sim.mechanisms.functions.failed_trials import Counting


def counted(kind: type[Mechanism], how: Counting) -> type[Mechanism]:
    """Return a class of mechanisms with the events of failed trials, whose laws say that these are counted."""
    own = (failed_trials.FAILED, *([failed_trials.MISSING] if how.redraw else []))

    def law(cls: type[Mechanism], point: Any, options: Any, counts: Any) -> dict[str, Any]:
        return {**kind.law(point, options, counts), failed_trials.ERRORS: how.plain}

    declaring = {
        "law": classmethod(law),
        "observables": {
            name: replace(about, meaning=f"{about.meaning}{failed_trials.GIVEN}")
            for name, about in kind.observables.items()
        },
        "events": {name: failed_trials.MEANINGS[name] for name in own}
        | {name: f"{meaning}{failed_trials.GIVEN}" for name, meaning in kind.events.items()},
        "missing": how.missing,
        "of_trials": own,
    }
    return type(kind.__name__, (kind,), declaring)


def simulated(mechanism: Mechanism, law: Law, rng: Any, trials: int) -> Draws:
    """Return the trials of a mechanism of this law. Trials with a NaN are missing where they are counted."""
    how = failed_trials.counting(law)
    if how is None:
        return mechanism.simulate(rng, trials)
    return failed_trials.without_nan(lambda count: mechanism.simulate(rng, count), rng, trials, how)
