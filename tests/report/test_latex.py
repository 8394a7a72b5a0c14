"""Tables for papers: what a number with its error looks like, by hand, and that text cannot break the table."""

import numpy as np
import pandas as pd
import pytest

from tcdp_sim.report import latex

NUMBERS = [
    (12.9521, 0.0213, "12.95(2)"),
    (12.9521, 0.0142, "12.952(14)"),
    (12.9521, 0.0096, "12.95(1)"),
    (0.5, 0.25, "0.5(2)"),
    (12345.6, 230.0, "12300(200)"),
    (12345.6, 130.0, "12350(130)"),
    (-0.25, 0.03, "$-0.25(3)$"),
    (0.0, 0.02, "0.00(2)"),
    (1.23456e-7, 2.1e-9, r"$1.23(2) \times 10^{-7}$"),
    (6.02e23, 1.4e22, r"$6.02(14) \times 10^{23}$"),
    (3.5, 0.0, "3.5"),
    (3.5, np.nan, "3.5"),
    (np.inf, 0.0, r"$\infty$"),
    (np.nan, 1.0, ""),
]


@pytest.mark.parametrize(("value", "mcse", "expected"), NUMBERS)
def test_a_number_with_its_standard_error(value, mcse, expected):
    assert latex.with_error(value, mcse) == expected


def test_a_number_alone():
    numbers = (0.0, 1e300, 1.23456e-9, 23.5921, -np.inf, 99999.4)
    expected = ["0", r"$1.000 \times 10^{300}$", r"$1.235 \times 10^{-9}$", "23.59", r"$-\infty$", "$1e+05$"]
    assert [latex.number(x) for x in numbers] == expected


def test_text_is_escaped():
    assert latex.escaped("50% of_a {b} \\end ~^ ρ & #1 $") == (
        r"50\% of\_a \{b\} \textbackslash{}end \textasciitilde{}\textasciicircum{} $\rho$ \& \#1 \$"
    )


def test_a_table_of_booktabs():
    """What all rows share stands above; a column without a number is left out."""
    rows = {"noise": ["a_b", "a_b"], "k": [10.0, 1e6], "quantity": ["mean"] * 2, "value": [1.5, 2.5]}
    rows |= {"mcse": [0.02, 0.03], "exact": [1.49, np.nan], "bound": [np.nan] * 2, "unit": ["counts"] * 2}
    expected = [
        r"% noise: a\_b",
        "% quantity: mean",
        "% unit: counts",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"k & simulated & exact \\",
        r"\midrule",
        r"10 & 1.50(2) & 1.49 \\",
        r"$1.00000 \times 10^{6}$ & 2.50(3) &  \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert latex.booktabs(pd.DataFrame(rows)).splitlines() == expected


def test_texts_stay_in_their_line():
    """A line end in a cell, a comment or a heading would make the rest of a text a line of LaTeX of its own."""
    evil = "a\nb\r\x1b[31m\x00\u2028\\input{x}"
    frame = pd.DataFrame({evil: [evil, "b"], "shared" + evil: [evil] * 2, "value": [1.0, 2.0]})
    table = latex.booktabs(frame)
    lines = table.splitlines()
    assert len(lines) == 9  # a comment, the beginning, three rules, the heading, two rows, the end: no line more
    assert all(line.isprintable() for line in lines)
    assert r"\input" not in "".join(lines[1:])
