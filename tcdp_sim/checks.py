"""The check of a noise or a mechanism at length: `tcdp_sim.check` and `tcdp-sim check`."""

import json
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim import exact
from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.numerics import integrate
from tcdp_sim.engine import in_process
from tcdp_sim.mechanisms import Mechanism, contract
from tcdp_sim.noise import Noise
from tcdp_sim.noise.contract import broken
from tcdp_sim.noise.guard import unguarded
from tcdp_sim.results.cells import cell_p_values, sample_skewness
from tcdp_sim.statistics.contradictions import find
from tcdp_sim.store import columns
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.store.table import statistics
from tcdp_sim.study import groups
from tcdp_sim.study.compose import composed
from tcdp_sim.study.settings import Settings, settings
from tcdp_sim.study.study import Study, prepare

DRAWS = 200_000  # of a noise
TRIALS = 20_000  # of a mechanism's cell, beside its exact values, at most
LEAST = 20  # trials
NUMBERS = 2e7  # that are drawn for a cell, about
CELLS = 3  # of each experiment with a mechanism
_LEVELS = (0.0, 0.3, 1.0)  # epsilons
_ORDERS = (1.5, 2.0, 4.0)
_VALID = "valid: a noise, a mechanism, a class of either, or the name of one"


def check(thing: Any) -> list[str]:
    """Return the mistakes of a noise or a mechanism, one line each; an empty list if none was found.

    A noise is checked at quantiles from the centre to the far tails: density, tails, quantiles, draws, privacy losses
    at shifts of both signs and all sizes, closed forms, and divergences against integrals that need no loss. A
    mechanism is checked by some trials: its numbers are declared and in range, and the same stream gives the same
    trials. A mechanism class is checked at cells of the experiments that use it, where its law and `build` must be
    inverse, and exact values must agree with simulated ones. The checks find mistakes; they do not prove that there are
    none.

    Parameters
    ----------
    thing : Noise, Mechanism, class or str
        An object, or a class or a name of the registry. A noise class is checked at parameters of 1, or at 2 and 3 if
        it does not take these.

    Returns
    -------
    list of str
        A line for each mistake, with the method, its arguments, its result and the valid results.

    Raises
    ------
    UserError
        If `thing` is nothing of the kind, or the parameters of a noise class cannot be guessed.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> check(Gaussian(2.0))
    []
    """
    if isinstance(thing, str):
        thing = named(thing)
    if isinstance(thing, Noise):
        return list(_of_noise(thing))
    if isinstance(thing, Mechanism):
        return list(contract.broken(thing))
    if isinstance(thing, type) and issubclass(thing, Noise):
        return list(_of_noise(_example(thing)))
    if isinstance(thing, type) and issubclass(thing, Mechanism):
        return list(_of_class(thing))
    raise UserError(f"{thing!r} cannot be checked; {_VALID}")


def named(name: str) -> Any:
    """Return the noise or mechanism class of a name. Raises UserError that lists the names."""
    for kind, find_class in (("noise", registry.noise), ("mechanism", registry.mechanism)):
        if name in registry.names(kind):
            return find_class(name)
    names = ", ".join((*registry.names("noise"), *registry.names("mechanism")))
    raise UserError(f"{name!r} is neither a noise nor a mechanism; valid: {names}")


def _example(cls: type[Noise]) -> Noise:
    """Return a noise of a class whose parameters are positive numbers."""
    count = len(cls.parameters())
    problem = ""
    for values in ([1.0] * count, [2.0, 3.0, 4.0, 5.0][:count]):
        try:
            return cls(*values)
        except (TypeError, ValueError) as refusal:
            problem = " ".join(str(refusal).split())
    needed = ", ".join(cls.parameters())
    raise UserError(f"{cls.__name__}({needed}) cannot be made of the numbers 1, or 2 and 3: {problem}; give an object")


def _of_noise(noise: Noise) -> Iterator[str]:
    with unguarded():
        lines = list(broken(noise, DRAWS))
        yield from lines
        if not lines and not noise.is_discrete:
            yield from _divergences(noise)


def _divergences(noise: Noise) -> Iterator[str]:
    """Compare profiles and Renyi divergences with integrals of densities."""
    shift = float(noise.isf(0.25))
    tails = noise.isf(np.concatenate([np.linspace(0.5, 0.05, 20), np.geomspace(0.04, 1e-60, 60)]))
    arm = np.concatenate([-tails, tails, noise.kinks])
    arm = arm[np.abs(arm) < 1e200]
    edges = np.unique(np.concatenate([arm, arm + shift, [0.5 * shift]]))

    def gap(epsilon: float, x: Any) -> Any:
        return np.maximum(noise.pdf(x) - np.exp(epsilon) * noise.pdf(x - shift), 0.0)

    def moment(order: float, x: Any) -> Any:
        there = noise.pdf(x) > 0
        return np.where(there, np.exp(order * noise.logpdf(x) + (1 - order) * noise.logpdf(x - shift)), 0.0)

    with np.errstate(all="ignore"):
        for epsilon in _LEVELS:
            right = integrate(partial(gap, epsilon), edges, 1e-7)
            found = _answer(exact.hockey_stick, noise, shift, epsilon)
            yield from _apart(noise, f"delta({epsilon:g})", shift, found, right.lower, right.upper)
        for order in _ORDERS:
            if order >= noise.max_order(shift):
                continue
            right = integrate(partial(moment, order), edges, 1e-7)
            found = _answer(exact.renyi_divergence, noise, shift, order)
            if found is not None and found[2] < np.inf:
                low, high = np.log([right.lower, right.upper]) / (order - 1)
                yield from _apart(noise, f"D_{order:g}", shift, found, low, high)


