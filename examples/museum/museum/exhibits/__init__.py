"""The exhibits, one file for each library."""

from importlib import import_module
from importlib.util import find_spec

from museum.exhibit import Exhibit

FILES = ("opendp", "diffprivlib", "google", "smartnoise", "federated", "floating_point", "synthetic_data")


def exhibits() -> tuple[list[Exhibit], list[str]]:
    """Return the exhibits that can run here, and a line for each one whose library is missing."""
    found = [each for name in FILES for each in import_module(f"museum.exhibits.{name}").EXHIBITS]
    there = [each for each in found if not each.needs or find_spec(each.needs)]
    missing = [f"{each.name} is left out: pip install {each.needs}" for each in found if each not in there]
    return there, missing
