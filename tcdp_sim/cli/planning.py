"""The plan of a study, made while the user sees that something happens."""

from tcdp_sim.cli.waiting import waiting
from tcdp_sim.engine.run import prepare
from tcdp_sim.study.settings import Settings
from tcdp_sim.study.study import Study


def planned(settings: Settings) -> Study:
    """Return the study of checked settings, as `prepare` does. Large studies and searches for noises take seconds."""
    with waiting(f"{settings.name}: planning"):
        return prepare(settings)
