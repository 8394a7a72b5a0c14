"""The functions of the command line, for notebooks and scripts.

A mistake raises a UserError of one line, never SystemExit. Ctrl-C raises KeyboardInterrupt and loses no finished
chunk. Messages and the progress bar go to stderr (in a notebook: below the cell).
"""

import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from tcdp_sim import results
from tcdp_sim.audits import arguments, score_arguments, score_audit
from tcdp_sim.audits import run as audits
from tcdp_sim.audits.report import AuditReport
from tcdp_sim.audits.score_report import ScoreReport
from tcdp_sim.checks import check
from tcdp_sim.core import user_files
from tcdp_sim.core.collector import collecting_seldom
from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.figure_options import FigureOptions
from tcdp_sim.core.texts import in_html
from tcdp_sim.engine import forecast, in_process
from tcdp_sim.engine.run import execute, prepare
from tcdp_sim.mechanisms import Mechanism
from tcdp_sim.report.terminal import Terminal
from tcdp_sim.results import in_notebook, published
from tcdp_sim.results.distribution import distribution
from tcdp_sim.results.export import chosen
from tcdp_sim.results.open import squeezed
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.store.run_settings import folder_of
from tcdp_sim.store.table import statistics
from tcdp_sim.study import own_noises, several, study_file
from tcdp_sim.study.compose import composed, places
from tcdp_sim.study.more_trials import with_trials
from tcdp_sim.study.settings import settings
from tcdp_sim.study.study import Study
from tcdp_sim.sweeps import run as sweeps
from tcdp_sim.sweeps.arguments import checked as checked_sweep
from tcdp_sim.sweeps.run import ran

FEW = 10  # cells of a plan that a notebook shows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "AuditReport",
    "Contradiction",
    "Failure",
    "Plan",
    "UserError",
    "audit",
    "audit_scores",
    "check",
    "distribution",
    "draw",
    "open_results",
    "plan",
    "run",
    "simulate",
    "sweep",
    "table",
]


class Contradiction(UserWarning):
    """A warning that simulated numbers of a run differ from exact ones beyond chance.

    The file contradictions.csv in the run's folder lists these numbers.

    Examples
    --------
    >>> with warnings.catch_warnings():  # make a contradiction an error
    ...     warnings.simplefilter("error", Contradiction)
    """


def run(
    experiment: str | Sequence[str] | None = None,
    *,
    study: str | Path | None = None,
    sweep: Mapping[str, Any] | None = None,
    trials: float | str | None = None,
    data: str | Mapping[str, Any] | None = None,
    cluster: str | Mapping[str, Any] | None = None,
    results_dir: str | Path | None = None,
    name: str | None = None,
    squeeze: bool = True,
    **keys: Any,
) -> xr.Dataset | xr.DataTree:
    """Run or resume a study, publish it, and return its results.

    The function does the same as `tcdp-sim experiment=... sweep....`: it uses the same folder, writes the same bytes
    and refuses the same mistakes. Chunks that are already stored are not computed again. Call `draw` for the figures. A
    script needs no main guard.

    Parameters
    ----------
    experiment : str or list of str, optional
        The name of an experiment, by default "histogram". `tcdp-sim --help` lists them. Each experiment of a list has a
        run of its own, with the given axes that its mechanism has. The error of a run does not end the others.
    study : str or Path, optional
        The file of a study, such as `tcdp-sim new histogram` writes it. The other arguments override its keys.
    sweep : mapping, optional
        A value for each axis: a number or name, a list, an array, or a range {"from", "to", "num", "scale"}.
    trials : float or str, optional
        Number of trials per cell, at least 1. A text such as "+50000" adds to the stored trials.
    data : str or mapping, optional
        The name of a data set, or keys such as {"path": "visits.csv", "column": "clinic", "domain": 5000}.
    cluster : str or mapping, optional
        The name of a cluster, by default "local", or keys such as {"name": "slurm", "workers": 40}.
    results_dir : str or Path, optional
        The folder that holds the folders of runs, by default "results".
    name : str, optional
        The name of the run's folder.
    squeeze : bool
        If False, an axis with one value is a dimension of length one, as in `open_results`.
    **keys
        Any other key of the config, such as seed=1, losses=True, also={"more": {"k": 30}} or target_mcse={...}.

    Returns
    -------
    xarray.Dataset or xarray.DataTree
        The published results, as `open_results` returns them for the run's folder, or for the folders of a list of
        experiments.

    Raises
    ------
    Failure
        If errors in the simulation left cells without numbers.

    Warns
    -----
    Contradiction
        If simulated numbers differ from exact ones beyond chance.

    Examples
    --------
    >>> run("histogram", sweep={"k": [10, 1000], "rho": 0.1}, trials=20_000, name="small")  # doctest: +SKIP
    """
    user_files.check_not_importing("a study")
    given = (sweep, trials, data, cluster, results_dir, name, keys)
    if not isinstance(experiment, list | tuple):
        folder = _executed(_prepared(study, experiment, *given))
        _warn_of_contradictions(published.read(folder))
        return open_results(folder, squeeze=squeeze)
    folders, failed = [], dict[str, UserError | Failure]()
    studies = _prepared_all(study, experiment, *given)
    configs = [prepared.settings.config for prepared in studies]
    while studies:
        folders.append(studies[0].folder)
        try:
            _warn_of_contradictions(published.read(_executed(studies.pop(0))))
        except (UserError, Failure) as mistake:
            failed[folders[-1].name] = mistake
    if failed:
        raise several.failure(failed, configs)
    return open_results(folders, squeeze=squeeze)


