"""Mechanisms and tools of diffprivlib (IBM), which draw from a seed."""

import inspect
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from tcdp_sim.audits.adapters.adapted import Adapted, approximate, library
from tcdp_sim.core.errors import UserError

SEEDS = 2**32


def from_diffprivlib(name: str, *, epsilon: float, delta: float = 0.0, **options: Any) -> Adapted:
    """Return a mechanism or a tool of diffprivlib for an audit, with the claim of its arguments.

    It is given by name, because diffprivlib 0.6.6 does not import with scikit-learn 1.9: its forests need an older
    version. This function leaves them out where they fail. The tools of diffprivlib take the number of records as
    public, so their claims hold for replaced records (`records(data, "substitute")`).

    Source: Holohan et al. (2019) [HBML19].

    Parameters
    ----------
    name : str
        A mechanism, such as "mechanisms.Laplace", or a tool, such as "tools.mean".
    epsilon : float
        The claimed epsilon, in nats.
    delta : float
        The claimed delta. It is passed on if it is not 0.
    **options
        Other arguments, such as sensitivity=1 of a mechanism or bounds=(0, 100) of a tool. The input of an audit is the
        value or the data set. A mechanism that takes no value, such as "mechanisms.Exponential", gets the input as its
        argument utility.

    Returns
    -------
    Adapted
        The mechanism and its claim, `PureDP` or `ApproxDP`.

    Raises
    ------
    UserError
        If diffprivlib is not installed, or has no such name.

    Examples
    --------
    >>> from_diffprivlib("tools.mean", epsilon=0.5, bounds=(0, 100)).claim  # doctest: +SKIP
    PureDP(epsilon=0.5)
    """
    folder, _, last = name.partition(".")
    if folder not in ("mechanisms", "tools") or not hasattr(_module(folder), last):
        raise UserError(f"diffprivlib has no {name!r}; valid: names such as 'mechanisms.Laplace' and 'tools.mean'")
    found = getattr(_module(folder), last)
    given = {"epsilon": epsilon, **({"delta": delta} if delta else {}), **options}
    claim = approximate(epsilon, delta)
    if folder == "tools":
        fresh = _module("accountant").BudgetAccountant  # the default accountant would add up all outputs of an audit
        return Adapted(lambda data, rng: found(data, **given, random_state=_seed(rng), accountant=fresh()), claim)
    if "value" in inspect.signature(found.randomise).parameters and last not in SELECTIONS:
        return Adapted(lambda data, rng: found(**given, random_state=_seed(rng)).randomise(data), claim)
    return Adapted(lambda data, rng: found(**given, utility=list(data), random_state=_seed(rng)).randomise(), claim)


SELECTIONS = ("Exponential", "PermuteAndFlip")


def _seed(rng: Any) -> int:
    return int(rng.integers(SEEDS))


def _module(name: str) -> ModuleType:
    """Return a module of diffprivlib, without the package's models if these fail to import."""
    try:
        library("diffprivlib", "diffprivlib")
    except UserError:
        raise
    except ImportError:
        origin = find_spec("diffprivlib").origin  # type: ignore[union-attr]
        models = ModuleType("diffprivlib.models")
        models.__path__ = [str(Path(str(origin)).parent / "models")]  # so that its other modules can be imported
        sys.modules["diffprivlib.models"] = models
    return import_module(f"diffprivlib.{name}")
