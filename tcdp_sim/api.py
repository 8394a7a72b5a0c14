"""For notebooks and scripts: what the command line does, as functions.

Mistakes are UserErrors of one line, never SystemExit; Ctrl-C is KeyboardInterrupt. Everything is imported when used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_sim.errors import Failure, UserError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from tcdp_sim.mechanisms import Mechanism
    from tcdp_sim.study.settings import Settings
    from tcdp_sim.study.study import Study

__all__ = ["Failure", "Forecast", "UserError", "draw", "open_results", "plan", "run", "simulate", "table"]


def run(
    experiment: str = "histogram",
    *,
    sweep: Mapping[str, Any] | None = None,
    trials: float | None = None,
    data: str | Mapping[str, Any] | None = None,
    cluster: str | Mapping[str, Any] = "local",
    results_dir: str | Path = "results",
    name: str | None = None,
    **keys: Any,
) -> "xr.Dataset":
    """Run or resume a study, publish it, and return its results: as `open_results` of its folder.

    The same folder, bytes and refusals as `tcdp-sim experiment=... sweep....`: what is there is not computed again.
    experiment: a name of `tcdp-sim --help`; sweep: axis -> a value, a list, an array or a range {"from", "to", "num",
    "scale"}; trials: of a cell; data: a name, or keys such as {"path": "visits.csv", "column": "clinic", "domain": 5000};
    cluster: a name, or keys such as {"name": "slurm", "workers": 40}; keys: any other key of the config, such as
    seed=1, also={"more": {"k": 30}}, target_mcse={...}. Figures are drawn by `draw`.
    Raises UserError (a mistake, in one line), Failure (an error in the simulation), KeyboardInterrupt (nothing that was
    finished is lost).
    """
    from tcdp_sim.engine.run import execute, prepare

    settings = _settings(experiment, sweep, trials, data, cluster, results_dir, name, keys)
    study = prepare(settings)
    if failed := execute(study, _tell):
        raise Failure(f"errors left {failed} of {len(study.plan.laws)} cells without numbers (see problems.csv)")
    return open_results(settings.folder)


@dataclass(frozen=True)
class Forecast:
    """What a study would run. cells: one row a cell, its coordinates, guarantee and noise; trials: of a cell.

    chunks: how many there are in all; missing: how many of them are still to be simulated; skipped: points that
    invalid="skip" leaves out, each with the reason.
    """

    cells: "pd.DataFrame"
    trials: int
    chunks: int
    missing: int
    folder: Path
    skipped: tuple[str, ...]


def plan(
    experiment: str = "histogram",
    *,
    sweep: Mapping[str, Any] | None = None,
    trials: float | None = None,
    data: str | Mapping[str, Any] | None = None,
    cluster: str | Mapping[str, Any] = "local",
    results_dir: str | Path = "results",
    name: str | None = None,
    **keys: Any,
) -> Forecast:
    """What `run` with the same arguments would do; nothing is simulated or written. Raises UserError."""
    from tcdp_sim.engine.run import prepare

    study = prepare(_settings(experiment, sweep, trials, data, cluster, results_dir, name, keys))
    return _forecast(study)


def open_results(path: str | Path) -> "xr.Dataset":
    """A run's published results, labelled and lazy: see `tcdp_sim.results.open_results`."""
    from tcdp_sim import results

    return results.open_results(path)


def draw(path: str | Path) -> "dict[str, Figure]":
    """Draw what a run has published: into its folder's figures/, and as name -> matplotlib figure. Raises UserError."""
    raise NotImplementedError(path)


def table(path: str | Path) -> "pd.DataFrame":
    """A run's results as a tidy frame: one row a cell and quantity. Raises UserError."""
    raise NotImplementedError(path)


def simulate(mechanism: "Mechanism", trials: float, seed: int) -> "xr.Dataset":
    """Simulate one mechanism object in this process; its statistics, as `open_results` names them. No config, no folder.

    The same seed gives the same bits.
    """
    raise NotImplementedError(mechanism)


def _settings(experiment, sweep, trials, data, cluster, results_dir, name, keys) -> "Settings":
    from tcdp_sim.study.composition import composed, data_choice
    from tcdp_sim.study.settings import settings

    dataset, columns = data_choice(data)
    workers = {"name": cluster} if isinstance(cluster, str) else dict(cluster)
    chosen = {"experiment": experiment, "cluster": workers.pop("name", "local")}
    chosen |= {} if dataset is None else {"data": dataset}
    given: dict[str, Any] = {**keys, "results_dir": results_dir, "cluster": workers, "data": columns}
    given |= {key: value for key, value in (("sweep", sweep), ("trials", trials), ("name", name)) if value is not None}
    return settings(composed(chosen, given))


def _forecast(study: "Study") -> Forecast:
    import pandas as pd

    from tcdp_sim.engine.schedule import pending
    from tcdp_sim.store.run_folder import open_run

    s, laws = study.settings, study.plan.laws
    rows = [{**cell.coords, "guarantee": cell.guarantee, "noise_law": cell.noise} for cell in study.plan.cells]
    has = open_run(study).has if (study.folder / "run.json").exists() else lambda cell, chunk: False
    missing = len(pending(laws, {cell.id: s.chunks for cell in laws}, has))
    trials = s.chunks * s.chunk
    return Forecast(pd.DataFrame(rows), trials, len(laws) * s.chunks, missing, study.folder, study.plan.skipped)


def _tell(text: str) -> None:
    from rich.console import Console

    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)
