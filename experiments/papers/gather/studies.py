"""The studies that claims read. They run like any study: resumed, extended, published in a folder of their own."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.experiments.papers.gather.paper_studies import STUDIES
from tcdp_sim.experiments.papers.gather.runs import Run, opened
from tcdp_sim.results import open_cells
from tcdp_sim.store import provenance, source
from tcdp_sim.store.exact_values import ExactValues, known_exactly
from tcdp_sim.store.snapshot import name_of
from tcdp_sim.study.compose import composed
from tcdp_sim.study.settings import Settings, settings
from tcdp_sim.study.study import Study

RUNS = "runs"  # name of the runs' folder in the folder of the papers
SEED = 2018


def study_settings(name: str, full: bool, folder: Path, cluster: str | Mapping[str, Any]) -> Settings:
    """Return the checked settings of one of STUDIES. Raise UserError for an unknown cluster."""
    place = {"name": name, "seed": SEED, "results_dir": str(folder / RUNS), "cluster": cluster}
    return settings(composed({**STUDIES[name].arguments(full), **place}))


def run_all(names: Iterable[str], full: bool, folder: Path, cluster: str | Mapping[str, Any], tell: Tell) -> None:
    """Run or resume the studies without results, one after the other.

    The function raises UserError for a folder with chunks of other code than today's, and Failure if errors left cells
    of a study without numbers.
    """
    from tcdp_sim.engine.run import execute, prepare  # rendering a page needs no engine

    for name in names:
        study = prepare(study_settings(name, full, folder, cluster))
        values = known_exactly(study.settings.experiment.name)
        if _is_published(study, values):
            continue
        if failed := execute(study, tell, values):
            raise Failure(f"study {name}: errors left {failed} cells without numbers (see {study.folder}/problems.csv)")


def unpublished(names: Iterable[str], full: bool, folder: Path, cluster: str | Mapping[str, Any]) -> list[str]:
    """Return those of the studies whose results are not published for these trials."""
    from tcdp_sim.engine.run import prepare  # rendering a page needs no engine

    studies = {name: prepare(study_settings(name, full, folder, cluster)) for name in names}
    return [
        name
        for name, study in studies.items()
        if not _is_published(study, known_exactly(study.settings.experiment.name))
    ]


def _is_published(study: Study, values: ExactValues) -> bool:
    """Return True if an undamaged snapshot states that it is of this very study, at these trials and by this code."""
    try:
        attributes = open_cells(study.folder).attrs
    except UserError:
        return False
    wanted = study.attributes() | {"exact_code": values.code}
    code = json.loads(attributes.get("provenance", "{}")).get(provenance.CODE)
    same_code = code == source.loaded(study.uses)
    return same_code and all(attributes.get(key, "") == value for key, value in wanted.items())


def snapshot(folder: Path, name: str) -> str:
    """Return the digest of a study's published results, which is the name of its tree; "" if there are none."""
    tree = folder / RUNS / name / "results.zarr"
    return name_of(tree) if tree.exists() else ""


class Opened(Mapping[str, Run]):
    """A mapping from a study to its published results, which are read on first use."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._open: dict[str, Run] = {}

    def __getitem__(self, name: str) -> Run:
        if name not in self._open:
            self._open[name] = opened(self._folder / RUNS / name)
        return self._open[name]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(STUDIES)

    def __len__(self) -> int:
        return len(STUDIES)
