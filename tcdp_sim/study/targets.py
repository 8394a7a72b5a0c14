"""Standard errors that are asked for (`target_mcse`), checked before anything runs."""

from collections.abc import Mapping
from typing import Any

from tcdp_sim.core.errors import UserError, real
from tcdp_sim.mechanisms import Mechanism


def check(
    target: Mapping[str, Any] | None,
    mechanism: type[Mechanism],
) -> None:
    """UserError unless target_mcse names observables or events of the mechanism, each with one kind of target."""
    names = (*mechanism.observables, *mechanism.events)
    for name, wanted in (target or {}).items():
        where = f"target_mcse.{name}"
        if name not in names:
            raise UserError(f"{where} is not an observable or event of {mechanism.name}; valid: {', '.join(names)}")
        if not isinstance(wanted, Mapping) or len(wanted) != 1 or not set(wanted) <= {"absolute", "relative"}:
            raise UserError(f"{where} = {wanted!r} is not valid; valid: {{absolute: 0.1}} or {{relative: 0.001}}")
        for kind, value in wanted.items():
            try:
                real(f"{where}.{kind}", value, 0)
            except ValueError as mistake:
                raise UserError(str(mistake)) from None
