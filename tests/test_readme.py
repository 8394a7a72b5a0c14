"""The README's Python works as printed."""

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def snippets():
    return re.findall(r"```python\n(.*?)```", README, flags=re.S)


def test_the_snippets_run(tiny):
    assert tiny()[0] == 0
    assert len(snippets()) == 2
    for code in snippets():
        exec(compile(code, "README.md", "exec"), {})  # the README is ours


def test_the_linked_files_exist():
    root = Path(__file__).parent.parent
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) >= 6
    assert all((root / link).exists() for link in links)
