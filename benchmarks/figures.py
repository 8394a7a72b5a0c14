"""The cost of tables and figures of a large sweep for the driver, as the slope in the number of cells."""

from rich.console import Console

from benchmarks.engine import Watch
from benchmarks.framework import composed, empty_folder
from tcdp_sim.engine import run
from tcdp_sim.results import published
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.study.settings import settings

SIZES = (1000, 9000)


def figures():
    """Measure the CPU time of one process without exact values, which are published by then."""
    _spent(10)  # loads the imports
    (few, first), (many, last) = (_spent(cells) for cells in SIZES)
    for stage in first:
        aim = "< 0.3 ms" if stage == "all of it" else ""
        yield f"drawing a cell: {stage}", f"{1e3 * (last[stage] - first[stage]) / (many - few):.3f} ms", aim


def _spent(cells) -> tuple[int, dict[str, float]]:
    """Return the number of cells, and the CPU seconds of each stage."""
    with empty_folder():
        prepared = run.prepare(settings(_study(cells)))
        run.execute(prepared, Console(quiet=True).print, known_exactly("histogram"))
        with Watch() as read:
            found = published.read(prepared.folder)
        with Watch() as draw:
            published.draw(found)
        with Watch() as compare:
            published.contradicted(found, lambda line: None)
    spent = {"reading, the table": read.cpu, "figures and CSV": draw.cpu, "contradictions": compare.cpu}
    return len(found.table), spent | {"all of it": sum(spent.values())}


def _study(cells):
    axis = f"sweep.k={{from: 10, to: 1e12, num: {cells}, scale: log}}"
    few = ("sweep.noise=gaussian", "sweep.rho=0.1", "trials=10", "chunk=10", "cluster=serial")
    return composed("also=null", *few, axis)
