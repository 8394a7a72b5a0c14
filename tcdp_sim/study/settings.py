"""The settings of a study: every key of a config, checked once. Checking a config runs and writes nothing."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from tcdp_sim.core.errors import UserError, known, only_keys, suggestion
from tcdp_sim.core.figure_options import FigureOptions, figure_options
from tcdp_sim.core.paths import at_home
from tcdp_sim.study import groups
from tcdp_sim.study.parts import MOST_PARTS, PART, Part, parsed
from tcdp_sim.study.targets import targets

MAX_SEED = 2**128
OF_A_PROCESS = {"part", "figures"}  # keys that no result and no plan depends on, and that a folder does not keep
NO_PARTS = "is not valid with target: the trials of a cell depend on other cells; valid: a run without part"
MOST_TRIALS = 10**12
MOST_REDRAWS = 10**6
MAX_TRIALS = 10_000_000  # trials of a cell under a target, as in config.yaml
MOST_TRIALS_A_CHUNK = 10**7
LONGEST_NAME, LONGEST_PATH = 255, 3000  # bytes; file systems allow 255 and 4096, and paths in a run's folder are longer
LONGEST_DATA_NAME = 150  # figures are named after data sets


def _integral(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value  # 1e6 is a whole number


def _names(value: Any) -> Any:
    listed = [] if value is None else [value] if isinstance(value, str) else value
    names = isinstance(listed, list | tuple) and all(isinstance(one, str) for one in listed)
    return tuple(sorted(set(listed))) if names else value


def _section(value: Any) -> Any:
    return {} if value is None else value


def _file_text(name: str, forbidden: str, valid: str, longest: int = LONGEST_NAME) -> Callable[[Any], str]:
    """Return a check that a text can name files: at most `longest` bytes in each part and LONGEST_PATH in all."""

    def check(value: Any) -> str:
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value  # name=3 is a text
        dots = name == "name" and isinstance(text, str) and set(text) == {"."}
        if not isinstance(text, str) or not text or set(text) & set(forbidden) or dots:
            raise UserError(f"{name} = {value!r} is not valid; valid: {valid}", name)
        try:
            sizes = [len(part.encode()) for part in text.split("/")]
        except UnicodeEncodeError:  # a lone surrogate, such as from a file name that is not UTF-8
            raise UserError(f"{name} = {text[:60]!r} is not valid; valid: text in UTF-8", name) from None
        if max(sizes) > longest or sum(sizes) + len(sizes) > LONGEST_PATH:
            most = f"{longest} bytes for a name, {LONGEST_PATH} for a path"
            raise UserError(f"{name} = {text[:30]!r}... is too long; valid: at most {most}", name)
        return text

    return check


_data_name = _file_text(
    "data.name", "/\\\0\n[]", "a name without slashes and brackets: figures bear it", LONGEST_DATA_NAME
)
run_name = _file_text("name", "/\\\0\n", "a folder name without slashes")
_folder_text = _file_text("results_dir", "\0\n", "the path of a folder")


def folder_text(value: Any) -> str:
    """Return the path of a folder, whole if it begins with ~. Raises UserError."""
    return at_home(_folder_text(value))


def _part(value: Any) -> Any:
    """Return the text of a part without leading zeros, or None. Raises UserError unless 1 <= I <= N."""
    found = re.fullmatch(PART, value) if isinstance(value, str) else None
    if value is not None and not (found and 1 <= int(found[1]) <= int(found[2]) <= MOST_PARTS):
        valid = f"I/N with 1 <= I <= N <= {MOST_PARTS}, such as 17/1000"
        raise UserError(f"part = {value!r} is not valid; valid: {valid}", "part")
    return f"{int(found[1])}/{int(found[2])}" if found else None


Whole = Annotated[int, BeforeValidator(_integral)]
Keys = Mapping[Any, Any]  # the readers check that keys are texts


class _Part(BaseModel):
    """A part of a config. The description of a field states its valid values."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Experiment(_Part):
    """An experiment: its module, its question in a sentence, and the axes that it suggests."""

    name: str
    question: str = Field("", description="a text")
    axes: Annotated[Keys, BeforeValidator(_section)] = Field({}, description="keys and their values, such as {k: 10}")


