"""Data sets as counts over declared domains: synthetic shapes, the package's samples, and users' own tables."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.checks import choice, given, only_keys
from tcdp_sim.data.counts import Counts
from tcdp_sim.data.readers import READERS
from tcdp_sim.data.shapes import SHAPES
from tcdp_sim.data.tables import TABLE_KEYS, table

UNNAMED = "csv"  # conf/data/csv.yaml, for a table that the user has given no name
LONGEST_NAME = 60
COMMON_KEYS = ("name", "kind", "axes")  # axes are the sweep's defaults for this data set, which are read elsewhere

__all__ = ["Counts", "load_counts"]


def load_counts(spec: Mapping[str, Any], k: float | None = None) -> Counts:
    """Return the data set that a specification describes, over k bins.

    Parameters
    ----------
    spec : mapping
        The specification, with the keys of the files in conf/data.
    k : float, optional
        The size of the public domain, from 1 to 1e300 bins. Shapes need it. Samples and tables declare a domain, which
        is used if k is not given and embedded in one of k bins otherwise.

    Returns
    -------
    Counts
        The counts of the occupied bins.

    Examples
    --------
    >>> from tcdp_sim.data import load_counts
    >>> load_counts({"name": "even", "kind": "shape", "shape": "uniform", "n": 7}, k=3).counts.tolist()
    [3, 2, 2]
    """
    kind = choice(f"data {spec.get('name')}: kind", spec.get("kind"), KINDS)
    return KINDS[kind](spec, k)


def _shape(spec: Mapping[str, Any], k: float | None) -> Counts:
    """Return the counts of a synthetic shape."""
    where = f"data {spec.get('name')}"
    shape = SHAPES[choice(f"{where}: shape", spec.get("shape"), SHAPES)]
    own = _parameters(shape)
    only_keys(where, spec, (*COMMON_KEYS, "shape", "n", *own))
    parameters = {key: given(where, spec, key, "a number") for key in ("n", *own)}
    if k is None:
        raise UserError(f"{where}: a shape needs k, the number of bins; valid: 1 or more")
    counts = shape(k=k, **parameters)
    named = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return Counts(str(spec.get("name")), counts, k, f"shape {shape.__name__}, {named}")


@cache
def _parameters(shape: Callable[..., Any]) -> list[str]:
    """Return the names of a shape's parameters other than n and k."""
    _, _, *own = inspect.signature(shape).parameters
    return own


def _sample(spec: Mapping[str, Any], k: float | None) -> Counts:
    """Return the counts of one of the package's samples."""
    where = f"data {spec.get('name')}"
    only_keys(where, spec, (*COMMON_KEYS, "file", *TABLE_KEYS))
    folder = resources.files(__name__) / "files"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".csv"))
    with resources.as_file(folder / choice(f"{where}: file", spec.get("file"), names)) as path:
        return table(spec, path, k)


def _table(spec: Mapping[str, Any], k: float | None) -> Counts:
    """Return the counts of a user's table."""
    where = f"data {spec.get('name')}"
    only_keys(where, spec, (*COMMON_KEYS, "path", *TABLE_KEYS))
    path = given(where, spec, "path", f"the path of a file {', '.join(READERS)}")
    counts = table(spec, path, k)
    return replace(counts, name=_own_name(spec) if counts.name == UNNAMED else counts.name, own=True)


def _own_name(spec: Mapping[str, Any]) -> str:
    """Return the name of an unnamed table: file and column, without characters that file names cannot have."""
    stem = re.sub(r"(?i)(\.csv|\.csv\.gz|\.parquet)$", "", Path(spec["path"]).name)
    name = "".join(c if c.isprintable() and c not in "/\\[]" else "_" for c in f"{stem}.{spec['column']}")
    return name[:LONGEST_NAME]


KINDS = {"shape": _shape, "sample": _sample, "table": _table}
