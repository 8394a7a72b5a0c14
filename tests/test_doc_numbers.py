"""The numbers of docs are those that the code gives; `make doc-numbers` writes them."""

import doctest
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from doc_notebooks import notebooks
from doc_notebooks import written as notebook
from doc_numbers import DOCS, FILE, NUMBERS, ROOT, SNIPPET, computed, output, reader, shown, written

PAGE = """
```python
import tcdp_sim

SCALE = 3
```

```python
def scaled(rng, trials, n):
    return SCALE * rng.random((trials, n)).mean(axis=1)


print(tcdp_sim.sweep(scaled, {"n": [2, 5]}, trials=10)["value"].values)
```

    [0. 0.]
"""


@pytest.mark.parametrize(("page", "pattern", "values"), NUMBERS, ids=lambda part: part if isinstance(part, str) else "")
def test_the_numbers_are_the_codes(page, pattern, values):
    text = (ROOT / page).read_text("utf-8")
    assert re.search(pattern, text)[0] in written(text, pattern, values())


@pytest.mark.parametrize("page", ["README.md", *DOCS])
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
    assert shown("```python\ny\n```\n\ntext\n\n" + page, "print(1)\n") == "1\n2\n"  # below a snippet without output


def test_a_page_shows_the_numbers_that_its_reader_gets(tmp_path):
    codes = SNIPPET.findall(PAGE)
    file = tmp_path / f"{FILE}.py"
    file.write_text("\n".join(codes), "utf-8")
    source = find_spec("tcdp_sim").submodule_search_locations[0]
    where = {"cwd": tmp_path, "env": {"PYTHONPATH": str(Path(source).parent)}}
    read = subprocess.run([sys.executable, file.name], capture_output=True, text=True, check=True, timeout=120, **where)
    with reader() as names:
        here = [output(code, f"page:{place}", names) for place, code in enumerate(codes)]
    assert here == ["", read.stdout]
    assert computed(PAGE, "page") == PAGE.replace("[0. 0.]", read.stdout.strip())


def test_a_notebook_is_its_page_without_outputs_links_and_pictures():
    page = "# T\n\na [b](c.md) [d](https://x)\n\n" + PAGE + "\nlast\n\n![p](q.png)\n\n    tcdp-sim list\n"
    cells = notebook(page).cells
    assert [cell.cell_type for cell in cells] == ["markdown", "code", "code", "markdown"]
    assert cells[0].source == "# T\n\na b [d](https://x)"
    assert [cell.source for cell in cells[1:3]] == [code.rstrip() for code in SNIPPET.findall(PAGE)]
    assert cells[3].source == "last\n\n    tcdp-sim list"


def test_the_notebooks_of_pages_are_what_the_pages_give():
    found = notebooks()
    assert len(found) == 2
    for path, page in found.items():
        assert nbformat.read(path, as_version=4) == notebook(page.read_text("utf-8"))
