"""The command `tcdp-sim reproduce`: runs, evidence, verdicts, and the page if all claims are asked for."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.core.log import Tell
from tcdp_sim.experiments.papers import claims, exhibits
from tcdp_sim.experiments.papers.chosen import chosen
from tcdp_sim.experiments.papers.gather import provenance, studies
from tcdp_sim.experiments.papers.gather.gather import Gatherer, Result
from tcdp_sim.experiments.papers.library import Claim
from tcdp_sim.experiments.papers.page import page
from tcdp_sim.experiments.papers.page.terminal import report_claim, report_counts
from tcdp_sim.experiments.papers.registry import Exhibit


def reproduce(
    folder: Path,
    only: str,
    full: bool,
    cluster: str | Mapping[str, Any],
    console: Any,
    tell: Tell,
    render: bool = False,
) -> list[Result]:
    """Judge the claims that `only` names and print them; all together make a page. Raise UserError or Failure."""
    wanted = chosen(claims(), only)
    with Gatherer(folder, full, cluster, tell, render) as gatherer:
        shown = [] if only else list(exhibits().values())
        gatherer.run_studies([*wanted, *shown])
        results = list(gatherer.results(wanted))
        tables = {exhibit: gatherer.table(exhibit) for exhibit in shown}
        needed = _needs(wanted, shown)
        path = (
            None
            if only
            else _written(folder, results, tables, provenance.about(folder, results, needed, full), gatherer)
        )
    if only:
        for result in results:
            report_claim(result, console)
    if not only or len(results) > 1:
        report_counts(results, console)
    if path:
        tell(f"page: {path}")
    return results


def plan(folder: Path, only: str, full: bool, cluster: str | Mapping[str, Any], console: Any, tell: Tell) -> None:
    """Print what `reproduce` would run and compute, without doing it. Raise UserError for an unknown claim."""
    wanted = chosen(claims(), only)
    shown = [] if only else list(exhibits().values())
    needed = sorted(_needs(wanted, shown))
    waiting = studies.unpublished(needed, full, folder, cluster)
    with Gatherer(folder, full, cluster, tell) as gatherer:
        missing = gatherer.missing(wanted, shown)
    console.print(f"studies to run: {', '.join(waiting) or 'none'} (of {len(needed)})", markup=False)
    console.print(f"claims and figures to compute: {len(missing)} of {len(wanted) + len(shown)}", markup=False)
    for name in missing if only else ():
        console.print(f"  {name}", markup=False)


def _written(
    folder: Path,
    results: Sequence[Result],
    tables: Mapping[Exhibit, pd.DataFrame],
    about: dict[str, Any],
    gatherer: Gatherer,
) -> Path:
    """Write the page and its certificate and return the page's path. Raise UserError if they cannot be written."""
    try:
        path = page.write(folder, results, tables, about, gatherer.picture)
        provenance.certify(folder, about, results)
    except OSError as problem:
        raise UserError(f"the page cannot be written ({reason(problem)}); name another folder=") from None
    return path


def _needs(wanted: Iterable[Claim], shown: Iterable[Exhibit]) -> set[str]:
    """Return the names of the studies whose results the claims and exhibits read."""
    return {name for claim in wanted for name in claim.needs} | {name for one in shown for name in one.needs}
