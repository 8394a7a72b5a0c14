"""The command line: a Hydra application whose errors are one line and exit code 2."""

import contextlib
import io
import os
import signal
import sys

import hydra
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from tcdp_sim import __version__
from tcdp_sim.errors import UserError

MISTAKE, INTERRUPTED = 2, 130


def main() -> None:
    """Run the command line; exit code 0, 2 for a user's mistake, 130 when interrupted."""
    if sys.argv[1:] == ["--version"]:
        print(f"tcdp-sim {__version__}")
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for composed in _compose():
            _run(composed)
    except UserError as mistake:
        print("tcdp-sim:", *str(mistake).split(), file=sys.stderr)
        sys.exit(MISTAKE)
    except KeyboardInterrupt:
        print("tcdp-sim: interrupted; the same command goes on with what is kept", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _compose() -> list:
    """The configs that the command line asks for: one, several with --multirun, none with --help and the like."""
    os.environ["HYDRA_FULL_ERROR"] = "1"  # let errors through to us: Hydra would print a traceback
    composed = []
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            hydra.main(version_base="1.3", config_path="conf", config_name="config")(composed.append)()
    except SystemExit as end:  # argparse: usage on many lines, then what is wrong
        if end.code:
            raise UserError(said.getvalue().splitlines()[-1].split("error: ")[-1] + "; see --help") from None
        raise
    except (HydraException, OmegaConfBaseException, ValueError, OSError) as mistake:  # about the words given
        raise UserError(_one_line(mistake)) from None
    sys.stderr.write(said.getvalue())
    return composed


def _run(composed) -> None:
    try:
        drawing = composed.get("mode") == "draw"  # needs no data: what is not given stays so
        raw = OmegaConf.to_container(composed, resolve=True, throw_on_missing=not drawing)
    except OmegaConfBaseException as mistake:
        raise UserError(_one_line(mistake)) from None
    from rich.console import Console

    from tcdp_sim import config, study

    console = Console(highlight=False, soft_wrap=True)
    settings = config.settings(raw)
    if settings.mode != "draw":
        prepared = study.prepare(raw)
        if settings.mode == "plan":
            study.show_plan(prepared, console)
            return
        study.execute(prepared, console)
    study.draw(settings, console)


def _one_line(mistake: Exception) -> str:
    if isinstance(mistake, MissingMandatoryValue):
        return f"{mistake.full_key} is not given; give {mistake.full_key}=VALUE"
    text = str(mistake).split("Config search path:")[0].split("To append to your config")[0]
    cause = mistake.__cause__
    parent = getattr(cause, "parent_node", None)
    if "Could not override" in text and parent is not None and hasattr(parent, "keys"):
        text += f" There is no such key; valid: {', '.join(map(str, parent.keys()))}"
    if text.startswith("Error merging override"):
        text += ": a value, a list and keys with values cannot replace each other here"
    if not isinstance(mistake, HydraException | OmegaConfBaseException):
        text += f" (in: {' '.join(sys.argv[1:])})"
    return " ".join(line.strip() for line in text.splitlines() if "object_type=" not in line)
