"""The table of commands: for each command its function, its arguments and one line of help.

The dispatch, the help, the shell completion and the suggestions ("did you mean") follow from `COMMANDS`. A new
command needs a line in the table and a function, which stands here or, if it is long, in a module of its own.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tcdp_sim.cli import account, audit, audit_scores, budget, cheat_sheet, completion, help_text, reproduce, sweep
from tcdp_sim.cli.command import OF_A_STUDY, Command, is_study_file
from tcdp_sim.cli.imports import importing, working
from tcdp_sim.core.errors import Failure, UserError, suggestion
from tcdp_sim.core.figure_options import figure_options
from tcdp_sim.core.paths import at_home
from tcdp_sim.core.version import __version__

if TYPE_CHECKING:
    from tcdp_sim.cli.run_argument import Given
    from tcdp_sim.report.terminal import Terminal

DEFAULT = "run"  # the command of a line that does not begin with one
HELP = {"--help", "-h"}
OF_A_SWEEP = {"function": "FILE.py:FUNCTION"}  # the code that the folder of a sweep over a user's function lacks
OF_A_NOISE = {"noise": "FILE.py:CLASS"}  # the code that the folder of a run with a user's noise lacks
OF_FIGURES = {"figures.width": "INCHES", "figures.title": "false", "figures.format": "svg"}  # as keys of the run
STUDY = "study"
SCHEMAS = {STUDY: "schema", "account": "account_schema"}  # files -> the module of their schema
TABLE = """\
  tcdp-sim table results/histogram out.tex quantity=linf_error_quantile level=0.95 rows=k columns=noise
quantity, level and where={noise: gaussian} choose rows of the table. rows and columns are axes along its sides."""
DISTRIBUTION = """\
  tcdp-sim distribution results/privacy_loss privacy_loss noise=gaussian at=[0.5,1]

AXIS=VALUE chooses cells: noise=gaussian, k=[10,100]; `s` is the sampling probability. The tail is the
probability of exceeding a value, with an exact 95% interval, beside the exact one where a law is known. at=EPSILONS
adds delta(epsilon) of a privacy loss. FILE.csv gets all bins, bins=N of equal width or bins=stored the finest ones."""
CHECK = """\
NAME is a noise or a mechanism of the package or of a plug-in. Parameters of a noise that are not given are 1.
  tcdp-sim check logistic
  tcdp-sim check my_noise.py:Logistic scale=2.5
