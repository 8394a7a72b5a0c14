"""For notebooks and scripts: what the command line does, as functions.

A mistake is a UserError of one line, never SystemExit; Ctrl-C is KeyboardInterrupt, and nothing that was finished is
lost. What is said on the way goes to stderr, as does the progress bar (in a notebook: below the cell).
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from tcdp_sim import results
from tcdp_sim.audits import AuditReport, arguments
from tcdp_sim.audits import run as audits
from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.engine import forecast, in_process
from tcdp_sim.engine.run import execute, prepare
from tcdp_sim.mechanisms import Mechanism
from tcdp_sim.privacy import Guarantee
from tcdp_sim.report.terminal import Terminal
from tcdp_sim.results import published
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.store.recorded import folder_of
from tcdp_sim.store.table import statistics
from tcdp_sim.study.compose import composed
from tcdp_sim.study.more_trials import with_trials
from tcdp_sim.study.settings import Settings, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "AuditReport",
    "Contradiction",
    "Failure",
    "Plan",
    "UserError",
    "audit",
    "draw",
    "open_results",
    "plan",
    "run",
    "simulate",
    "table",
]


class Contradiction(UserWarning):
    """Simulated numbers of a run contradict exact ones beyond chance; contradictions.csv in its folder says which."""


def run(
    experiment: str = "histogram",
    *,
    sweep: Mapping[str, Any] | None = None,
    trials: float | str | None = None,
    data: str | Mapping[str, Any] | None = None,
    cluster: str | Mapping[str, Any] = "local",
    results_dir: str | Path = "results",
    name: str | None = None,
    **keys: Any,
) -> xr.Dataset:
    """Run or resume a study, publish it, and return its results: what `open_results` gives for its folder.

    The same folder, bytes and refusals as `tcdp-sim experiment=... sweep....`: what is there is not computed again.
    experiment: one of `tcdp-sim --help`; sweep: axis -> a value, a list, an array or a range {"from", "to", "num",
    "scale"}; trials: of a cell; data: a name, or keys such as {"path": "visits.csv", "column": "clinic", "domain":
    5000}; cluster: a name, or keys such as {"name": "slurm", "workers": 40}; keys: any other key of the config, such as
    seed=1, also={"more": {"k": 30}}, target_mcse={...}. Figures are drawn by `draw`. A script needs no main guard.
    Raises UserError (a mistake), Failure (an error in the simulation); warns of a `Contradiction`.
    """
    checked = _settings(experiment, sweep, trials, data, cluster, results_dir, name, keys)
    study = prepare(checked)
    if failed := execute(study, _tell, known_exactly(checked.experiment.name)):
        raise Failure(f"errors left {failed} of {len(study.plan.laws)} cells without numbers (see problems.csv)")
    del study  # which a large sweep needs the memory of
    _warn_of_contradictions(published.read(checked.folder))
    return open_results(checked.folder)


@dataclass(frozen=True)
class Plan:
    """What a study would run.

    cells: one row a cell: its coordinates, guarantee and noise; trials: of a cell; chunks: in all; missing: chunks that
    are still to be simulated; seconds: what those take, by a pilot of some cells, exact values and table on top;
    folder: of the results; notes: what is left out or rounded, a line each.
    """

    cells: pd.DataFrame
    trials: int
    chunks: int
    missing: int
    seconds: float
    folder: Path
    notes: tuple[str, ...]


def plan(
    experiment: str = "histogram",
    *,
    sweep: Mapping[str, Any] | None = None,
    trials: float | str | None = None,
    data: str | Mapping[str, Any] | None = None,
    cluster: str | Mapping[str, Any] = "local",
    results_dir: str | Path = "results",
    name: str | None = None,
    **keys: Any,
) -> Plan:
    """What `run` with the same arguments would do; nothing is kept or written. Raises UserError."""
    study = prepare(_settings(experiment, sweep, trials, data, cluster, results_dir, name, keys))
    s, coming = study.settings, forecast.forecast(study, _tell)
    rows = [{**cell.coords, "guarantee": cell.guarantee, "noise_law": cell.noise} for cell in study.plan.cells]
    chunks = len(study.plan.laws) * s.chunks
    lines = tuple(study.notes)
    return Plan(pd.DataFrame(rows), s.chunks * s.chunk, chunks, coming.missing, coming.seconds, study.folder, lines)


def open_results(path: str | Path) -> xr.Dataset:
    """A run's published results, labelled and lazy: see `tcdp_sim.results.open_results`. Raises UserError."""
    return results.open_results(path)


