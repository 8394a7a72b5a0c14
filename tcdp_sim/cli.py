"""The command line: a Hydra application whose errors are one line and exit code 2."""

import os
import signal
import sys

import hydra

from tcdp_sim import __version__
from tcdp_sim.errors import UserError

MISTAKE, INTERRUPTED = 2, 130


def main() -> None:
    """Run the command line; exit code 0, 2 for a user's mistake, 130 when interrupted."""
    if sys.argv[1:] == ["--version"]:
        print(f"tcdp-sim {__version__}")
        return
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for composed in _compose():
            _run(composed)
    except (UserError, HydraException, OmegaConfBaseException) as mistake:
        print(f"tcdp-sim: {_one_line(mistake)}", file=sys.stderr)
        sys.exit(MISTAKE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _compose() -> list:
    """The configs that the command line asks for: one, several with --multirun, none with --help and the like."""
    os.environ["HYDRA_FULL_ERROR"] = "1"  # let errors through to us: Hydra would print a traceback
    composed = []
    hydra.main(version_base="1.3", config_path="conf", config_name="config")(composed.append)()
    return composed


def _run(composed) -> None:
    from omegaconf import OmegaConf

    raw = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
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
