"""Claims and neighbours that are written as text, such as `ApproxDP(1, 1e-6)`: parsed, never evaluated."""

import ast
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tcdp_sim.audits.neighbours import Neighbours, answers, records
from tcdp_sim.audits.tradeoff import GaussianDP
from tcdp_sim.core.errors import UserError, suggestion
from tcdp_sim.privacy import Guarantee

VALID_NEIGHBOURS = "records([31, 44, 58]), records(['a', 'b'], 'substitute'), answers(5), or a name in the same file"
NEIGHBOURS: Mapping[str, Callable[..., Neighbours]] = {"records": records, "answers": answers}


def claim(text: str) -> Guarantee | GaussianDP:
    """Return the guarantee that a text such as `PureDP(1)` names. Raises UserError."""
    valid = (
        "PureDP(epsilon), ApproxDP(epsilon, delta), ZCDP(rho), TCDP(rho, omega), RDP(order, epsilon), GaussianDP(mu)"
    )
    claims = {kind.__name__: kind for kind in (*Guarantee.__subclasses__(), GaussianDP)}
    found: Guarantee | GaussianDP = _called("claim", text, claims, valid)
    return found


def neighbours(text: str) -> Neighbours:
    """Return the neighbours that a text such as `records([1, 2, 3], domain=[0, 9])` names. Raises UserError."""
    found: Neighbours = _called("neighbours", text, NEIGHBOURS, VALID_NEIGHBOURS)
    return found


def _called(key: str, text: str, table: Mapping[str, Callable[..., Any]], valid: str) -> Any:
    """Return the result of a function of the table on the literals in a text. Raises UserError."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        name = call.func.id
        given = [ast.literal_eval(each) for each in call.args]
        named = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        raise UserError(f"{key} = {text} cannot be read; valid: {valid}") from None
    if name not in table:
        raise UserError(f"{key} = {text} is not known; valid: {valid}{suggestion(name, tuple(table))}")
    try:
        inspect.signature(table[name]).bind(*given, **named)
    except TypeError as problem:
        raise UserError(f"{key} = {text} is not valid ({problem}); valid: {valid}") from None
    try:
        return table[name](*given, **named)
    except ValueError as problem:
        raise UserError(f"{key} = {text} is not valid: {problem}") from None
