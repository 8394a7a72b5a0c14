"""The versions of installed packages, each read once in a process."""

from functools import cache
from importlib import metadata

OF_TABLES = ("numpy", "scipy", "xarray", "zarr", "numcodecs", "pandas")  # those that compute and write a table


@cache
def version_of(package: str) -> str:
    """Return the version of an installed package."""
    return metadata.version(package)
