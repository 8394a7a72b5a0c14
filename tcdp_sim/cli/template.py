"""The command `tcdp-sim new`, which prints the file of a study to start from: its keys with meanings and defaults."""

import re
import textwrap
from collections.abc import Iterator, Mapping
from importlib import resources

from rich.console import Console

from tcdp_sim.cli.describe import suggested, valid_values
from tcdp_sim.core.axes import Axis
from tcdp_sim.core.errors import known
from tcdp_sim.mechanisms import mechanism_class
from tcdp_sim.mechanisms.axes import DATA
from tcdp_sim.study import groups, plain_yaml
from tcdp_sim.study.compose import composed
from tcdp_sim.study.points import KEYWORDS
from tcdp_sim.study.settings import Settings, settings

WIDEST = 118  # characters of a line with the valid values of an axis
USE = """\
# Run this study: tcdp-sim run FILE.yaml     What it would run: tcdp-sim plan FILE.yaml
# A line that begins with "#" and a key shows a default. Remove the "#" to change the value.
# Words in the command line override the file: tcdp-sim run FILE.yaml trials=1e6"""
AXES = """\
# Axes of the sweep, which are multiplied out. An axis is one of these:
# - a value or a list of values,
# - a range: {from: 10, to: 1e6, num: 6, scale: log}, where the scale is log or linear,
# - exponents: log10_k: [1, 2, 3] gives k = 10, 100, 1000.
# Further keys of a sweep: zip: [[k, rho]] (axes that advance together),
# where: ["k <= 1e6"] (conditions that all must hold),
# cells: [{k: 10, rho: 0.1}] (single points).
sweep:"""
ALSO = "# Further blocks by name; their keys replace those of `sweep`. Null switches a block off."
PATHS = "# Your own table is data: {path: visits.csv, column: clinic, domain: 5000}. Its path is relative to this file."


ACCOUNT = "account"  # the file of this command has no experiment


def main(experiment: str, console: Console) -> None:
    """Print the file of the default study of an experiment, or of an account. Raises UserError for another name."""
    known("experiment", experiment, [*groups.options("experiment"), ACCOUNT])
    if experiment == ACCOUNT:
        text = resources.files("tcdp_sim.cli").joinpath("templates", "account.yaml").read_text("utf-8")
        console.print(text.rstrip(), markup=False)
        return
    console.print("\n".join(_lines(settings(composed({"experiment": experiment})))), markup=False)


def _lines(study: Settings) -> Iterator[str]:
    name = study.experiment.name
    yield f"# {study.experiment.question or name}"
    yield from (USE, "", f"experiment: {name}", "")
    mechanism = mechanism_class(study.mechanism["name"])
    given = suggested(study)
    by_data = dict(study.data.get("axes") or {}) if DATA.name in mechanism.axes else {}
    yield AXES
    for axis in mechanism.axes.values():
        yield from _axis(axis, by_data | given, axis.name in mechanism.required)
    for key in KEYWORDS:
        yield from ("", *_default(key, given[key])) if key in given else ()
    if study.also:
        yield from ("", ALSO, *_commented(plain_yaml.dump({"also": study.also}, flow=None)))
    yield from ("", *_section("mechanism", study.mechanism["name"]))
    if DATA.name in mechanism.axes:
        options = ", ".join(groups.options("data"))
        yield from ("", *_wrapped("#", f"The data set, by its name or by its keys; valid: {options}"), PATHS)
        yield from _section("data", study.data["name"])
    yield from ("", f"# The place where the study runs; valid: {', '.join(groups.options('cluster'))}")
    yield from (*_section("cluster", study.cluster["name"]), "", *_general(study))


def _axis(axis: Axis, given: Mapping[str, object], required: bool) -> Iterator[str]:
    """Yield the meaning and the default of an axis."""
    key = next((name for name in (axis.name, f"log10_{axis.name}") if name in given), axis.name)
    unit = f" ({axis.unit})" if axis.unit not in ("", "1") else ""
    valid = valid_values(axis)
    default = given.get(key, axis.default)
    needed = "; must be given" if required and default is None else ""
    yield from ("", *_wrapped("  #", f"{axis.meaning}{unit}{f'; valid: {valid}' if valid else ''}{needed}"))
    yield from _default(key, default)


def _default(key: str, value: object) -> Iterator[str]:
    text = plain_yaml.dump({key: value}, flow=None if isinstance(value, Mapping | list) else False)
    yield from (f"  {line}" for line in _commented(text.replace(": null", ":")))


def _wrapped(start: str, text: str) -> list[str]:
    """Return a comment in lines of at most WIDEST characters."""
    return textwrap.wrap(text, WIDEST, initial_indent=f"{start} ", subsequent_indent=f"{start} ")


def _section(group: str, option: str) -> Iterator[str]:
    """Yield the yaml file of an option, below the name of its group."""
    yield f"#{group}:"
    for line in groups.text(group, option).splitlines():
        yield f"#  {line}" if line.strip() else "#"


def _general(study: Settings) -> Iterator[str]:
    """Yield the keys that every study has, with the defaults of this one."""
    values = study.model_dump()
    for line in groups.general_keys():
        key = line.partition(":")[0]
        value = plain_yaml.dump(values[key], flow=None).removesuffix("\n...\n").strip()
        comment = re.search(r" # .*", line)
        yield f"#{key}: {value}{comment[0] if comment else ''}"


def _commented(text: str) -> Iterator[str]:
    yield from (f"#{line}" for line in text.rstrip().splitlines())
