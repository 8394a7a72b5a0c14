"""A study: checked settings, the mechanism, and all cells. The packages `engine` and `cli` run it and report on it."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import inf
from typing import Any

from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError, of_user, only_keys, real
from tcdp_sim.core.version import __version__
from tcdp_sim.data import Counts, load_counts
from tcdp_sim.mechanisms import Mechanism, UserFunction, mechanism_class
from tcdp_sim.mechanisms.axes import OMEGA, OMEGA_SQRT_RHO, K
from tcdp_sim.mechanisms.counted import counted
from tcdp_sim.mechanisms.functions.failed_trials import Counting
from tcdp_sim.mechanisms.losses import LOSS, PAIR, asked_losses
from tcdp_sim.privacy.relation import written
from tcdp_sim.study import blocks, cells, groups, sweeps, targets
from tcdp_sim.study.packed_cells import Cells
from tcdp_sim.study.planned import OfSettings, Planned
from tcdp_sim.study.points import LOG10, points
from tcdp_sim.study.settings import MOST_TRIALS_A_CHUNK, Settings

MOST_CHUNKS = 10**8
LOADED = 1024  # data sets kept in memory while the cells are made


@dataclass(frozen=True)
class Study(OfSettings):
    """A checked config: every cell is valid, and nothing has run yet."""

    settings: Settings
    mechanism: type[Mechanism]
    plan: cells.Plan
    simulated: Callable[[Any], Any] | None = None  # what simulates a task, if workers do not find it by names
    calibrated: Mapping[str, Any] = field(default_factory=dict)  # the parameters of all noises that were searched for

    @property
    def planned(self) -> Planned:
        """The cells to simulate and the notes, without the mechanism."""
        return Planned(self.settings, self.plan.laws, self.notes)

    @cached_property
    def config_hash(self) -> str:
        """A digest of everything that the published numbers depend on.

        It is the sha256 of a JSON list whose last item is the list of all cells' ids.
        """
        s = self.settings
        start = json.dumps([self.identity, s.trials, s.target_mcse or None, *self._stopping, []], default=str)
        digest = hashlib.sha256(start.removesuffix("]]").encode())
        for i, cell in enumerate(self.plan.cells.ids()):
            digest.update(f'{", " if i else ""}"{cell}"'.encode())
        digest.update(b"]]")
        return digest.hexdigest()

    @property
    def _stopping(self) -> list[Any]:
        """The settings that decide when cells stop at a decision, none without such a target."""
        return [self.settings.target, self.settings.max_trials] if self.settings.target else []

    @cached_property
    def uses(self) -> tuple[str, ...]:
        """The distributions of the plug-ins that the numbers of the study depend on."""
        families = (self.settings.noise(name)["family"] for name in self.plan.noises)
        names = [("mechanism", self.mechanism.name), ("experiment", self.settings.experiment.name)]
        return tuple(registry.origins(*names, *(("noise", family) for family in families)))

    @property
    def data(self) -> dict[str, dict[str, Any]]:
        """The provenance of data sets by name: source, number of records, records dropped.

        It lists the data sets that the user supplied or that were not read in full.
        """
        return {name: counts.about for name, counts in self.plan.data.items()}

    @property
    def notes(self) -> list[str]:
        """A line for each deviation from the config: cells left out, records dropped, trials rounded up."""
        s = self.settings
        lines = [f"left out: {why}" for why in self.plan.skipped] + data_notes(self.data)
        if self.mechanism.knows_losses():
            lines += [f"no privacy loss in {why}" for why in self.plan.without_losses]
        sweep = blocks.spelled_out(s, "sweep", s.sweep)
        asked = {key.removeprefix(LOG10) for key, value in sweep.items() if value is not None}
        lines += [
            f"no cell uses the axis {axis}: its values change nothing" for axis in self.plan.unused if axis in asked
        ]
        return lines + rounded(s)

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of a published snapshot."""
        s = self.settings
        names = [axis for axis in self.mechanism.axes if axis in self.plan.axes]
        if OMEGA_SQRT_RHO.name in names and not issubclass(self.mechanism, UserFunction):
            names.remove(OMEGA.name)  # omega follows from the other coordinates
        return {
            "title": title(s),
            "axes": json.dumps([self.mechanism.axes[name].published for name in names]),
            **of_trials(s),
            "config_hash": self.config_hash,
            "tcdp_sim_version": __version__,
            "neighbouring_relation": written(self.mechanism.neighbours),
            **({"data": json.dumps(self.data)} if self.data else {}),
            **self._of_losses(),
            **sweeps.attributes(s),
        }

    def _of_losses(self) -> dict[str, str]:
        """Return the neighbours of the drawn privacy losses, and why cells have none."""
        own = LOSS in self.mechanism.observables and not self.mechanism.knows_losses()
        if own or not self.settings.losses:
            return {}
        unknown = f"not known in {'; '.join(self.plan.without_losses)}" if self.plan.without_losses else "drawn"
        return {LOSS: unknown, PAIR: self.mechanism.loss_pair}


