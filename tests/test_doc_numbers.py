"""The numbers of docs are those that the code gives; `make doc-numbers` writes them."""

import doctest
import re

import pytest
from doc_numbers import NUMBERS, ROOT, shown, written


@pytest.mark.parametrize(("page", "pattern", "values"), NUMBERS, ids=lambda part: part if isinstance(part, str) else "")
def test_the_numbers_are_the_codes(page, pattern, values):
    text = (ROOT / page).read_text("utf-8")
    assert re.search(pattern, text)[0] in written(text, pattern, values())


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))])
def test_sessions_in_the_docs_print_what_they_show(page):
    failed, _ = doctest.testfile(str(ROOT / page), module_relative=False, encoding="utf-8", verbose=False)
    assert failed == 0


def test_a_wrong_number_is_replaced():
    assert written("a 1.23, b **4.5**", r"a ([\d.]+), b \*\*([\d.]+)\*\*", [1.239, 7]) == "a 1.24, b **7.0**"
    with pytest.raises(ValueError, match="no text fits"):
        written("a", "b (.)", [1.0])
    with pytest.raises(ValueError, match="zip"):
        written("a 1 2", "a (.) (.)", [1.0])


def test_what_a_snippet_prints_is_the_block_below_it():
    page = "x\n\n```python\nprint(1)\n```\n\n    1\n    2\n\nmore\n\n```python\ny\n```\n\ntext\n"
    assert shown(page, "print(1)\n") == "1\n2\n"
    assert shown(page, "y\n") is None
