"""The versions of installed packages, each read once in a process, and the packages that results depend on."""

import platform
from collections.abc import Sequence
from functools import cache
from importlib import metadata

OF_NUMBERS = ("numpy", "scipy")
OF_TABLES = (*OF_NUMBERS, "xarray", "zarr", "numcodecs", "pandas")
OF_FIGURES = (*OF_TABLES, "matplotlib", "pillow", "rich")


@cache
def version_of(package: str) -> str:
    """Return the version of an installed package."""
    return metadata.version(package)


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of packages and of Python by name."""
    return {name: version_of(name) for name in packages} | {"python": platform.python_version()}
