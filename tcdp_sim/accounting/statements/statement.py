"""What a statement says, as plain data: the releases, the answers of their ledger, and what the publisher knows.

A ledger imports this module, so it is known here by its methods alone.
"""

import json
from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

from tcdp_sim.accounting.statements import plain
from tcdp_sim.accounting.statements.printed import named, printed
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.core.version import __version__
from tcdp_sim.privacy.relation import Relation, known_relation

FORMAT = "tcdp_sim statement 1"
PUBLISHER = ("title", "unit", "population", "period", "contact")  # what only the publisher knows
PRIOR, CANDIDATES = 0.5, 100
_ASKED = {"epsilon": "delta", "delta": "epsilon"}  # what is bracketed, and at which number
_WRITTEN = "valid: a statement that tcdp-sim account wrote"
ACCOUNTING = (
    "the whole list is composed, and each value is bracketed; the queries may depend on earlier answers, and the upper "
    "ends are the safe ones"
)


def statement(
    ledger: Any,
    delta: float | Iterable[float],
    epsilon: float | Iterable[float],
    tolerance: float,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the statement of a ledger as plain data. Raises ValueError for questions out of range."""
    deltas = [scalar("delta", each, 0, 1, closed=True, finite=False) for each in _several(delta)]
    epsilons = [scalar("epsilon", each, 0, closed=True) for each in _several(epsilon)]
    poisson = printed(ledger)
    libraries = {} if poisson is None else {"libraries": _libraries(ledger, poisson, deltas, tolerance)}
    return {
        "format": FORMAT,
        **{key: about.get(key) for key in PUBLISHER},
        "relation": ledger.relation,
        "releases": plain.of_entries(ledger.entries),
        "epsilon": [{"delta": each} | _ends(ledger.epsilon(each, tolerance)) for each in deltas],
        "delta": [{"epsilon": each} | _ends(ledger.delta(each)) for each in epsilons],
        **libraries,
        "risks": {
            "advantage": _ends(ledger.advantage()),
            "attack": {"prior": PRIOR} | _ends(ledger.attack(PRIOR)),
            "reconstruction": {"candidates": CANDIDATES} | _ends(ledger.reconstruction(CANDIDATES)),
        },
        "accounting": {
            "software": "tcdp_sim",
            "version": __version__,
            "method": ACCOUNTING,
            "tolerance": tolerance,
            "again": "`tcdp_sim.accounting.Ledger.from_statement(text)`, or `tcdp-sim account FILE.json`",
        },
    }


def _libraries(ledger: Any, poisson: Any, deltas: list[float], tolerance: float) -> dict[str, Any]:
    """Return the epsilons that training libraries print for the list, and what they count as Poisson samples."""
    epsilons = [{"delta": each} | _ends(poisson.epsilon(each, tolerance)) for each in deltas]
    return {"counted": named(ledger), "epsilon": epsilons}


def _several(value: float | Iterable[float]) -> list[float]:
    """Return one number or several as a list."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]  # type: ignore[list-item]


def _ends(bounds: Bounds) -> dict[str, Any]:
    names = ("lower", "estimate", "upper")
    return {name: (value if value < inf else "inf") for name, value in zip(names, map(float, bounds))}


def read(text: Any) -> dict[str, Any]:
    """Return a statement from its text. Raises ValueError."""
    valid = "valid: the text of ledger.statement('json')"
    try:
        data = json.loads(text) if isinstance(text, str | bytes) else text
    except ValueError as mistake:
        raise ValueError(f"the statement is not JSON ({mistake}); {valid}") from None
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise ValueError(f"the text has no format = {FORMAT!r}; {valid}")
    if "releases" not in data:
        raise ValueError(f"the statement has no releases; {valid}")
    if data.get("relation") is not None:
        known_relation(data["relation"], Relation)
    return dict(data)


def brackets(stated: Mapping[str, Any]) -> list[tuple[str, float, float, float]]:
    """Return each stated bracket: what it is of, the other number, and its ends. Raises ValueError."""
    found = []
    for key, argument in _ASKED.items():
        if not isinstance(stated.get(key), list):
            raise ValueError(f"the statement lacks {key!r}, a list of brackets; {_WRITTEN}")
        for i, row in enumerate(stated[key]):
            at, low, high = (_number(row, name, f"{key}[{i}]") for name in (argument, "lower", "upper"))
            found.append((key, at, low, high))
    return found


def _number(row: Any, name: str, where: str) -> float:
    """Return a number of a stated bracket."""
    if not isinstance(row, Mapping) or name not in row:
        raise ValueError(f"the statement lacks {name!r} in {where}; {_WRITTEN}")
    value = inf if row[name] == "inf" else row[name]
    return scalar(f"{where}.{name}", value, 0, closed=True, finite=False)


def disagreements(stated: Mapping[str, Any], ledger: Any) -> list[str]:
    """Return a line for each stated bracket that does not overlap with the bracket of the ledger."""
    found = []
    for key, at, low, high in brackets(stated):
        ours = getattr(ledger, key)(at)
        if low > ours.upper * (1 + 1e-9) or ours.lower > high * (1 + 1e-9):
            said = f"{key} at {_ASKED[key]} = {at:g} is stated from {low:.6g} to {high:.6g}"
            found.append(f"{said}, and is from {ours.lower:.6g} to {ours.upper:.6g}")
    return found
