"""What `tcdp-sim reproduce` does: runs, evidence, verdicts, and the page where all claims are asked for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcdp_sim.experiments.papers import claims, exhibits
from tcdp_sim.experiments.papers.chosen import chosen
from tcdp_sim.experiments.papers.gather import provenance
from tcdp_sim.experiments.papers.gather.gather import Gatherer, Result
from tcdp_sim.experiments.papers.page import page
from tcdp_sim.experiments.papers.page.terminal import report_claim, report_counts

from tcdp_sim.errors import UserError, reason
from tcdp_sim.log import Tell


def reproduce(
    folder: Path,
    only: str,
    full: bool,
    cluster: str | Mapping[str, Any],
    console: Any,
    tell: Tell,
    render: bool = False,
) -> list[Result]:
    """Judge the claims that `only` names, and print them; all of them make a page. Raises UserError, Failure."""
    wanted = chosen(claims(), only)
    with Gatherer(folder, full, cluster, tell, render) as gatherer:
        shown = [] if only else list(exhibits().values())
        gatherer.run_studies([*wanted, *shown])
        results = list(gatherer.results(wanted))
        tables = {exhibit: gatherer.table(exhibit) for exhibit in shown}
        needed = {name for thing in (*wanted, *shown) for name in thing.needs}
    if only:
        for result in results:
            report_claim(result, console)
    if not only or len(results) > 1:
        report_counts(results, console)
    if not only:
        about = provenance.about(folder, results, needed, full)
        try:
            path = page.write(folder, results, tables, about)
            provenance.certify(folder, about, results)
        except OSError as problem:
            raise UserError(f"the page cannot be written ({reason(problem)}); name another folder=") from None
        tell(f"page: {path}")
    return results