def _executed(prepared: Study) -> Path:
    """Run a study and return its folder. Raises Failure if cells are left without numbers.

    The study is free afterwards, because a large sweep needs its memory.
    """
    if failed := execute(prepared, _tell, known_exactly(prepared.settings.experiment.name)):
        raise Failure(f"errors left {failed} of {len(prepared.plan.laws)} cells without numbers (see problems.csv)")
    return prepared.folder


@dataclass(frozen=True)
class Plan:
    """The cost of a study and the cells that it would simulate.

    Parameters
    ----------
    cells : pandas.DataFrame
        One row for each cell: its coordinates, guarantee and noise.
    trials : int
        Number of trials per cell.
    chunks : int
        Number of chunks of all cells.
    missing : int
        Number of chunks that are not stored yet.
    seconds : float
        Estimated time for the missing chunks, in seconds. A pilot of some cells gives the estimate. It excludes the
        exact values and the table.
    folder : Path
        The folder of the results.
    notes : tuple of str
        One line for each thing that is left out or rounded.

    Examples
    --------
    >>> plan("histogram", sweep={"k": 10}, trials=1000).missing  # doctest: +SKIP
    5
    """

    cells: pd.DataFrame
    trials: int
    chunks: int
    missing: int
    seconds: float
    folder: Path
    notes: tuple[str, ...]

    def _repr_html_(self) -> str:
        """Return the plan for a notebook: its cost in a line, the notes, and the first cells."""
        cost = f"{len(self.cells)} cells x {self.trials:,} trials; {self.missing} of {self.chunks} chunks to simulate"
        lines = [f"{cost}, about {self.seconds:.3g} s", f"folder: {self.folder}", *self.notes]
        return in_html(lines) + self.cells.head(FEW).to_html()


