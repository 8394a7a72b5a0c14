"""What the tests of experiments share."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def files_of_figures():
    """For tests that look into the files of figures, not only for them."""


@pytest.fixture(autouse=True)
def figures_are_drawn(figures, monkeypatch, request):
    """Every study that is run here is drawn and laid out, but the files of its figures are empty, which is faster."""
    if "files_of_figures" not in request.fixturenames:
        monkeypatch.setattr(Figure, "savefig", lambda figure, path, **more: Path(path).touch())
