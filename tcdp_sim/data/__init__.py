"""Data sets as counts over declared domains: synthetic shapes, the package's samples, a user's own tables."""

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

UNNAMED = "csv"  # conf/data/csv.yaml: a table that the user has given no name of its own
LONGEST_NAME = 60
COMMON_KEYS = ("name", "kind", "axes")  # axes are the sweep's defaults for this data set, read elsewhere

__all__ = ["SHAPES", "Counts", "load_counts"]


def load_counts(spec: Mapping[str, Any], k: float | None = None) -> Counts:
    """The data set that `spec` describes (as in conf/data), over k bins.

    Shapes need k. Samples and tables declare their domain: without k, `.bins` is its size; with k, the domain
    is embedded in a larger public one of k bins. Every mistake is a UserError of one line.
    """
    kind = choice(f"data {spec.get('name')}: kind", spec.get("kind"), KINDS)
    return KINDS[kind](spec, k)


def _shape(spec: Mapping[str, Any], k: float | None) -> Counts:
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
    """Those of a shape beside n and k."""
    _, _, *own = inspect.signature(shape).parameters
    return own


def _sample(spec: Mapping[str, Any], k: float | None) -> Counts:
    where = f"data {spec.get('name')}"
    only_keys(where, spec, (*COMMON_KEYS, "file", *TABLE_KEYS))
    folder = resources.files(__name__) / "files"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".csv"))
    with resources.as_file(folder / choice(f"{where}: file", spec.get("file"), names)) as path:
        return table(spec, path, k)


def _table(spec: Mapping[str, Any], k: float | None) -> Counts:
    where = f"data {spec.get('name')}"
    only_keys(where, spec, (*COMMON_KEYS, "path", *TABLE_KEYS))
    path = given(where, spec, "path", f"the path of a file {', '.join(READERS)}")
    counts = table(spec, path, k)
    return replace(counts, name=_own_name(spec) if counts.name == UNNAMED else counts.name, own=True)


def _own_name(spec: Mapping[str, Any]) -> str:
    """A table without a name is called after its file and column, less what a figure or a file name cannot bear."""
    stem = re.sub(r"(?i)(\.csv|\.csv\.gz|\.parquet)$", "", Path(spec["path"]).name)
    name = "".join(c if c.isprintable() and c not in "/\\[]" else "_" for c in f"{stem}.{spec['column']}")
    return name[:LONGEST_NAME]


KINDS = {"shape": _shape, "sample": _sample, "table": _table}
