"""Texts in Markdown pages, as a parser of Markdown reads them: shown as they are, whatever they are."""

from itertools import pairwise

import pytest
from markdown_it import MarkdownIt

from tcdp_sim.report.html import markdown

TEXTS = ["a | b", "||", "*a* _b_", "`c`", "[d](e)", "<b>f</b>", "\\", "\\|", "a\n| b |\n|---|", "x", "![g](h)", "**"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_cell_of_a_table_is_one_cell_that_shows_its_text(text):
    table = f"| what | then |\n|---|---|\n| {markdown(text)} | end |\n"
    tokens = MarkdownIt("commonmark").enable("table").parse(table)
    cells = [token for before, token in pairwise(tokens) if before.type == "td_open"]
    assert len([token for token in tokens if token.type == "tr_open"]) == 2
    assert [shown(cell) for cell in cells] == [" ".join(text.split()), "end"]


def shown(cell):
    """The text of a cell, if there is nothing but text in it."""
    assert {child.type for child in cell.children} <= {"text", "text_special"}
    return "".join(child.content for child in cell.children)