The exit code is 0 if nothing wrong is found, and 1 otherwise."""
PLAN = """\
The plan of a sweep over a function of your own calls that function for a second:
  tcdp-sim plan sweep my_file.py:median_error sweep.n=[11,101] sweep.epsilon=1 trials=1e5"""
SCRIPT = """\
QUEUE is one of slurm, pbs, lsf, sge, htcondor, and the words of a run follow. The file goes to the standard output:
  tcdp-sim script slurm experiment=histogram sweep.rho=0.1 trials=1e8 parts=1000 > job.sh
  sh job.sh            submit all parts, and a job that finishes the run after them
  sh job.sh 17,40-45   submit some parts again (finished ones end at once)"""


def main(words: Sequence[str]) -> int:
    """Run the command of a command line and return its exit code. Raises UserError or Failure."""
    if words and words[0] == "--version":
        print(f"tcdp-sim {__version__}")
        return 0
    named = bool(words) and not OF_A_STUDY.match(words[0]) and not is_study_file(words[0])
    name, rest = (words[0], words[1:]) if named else (DEFAULT, words)
    if name not in COMMANDS:
        near = suggestion(name, tuple(COMMANDS))
        raise UserError(f"{name!r} is no command; valid: {', '.join(COMMANDS)}, KEY=VALUE or FILE.yaml{near}")
    if HELP & set(rest):
        print(help_text.of(name, COMMANDS[name]) if named else help_text.overview(COMMANDS))
        return 0
    return _done(name, rest)


def _done(name: str, words: Sequence[str]) -> int:
    command = COMMANDS[name]
    if command.of_a_sweep and words[:1] == ["sweep"] and words[1:]:
        return command.of_a_sweep(_console(), words[1:]) or 0
    if command.reads_all:
        return command.does(_console(), words) or 0
    given = command.read(name, words)
    if not command.of_runs:
        return command.does(_console(), *given.places, **given.keys) or 0
    by_words = bool(given.study or given.file) or not given.places
    runs = _asked(given.study, given.file) if by_words else [_found(given.places[0])]
    others, console = given.places if by_words else given.places[1:], _console()
    if noises := given.keys.pop("noise", None):
        _load(noises)
    if len(runs) > 1:
        return _each(console, runs, lambda run: command.does(console, run, *others, **given.keys) or 0)
    with runs[0].file.located():
        return command.does(console, runs[0], *others, **given.keys) or 0


def _each(console: "Terminal", runs: "Sequence[Given]", does: "Callable[[Given], int]") -> int:
    """Do a command for each run, and return the largest exit code. The error of a run does not end the others.

    Raises UserError or Failure at the end, which names the runs that failed.
    """
    codes, failed = [0], dict[str, UserError | Failure]()
    for run in runs:
        for line in run.notes:
            console.print(line, markup=False)
        try:
            with run.file.located():
                codes.append(does(run))
        except (UserError, Failure) as mistake:
            failed[run.folder.name] = mistake
            console.print(f"{run.folder.name} failed: {mistake}", markup=False)
    if not failed:
        return max(codes)
    with importing():
        from tcdp_sim.study import several
    raise several.failure(failed, [run.config for run in runs])


def _console() -> "Terminal":
    with importing():
        from tcdp_sim.report.terminal import Terminal
    return Terminal(highlight=False, soft_wrap=True)


def _asked(study: Sequence[str], file: str | None) -> "list[Given]":
    """Return the runs that the words of a study and its file ask for, after checking all of them."""
    with importing():
        from tcdp_sim.cli import study_words
    return study_words.runs(study, file)


def _load(noises: str) -> None:
    """Load the noise classes FILE.py:CLASS, or [FILE.py:CLASS,...], for a run whose folder names them."""
    with importing():
        from tcdp_sim.study import noise_classes
    for place in noises.strip("[]").split(","):
        noise_classes.load(place.strip(), {})


def _found(folder: str) -> "Given":
    with importing():
        from tcdp_sim.cli import run_argument

        return run_argument.by_folder(folder)


# The functions of the commands


def _run(console, run) -> int:
    with importing():
        from tcdp_sim.cli import run as running
    with working():
        return running.part(run.settings, run.part, console) if run.part else running.main(run.settings, console)


def _finish(console, run) -> int:
    with importing():
        from tcdp_sim.cli import finish
    with working():
        return finish.main(run.settings, console)


def _script(console, words) -> None:
    with importing():
        from tcdp_sim.cli import script
    with working():
        script.main(words)


def _plan(console, run) -> None:
    with importing():
        from tcdp_sim.cli import plan
    if run.part:
        console.print(f"part={run.part} is left aside: this is the plan of the whole run", markup=False)
    with working():
        plan.main(run.settings, console)


def _plan_of_a_sweep(console, words) -> None:
    with importing():
        from tcdp_sim.cli import plan
    with working():
        plan.of_a_sweep(words, console)


def _show(console, run) -> None:
    with importing():
        from tcdp_sim.study import rerun
    console.print(rerun.file(run.settings.config).rstrip(), markup=False)


def _status(console, run) -> None:
    with importing():
        from tcdp_sim.cli import status
    status.main(run, console)


def _draw(console, run, figures=None, **looks) -> int:
    with importing():
        from tcdp_sim.cli import draw
        from tcdp_sim.cli.values import value_of
    chosen = None if figures is None else [name.strip() for name in figures.split(",")]
    given = {key.partition(".")[2]: value_of(key, text) for key, text in looks.items()}
    options = run.asked.figures.as_dict() if run.asked else {}
    return draw.draw(run.folder, console, run.title, chosen, figure_options(options | given))


def _verify(console, run, **keys) -> int:
    with importing():
        from tcdp_sim.cli import verify
    return verify.verify(run, console, **keys)


def _replay(console, run, **keys) -> None:
    with importing():
        from tcdp_sim.cli import replay
    replay.main(run.settings, console, **keys)


def _diff(console, run, other) -> int:
    with importing():
        from tcdp_sim.cli import diff
        from tcdp_sim.store.run_settings import folder_of
    return diff.compare(run.folder, folder_of(other), console, run.title)


def _merge(console, run, other) -> int:
    with importing():
        from tcdp_sim.cli import merge
    with working():
        return merge.main(run.settings, other, console)


def _drop(console, run, **keys) -> None:
    with importing():
        from tcdp_sim.cli import drop
    with working():
        drop.main(run.folder, console, **keys)


def _table(console, run, file=None, **choices) -> None:
    with importing():
        from tcdp_sim import results
        from tcdp_sim.cli.values import value_of
        from tcdp_sim.results.export import chosen
        from tcdp_sim.results.open import readable
        from tcdp_sim.results.tidy import tidy_blocks
    choices = {key: value_of(key, text, key == "where") for key, text in choices.items()}
    if file is not None:
        console.print(f"table: {results.export(run.folder, file, **choices)}", markup=False)
        return
    if choices:
        console.print(chosen(run.folder, choices).to_string(), markup=False, soft_wrap=True)
        return
    flat = results.open_cells(run.folder, compute_later=False)
    with readable(run.folder):
        for i, rows in enumerate(tidy_blocks(flat)):
            console.print(rows.to_csv(index=False, header=not i).rstrip(), markup=False)


def _distribution(console, words) -> int:
    with importing():
        from tcdp_sim.cli import distribution
    return distribution.main(console, words)


def _report(console, run, file=None) -> None:
    with importing():
        from tcdp_sim.results import page
    path = page.write(run.folder, None if file is None else Path(file))
    console.print(f"report: {path}", markup=False)


def _explore(console, run, file=None) -> None:
    with importing():
        from tcdp_sim.results import explore
    path = explore.write(run.folder, None if file is None else Path(file))
    console.print(f"explore: {path}", markup=False)


def _sweep(console, words) -> int:
    with importing():
        from tcdp_sim.cli import user_function  # noqa: F401 (so that no signal interrupts its import)
    with working():
        return sweep.main(console, words)


def _audit(console, words) -> int:
    with importing():
        from tcdp_sim.core import user_files  # noqa: F401 (so that no signal interrupts its import)
    with working():
        return audit.main(console, words)


def _audit_scores(console, words) -> int:
    with working():
        return audit_scores.main(console, words)


def _check(console, words) -> int:
    with importing():
        from tcdp_sim.cli import check
    return check.main(console, words)


def _list(console, folder=None) -> None:
    with importing():
        from tcdp_sim.cli import listing
    if folder is None and not Path("results").exists():
        console.print("no run has been started here: there is no folder results", markup=False)
    else:
        listing.main(Path(at_home(folder or "results")), console)


def _describe(console, experiment) -> None:
    with importing():
        from tcdp_sim.cli import describe
    describe.main(experiment, console)


def _new(console, experiment) -> None:
    with importing():
        from tcdp_sim.cli import template
    template.main(experiment, console)


def _schema(console, of=STUDY) -> None:
    if of not in SCHEMAS:
        raise UserError(f"{of!r} has no schema; valid: {', '.join(SCHEMAS)}{suggestion(of, SCHEMAS)}")
    with importing():
        schema = import_module(f"tcdp_sim.cli.{SCHEMAS[of]}")
    console.print(schema.text(), markup=False, soft_wrap=True)


def _budget(console, file, folder=".") -> int:
    with working():
        return budget.main(console, file, folder)


def _account(console, file, **words) -> int:
    with working():
        return account.main(console, file, **words)


def _completion(console, words) -> None:
    completion.main(COMMANDS)


COMMANDS = {
    "run": Command(
        _run, ("[RUN]",), "run (or resume) a study, and draw it; so does a line without a command", OF_A_NOISE
    ),
    "sweep": Command(
        _sweep,
        ("FILE.py:FUNCTION [KEY=VALUE ...]",),
        "simulate a function of your own file on its axes, and draw it",
        details=sweep.HELP,
    ),
    "audit": Command(
        _audit,
        ("FILE.py:FUNCTION [KEY=VALUE ...]",),
        "audit the privacy claim of a function in your own file",
        details=audit.HELP,
    ),
    "audit-scores": Command(
        _audit_scores,
        ("FILE.csv [KEY=VALUE ...]",),
        "audit a privacy claim from scores of runs, or of the canaries of one run",
        details=audit_scores.HELP,
    ),
    "check": Command(
        _check,
        ("NAME|FILE.py:CLASS [PARAMETER=VALUE ...]",),
        "look for mistakes in the class of a noise or a mechanism",
        details=CHECK,
    ),
    "plan": Command(
        _plan,
        ("[RUN]",),
        "estimate the time, memory and disk space of a run, without running it",
        details=PLAN,
        of_a_sweep=_plan_of_a_sweep,
    ),
    "script": Command(
        _script, ("QUEUE ...",), "print a job file that computes a run in parts", {"parts": 1000}, SCRIPT
    ),
    "finish": Command(_finish, ("RUN",), "publish what the parts of a run have computed, and say what is missing"),
    "show": Command(_show, ("[RUN]",), "print the config of a study, as a file that runs it again"),
    "status": Command(_status, ("RUN",), "print the progress of a run, also while it is running"),
    "draw": Command(
        _draw,
        ("RUN",),
        "draw the tables and figures of a run again, or some figures alone",
        {"figures": "NAME,NAME", **OF_FIGURES, **OF_A_NOISE},
    ),
    "verify": Command(
        _verify,
        ("RUN",),
        "compute random chunks (or claims) again and compare the bits",
        {"sample": 20, **OF_A_SWEEP, **OF_A_NOISE},
    ),
    "replay": Command(
        _replay,
        ("RUN",),
        "run one chunk, or one trial of it, again in this process, with its traceback",
        {"cell": "ID", "index": 0, "trial": "N", **OF_A_SWEEP, **OF_A_NOISE},
    ),
    "diff": Command(_diff, ("RUN", "FOLDER"), "compare two runs within Monte Carlo error"),
    "merge": Command(_merge, ("RUN", "FOLDER"), "add to a run the chunks of another run of the same study"),
    "drop": Command(
        _drop,
        ("RUN",),
        "remove the chunks of one worker from a run, which then simulates them again",
        {"worker": "HOST|HOST:PID"},
    ),
    "table": Command(
        _table,
        ("RUN", "[FILE]"),
        "print published numbers as CSV, or write FILE.csv, .tex, .md, .txt; chosen ones as a table",
        {"quantity": "NAMES", "level": "LEVELS", "rows": "AXES", "columns": "AXES", "where": "{AXIS: VALUES}"},
        TABLE,
    ),
    "distribution": Command(
        _distribution,
        ("RUN OBSERVABLE [AXIS=VALUE ...] [FILE.csv]",),
        "print the tail of an observable beside the exact one, or write all its bins to FILE.csv",
        details=DISTRIBUTION,
    ),
    "report": Command(
        _report, ("RUN", "[FILE]"), "write a page about a run, to send: report.html in its folder, or FILE"
    ),
    "explore": Command(
        _explore,
        ("RUN", "[FILE]"),
        "write a page on which a reader chooses what is drawn: explore.html in its folder, or FILE",
    ),
    "list": Command(_list, ("[FOLDER]",), "list the runs in a folder: start, progress, contradictions"),
    "describe": Command(_describe, ("EXPERIMENT",), "print the question, axes and observables of an experiment"),
    "new": Command(_new, ("EXPERIMENT",), "print the file of a study (or of `account`) to start from"),
    "schema": Command(
        _schema,
        ("[study|account]",),
        "print a JSON schema of such files, with which editors complete and check keys",
    ),
    "cheat-sheet": Command(
        cheat_sheet.main,
        ("[KEY=VALUE ...]",),
        "print the consequences of every notion of privacy",
        details=cheat_sheet.HELP,
    ),
    "budget": Command(
        _budget,
        ("FILE.yaml", "[FOLDER]"),
        "print the noise and the least budget for the errors that FILE.yaml allows",
        details=budget.HELP,
    ),
    "account": Command(
        _account,
        ("FILE",),
        "state what the releases of FILE.yaml reveal together; check a statement (FILE.json)",
        account.WORDS,
        details=account.HELP,
    ),
    "reproduce": Command(
        reproduce.main, ("[KEY=VALUE ...]",), "compute a verdict on each claim of five papers", details=reproduce.HELP
    ),
    "completion": Command(_completion, ("[WORD ...]",), "print how to install completion in a shell"),
}
