"""Tables on the terminal, and the sentence on agreement, on numbers made by hand."""

import io

import numpy as np
from rich.console import Console

from tcdp_sim.report.tables import agreement, by_chance, terminal_table
from tcdp_sim.report.terminal import Terminal


def printed(table, width=80):
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(table)
    return console.export_text()


def test_a_table_has_its_names_on_the_left_and_its_numbers_on_the_right():
    text = printed(terminal_table("errors", ("noise", "exact"), [("a", "1.5"), ("longer", "12.25")]))
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines[0].strip() == "errors"
    first, second = (next(line for line in lines if word in line) for word in ("1.5", "12.25"))
    assert first.index("a") == second.index("longer")
    assert len(first) == len(second)


def test_brackets_are_text_in_titles_headings_and_cells():
    text = printed(terminal_table("[red]title", ("P[top]", "[b]"), [("[i]name", "[0, 1]")]))
    for word in ("[red]title", "P[top]", "[b]", "[i]name", "[0, 1]"):
        assert word in text


def test_long_names_go_on_in_the_next_line_where_they_may():
    name = "exponential mechanism " * 4
    folded = printed(terminal_table("", ("algorithm", "x"), [(name, "1")], fold=True), width=50)
    assert folded.count("exponential") == 4
    assert "…" not in folded


def numbers(**changed):
    """Ten estimates of 0 with interval (-2, 2) and standard error 1; the exact value is 0.5."""
    columns = {"estimate": 0.0, "mcse": 1.0, "lower": -2.0, "upper": 2.0, "exact": 0.5}
    return {name: np.array(changed.get(name, [value] * 10), dtype=float) for name, value in columns.items()}


def test_exact_values_outside_their_intervals_are_counted():
    text = agreement("radius", **numbers(exact=[0.5] * 7 + [2.5, -3.0, 2.0]))
    assert text.startswith("The exact radius is outside the simulated 95% interval in 2 of 10 cells; by chance at most")
    assert "about 0.5 are expected" in text
    assert "Largest distance: 3.0 standard errors." in text
    assert "all alike" not in text
    assert "no exact value" not in text


def test_an_end_that_rounding_put_off_is_no_miss():
    one = numbers(exact=[1 + 1e-13] * 10, upper=[1.0] * 10)
    assert "in 0 of 10 cells" in agreement("chance", **one)
    assert "in 10 of 10 cells" in agreement("chance", **one | {"exact": np.full(10, 1 + 1e-9)})


def test_trials_that_are_all_alike_are_counted_by_themselves():
    """Three cells in which all trials were infinite: two of them rightly."""
    part = numbers(
        estimate=[0.0] * 7 + [np.inf] * 3,
        mcse=[1.0] * 7 + [0.0] * 3,
        lower=[-2.0] * 7 + [300.0] * 3,
        upper=[2.0] * 7 + [np.inf] * 3,
        exact=[0.5] * 7 + [np.inf, np.inf, 7.0],
    )
    text = agreement("ratio", **part)
    assert "in 0 of 7 cells" in text
    assert "2 agree" in text
    assert "Largest distance: 0.5 standard errors." in text


def test_what_has_no_exact_value_is_not_counted_as_a_miss():
    text = agreement("success", **numbers(exact=[0.5] * 4 + [np.nan] * 6), things="numbers")
    assert "in 0 of 4 numbers" in text
    assert "6 of 10 have no exact value." in text
    none = agreement("success", **numbers(exact=[np.nan] * 10))
    assert none == "No exact success is known to compare the simulated cells with."


def test_how_many_misses_chance_explains():
    assert [by_chance(n) for n in (1, 9, 161, 1000, 12_345)] == ["0.05", "0.45", "8.1", "50", "617"]


def test_a_table_that_does_not_fit_is_printed_whole():
    """Rich would cut its numbers to "12…", and leave its last columns out."""
    numbers = [f"{10**9 + i}" for i in range(9)]
    console = Terminal(width=40, file=io.StringIO())
    table = terminal_table("t", ["name", *"abcdefghi"], [["x" * 30, *numbers]])
    console.print(table, soft_wrap=False)
    out = console.file.getvalue()
    assert all(number in out for number in numbers)
    assert "x" * 30 in out
    assert console.width == 40


def test_trials_that_differ_by_rounding_alone_are_all_alike():
    """An importance sampler without variance: its standard error is a rounding remainder and no unit."""
    text = agreement(
        "tail",
        **numbers(
            estimate=[0.5] * 10,
            mcse=[1e-19] * 10,
            lower=[np.nan] * 10,
            upper=[np.nan] * 10,
            exact=[0.5 + 1e-15] * 9 + [0.6],
        ),
    )
    assert text == "Of 10 whose trials are all alike, 9 agree."


def test_rows_of_one_sample_are_said_to_miss_together():
    """The expected number of misses is the same, but it is no count of independent ones."""
    text = agreement("radius", **numbers(exact=[0.5] * 7 + [2.5, -3.0, 2.0]), things="quantiles", samples=2)
    assert "at most about 0.5" in text
    assert "since 10 quantiles come from 2 samples" in text
    assert "together" not in agreement("radius", **numbers(exact=[0.5] * 10), samples=10)


def test_a_chance_that_is_0_in_both_agrees():
    zeros = np.zeros(3)
    text = agreement("chance", zeros, zeros, np.full(3, np.nan), np.full(3, np.nan), zeros)
    assert text == "Of 3 whose trials are all alike, 3 agree."