def rounded(settings: Settings) -> list[str]:
    """Return a line about trials that are rounded up to whole chunks, none if they are not."""
    s, trials = settings, settings.chunks * settings.chunk
    exact = f"; chunk={s.trials} would run {s.trials:,}" if s.trials < s.chunk else ""
    line = f"trials = {s.trials:,} are rounded up to {trials:,}: whole chunks of {s.chunk:,}{exact}"
    return [line] if trials != s.trials else []


def of_trials(settings: Settings) -> dict[str, Any]:
    """Return the attributes of results that tell how their trials were drawn."""
    return {
        "seed": str(settings.seed),
        "trials_per_chunk": settings.chunk,
        "trials_per_cell": settings.chunks * settings.chunk,  # the least number: a target may ask for more
        "share": json.dumps(settings.share),
        **({"target": json.dumps(settings.target, default=str)} if settings.target else {}),
    }


def title(settings: Settings) -> str:
    """Return the title of a snapshot of these settings."""
    return f"tcdp_sim experiment {settings.experiment.name}"


def data_notes(data: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a line for each data set of `Study.data`: its source and the number of records."""
    return [f"data {name}: {about['records']:,} records of {about['source']}" for name, about in data.items()]


def prepare(settings: Settings) -> Study:
    """Return the study of checked settings: its cells and its mechanism.

    Names and options are checked before any noise is calibrated, because that check is fast. Nothing is run or written.
    Raises UserError.
    """
    _check_size(settings, 1)
    if settings.mechanism["name"] == UserFunction.name:
        swept = Study(settings, UserFunction.of(settings.options), sweeps.plan(settings))
        _check_size(settings, len(swept.plan.laws))
        targets.comparisons(swept.plan.laws if settings.target else (), targets.targets(settings.target))
        return swept
    mechanism = _mechanism(settings)
    _check_options(settings, mechanism)
    _check_target_mcse(settings.target_mcse, mechanism, settings.losses)
    _check_target(settings, mechanism)
    share = blocks.spelled_out(settings, "share", settings.share)
    _check_axes(settings, mechanism, share)
    points_of = {name: points(block, mechanism.axes, name) for name, block in blocks.blocks(settings).items()}
    noises = {name: settings.noise(name) for name in (*groups.options("noise"), *settings.noises)}
    load = _loader(settings)
    plan = cells.plan(points_of, mechanism, settings.options, load, noises, settings.invalid, share, settings.losses)
    _check_size(settings, len(plan.laws))
    targets.comparisons(plan.laws if settings.target else (), targets.targets(settings.target))
    return Study(settings, mechanism, plan)


def _mechanism(settings: Settings) -> type[Mechanism]:
    """Return the class of a study's mechanism, whose trials that fail may be counted."""
    kind = mechanism_class(settings.mechanism["name"])
    return counted(kind, Counting(settings.redraw)) if settings.on_error == "count" else kind


def of_plan(settings: Settings, every: Cells, rest: Mapping[str, Any]) -> Study | None:
    """Return the study of cells that were planned before, None if their data are others now.

    `rest` has the other fields of the plan. The data sets come with the package.
    """
    load, counts = _loader(settings), dict[str, Any]()
    mechanism = _mechanism(settings)
    for cell in every:
        if cell.counts not in counts:
            data = load(cell.coords["data"], cell.coords["k"]) if cell.counts else None
            if data is not None and data.digest != cell.counts:
                return None
            counts[cell.counts] = data.counts if data else cells.NO_COUNTS
    return Study(settings, mechanism, cells.Plan(every, counts, **rest))


def _check_size(settings: Settings, cells: int) -> None:
    """Raise UserError if a run has too many chunks. The message proposes a sufficient chunk size."""
    if cells * settings.chunks <= MOST_CHUNKS:
        return
    enough = -(-settings.trials // (MOST_CHUNKS // cells)) if cells <= MOST_CHUNKS else inf
    advice = f"chunk={enough} would do" if enough <= MOST_TRIALS_A_CHUNK else "fewer trials or cells are needed"
    many = f"{cells * settings.chunks:.3g} chunks are too many ({cells:,} cells of {settings.chunks:,})"
    raise UserError(f"{many}; valid: at most {MOST_CHUNKS:,}: {advice}")


def _check_options(
    settings: Settings,
    mechanism: type[Mechanism],
) -> None:
    only_keys("mechanism", settings.options, mechanism.options)
    if missing := [name for name in mechanism.options if name not in settings.options]:
        raise UserError(f"mechanism.{missing[0]} is missing; give it a value", f"mechanism.{missing[0]}")
    mechanism.check_options(settings.options)


def _check_target(settings: Settings, mechanism: type[Mechanism]) -> None:
    """Raise UserError unless target names numbers and axes of the mechanism."""
    every = targets.targets(settings.target)
    for one in every:
        _check_number(f"target.{one.number}", one.number, mechanism, settings.losses)
    targets.check(every, list(mechanism.axes), list(mechanism.events))


def _check_number(where: str, name: str, mechanism: type[Mechanism], losses: bool) -> None:
    """Raise UserError unless a name is that of an observable or event of the mechanism."""
    needs_losses = set() if losses else asked_losses(mechanism)
    names = [name for name in (*mechanism.observables, *mechanism.events) if name not in needs_losses]
    if name in needs_losses:
        raise UserError(f"{where} needs losses=true, which this study does not have", where)
    if name not in names:
        raise UserError(f"{where} is not an observable or event of {mechanism.name}; valid: {', '.join(names)}", where)


def _check_target_mcse(target: Mapping[str, Any] | None, mechanism: type[Mechanism], losses: bool) -> None:
    """Raise UserError unless target_mcse names observables or events of the mechanism, each with one kind of target."""
    for name, wanted in (target or {}).items():
        where = f"target_mcse.{name}"
        _check_number(where, name, mechanism, losses)
        if not isinstance(wanted, Mapping) or len(wanted) != 1 or not set(wanted) <= {"absolute", "relative"}:
            raise UserError(
                f"{where} = {wanted!r} is not valid; valid: {{absolute: 0.1}} or {{relative: 0.001}}", where
            )
        for kind, value in wanted.items():
            try:
                real(f"{where}.{kind}", value, 0)
            except ValueError as mistake:
                raise of_user(mistake) from None


def _check_axes(
    settings: Settings,
    mechanism: type[Mechanism],
    share: Sequence[str],
) -> None:
    valid = ", ".join(mechanism.axes)
    if "data" not in mechanism.axes and str(settings.data["name"]) != blocks.DEFAULT_DATA:
        message = f"data = {settings.data['name']} is not read by {mechanism.name}"
        raise UserError(f"{message}; its axes are: {valid}", "data")
    for axis in share:
        if axis not in mechanism.axes:
            raise UserError(f"share: {axis!r} is not an axis of {mechanism.name}; valid: {valid}", "share")


def _place_of_data(spec: Mapping[str, Any], settings: Settings, place: str) -> str:
    """Return the place of a mistake in a data set: a key of the section `data`, a file or an axis."""
    if spec is not settings.data:
        return place if place == K.name else ""
    return f"data.{place}" if place.partition(".")[0] in spec else place or "data"


def _loader(settings: Settings) -> Callable[[str, Any], Counts]:
    @lru_cache(maxsize=LOADED)
    def load(name: str, k: Any) -> Counts:
        spec = blocks.data_spec(settings, name)
        try:
            return load_counts(spec, None if k == "declared" else k)
        except UserError as mistake:
            raise UserError(str(mistake), _place_of_data(spec, settings, mistake.place)) from None

    return load
