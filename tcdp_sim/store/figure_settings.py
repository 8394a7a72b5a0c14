"""The files in which a user may have settings for every figure of matplotlib."""

import os
from pathlib import Path

from tcdp_sim.store import digests

FILE = "matplotlibrc"


def digest() -> list[str | None]:
    """Return the digest of each file that matplotlib may read its settings from, None where there is none."""
    return [digests.of_file_if_any(path) for path in _places()]


def _places() -> list[Path]:
    home = Path.home()
    given = Path(os.environ.get("MATPLOTLIBRC", FILE))
    folders = [os.environ.get("MPLCONFIGDIR"), os.environ.get("XDG_CONFIG_HOME"), home / ".config"]
    below = [Path(folder, *inner, FILE) for folder in folders if folder for inner in ((), ("matplotlib",))]
    return [Path(FILE), given, given / FILE, *below, home / ".matplotlib" / FILE]