def plan(
    experiment: str | None = None,
    *,
    study: str | Path | None = None,
    sweep: Mapping[str, Any] | None = None,
    trials: float | str | None = None,
    data: str | Mapping[str, Any] | None = None,
    cluster: str | Mapping[str, Any] | None = None,
    results_dir: str | Path | None = None,
    name: str | None = None,
    **keys: Any,
) -> Plan:
    """Return the plan of the study that `run` would run with the same arguments.

    Nothing is written.

    Parameters
    ----------
    experiment : str, optional
        The name of the experiment, as for `run`.
    study : str or Path, optional
        The file of a study, as for `run`.
    sweep : mapping, optional
        The axes of the sweep.
    trials : float or str, optional
        The number of trials of a cell.
    data : str or mapping, optional
        The data set.
    cluster : str or mapping, optional
        The cluster on which the study would run.
    results_dir : str or Path, optional
        The folder of the runs.
    name : str, optional
        The name of the run.
    **keys
        Any other key of a study.

    Returns
    -------
    Plan
        The cells, the missing chunks and the estimated time.

    Examples
    --------
    >>> plan("histogram", sweep={"k": 10}, trials=1000).seconds  # doctest: +SKIP
    0.02
    """
    prepared = _prepared(study, experiment, sweep, trials, data, cluster, results_dir, name, keys)
    s, coming = prepared.settings, forecast.forecast(prepared, _tell)
    rows = [{**cell.coords, "guarantee": cell.guarantee, "noise_law": cell.noise} for cell in prepared.plan.cells]
    chunks = len(prepared.plan.laws) * s.chunks
    lines = tuple(prepared.notes)
    return Plan(pd.DataFrame(rows), s.chunks * s.chunk, chunks, coming.missing, coming.seconds, prepared.folder, lines)


def open_results(path: str | Path | Sequence[str | Path], *, squeeze: bool = True) -> xr.Dataset | xr.DataTree:
    """Return the published results of a run, labelled by the axes of its sweep, or the results of several runs.

    Large ones are loaded lazily. Several runs that share their axes are one Dataset with the dimension `mechanism`;
    otherwise they are a DataTree with a node for each run.

    Parameters
    ----------
    path : str, Path or list of them
        The folder of a run, or the zarr tree in it. A list of folders, or a folder that holds the folders of runs,
        stands for several runs.
    squeeze : bool
        If False, an axis with one value is a dimension of length one. By default it is a coordinate without dimension,
        as after `isel(axis=0)`.

    Returns
    -------
    xarray.Dataset or xarray.DataTree
        The results with one dimension for each axis that has several values: see `tcdp_sim.results.open_results`.

    Raises
    ------
    UserError
        If there are no results to open, or they are damaged.

    Examples
    --------
    >>> open_results("results/small")["linf_error_mean"]  # doctest: +SKIP
    """
    return results.open_results(path, squeeze=squeeze)


def draw(
    path: str | Path,
    figures: Collection[str] | None = None,
    *,
    width: float | None = None,
    title: bool = True,
    format: str = "pdf",
) -> "dict[str, Figure]":
    """Draw the figures of a run from its published results.

    The figures and their numbers (CSV) are written into figures/ in the run's folder.

    Parameters
    ----------
    path : str or Path
        The folder of a run.
    figures : collection of str, optional
        The names of the figures to draw, by default all. Nothing is drawn after the last one.
    width : float, optional
        The width of every figure in inches, from 3 to 20, by default the one that fits its panels.
    title : bool
        Whether the figures have their titles.
    format : str
        The format beside PNG: "pdf", "svg", "tiff" (600 dots per inch), or "png" for the PNG alone.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        The figures by name.

    Raises
    ------
    UserError
        If there are no results to draw, if the figures cannot be written, if there is no figure of a name, or if an
        option is not valid.

    Warns
    -----
    Contradiction
        If simulated numbers differ from exact ones beyond chance.

    Examples
    --------
    >>> draw("results/small")  # doctest: +SKIP
    """
    options = FigureOptions(width, title, format)
    run = published.read(folder_of(path))
    _, drawn = published.draw(run, chosen=[figures] if isinstance(figures, str) else figures, options=options)
    if not drawn and figures is None:  # the experiment has no figure of such a sweep
        _, drawn = published.draw(published.plainly(run), options=options)
    published.differences(run, _tell)
    _warn_of_contradictions(run)
    return drawn


