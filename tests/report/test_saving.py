"""Figures saved in a second process have the bytes of figures saved here, and none is lost with that process."""

import time
from multiprocessing import active_children

import pandas as pd
import pytest
from matplotlib.figure import Figure

from tcdp_sim.report import saving
from tcdp_sim.report.plots import new_figure, plain_log_axis, size, style

NUMBERS = pd.DataFrame({"x": [1.0, 2.0]})
ENDINGS = (".csv", ".pdf", ".png")


def figures(count, label="x", made=lambda _: None):
    """Yield small figures that differ, in the house style."""
    for i in range(count):
        figure, axes = new_figure(1, 1, 3, 2)
        axes[0, 0].plot([1, 10], [1, 10 ** (i + 1)])
        axes[0, 0].set(xlabel=label, xscale="log")
        plain_log_axis(axes[0, 0])
        made(figure)
        yield f"figure_{i}", figure, NUMBERS.assign(x=i)


def here(folder, count, **how):
    with style():
        paths = saving.save_all(figures(count, **how), folder)
    return [path.with_suffix(ending).read_bytes() for path in paths for ending in ENDINGS]


def beside(folder, count, **how):
    with saving.SecondProcess() as second, style():
        paths = second.save_all(figures(count, **how), folder)
    assert [path.name for path in paths] == [f"figure_{i}.png" for i in range(count)]
    return [path.with_suffix(ending).read_bytes() for path in paths for ending in ENDINGS]


@pytest.mark.parametrize("count", [0, 1, 5])  # 5: more than may wait there
def test_a_second_process_writes_the_same_bytes(tmp_path, count):
    assert beside(tmp_path / "beside", count) == here(tmp_path / "here", count)


def test_the_second_process_saves_all_but_the_last_figures(tmp_path, monkeypatch):
    with saving.SecondProcess() as second:
        monkeypatch.setattr(Figure, "savefig", lambda self, path, **_: open(path, "w").close())
        paths = second.save_all(figures(2), tmp_path)
    assert [path.stat().st_size > 0 for path in paths] == [True, False]


def test_a_figure_that_waits_is_saved_while_the_next_one_is_made(tmp_path):
    """The last figure may take long to make, and would keep the one before it waiting."""

    def some():
        *first, last = figures(3)
        yield from first
        deadline = time.monotonic() + 60
        while not (tmp_path / "figure_1.png").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        found.append((tmp_path / "figure_1.png").exists())
        yield last

    found = []
    with saving.SecondProcess() as second, style():
        second.save_all(some(), tmp_path)
    assert found == [True]


def test_figures_that_cannot_be_sent_are_saved_here(tmp_path):
    def with_lambda(figure):
        figure.axes[0].yaxis.set_major_formatter(lambda value, _: f"{value:.3f}")

    assert beside(tmp_path / "beside", 3, made=with_lambda) == here(tmp_path / "here", 3, made=with_lambda)


def test_figures_of_a_process_that_is_lost_are_saved_here(tmp_path):
    def kill(_):
        for child in active_children():
            child.kill()

    assert beside(tmp_path / "beside", 4, made=kill) == here(tmp_path / "here", 4)


def test_a_name_that_the_user_chose_is_drawn_literally(tmp_path):
    with saving.SecondProcess() as second, style():
        second.save_all(figures(2, label="a$b$"), tmp_path / "beside", ["a$b$"])
        saving.save_all(figures(2, label="a$b$"), tmp_path / "here", ["a$b$"])
        saving.save_all(figures(2, label="a$b$"), tmp_path / "formula")
    first, literal, formula = (
        (tmp_path / name / "figure_0.png").read_bytes() for name in ("beside", "here", "formula")
    )
    assert first == literal != formula


def test_a_folder_that_cannot_be_written_is_an_os_error(tmp_path):
    (tmp_path / "figure_0.pdf").mkdir()
    with saving.SecondProcess() as second, pytest.raises(IsADirectoryError), style():
        second.save_all(figures(2), tmp_path)


@pytest.mark.parametrize(
    ("k", "text"), [(10, "10"), (1000, "1,000"), (1e4, "$10^{4}$"), (1e300, "$10^{300}$"), (20_000, "20,000")]
)
def test_only_large_powers_of_ten_are_written_as_powers(k, text):
    assert size(k) == text
