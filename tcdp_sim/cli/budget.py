"""The command `tcdp-sim budget`: from errors in a file to noise, budget and attack risk, as a table, CSV and figure."""

from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.core.paths import at_home

FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)  # of all errors, for the figure
HELP = """\
FILE.yaml lists the releases, each with one error that you can bear, and possibly a budget:

  releases:
    - {name: counties, largest_error: 20, k: 3000, noise: discrete_gaussian}   # 95% of the time no error is larger
    - {name: total, deviation: 5}                                              # a standard deviation
    - {name: top reason, gap: 40, k: 12}                                       # a selection finds a lead of 40
    - {name: median, rank_error: 100, k: 120}                                  # a median, off by 100 records
  delta: 1e-6            # without a budget, the least one is found; notion: zcdp, tcdp, approx_dp or pure_dp
  budget: {rho: 0.1}     # or {rho, omega}, {epsilon, delta}, {epsilon}; then objective: ratio, error or variance

It prints a table, and writes NAME.csv and NAME.png into FOLDER, by default the current one (docs/howto/budget.md)."""


def main(console, file, folder=".") -> int:
    """Print the plan of a file, and write its CSV and its figure."""
    from tcdp_sim.accounting import plan_budget
    from tcdp_sim.cli import budget_file

    asked = budget_file.read(file)
    try:
        plan = plan_budget(asked.targets, asked.budget, **asked.settings)
        rows, summary = plan.table(), plan.summary()
    except (ValueError, TypeError, OverflowError) as mistake:
        raise UserError(f"{file}: {mistake}") from None
    _print(console, rows, summary)
    place = _place(folder)
    stem = Path(file).stem
    try:
        _csv(plan, place / f"{stem}.csv")
        _figure(plan, place / f"{stem}.png")
    except OSError as problem:
        raise UserError(f"{folder} cannot be written ({reason(problem)})") from None
    console.print(f"table: {place / f'{stem}.csv'}\nfigure: {place / f'{stem}.png'}", markup=False)
    return 0


def _place(folder: str) -> Path:
    place = Path(at_home(folder))
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UserError(f"{folder} cannot be made ({reason(problem)}); valid: a folder") from None
    return place


def _print(console, rows, summary) -> None:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    from tcdp_sim.accounting.planning.result import HEAD

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in HEAD:
        words = heading in ("release", "noise")
        table.add_column(heading, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table, soft_wrap=False)
    for line in summary:
        console.print(line, markup=False)


def _csv(plan: Any, path: Path) -> None:
    """Write a row for each release with all digits, and the totals in every row."""
    import pandas as pd

    from tcdp_sim.core.texts import write_csv

    rows = [
        {
            "release": row.name,
            "error": row.error,
            "bound": row.target.error,
            "error_is": row.target.words,
            "deviation": row.deviation,
            "noise": repr(getattr(row.release, "noise", row.release)),
            "scale": row.scale,
            "times": row.times,
            "rho": row.rho,
            "share": row.share,
            "budget": str(plan.budget),
            "epsilon": plan.epsilon.upper,
            "delta": plan.delta,
            "attack": plan.attack.upper,
        }
        for row in plan.rows
    ]
    write_csv(pd.DataFrame(rows), path)


def _figure(plan: Any, path: Path) -> None:
    """Draw errors and attack risk against epsilon, for plans with all noise multiplied by a factor."""
    from tcdp_sim.accounting.planning.curve import risk_curve
    from tcdp_sim.report.budget_figure import save

    curve = risk_curve(plan, FACTORS)
    save(path, curve, FACTORS, plan.delta)