def draw(path: str | Path) -> "dict[str, Figure]":
    """Draw what a run has published: into figures/ in its folder, and as name -> matplotlib figure.

    path: a run's folder. Warns of a `Contradiction`. Raises UserError if there is nothing to draw.
    """
    run = published.read(folder_of(path))
    _, figures = published.draw(run)
    published.differences(run, _tell)
    _warn_of_contradictions(run)
    return figures


def table(path: str | Path, *, histograms: bool = False) -> pd.DataFrame:
    """A run's published numbers as a tidy frame: one row a cell and quantity; of quantiles one a level.

    Columns: the axes, `quantity`, `level`, `value`, `mcse`, `lower`, `upper`, `exact`, `bound`, `unit`, `trials`: see
    `tcdp_sim.results.tidy`. path: a run's folder; histograms: their bins as well. Raises UserError.
    """
    return results.tidy(folder_of(path), histograms)


def simulate(mechanism: Mechanism, trials: float, seed: int) -> xr.Dataset:
    """Simulate a mechanism object, here and now: its statistics, under the names that `open_results` has for them.

    mechanism: an object of a class that derives from `tcdp_sim.mechanisms.Mechanism`, the package's or your own;
    trials: a whole number; 0 <= seed < 2^128. The same arguments give the same bits; nothing is stored.
    Raises UserError.
    """
    return statistics(mechanism, in_process.simulate(mechanism, trials, seed))


def audit(
    mechanism: Callable[..., Any],
    *,
    pairs: Any = None,
    claim: Guarantee | None = None,
    trials: float = 1_000_000,
    level: float = 0.95,
    seed: int = 0,
    cluster: str | Mapping[str, Any] = "serial",
    name: str | None = None,
    results_dir: str | Path = "results",
    sensitivity: float | None = 1.0,
    learn: bool = True,
    bits: bool = False,
) -> AuditReport:
    """Is a mechanism's privacy claim true? A lower confidence bound from its outputs, and the event that shows it.

    mechanism: (data, rng, trials) -> outputs of shape (trials, ...), numbers or labels, all randomness from rng; with
    two arguments, (data, rng) -> one output, it is called once for each. Its method log_likelihood_ratio(outputs, data,
    other), in nats, is used where it has one. pairs: [(data, other), ...], neighbours; or a number d of answers, for
    the patterns of `audits.answer_pairs(d)`; None: d = 1. claim: PureDP, ApproxDP, RDP, ZCDP, TCDP, or None for a bound
    on epsilon. trials: outputs of each of the two inputs that the bound rests on (the choice takes half as many).
    level: with this probability what the report says holds, whatever was tried. cluster: as of `run`; the bits are the
    same on any. With a name, counts are kept in results_dir/name: the same call goes on from there, and changed source
    begins anew. sensitivity: by how much an entry of neighbours may differ, None where they are neighbours in another
    way. learn: also scores that scikit-learn finds, if it is installed (pip install "tcdp_sim[audit]"). bits: also the
    lowest bits of floating-point outputs, by which a textbook sampler that keeps its claim for real numbers gives its
    input away (Mironov 2012). Raises UserError.
    """
    given = (mechanism, pairs, claim, trials, level, seed, sensitivity, learn, bits, name, results_dir)
    return audits.run(arguments.checked(*given), cluster, _tell)


def _settings(experiment, sweep, trials, data, cluster, results_dir, name, keys) -> Settings:
    given = {"experiment": experiment, "data": data, "cluster": cluster, "results_dir": results_dir, **keys}
    given |= {key: value for key, value in (("sweep", sweep), ("trials", trials), ("name", name)) if value is not None}
    return settings(with_trials(composed(given)))


def _warn_of_contradictions(run: published.Published) -> None:
    """Say what the comparison with exact numbers gave: once, as a warning where any number contradicts."""
    lines: list[str] = []
    if published.contradicted(run, lines.append):
        where = run.folder / "contradictions.csv"
        text = f"simulated numbers contradict exact ones beyond chance: see {where}. {' '.join(lines)}"
        warnings.warn(text, Contradiction, stacklevel=3)
        return
    for line in lines:
        _tell(line)


def _tell(text: str) -> None:
    Terminal(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)
