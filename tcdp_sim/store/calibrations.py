"""The calibrated noises of a run, kept in its folder so that the same command need not search for them again.

    calibrations.json    the parameters of each noise, and the digest of everything else that they depend on

The digest covers our code, NumPy and SciPy and this machine's elementary functions. So nothing stale is read.
"""

import hashlib
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcdp_sim.core.libraries import version_of
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.store import digests, source

NAME = "calibrations.json"
Noises = Mapping[str, Mapping[str, Any]]  # the parameters of noises, by the texts that name them


def read(folder: Path) -> Noises:
    """Return the noises that are kept in a run's folder; none if there are none, or if they are stale or damaged."""
    try:
        text = (folder / NAME).read_bytes()
    except OSError:
        return {}
    known = {} if digests.is_broken(text) else json.loads(text)
    noises: Noises = known.get("noises", {})
    return noises if known.get("of") == code() and _is_of_noises(noises) else {}


def keep(folder: Path, noises: Noises) -> str:
    """Write the noises of a study, unless they are there, and return a line if their file is damaged, else "".

    Raises OSError.
    """
    path, about = folder / NAME, {"of": code(), "noises": noises}
    try:
        text = path.read_bytes()
    except OSError:
        text = b""
    damaged = bool(text) and digests.is_broken(text)
    if damaged or (noises and text != digests.sealed_text(about)):
        digests.write_sealed(path, about)
    return f"{path} is damaged: its noises are calibrated again" if damaged else ""


def _is_of_noises(noises: Any) -> bool:
    """Return True if a value has the form of noises: numbers, or lists of them, by name."""
    if not isinstance(noises, dict):
        return False
    values = [value for each in noises.values() if isinstance(each, dict) for value in each.values()]
    numbers = [number for value in values for number in (value if isinstance(value, list) else [value])]
    return all(isinstance(each, dict) for each in noises.values()) and all(type(n) in (int, float) for n in numbers)


def code() -> str:
    """Return the digest of everything that a plan depends on besides its config, without plug-ins."""
    libraries = {name: version_of(name) for name in ("numpy", "scipy")} | {"python": platform.python_version()}
    about = [source.own(), libraries, fingerprint()]
    return hashlib.blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=16).hexdigest()
