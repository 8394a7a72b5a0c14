"""What the tests of claims share: the evidence on each, gathered once; the studies it reads, run once."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

import tcdp_sim
from tcdp_sim.experiments.papers.gather.paper_studies import STUDIES
from tcdp_sim.experiments.papers.gather.runs import opened
from tcdp_sim.experiments.papers.registry import Budget, evidence_of, points_of


class Runs(Mapping):
    """Studies of the fast subset, each run when it is first asked for."""

    def __init__(self, folder):
        self.folder, self.known = folder, {}

    def __getitem__(self, name):
        if name not in self.known:
            arguments = STUDIES[name].arguments(full=False)
            tcdp_sim.run(**arguments, name=name, results_dir=self.folder, cluster="serial")
            self.known[name] = opened(self.folder / name)
        return self.known[name]

    def __iter__(self):
        return iter(STUDIES)

    def __len__(self):
        return len(STUDIES)


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp("studies"))


@pytest.fixture(scope="session")
def evidence(runs):
    """evidence(claim): of the fast subset, gathered once."""
    known = {}

    def of(claim):
        if claim.id not in known:
            budget = Budget(full=False, runs={name: runs[name] for name in claim.needs})
            known[claim.id] = evidence_of(claim, points_of(claim, budget))
        return known[claim.id]

    return of


@pytest.fixture(scope="session")
def reference():
    """The table of the page that is checked in, by the claims' ids."""
    place = Path(__file__).parents[2] / "results" / "reference" / "papers"
    return pd.read_csv(place / "claims.csv", keep_default_na=False, na_values=[]).set_index("id")
