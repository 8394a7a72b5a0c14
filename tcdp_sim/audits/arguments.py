"""Validation of the arguments of an audit."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_sim.audits import claims, neighbours, pairs, stated_curves
from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.outputs import Caught, OneByOne
from tcdp_sim.audits.sampling import Pair
from tcdp_sim.core.errors import UserError, real, whole
from tcdp_sim.core.paths import at_home
from tcdp_sim.privacy import Guarantee

LEAST, MOST = 100, 10**12
TRIALS = 1_000_000
MAX_SEED = 2**128


@dataclass(frozen=True)
class Scoring:
    """The scores that an audit may try.

    - likelihood_ratio: the mechanism's own log likelihood ratio, or None.
    - learn: True if scikit-learn may look for scores.
    - bits: True if the lowest bits of floating-point outputs are read.
    """

    likelihood_ratio: Callable[..., Any] | None
    learn: bool
    bits: bool


@dataclass(frozen=True, eq=False)
class Audit:
    """The checked arguments of an audit.

    `mechanism` is the user's object, and `sampler` draws its outputs. `seconds` is the time that decides the number of
    trials, or None. `until` is "refuted", or the value that would have been found, if the audit may end early.
    `tried` and `ordinary` are those of the neighbours.
    """

    mechanism: Any
    sampler: Callable[..., Any]
    pairs: list[Pair]
    relation: str
    claim: Guarantee | None
    measure: Measure
    trials: int
    seconds: float | None
    level: float
    seed: int
    scoring: Scoring
    folder: Path | None
    until: str | float | None = None
    tried: tuple[str, ...] = ()
    ordinary: bool = False

    @property
    def failure(self) -> float:
        """The probability, 1 - level, with which the bound may be too large."""
        return 1 - self.level


def checked(
    mechanism: Any,
    neighbouring: Any,
    claim: Any,
    trials: Any,
    seconds: Any,
    level: Any,
    seed: Any,
    errors: Any,
    learn: bool,
    bits: bool,
    name: str | None,
    results_dir: str | Path,
    until: Any = None,
) -> Audit:
    """Return the arguments of `tcdp_sim.audit` after checking them. Raises UserError."""
    if not callable(mechanism):
        raise UserError(f"{mechanism!r} is not a mechanism; valid: a function mechanism(data, rng, trials) -> outputs")
    if trials is not None and seconds is not None:
        raise UserError("trials and seconds are both given; valid: one of them")
    if errors not in ("output", "raise"):
        raise UserError(f"errors = {errors!r} is not valid; valid: 'output', 'raise'")
    try:
        seconds = None if seconds is None else real("seconds", seconds, 0)
        trials = whole("trials", TRIALS if trials is None else trials, LEAST, MOST)
        seed = whole("seed", seed, 0, MAX_SEED - 1)
        level = real("level", level, 0, 1)
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    folder = None if name is None else Path(at_home(results_dir)) / _folder_name(name)
    scoring = Scoring(getattr(mechanism, "log_likelihood_ratio", None), bool(learn), bool(bits))
    claim = stated_curves.of(claim) or claim
    measure, chosen = claims.measure(claim), neighbours.given(neighbouring)
    return Audit(
        mechanism, sampler(mechanism, errors == "output"), pairs.listed(chosen.pairs), chosen.relation, claim, measure,
        trials, seconds, level, seed, scoring, folder, _end(until, measure),
        chosen.tried, chosen.ordinary,
    )  # fmt: skip


def _end(until: Any, one: Measure) -> str | float | None:
    """Return what ends an audit early. Raises UserError."""
    if until is None:
        return None
    if one.claimed == np.inf:
        raise UserError(f"until = {until!r} needs a claim; valid: with claim=")
    value = None if until == "refuted" or isinstance(until, bool | str) else np.asarray(until)
    if until == "refuted":
        return "refuted"
    if value is None or value.shape or value.dtype.kind not in "iuf" or not one.claimed < value < np.inf:
        valid = f"'refuted', or a value of {one.words} above the claimed {one.claimed:g} that would have been found"
        raise UserError(f"until = {until!r} is not valid; valid: {valid}")
    return float(value)


def _folder_name(name: Any) -> str:
    """Return a valid folder name. Raises UserError."""
    if not isinstance(name, str) or not re.fullmatch(r"[\w-][\w.-]{0,99}", name):
        raise UserError(f"name = {name!r} is not valid; valid: letters, digits, '.', '_' and '-', at most 100")
    return name


def sampler(mechanism: Callable[..., Any], catches: bool = False) -> Callable[..., Any]:
    """Return the mechanism in the form (data, rng, trials) -> outputs; `catches` makes its exceptions outputs.

    A function of two arguments, (data, rng) -> one output, is called once for each trial. A parameter named `trials`
    gets the number of trials wherever it stands. Raises UserError if a third parameter of another name has a default,
    because it may be the number of trials or a setting.
    """
    try:
        parameters = list(inspect.signature(mechanism).parameters.values())
    except (ValueError, TypeError):
        return Caught(mechanism) if catches else mechanism
    vectorised = _vectorised(mechanism, parameters)
    if vectorised is None:
        return OneByOne(mechanism, catches)
    return Caught(vectorised) if catches else vectorised


def _vectorised(mechanism: Callable[..., Any], parameters: list[inspect.Parameter]) -> Callable[..., Any] | None:
    """Return the mechanism as (data, rng, trials) -> outputs, or None if it gives one output. Raises UserError."""
    named = [each for each in parameters if each.name == "trials"]
    if named:
        return partial(_by_name, mechanism) if named[0].kind is named[0].KEYWORD_ONLY else mechanism
    placed = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    if len(placed) > 2 and placed[2].default is not inspect.Parameter.empty:
        message = f"the mechanism's third parameter {placed[2].name!r} has a default, so it may be the number of trials"
        raise UserError(f"{message} or a setting; valid: (data, rng, trials) or (data, rng)")
    return None if len(placed) == 2 else mechanism


def _by_name(mechanism: Callable[..., Any], data: Any, rng: np.random.Generator, trials: int) -> Any:
    return mechanism(data, rng, trials=trials)