class Settings(_Part):
    """The checked keys of a config.

    The numbers of trials and chunks are per cell. Groups keep the keys of their yaml files.
    """

    name: Annotated[str, BeforeValidator(run_name)]
    seed: Whole = Field(ge=0, lt=MAX_SEED, description=f"a whole number from 0 to {MAX_SEED - 1}")
    trials: Whole = Field(ge=1, le=MOST_TRIALS, description=f"a whole number from 1 to {MOST_TRIALS}")
    chunk: Whole = Field(ge=1, le=MOST_TRIALS_A_CHUNK, description=f"a whole number from 1 to {MOST_TRIALS_A_CHUNK}")
    target_mcse: Keys | None = Field(description="keys and their values, such as {linf_error: {relative: 1e-3}}")
    target: Keys | None = Field(None, description="keys and their values, such as {linf_error: {across: noise}}")
    max_trials: Whole = Field(ge=1, le=MOST_TRIALS, description=f"a whole number from 1 to {MOST_TRIALS}")
    results_dir: Annotated[str, BeforeValidator(folder_text)]
    invalid: Literal["refuse", "skip"]
    numerics: Literal["warn", "strict"]
    code: Literal["same", "any"]
    on_error: Literal["stop", "continue", "count"]
    redraw: Whole = Field(0, ge=0, le=MOST_REDRAWS, description=f"a whole number from 0 to {MOST_REDRAWS}")
    part: Annotated[str | None, BeforeValidator(_part)] = None
    losses: bool = Field(True, description="true or false")
    figures: Annotated[FigureOptions, BeforeValidator(figure_options)] = FigureOptions()
    share: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field(description="null, or a list of axes: [noise]")
    sweep: Keys = Field(description="keys and their values, such as {k: 10}")
    also: Annotated[Keys, BeforeValidator(_section)] = Field(description="blocks by name, such as {x: {k: 30}}")
    experiment: Experiment
    mechanism: Keys = Field(description="one of the mechanisms")
    data: Keys = Field(description="one of the data sets")
    cluster: Keys = Field(description="one of the clusters")
    noises: Mapping[str, Mapping[str, Any]] = {}  # records of noises of the user's own (`study.own_noises`), by name

    @property
    def folder(self) -> Path:
        """The folder of the run's results."""
        return Path(self.results_dir) / self.name

    @property
    def chunks(self) -> int:
        """The number of chunks per cell: the trials, rounded up to whole chunks."""
        return -(-self.trials // self.chunk)

    @property
    def own_part(self) -> Part | None:
        """The part that `part` names, None for a whole run. A target needs whole cells."""
        return None if self.part is None else parsed(self.part, bool(self.target_mcse))

    @property
    def options(self) -> dict[str, Any]:
        """The mechanism's own settings."""
        return {key: value for key, value in self.mechanism.items() if key != "name"}

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that stored numbers depend on besides their cells."""
        function = self.mechanism.get("function")
        own = {"function": f"{function['module']}:{function['name']}"} if function else {}
        return {"experiment": self.experiment.name, "seed": str(self.seed), "chunk": self.chunk, "format": 1, **own}

    @property
    def config(self) -> dict[str, Any]:
        """All keys as plain data, except for those that concern one process and not the run: `part` and `figures`."""
        return self.model_dump(exclude=OF_A_PROCESS if self.noises else OF_A_PROCESS | {"noises"})

    def noise(self, name: str) -> Mapping[str, Any]:
        """Return the spec of a noise by name: a noise of the user's own, or of conf/noise. Raises UserError."""
        return self.noises[name] if name in self.noises else groups.named("noise", name)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        targets(self.target)
        for key, given in (("target_mcse", self.target_mcse), ("target", self.target)):
            if given and self.max_trials < self.trials:
                valid = f"valid: at least trials = {self.trials}"
                raise UserError(f"max_trials = {self.max_trials} is not valid with {key}; {valid}", "max_trials")
        if self.target and self.target_mcse:
            raise UserError("target is not valid with target_mcse; give one of them", "target")
        if self.target and self.part:
            raise UserError(f"part = {self.part!r} {NO_PARTS}", "part")
        if self.on_error == "count":
            _check_counting(self)
        elif self.redraw:
            raise UserError(
                f"redraw = {self.redraw} is not valid with on_error={self.on_error}; valid: with count", "redraw"
            )
        for group in groups.CHOSEN:
            chosen = self.experiment.name if group == "experiment" else getattr(self, group).get("name")
            if group != "data" and chosen != groups.KEPT.get(group):  # users may name their data
                known(f"{group}.name", chosen, groups.options(group))
        _data_name(self.data.get("name"))
        cluster = self.cluster["name"]
        only_keys("cluster", self.cluster, {"name": 0, "workers": 0, **groups.named("cluster", cluster)})
        return self


def _check_counting(s: Settings) -> None:
    """Raise UserError for a study whose failed trials cannot be counted."""
    if s.share:
        why = "after a failed trial the cells meet different random numbers"
        raise UserError(f"on_error = 'count' is not valid with share: {why}", "on_error")


KEYS = tuple(Settings.model_fields)


def settings(config: Mapping[str, Any]) -> Settings:
    """Return the settings of a resolved config.

    Raises UserError with the key, its value and the valid values.
    """
    try:
        return Settings.model_validate(config)
    except ValidationError as mistakes:
        first = min(mistakes.errors(), key=lambda mistake: _URGENCY.get(mistake["type"], 2))
        raise _complaint(first, config) from None


def axis_keys(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys of a config that give the axes of its mechanism, such as sweep.rho. Messages suggest them."""
    from tcdp_sim.mechanisms import mechanism_class  # slow to import, and only messages need it

    try:
        return tuple(f"sweep.{axis}" for axis in mechanism_class(config["mechanism"]["name"]).axes)
    except (KeyError, TypeError, UserError):  # a wrong mechanism is reported later
        return ()


_URGENCY = {"extra_forbidden": 0, "missing": 1}


def _complaint(mistake: Mapping[str, Any], config: Mapping[str, Any]) -> UserError:
    """Return the error of one line for a mistake that pydantic has found."""
    where, value = [str(part) for part in mistake["loc"]], mistake["input"]
    if isinstance(own := mistake.get("ctx", {}).get("error"), UserError):
        return own
    part = Experiment if where[:1] == ["experiment"] and where[1:] else Settings
    fields = part.model_fields
    if mistake["type"] == "extra_forbidden":
        near = suggestion(where[-1], (*fields, *axis_keys(config)))
        name = "config: " if part is Settings else "experiment: "
        return UserError(f"{name}{where[-1]!r} is not a key; valid: {', '.join(fields)}{near}", ".".join(where))
    key = ".".join(where[: 2 if part is Experiment else 1])
    if mistake["type"] == "missing":
        return UserError(f"config: {key!r} is missing; every key of config.yaml is needed")
    if mistake["type"] == "literal_error":
        valid = get_args(fields[key].annotation)
        return UserError(f"{key} = {value!r} is not known; valid: {', '.join(valid)}{suggestion(value, valid)}", key)
    if key in groups.CHOSEN:
        return UserError(f"{key} = {value!r} is not known; valid: {', '.join(groups.options(key))}", key)
    field = fields[where[1] if part is Experiment else where[0]]
    return UserError(f"{key} = {value!r} is not valid; valid: {field.description}", key)
