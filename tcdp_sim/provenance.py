"""Who computed a run, where, when and with what."""

import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import tcdp_sim
from tcdp_sim.simulate import fingerprint

LIBRARIES = ("numpy", "scipy", "xarray", "zarr", "dask", "distributed", "hydra-core", "pandas")


def record(folder: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of this process and its config; also written to provenance.json in the run's folder."""
    about = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "host": platform.node(),
        "machine": platform.machine(),
        "processor": _processor(),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in LIBRARIES} | {"tcdp_sim": tcdp_sim.__version__},
        "numerics_fingerprint": fingerprint(),
        "git": _git(),
        "config": config,
    }
    unfinished = folder / f".provenance-{os.getpid()}"
    unfinished.write_text(json.dumps(about, indent=1, sort_keys=True) + "\n", "utf-8")
    unfinished.replace(folder / "provenance.json")
    return about


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def _git() -> dict[str, Any]:
    """Commit and dirty flag of the source tree, if the package runs from one."""
    here = Path(tcdp_sim.__file__).parent

    def ask(*words):
        return subprocess.run(["git", "-C", str(here), *words], capture_output=True, text=True, check=True).stdout

    try:
        ask("ls-files", "--error-unmatch", "__init__.py")  # a tree that merely surrounds an installed copy is not ours
        dirty = bool(ask("status", "--porcelain", "--", ".").strip())
        return {"commit": ask("rev-parse", "HEAD").strip(), "dirty": dirty}
    except (OSError, subprocess.CalledProcessError):
        return {"commit": None, "dirty": None}