def table(
    path: str | Path,
    *,
    histograms: bool = False,
    quantity: str | Collection[str] | None = None,
    level: float | Collection[float] | None = None,
    rows: str | Collection[str] | None = None,
    columns: str | Collection[str] | None = None,
    where: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Return the published numbers of a run as a tidy frame, or some of them in a table with chosen rows and columns.

    The frame has one row for each cell and quantity. A quantity of quantiles has one row for each level.

    Parameters
    ----------
    path : str or Path
        The folder of a run.
    histograms : bool
        If True, append one row for each occupied bin of each histogram.
    quantity : str or list of str, optional
        The quantities to keep, such as "linf_error_quantile".
    level : float or list of float, optional
        The levels of quantiles to keep.
    rows, columns : str or list of str, optional
        Axes along the sides of a table of simulated values (exact ones where nothing is simulated), `quantity` and
        `level` among them. One that varies and is not named goes to the other side.
    where : mapping, optional
        The cells to keep: a value or a list for each axis, such as {"noise": "gaussian"}.

    Returns
    -------
    pandas.DataFrame
        The table with these sides. Without them, the columns are the axes, `quantity`, `level`, `value`, `mcse`,
        `lower`, `upper`, `exact`, `bound`, `unit`, `trials` and `id`. `tcdp_sim.results.tidy` explains them.

    Raises
    ------
    UserError
        If there are no results to open, or they are damaged; if a choice names what is not there.

    Examples
    --------
    >>> table("results/small", quantity="linf_error_quantile", level=0.95, rows="k", columns="noise")  # doctest: +SKIP
    """
    choices = {"quantity": quantity, "level": level, "rows": rows, "columns": columns, "where": where}
    if histograms and any(value is not None for value in choices.values()):
        raise UserError("histograms=True is not valid with quantity, level, rows, columns or where")
    return results.tidy(folder_of(path), True) if histograms else chosen(folder_of(path), choices)


def simulate(mechanism: Mechanism, trials: float, seed: int) -> xr.Dataset:
    """Simulate a mechanism object in this process and return its statistics.

    The same arguments give the same bits. Nothing is stored.

    Parameters
    ----------
    mechanism : Mechanism
        An object of a class that derives from `tcdp_sim.mechanisms.Mechanism`: the package's or your own.
    trials : float
        Number of trials, a whole number of at least 1.
    seed : int
        Seed of the random numbers, from 0 to 2^128 - 1.

    Returns
    -------
    xarray.Dataset
        The statistics, under the names that they have in `open_results`.

    Examples
    --------
    >>> from tcdp_sim.mechanisms import NoiseDraw
    >>> from tcdp_sim.noise import Gaussian
    >>> found = simulate(NoiseDraw(Gaussian(2.0), None), trials=10_000, seed=1)
    >>> bool(abs(found["noise_mean"]) < 5 * found["noise_mean_mcse"])
    True
    """
    return statistics(mechanism, in_process.simulate(mechanism, trials, seed))


def audit(
    mechanism: Callable[..., Any],
    *,
    neighbours: Any,
    claim: Any = None,
    trials: float | None = None,
    seconds: float | None = None,
    level: float = 0.95,
    seed: int = 0,
    cluster: str | Mapping[str, Any] = "serial",
    name: str | None = None,
    results_dir: str | Path = "results",
    errors: str = "output",
    learn: bool = True,
    bits: bool = False,
    until: str | float | None = None,
) -> AuditReport:
    """Audit a privacy claim of a mechanism from its outputs.

    The report has a lower confidence bound on the privacy parameter and the event that shows it. The bound holds at the
    stated confidence level regardless of how the event was chosen.

    Source: Mironov (2012) [Mir12] (the lowest bits).

    Parameters
    ----------
    mechanism : callable
        A function (data, rng, trials) that returns `trials` outputs: an array of shape (trials, ...), or a list of
        objects. A function (data, rng) returns one output and is called once for each trial. Outputs may be numbers,
        labels, None, or lists, tuples, sets, dicts and frames of these. All randomness must come from rng. If the
        function has a method `log_likelihood_ratio(outputs, data, other)`, in nats, the audit uses it.
    neighbours : Neighbours or list of (data, other)
        The neighbouring inputs: `audits.records(data)` for a real data set, `audits.answers(d)` for vectors of d
        answers to queries, or pairs of your own. The mechanism gets them as they are.
    claim : Guarantee, Ledger, mapping or callable, optional
        A PureDP, ApproxDP, RDP, ZCDP or TCDP guarantee, `audits.GaussianDP(mu)`, or a whole curve: a ledger, points
        {epsilon: delta} of a privacy profile, or a function that gives the least type II error of a test at each type I
        error. Without a claim the report bounds epsilon.
    trials : float, optional
        Number of outputs of each of the two inputs that the bound is computed from, by default a million. The choice of
        the event takes half as many more.
    seconds : float, optional
        The time that the audit may take, instead of `trials`: a first look at the mechanism's speed sets the number.
    level : float
        Confidence level of the report, in (0, 1).
    seed : int
        Seed of the random numbers.
    cluster : str or mapping
        The cluster, as for `run`. The bits are the same on every cluster.
    name : str, optional
        If given, the counts are kept in results_dir/name. The same call resumes there. A changed source starts anew.
    results_dir : str or Path
        The folder that holds the folders of audits and runs.
    errors : {"output", "raise"}
        If "output", an exception that the mechanism raises counts as an output, because it may tell the inputs apart.
        If "raise", it ends the audit.
    learn : bool
        If True, also try scores that scikit-learn finds, provided it is installed (pip install "tcdp_sim[audit]").
    bits : bool
        If True, also try the lowest bits of floating-point outputs. They betray the input of a textbook sampler whose
        claim holds only for real numbers.
    until : "refuted" or float, optional
        End early: as soon as the claim is refuted, or, given a value above the claimed one, also as soon as a true
        value of that size would have been found. The audit looks at a share of the outputs, then at four times as many,
        and so on. The level holds for all looks together. An audit that does not end early draws a third more.

    Returns
    -------
    AuditReport
        The bound, the verdict on the claim and the event.

    Warns
    -----
    WeakAudit
        If both inputs of every pair give the same outputs from the same random stream, if `records` has tried no
        records but copies of the data's own, or if the audit could not have found twice the claim.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP
    >>> def laplace(data, rng, trials):
    ...     return data[0] + rng.laplace(scale=0.5, size=trials)
    >>> from tcdp_sim.audits import answers
    >>> report = audit(laplace, neighbours=answers(1), claim=PureDP(1.0), trials=4000, learn=False)
    >>> report.refuted
    True
    """
    user_files.check_not_importing("an audit")
    given = (mechanism, neighbours, claim, trials, seconds, level, seed, errors, learn, bits, name, results_dir, until)
    report = audits.run(arguments.checked(*given), cluster, _tell)
    report.warn(stacklevel=3)
    return report


def audit_scores(
    inside: Any,
    outside: Any,
    *,
    claim: Any = None,
    level: float = 0.95,
    delta: float | None = None,
    larger: str | None = None,
    runs: str = "many",
    sequential: bool = False,
) -> ScoreReport:
    """Audit a privacy claim from scores that are already there, without a mechanism to call.

    The bounds hold all together at the confidence level, for every sample size, regardless of the thresholds that show
    them. Thresholds have fixed ranks, and exact binomial bounds share the failure probability. Scores of one run are
    not independent, so another bound is used for them.

    Source: Clopper and Pearson (1934) [CP34]; Steinke, Nasr and Jagielski (2023) [SNJ23] and Mahloujifar et al. (2025)
    [MMC25] (one run).

    Parameters
    ----------
    inside, outside : array of shape (n,) and (m,), n, m >= 2
        Scores with the record and without it, or under two neighbours: one real number (also +-inf) for each run. A
        score is any function of an output that is fixed before these outputs are seen. Code a withheld output as -inf.
        A missing score (NaN) is refused. Tied scores are never separated.
    claim : Guarantee, Ledger, mapping or callable, optional
        A PureDP, ApproxDP, RDP, ZCDP or TCDP guarantee, `audits.GaussianDP(mu)`, or a whole curve: a ledger, points
        {epsilon: delta} of a privacy profile, or a function that gives the least type II error of a test at each type I
        error. Without a claim the report bounds epsilon.
    level : float
        Confidence level of all numbers of the report together, in (0, 1).
    delta : float, optional
        The delta at which epsilon is bounded, in [0, 1): by default that of the claim, or 0.
    larger : {"inside", "outside"}, optional
        The side where scores tend to be larger, if that was known before the scores were seen. By default both are
        tried, which costs a little power.
    runs : {"many", "one"}
        If "many", the scores are of independent runs. If "one", they are of the canaries of one run, each inside with
        probability 1/2 by a coin of its own. The claim then has to be PureDP, ApproxDP, GaussianDP or a whole curve,
        for which `bound` is minus the decimal logarithm of a p-value.
    sequential : bool
        If True, the audit is repeated while scores arrive, in the order of the arrays, and the level holds for all
        calls together. It looks at the first 20 scores of each side, the first 30, 45 and so on; between them nothing
        changes.

    Returns
    -------
    ScoreReport
        The bounds, the verdict on the claim, the event and the band of the trade-off curve.

    Raises
    ------
    UserError
        If scores are missing, if an argument is not valid, or if fair coins do not give these canaries.

    Warns
    -----
    WeakAudit
        If all scores are equal, or if the audit could not have found twice the claim.

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.privacy import PureDP
    >>> noise = np.random.default_rng(1).laplace(size=(2, 1000))  # epsilon is 2 for answers that differ by 2
    >>> report = audit_scores(2 + noise[0], noise[1], claim=PureDP(1.0))
    >>> report.refuted
    True
    """
    report = score_audit.run(score_arguments.checked(inside, outside, claim, level, delta, larger, runs, sequential))
    report.warn(stacklevel=3)
    return report


def sweep(
    function: Any,
    axes: Mapping[str, Any],
    *,
    cells: Any = None,
    zip: Any = None,
    where: Any = None,
    also: Mapping[str, Any] | None = None,
    trials: float = 10_000,
    chunk: float | None = None,
    exact: Mapping[str, Any] | None = None,
    bound: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    quantiles: Any = None,
    target_mcse: Mapping[str, Any] | None = None,
    target: Mapping[str, Any] | None = None,
    share: Any = None,
    seed: int = 0,
    cluster: str | Mapping[str, Any] = "serial",
    name: str | None = None,
    results_dir: str | Path = "results",
    max_trials: float | None = None,
    numerics: str = "warn",
    code: str = "same",
    on_error: str = "stop",
    redraw: bool | int = False,
    trial_seconds: float | None = None,
    squeeze: bool = True,
) -> xr.Dataset:
    """Simulate a function of your own at every point of its axes.

    The same arguments give the same bits on any cluster. More cells or trials change no older number.

    Parameters
    ----------
    function : callable, object with simulate(rng, trials), or str
        A function f(rng, trials, **axes) that returns an array of shape (trials,), or a function f(rng, **axes) that
        returns one trial. A trial is a number, a yes or no (an event), or a dict of them. Several numbers may be the
        columns of a DataFrame (pandas or polars) with a row for each trial. A number without a name is
        called `value`. All randomness must come from `rng`, a numpy.random.Generator. A
        text is the name of a function that an installed plug-in brings (entry point `tcdp_sim.sweep`).
    axes : mapping
        The values of each axis: a list, range, array or single value, or a range {"from", "to", "num", "scale"}.
        Values are plain data, and the function gets them as they are.
    cells : list of mapping, optional
        Points, each of which completes the axes: [{"n": 10, "k": 2}].
    zip : list, optional
        Groups of axes that advance together: [["n", "k"]].
    where : str or list of str, optional
        Conditions that all must hold: "n <= 1000".
    also : mapping, optional
        Further blocks of axes by name, whose axes replace those of `axes`: {"large": {"n": 10**6}}.
    trials : float
        Number of trials per cell, rounded up to whole chunks.
    chunk : float, optional
        Number of trials that share a random stream and are asked for at once. The default is 10,000, or `trials` if
        that is less.
    exact : mapping, optional
        Functions of the axes that return the exact mean of a number, or the exact probability of an event, by name.
    bound : mapping, optional
        Functions of the axes that return an upper bound of them, by name.
    units : mapping, optional
        The units of the numbers by name.
    ranges : mapping, optional
        The least and the largest value that a trial of a number can have, by name: {"error": (0, 1)}. If all trials are
        equal, their mean is compared with an exact one only if its range is given.
    quantiles : list of float, optional
        The levels of the quantiles in the results.
    target_mcse : mapping, optional
        The Monte Carlo standard errors to reach, such as {"error": {"relative": 1e-3}}. A pilot chooses the number of
        trials, and is in no estimate.
    target : mapping, optional
        What is to be decided about numbers, after which their cells stop: {"error": {"across": "method"}} which of two
        values of an axis has the larger mean, at each point of the other axes; with "within": 0.01 also that they
        differ by less than this; {"risk": {"threshold": 0.5}} on which side of it each mean lies. "failure": 0.05 is
        the probability that any decision about the number is wrong. {"failed": {"events": 100}} stops a cell once the
        event has happened so often. The decisions hold asymptotically. `trials` is the least number of trials.
    share : str or list of str, optional
        The axes along which cells use the same random numbers, so that differences become precise.
    seed : int
        Seed of the random numbers, from 0 to 2^128 - 1.
    cluster : str or mapping
        The cluster, as for `run`. "serial" is this process.
    name : str, optional
        If given, the run is kept in results_dir/name. The same call resumes there. A changed source starts again.
    results_dir : str or Path
        The folder that holds the folders of runs.
    max_trials : float, optional
        The most trials of a cell under `target` or `target_mcse`. The default is 10,000,000, or `trials` if that is
        more.
    numerics : str
        "strict" refuses workers whose elementary functions differ from those of this process in the last bits, and
        "warn" tells of them.
    code : str
        "same" refuses to go on with stored chunks that another state of tcdp_sim, NumPy, SciPy or a plug-in has
        computed, or whose trials contradict each other. "any" uses them, and tells of it.
    on_error : str
        "stop" ends the sweep at the first error of the function: with `name` it raises the error and keeps all finished
        chunks, and without it returns the finished cells with a warning, or raises if there are none. "continue" leaves
        the cells with errors without numbers, and warns. "count" takes a trial that fails for missing: one in which a
        function f(rng, **axes) raises an error, or a number of any function is NaN. All statistics are then those of
        the other trials, and `errors` and `error_rate` count the failed ones.
    redraw : bool or int
        With on_error="count": how often a failed trial is drawn again, at most. True is 50. A trial is missing if all
        its draws fail; `missing` and `missing_rate` count those, and `errors` the trials whose first draw fails.
    trial_seconds : float, optional
        With on_error="count": a draw of a function f(rng, **axes) that takes longer fails. It is ended where Python can
        interrupt it. Choose it so large that no trial comes near it on a slow or busy machine: then the same trials
        fail everywhere.
    squeeze : bool
        If False, an axis with one value is a dimension of length one, as in `open_results`.

    Returns
    -------
    xarray.Dataset
        One dimension for each axis that has several values. A number `x` has the variables `x` (its mean), `x_mcse`,
        `x_lower`, `x_upper` (a 95% interval), `x_sd`, `x_min`, `x_max`, `x_quantile`, and `x_exact` and `x_bound` if
        they are given. An event has its probability with an exact interval, and `x_count`. With on_error="count" the
        failed trials come first: their number `errors`, and `error_rate` with `error_rate_mcse`, `error_rate_lower` and
        `error_rate_upper`; and for functions of one trial `warnings` and `warning_rate`, of trials that warn. The
        attributes `errors` and `warnings` have the first trial of each kind as JSON; a folder has them by cell in
        `errors.csv`. With `target` the attribute `comparisons` has the decisions as JSON, in a folder
        `comparisons.csv`, and intervals hold at any number of trials.

    Raises
    ------
    UserError
        If an argument or a result of the function is not valid.
    Failure
        If the function raises an error before any cell has finished, or in a folder, unless `on_error` is "continue",
        or "count" and the error is one trial's.

    Warns
    -----
    UserWarning
        If the function draws random numbers from another generator than `rng`, or if errors left cells without numbers.
    Contradiction
        If simulated numbers differ from exact ones, or exceed a bound, beyond chance.

    Examples
    --------
    >>> def largest(rng, trials, n):
    ...     return rng.random((trials, n)).max(axis=1)
    >>> found = sweep(largest, {"n": [1, 4]}, exact={"value": lambda n: n / (n + 1)})
    >>> bool((abs(found["value"] - found["value_exact"]) < 5 * found["value_mcse"]).all())
    True
    """
    user_files.check_not_importing("a sweep")
    checked = checked_sweep(
        function, axes, cells=cells, zip=zip, where=where, also=also, trials=trials, chunk=chunk, exact=exact,
        bound=bound, units=units, ranges=ranges, quantiles=quantiles, target_mcse=target_mcse, target=target,
        share=share, seed=seed, cluster=cluster, name=name, results_dir=results_dir, max_trials=max_trials,
        numerics=numerics, code=code, on_error=on_error, redraw=redraw, trial_seconds=trial_seconds,
    )  # fmt: skip
    started = time.monotonic()
    with collecting_seldom():
        found, contradicted, line = sweeps.run(checked, _tell)
    if contradicted:
        warnings.warn(line, Contradiction, stacklevel=2)
    elif line:
        _tell(line)
    found = squeezed(found, checked.options["axes"]) if squeeze else found
    in_notebook.remember(found, ran(checked, time.monotonic() - started, contradicted, line))
    return found


def _prepared(study, experiment, sweep, trials, data, cluster, results_dir, name, keys) -> Study:
    """Return the study of the arguments of `run`. Raises UserError, which names the line of a mistake in the file."""
    config, file = _composed(study, experiment, sweep, trials, data, cluster, results_dir, name, keys)
    return _checked(config, file)


def _prepared_all(study, experiments, sweep, trials, data, cluster, results_dir, name, keys) -> list[Study]:
    """Return the studies of `run` for a list of experiments, in folders of their own."""
    if not experiments or len(set(map(str, experiments))) < len(experiments):
        raise UserError(f"experiment = {experiments!r} is not valid; valid: a name, or a list of different names")
    every = []
    for one in experiments:
        own = None if name is None else f"{name}-experiment={one}"  # the folders of --multirun
        every.append(_composed(study, one, sweep, trials, data, cluster, results_dir, own, keys))
    found = []
    for (_, file), (config, notes) in zip(every, several.with_own_axes([config for config, _ in every])):
        for line in notes:
            _tell(line)
        found.append(_checked(config, file))
    return found


def _composed(study, experiment, sweep, trials, data, cluster, results_dir, name, keys):
    """Return the config of the arguments of `run`, and the file of the study."""
    named = {"experiment": experiment, "sweep": sweep, "trials": trials, "data": data}
    named |= {"cluster": cluster, "results_dir": results_dir, "name": name}
    given = {key: value for key, value in named.items() if value is not None} | keys
    given, names, records = own_noises.of_objects(given)
    file = study_file.NONE if study is None else study_file.read(study).under(places(given))
    with file.located():
        return own_noises.completed(composed(given, file.keys), names, records), file


def _checked(config, file) -> Study:
    """Return the study of a config. Raises UserError, which names the line of a mistake in the file."""
    with file.located():
        checked = settings(with_trials(config))
        if checked.part:
            command = "`tcdp-sim run` with the same keys computes it, and `tcdp-sim finish` publishes all parts"
            raise UserError(f"part = {checked.part!r} has no results to return: {command}")
        return prepare(checked)


def _warn_of_contradictions(run: published.Published) -> None:
    """Warn once if any simulated number contradicts an exact one; else print the result of the comparison."""
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
