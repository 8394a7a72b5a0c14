"""The help of the command line. It needs only the table of commands and the yaml files of conf/, so it is fast."""

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tcdp_sim.cli.command import Command

ABOUT = """\
tcdp-sim: Monte Carlo experiments for differential privacy, beside exact values and the papers' bounds.

  tcdp-sim                                      run (or resume) the default study
  tcdp-sim experiment=histogram sweep.rho=0.1 "sweep.k=[1e3,1e6,1e12]" trials=200000
  tcdp-sim data=csv data.path=visits.csv data.column=clinic data.domain=5000
  tcdp-sim --multirun seed=1,2,3                several runs, each in a folder named after what differs"""
RUN = "RUN is the folder of a run, or the words of its study. For plan, run and show it defaults to the default study."
KEYS = """\
Keys of a study with their defaults; also cluster.workers and the keys data.* and mechanism.* of the options chosen:"""
WIDEST = 27  # characters of the column with the usages
WIDTH = 120  # characters of a line with names


def overview(commands: Mapping[str, "Command"]) -> str:
    """Return the help of the whole command line."""
    from tcdp_sim.study import groups

    table = [_line(command.usage(name), command.about) for name, command in commands.items()]
    choices = [_choices(group, groups.options(group)) for group in sorted({*groups.CHOSEN, *groups.PLUGGED})]
    keys = groups.DEFAULTS.read_text("utf-8").partition("\n\n")[2].rstrip()
    parts = [
        ABOUT,
        "\n".join(["Commands, each with its own --help:", *table, RUN]),
        "\n".join(["Groups (choose with group=option; the names of noise are for sweep.noise):", *choices]),
        "\n".join([KEYS, *(f"  {line}".rstrip() for line in keys.splitlines())]),
    ]
    return "\n\n".join(parts)


def of(name: str, command: "Command") -> str:
    """Return the help of one command."""
    text = f"{command.usage(name)}\n  {command.about}"
    text += f"\n  {RUN}" if command.of_runs else ""
    return f"{text}\n\n{command.details}" if command.details else text


def _line(usage: str, about: str) -> str:
    short = usage.removeprefix("tcdp-sim ")
    if len(short) > WIDEST:
        return f"  tcdp-sim {short}\n{'':{len('  tcdp-sim ') + WIDEST}} {about}"
    return f"  tcdp-sim {short:{WIDEST}} {about}"


def _choices(group: str, names: Iterable[str]) -> str:
    text = f"  {group}: {', '.join(names)}"
    return textwrap.fill(text, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
