"""The script that repeats an audit."""

from collections.abc import Callable
from typing import Any

from tcdp_sim.audits.literals import NoExpression, Written
from tcdp_sim.audits.report import AuditReport


def script(mechanism: Callable[..., Any], report: AuditReport) -> list[str]:
    """Return the lines of a script that repeats an audit on the pair of inputs with the largest bound.

    If the mechanism or the inputs cannot be written, the lines say why, and which call repeats the audit in the test.
    """
    trials = report.planned or report.trials
    early = f", until={report.until!r}" if report.until else ""
    settings = f"trials={trials}, level={report.level}, seed={report.seed}{early}"
    try:
        return _script(mechanism, report, settings)
    except NoExpression as why:
        return [
            f"there is no script that repeats it, because {why}",
            "replace the assertion by this call (pairs is the list of neighbours, or neighbours.pairs):",
            f"    print(tcdp_sim.audit(mechanism, neighbours=[pairs[{report.pair_index}]], claim=claim, {settings}))",
        ]


def _script(mechanism: Callable[..., Any], report: AuditReport, settings: str) -> list[str]:
    """Return the lines of the script. Raises NoExpression."""
    data, other = report.pair if report.pair is not None else (None, None)
    script = Written()
    given = {
        "mechanism": script.expression(mechanism),
        "first_input": script.expression(data),
        "second_input": script.expression(other),
        "claimed": script.expression(report.claim),
    }
    places = ["import sys", f"sys.path[:0] = {list(script.folders)!r}"] if script.folders else []
    lines = [*places, "import tcdp_sim", *script.imports]
    lines += [line for definition in script.definitions.values() for line in definition]
    lines += [f"{name} = {text}" for name, text in given.items() if name != text]
    call = f"tcdp_sim.audit(mechanism, neighbours=[(first_input, second_input)], claim=claimed, {settings})"
    return ["to see it again:", "", *(f"    {line}" for line in [*lines, f"print({call})"])]
