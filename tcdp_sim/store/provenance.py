"""The provenance of a run: the machine, time, versions and settings that it was computed with."""

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tcdp_sim.core import environment, registry
from tcdp_sim.core.libraries import version_of
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.core.version import __version__
from tcdp_sim.store import digests, source

NAME = "provenance.json"
# the key of a head with the fingerprints of workers and merged runs that differ from the writer's
FOREIGN = "foreign_fingerprints"
CODE = "code"  # the key of a head with the state of all code that its writer has loaded
PART = "part"  # the key of a head with the part that its writer computed
LIBRARIES = ("numpy", "scipy", "xarray", "zarr", "dask", "distributed", "hydra-core", "pandas")


def record(
    folder: Path | None,
    config: Mapping[str, Any],
    config_hash: str = "",
    data: Mapping[str, Any] = MappingProxyType({}),
    planned: Mapping[str, int] = MappingProxyType({}),
    uses: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return a description of this process, its config and its data, and write it to the run's provenance.json.

    `planned` holds the planned numbers of cells and chunks as far as they are known, `uses` the distributions of the
    plug-ins that the run uses. Nothing is written if `folder` is None.
    """
    about = {
        "time": _now(),
        "host": platform.node(),
        "machine": platform.machine(),
        "processor": _processor(),
        "python": platform.python_version(),
        "versions": {name: version_of(name) for name in LIBRARIES} | {"tcdp_sim": __version__},
        "numerics_fingerprint": fingerprint(),
        "git": dict(_git(*(str(resources.files(package)) for package in digests.PACKAGES))),
        "blas": blas(),
        "config": config,
        "config_in_order": json.dumps(config),  # sealed JSON is sorted, and the order of the cells follows the config
        "config_hash": config_hash,
        **({"data": dict(data)} if data else {}),
        **({"planned": dict(planned)} if planned else {}),
        CODE: dict(source.loaded(uses)),
        **({"plug_ins": {name: registry.distributions()[name] for name in uses}} if uses else {}),
    }
    _write(folder, about)
    return about


def end(folder: Path | None, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description with the time of the end, and write it to provenance.json, if any. Raises OSError."""
    ended = {**about, "ended": _now()}
    _write(folder, ended)
    return ended


def _write(folder: Path | None, about: Mapping[str, Any]) -> None:
    if folder is not None:
        digests.write_sealed(folder / NAME, about)


def fingerprints(heads: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the fingerprints of the elementary functions that chunks were computed with, from a journal's heads."""
    found = {str(head["numerics_fingerprint"]) for head in heads if head.get("numerics_fingerprint")}
    return found.union(*(map(str, head.get(FOREIGN) or ()) for head in heads))


def mend(folder: Path, heads: Sequence[Mapping[str, Any]], config: Mapping[str, Any]) -> bool:
    """Write provenance.json again if it is damaged or missing, and return True if it was. Raises OSError.

    The newest of the journal's heads has the same content. A new run has no heads and no file. Parts of a run write
    heads alone, so their newest head becomes the file, and that is no damage.
    """
    path = folder / NAME
    newest = max(heads, key=age, default=None)
    if path.is_file() and not digests.is_broken(text := path.read_bytes()):
        if newest and PART in newest and age(newest) > age(json.loads(text)):
            digests.write_sealed(path, newest)
        return False
    if newest:
        digests.write_sealed(path, newest)
    elif path.exists():
        record(folder, config)
    return path.exists() and not (newest and PART in newest)


def age(head: Mapping[str, Any]) -> tuple[str, str]:
    """Return the sort key of a head by time, the oldest first."""
    return str(head.get("time")), str(head.get("ended", ""))


def _now() -> str:
    """Return the time as text, in UTC: in microseconds, since commands that follow each other may share a second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def blas() -> list[dict[str, Any]]:
    """Return the linear algebra libraries of this process and their threads. The last bits may depend on them."""
    with environment.kept(("KMP_DUPLICATE_LIB_OK",)):  # the import sets it for the caller's later processes too
        from threadpoolctl import threadpool_info
    libraries = threadpool_info()
    return [{key: one.get(key) for key in ("internal_api", "version", "num_threads")} for one in libraries]


@cache
def _processor() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


@cache
def _git(*folders: str) -> Mapping[str, Any]:
    """Return the commit of the source tree with these folders, and whether it is dirty, if the package runs from one.

    Git is asked once, because this process keeps the code that it has loaded.
    """

    def ask(*words):
        command = ["git", "-C", folders[0], *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    try:
        ask("ls-files", "--error-unmatch", "__init__.py")  # a tree that merely surrounds an installed copy is not ours
        dirty = bool(ask("status", "--porcelain", "--", *folders).strip())
        return {"commit": ask("rev-parse", "HEAD").strip(), "dirty": dirty}
    except (OSError, subprocess.CalledProcessError):
        return {"commit": None, "dirty": None}
