"""The command `tcdp-sim script`, which prints a job file that computes a run in parts and finishes it."""

import os
import shlex
import sys
from collections.abc import Sequence
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from tcdp_sim.cli import study_words, user_function
from tcdp_sim.cli.command import SEVERAL, is_study_file
from tcdp_sim.cli.run_argument import Given
from tcdp_sim.core.errors import UserError, known
from tcdp_sim.core.texts import printable
from tcdp_sim.engine.needs import MARGIN, SLOW_START, needs
from tcdp_sim.store.exact_values import ExactValues, known_exactly
from tcdp_sim.study.parts import MOST_PARTS
from tcdp_sim.study.settings import Settings
from tcdp_sim.sweeps import in_folder, run

QUEUES = ("slurm", "pbs", "lsf", "sge", "htcondor")
PARTS = "parts"
PROGRAM = ("-P", "-m", "tcdp_sim")  # -P: nothing is imported from the folder in which a job runs


def main(words: Sequence[str]) -> None:
    """Print a job file for the queue that the first word names, the words of a run after it, and parts=N.

    Raises UserError.
    """
    queue, parts, study = _read(words)
    if study[:1] == ["sweep"]:
        print(_of_a_sweep(queue, parts, study), end="")
        return
    given = _run(study)
    with given.file.located():
        values = known_exactly(given.settings.experiment.name)
        print(job_file(queue, parts, (["run", *study], ["finish", *study]), given.settings, values), end="")


def _of_a_sweep(queue: str, parts: int, words: Sequence[str]) -> str:
    """Return the job file of the sweep of a command line. The job that finishes it needs no code."""
    if given := [word for word in words if word.startswith("part=")]:
        raise UserError(f"{given[0]} is not valid here: each job computes a part of its own")
    sweep, part = user_function.asked([*words[1:], "part=1/1"])  # refuses what a part cannot be given
    warnings: list[str] = []
    sweep, repeats = run.prepared(run.alone(sweep), warnings.append)
    with in_folder.in_parts(sweep, repeats, str(part)) as values:
        for line in warnings:
            _tell(f"warning: {line}")
        return job_file(queue, parts, (words, ["finish", str(sweep.settings.folder)]), sweep.settings, values)


def job_file(
    queue: str, parts: int, commands: tuple[Sequence[str], Sequence[str]], settings: Settings, values: ExactValues
) -> str:
    """Return the job file of a run: its words and the words that finish it, as they are.

    The words mean `settings` and `values`: the run, and the exact values that its parts compute.
    """
    words, finish = commands
    _refuse_line_breaks([*words, *finish, os.getcwd()])
    need = needs(settings, parts, values, _tell)
    return _template(queue).render(
        title=printable(str(settings.folder)),
        parts=parts,
        part=need.part,
        finish=need.finish,
        forecast=need.forecast,
        margin=MARGIN,
        slow_start=SLOW_START // 60,
        folder=shlex.quote(os.getcwd()),
        run=shlex.join([sys.executable, *PROGRAM, *words]),
        finish_run=shlex.join([sys.executable, *PROGRAM, *finish]),
    )


def _read(words: Sequence[str]) -> tuple[str, int, list[str]]:
    """Return the queue, the number of parts and the words of the study. Raises UserError."""
    if not words or "=" in words[0]:
        raise UserError(f"script takes a queue, the words of a run and parts=N; valid queues: {', '.join(QUEUES)}")
    queue = known("script: the queue", words[0], QUEUES)
    counts = [word.partition("=")[2] for word in words[1:] if word.startswith(f"{PARTS}=")]
    if not counts:
        raise UserError(f"script: parts is not given; give {PARTS}=N, such as {PARTS}=1000")
    return queue, _count(counts[-1]), [word for word in words[1:] if not word.startswith(f"{PARTS}=")]


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MOST_PARTS):
        raise UserError(f"{PARTS} = {text!r} is not valid; valid: a whole number from 1 to {MOST_PARTS}")
    return int(text)


def _run(words: Sequence[str]) -> Given:
    """Return the run that the words mean. Raises UserError."""
    if several := [word for word in words if word in SEVERAL]:
        raise UserError(f"script: {several[0]} is not valid here: a job file is of one run")
    path, rest = (words[0], words[1:]) if words and is_study_file(words[0]) else (None, words)
    study_words.runs([*rest, "part=1/1"], path)  # refuses what a part cannot be given
    (run,) = study_words.runs(rest, path)
    if run.part:
        raise UserError(f"part = {run.part!r} is not valid here: each job computes a part of its own")
    return run


def _refuse_line_breaks(texts: Sequence[str]) -> None:
    """Raise UserError for a text that would end a line, or a part, of the job file."""
    if broken := [text for text in texts if not text.isprintable()]:
        raise UserError(f"{broken[0]!r} cannot stand in a job file; valid: text without line breaks")


def _template(queue: str) -> Any:
    """Return the template of a queue. Values for the shell are quoted before they come here."""
    files = resources.files("tcdp_sim.cli").joinpath("templates")
    environment = Environment(
        loader=FunctionLoader(lambda name: files.joinpath(name).read_text("utf-8")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(f"{queue}.sh")


def _tell(text: str) -> None:
    print(f"tcdp-sim: {text}", file=sys.stderr)