def _answer(function: Any, *arguments: Any) -> Any:
    """Return the bounds of a function, or None if it refuses the noise."""
    try:
        return function(*arguments)
    except ValueError:
        return None


def _apart(noise: Noise, what: str, shift: float, found: Any, low: float, high: float) -> Iterator[str]:
    slack = 1e-5 * abs(high) + 1e-12
    if found is not None and not (found[0] <= high + slack and low - slack <= found[2]):
        right = f"{0.5 * (low + high):.10g}, the integral of densities"
        yield f"{type(noise).__name__}: {what} at shift {shift:.6g} is {found[1]:.10g}; valid: {right}"


def _of_class(kind: type[Mechanism]) -> Iterator[str]:
    """Check some cells of each experiment with a mechanism."""
    studies = list(_studies(kind.name))
    if not studies:
        raise UserError(f"no experiment uses the mechanism {kind.name}; give an object of {kind.__name__} instead")
    for study in studies:
        for cell in islice(study.plan.cells, CELLS):
            yield from _of_cell(kind, cell, study)


def _studies(name: str) -> Iterator[Study]:
    for experiment in groups.options("experiment"):
        found: Settings = settings(composed({"experiment": experiment}))
        if found.mechanism["name"] == name:
            yield prepare(found)


def _of_cell(kind: type[Mechanism], cell: Any, study: Study) -> Iterator[str]:
    counts = study.plan.counts[cell.counts]
    try:
        mechanism = kind.build(cell.law, counts)
        from_text = kind.build(json.loads(json.dumps(cell.law)), counts)
    except Exception as problem:  # a foreign class may raise anything
        reason = " ".join(f"{type(problem).__name__}: {problem}".split())
        yield f"{kind.__name__}.build raises {reason} for its own law {cell.law}; valid: the mechanism of that law"
        return
    lines = list(contract.broken(mechanism))
    yield from lines
    if lines:
        return
    where = f"in a cell of experiment={study.settings.experiment.name}"
    if not contract.same_trials(mechanism, from_text):
        yield f"{kind.__name__}.build gives other trials for the same law {where}; valid: law and build are inverse"
    yield from _contradictions(kind, mechanism, study.settings.experiment.name, where)


def _contradictions(kind: type[Mechanism], mechanism: Mechanism, experiment: str, where: str) -> Iterator[str]:
    """Compare means, probabilities and quantiles of some trials with the exact values of an experiment.

    A contradiction that occurs by chance once in a hundred cells must occur with other trials as well.
    """
    first = _alarms(mechanism, experiment, 1)
    again = _alarms(mechanism, experiment, 2) if first else {}
    for quantity in first.keys() & again.keys():
        numbers = f"{first[quantity][0]:.6g} simulated, {first[quantity][1]:.6g} exact"
        yield f"{kind.__name__}: {quantity} contradicts its exact value {where}: {numbers}; valid: both agree"


def _alarms(mechanism: Mechanism, experiment: str, seed: int) -> dict[str, tuple[float, float]]:
    """Return the simulated and exact numbers that differ beyond chance, by quantity."""
    exact_values = known_exactly(experiment).exact
    if not exact_values:
        return {}
    trials = int(np.clip(NUMBERS / mechanism.work, LEAST, TRIALS))
    table = statistics(mechanism, in_process.simulate(mechanism, trials, seed))
    row = {str(name): float(table[name]) for name in table if table[name].ndim == 0}
    for name, function in exact_values.items():
        try:
            found = function(mechanism)
        except ValueError:
            continue
        if name in row and f"{name}_mcse" in row:
            row |= {f"{name}_exact": float(found), f"{name}_skewness": _skewness(table, name)}
        elif columns.has_levels(name) and name in table:
            row |= _of_quantiles(table, name, np.asarray(found))
    alarms = find(pd.DataFrame([row])).to_dict("records")
    return {alarm["quantity"]: (alarm["simulated"], alarm["exact"]) for alarm in alarms}


def _flat(table: Any, observable: str) -> Any:
    """Return the table with a dimension `cell` for the bins of an observable."""
    alone = [f"{observable}_histogram_bins", *(observable + end for end in columns.INFINITE)]
    return table.assign({each: ("cell", [table[each].item()]) for each in alone if each in table})


def _skewness(table: Any, name: str) -> float:
    """Return the skewness of the trials behind a mean, NaN for another quantity."""
    observable = name.removesuffix(columns.mean(""))
    is_mean = name != observable and f"{observable}_histogram_bins" in table
    return float(sample_skewness(_flat(table, observable), 0, observable)) if is_mean else np.nan


def _of_quantiles(table: Any, name: str, found: Any) -> dict[str, float]:
    """Return the columns that `find` reads, for each level of a quantity that has quantiles."""
    observable = name.removesuffix(columns.quantile(""))
    flat = _flat(table, observable)
    p_values = cell_p_values(flat, 0, observable, columns.QUANTILES, found)
    row: dict[str, float] = {}
    for level, simulated, value, p_value in zip(columns.QUANTILES, table[name].values, np.ravel(found), p_values):
        at = f"{name} at {level:g}"
        row |= {at: simulated, f"{at}_mcse": np.nan, f"{at}_exact": value, f"{at}_p_value": p_value}
    return row
