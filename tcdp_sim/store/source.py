"""The code that results depend on: digests of our own files and of plug-ins, and the versions of libraries."""

import os
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from tcdp_sim.core import registry
from tcdp_sim.core.libraries import OF_NUMBERS, version_of
from tcdp_sim.store.digests import PACKAGES, of_files, tree_digest

OURS = "the files of tcdp_sim"


@cache
def loaded(uses: tuple[str, ...] = ()) -> Mapping[str, str]:
    """Return the inputs of the numbers by name: versions of libraries, digests of our files and of the plug-ins in use.

    It is looked up once in a process, because later edits of files are not loaded. `uses` names the distributions of
    plug-ins; one that is not installed has the digest of no file.
    """
    of_uses = {f"the plug-in {name}": digest for name, digest in plug_ins(uses).items()}
    return {name: version_of(name) for name in OF_NUMBERS} | {OURS: own()} | of_uses


@cache
def plug_ins(uses: tuple[str, ...]) -> Mapping[str, str]:
    """Return the digests of plug-ins by the names of their distributions, looked up once in a process."""
    return {name: of_distribution(name) for name in uses}


def other(one: Mapping[str, str], two: Mapping[str, str]) -> str:
    """Return the names of the inputs that differ between two results of `loaded`, "" for none."""
    return ", ".join(name for name in sorted({*one, *two}) if one.get(name) != two.get(name))


def of_distribution(name: str) -> str:
    """Return the digests of the packages in which a distribution has plug-ins, "" if it is not installed."""
    return " ".join(of_package(package) for package in registry.packages_of(name))


@cache
def own() -> str:
    """Return the BLAKE2b digest of the package's .py and .yaml files, which does not depend on how it is installed."""
    return of_files(sorted(_own_files().items()))


@cache
def data() -> str:
    """Return the digest of the data files that come with the package."""
    return tree_digest(Path(str(resources.files("tcdp_sim.data"))) / "files")


def _own_files() -> dict[str, Path]:
    """Return the path of each file by its installed name: conf and experiments lie in the package or next to it."""
    paths: dict[str, Path] = {}
    for package in PACKAGES:
        root = Path(str(resources.files(package)))
        paths |= {f"{package.replace('.', '/')}/{name}": Path(path) for name, path in _code_files(str(root))}
    return paths


def _code_files(folder: str, below: str = "") -> Iterator[tuple[str, str]]:
    """Yield name and path of the code files in a folder; links to folders are left out. Path.rglob is far slower."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _code_files(entry.path, f"{below}{entry.name}/")
            elif entry.name.endswith((".py", ".yaml")):
                yield f"{below}{entry.name}", entry.path


def of_package(package: str) -> str:
    """Return the digest of a package's .py and .yaml files, because a file may be edited while the version stays."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None  # a module without a findable file: its own source is in the digest of the functions
    places = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    files = {path.relative_to(place).as_posix(): path for place in places for path in place.rglob("*")}
    if spec and spec.has_location and not places:
        files = {package: Path(str(spec.origin))}
    known = sorted(files.items())
    return of_files((name, path) for name, path in known if path.suffix in (".py", ".yaml") and path.is_file())
