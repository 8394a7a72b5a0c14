"""Run the benchmarks and print the measured number beside each aim."""

import sys

from rich.console import Console
from rich.table import Table

from benchmarks import (
    again,
    cells,
    corners,
    drawing,
    driver,
    engine,
    figures,
    filters,
    finish,
    framework,
    growth,
    interior,
    ledger,
    million,
    optimal,
    per_record,
    plans,
    privacy,
    scaling,
    smooth,
)

BENCHMARKS = {
    "maximum": drawing.maximum,
    "doubly_exponential": drawing.doubly_exponential,
    "discrete": drawing.discrete,
    "dense": drawing.dense,
    "interior": interior.interior,
    "profiles": privacy.profiles,
    "conversions": privacy.conversions,
    "calibration": privacy.calibration,
    "composition": privacy.composition,
    "audits": privacy.audits,
    "ledgers": ledger.ledgers,
    "filters": filters.filters,
    "plans": plans.plans,
    "per_record_draws": per_record.draws,
    "per_record_policies": per_record.policies,
    "per_record_calibration": per_record.calibrations,
    "optimal": optimal.optimal,
    "smooth": smooth.smooth,
    "planning": framework.planning,
    "overhead": framework.overhead,
    "memory": framework.memory,
    "workers": framework.workers,
    "again": again.again,
    "engine": engine.engine,
    "figures": figures.figures,
    "growth": growth.growth,
    "driver": driver.driver,
    "scaling": scaling.scaling,
}
ASKED = {  # long ones, run only by their names
    "cells": cells.cells,
    "million": million.million,
    "chunks": million.chunks,
    "corners": corners.corners,
    "finish": finish.finish,
}


def main(words) -> None:
    """Run the named benchmarks, or all except the long ones. Words NAME=VALUE are options of the named ones."""
    names = [word for word in words if "=" not in word]
    options = {name: float(value) for name, _, value in (word.partition("=") for word in words if "=" in word)}
    every = BENCHMARKS | ASKED
    unknown = set(names) - set(every)
    if unknown:
        sys.exit(f"no benchmark {sorted(unknown)[0]!r}; valid: {', '.join(every)}")
    table = Table(title="Benchmarks (medians; ratios within one run)", title_justify="left")
    for heading in ("what", "reached", "aim"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for name in names or BENCHMARKS:
        for what, reached, aim in every[name](**options):
            table.add_row(what, reached, aim)
    Console().print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
