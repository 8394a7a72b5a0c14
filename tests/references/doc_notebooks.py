"""The notebooks of examples that are pages of docs, written from these pages by `make doc-numbers`.

A page names its notebook. Its texts are cells of text and its snippets are cells of code, without their outputs.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
from doc_numbers import PAGES, ROOT, SNIPPET

NAMED = re.compile(r"`(examples/\w+\.ipynb)` is this page as a notebook")
LINK = re.compile(r"!?\[([^\]]*)\]\((?![a-z]+:)[^)]+\)")  # to another page, which the notebook does not have beside it


def notebooks() -> Mapping[Path, Path]:
    """Return the pages that are notebooks too, by the path of the notebook."""
    found = ((NAMED.search(page.read_text("utf-8")), page) for page in PAGES)
    return {ROOT / named[1]: page for named, page in found if named}


def written(page: str) -> nbformat.NotebookNode:
    """Return the notebook of a page."""
    cells = list(_cells(page))
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _cells(page: str) -> Iterator[nbformat.NotebookNode]:
    for place, part in enumerate(SNIPPET.split(page)):  # texts and snippets in turn
        if place % 2:
            yield nbformat.v4.new_code_cell(part.rstrip())
        elif text := "\n\n".join(_paragraphs(part, after_code=place > 0)):
            yield nbformat.v4.new_markdown_cell(text)


def _paragraphs(text: str, after_code: bool) -> Iterator[str]:
    """Yield the paragraphs of a text, without the output of the snippet above it, pictures, and what is of the page."""
    each = [part for part in text.strip("\n").split("\n\n") if part.strip()]
    output = after_code and each and all(line.startswith("    ") for line in each[0].splitlines())
    for paragraph in each[1:] if output else each:
        if not NAMED.search(paragraph) and not paragraph.startswith("!["):
            yield LINK.sub(r"\1", paragraph)


def main() -> None:
    for path, page in notebooks().items():
        nbformat.write(written(page.read_text("utf-8")), path)


if __name__ == "__main__":
    main()
