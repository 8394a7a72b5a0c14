"""The command line: a Hydra application whose errors are one line and exit code 2."""

import contextlib
import io
import os
import signal
import sys

import hydra
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

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
        print(f"tcdp-sim: {mistake}", file=sys.stderr)
        sys.exit(MISTAKE)
    except KeyboardInterrupt:
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
    except (HydraException, OmegaConfBaseException, ValueError, OSError) as mistake:  # all of them about the words given
        raise UserError(_one_line(mistake)) from None
    sys.stderr.write(said.getvalue())
    return composed


def _run(composed) -> None:
    try:
        raw = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as mistake:
        raise UserError(_one_line(mistake)) from None
    from rich.console import Console

    from tcdp_sim import study

    console = Console(highlight=False, soft_wrap=True)
    prepared = study.prepare(raw)
    if prepared.settings.mode == "plan":
        study.show_plan(prepared, console)
        return
    if prepared.settings.mode == "run":
        study.execute(prepared, console)
    study.draw(prepared, console)


def _one_line(mistake: Exception) -> str:
    text = str(mistake).split("Config search path:")[0].split("To append to your config")[0]
    cause = mistake.__cause__
    parent = getattr(cause, "parent_node", None)
    if "Could not override" in text and parent is not None and hasattr(parent, "keys"):
        text += f" There is no such key; valid: {', '.join(map(str, parent.keys()))}"
    return " ".join(line.strip() for line in text.splitlines() if line.strip())
