"""The gallery: a small run of each experiment, its figure, and what one sees in it.

`docs/gallery.yaml` has the examples. The build runs the Python that a page shows, in `docs/_build/gallery`, where
runs and figures are kept. An example runs again when its text or a file of the package has changed: no figure is stale.
"""

import hashlib
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import yaml

DOCS = Path(__file__).parents[1]
PICTURES = ("bracket", "equal")  # the pictures of pages, each drawn by docs/_site/NAME.py
EQUAL = """
::::{figure} ../_build/gallery/equal.png
:target: ../howto/results.html
:alt: Three mechanisms at equal privacy

[three mechanisms](../howto/results.md#several-mechanisms): a histogram, Gap-Max and interior points at equal (ρ, ω)
::::
"""
KEPT = DOCS / "_build" / "gallery"
PACKAGE = ("tcdp_sim", "experiments", "conf")
ENDINGS = (".py", ".yaml", ".csv", ".parquet")
SECONDS = 900  # an example that takes longer hangs
PAGE = """# Gallery

Each figure comes from a small run, which the build of this site makes. A click leads to the command, the Python, and
what one sees.

:::::{container} gallery
"""
EXAMPLE = """![{alt}](../../_build/gallery/{name}.png)

{sees}
## The command

```text
{command}
```

## The Python

```python
{python}
```

"""


@cache
def examples() -> dict[str, dict[str, Any]]:
    """Return the examples by the name of their experiment."""
    return yaml.safe_load((DOCS / "gallery.yaml").read_text("utf-8"))


def python(name: str) -> str:
    """Return the Python of an example."""
    given = examples()[name]
    keys = "".join(f", {key}={written(value)}" for key, value in given["study"].items() if key != "sweep")
    axes = "".join(f"    {axis!r}: {written(value)},\n" for axis, value in given["study"]["sweep"].items())
    return (
        f"import tcdp_sim\n\nsweep = {{\n{axes}}}\n"
        f'ds = tcdp_sim.run(  # an xarray.Dataset\n    "{name}", sweep=sweep{keys},\n'
        f'    cluster="serial", name="{name}",\n)\n'
        f'figures = tcdp_sim.draw("results/{name}", figures=["{given["figure"]}"])  # name -> matplotlib figure\n'
        f'figures["{given["figure"]}"]'
    ).replace("'", '"')


def written(value: object) -> str:
    """Return a value as Python, with numbers such as 1e9 for 1000000000.0."""
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {written(each)}" for key, each in value.items()) + "}"
    if isinstance(value, float) and float(f"{value:.6g}") == value:
        return re.sub(r"e([+-])0?", lambda sign: f"e{sign[1].strip('+')}", f"{value:.6g}")
    return repr(value)


def words(name: str) -> list[str]:
    """Return the words of the command line that stand for the same study."""
    found = [f"experiment={name}", "cluster=serial", f"name={name}"]
    for key, value in examples()[name]["study"].items():
        inner = value.items() if isinstance(value, dict) else ()
        found += [f"{key}.{each}={flow(at)}" for each, at in inner] or [f"{key}={flow(value)}"]
    return found


def command(name: str) -> str:
    """Return the command that runs the same study, a word a line."""
    return " \\\n    ".join(["tcdp-sim", *map(shlex.quote, words(name))])


def flow(value: object) -> str:
    """Return a value as it stands in a word of the command line."""
    if value is None:
        return "null"
    return yaml.safe_dump(value, default_flow_style=True, width=10_000).removesuffix("\n...\n").strip()


def example(name: str) -> str:
    """Return the section of an example, or nothing for an experiment that has none."""
    if name not in examples():
        return ""
    given = examples()[name]
    return EXAMPLE.format(name=name, alt=given["alt"], sees=given["sees"], command=command(name), python=python(name))


def page() -> str:
    """Return the page of all examples: a figure and a sentence each, which lead to the page of the experiment."""
    cards = (
        f"\n::::{{figure}} ../_build/gallery/{name}.png\n:target: studies/{name}.html\n:alt: {given['alt']}\n\n"
        f"[{name}](studies/{name}.md): {given['alt']}\n::::\n"
        for name, given in examples().items()
    )
    return f"{PAGE}{''.join(cards)}{EQUAL}:::::\n"


def make() -> None:
    """Run every example that is not current, two at a time, and print a line as each begins and ends."""
    KEPT.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in examples() if not _is_current(name)]
    tell(f"gallery: {len(wanted)} of {len(examples())} examples to run, the others are current")
    with ThreadPoolExecutor(2) as pool:
        drawn = pool.submit(_draw_pictures)
        for done, (name, seconds) in enumerate(pool.map(_timed, wanted), 1):
            tell(f"gallery: {done} of {len(wanted)} done: {name}, {seconds:.0f} s")
        drawn.result()


_ONE_LINE = threading.Lock()


def tell(line: str) -> None:
    """Print a line of progress at once, also into a pipe."""
    with _ONE_LINE:  # examples run in several threads
        print(line, file=sys.stderr, flush=True)


def _is_current(name: str) -> bool:
    """Return True if neither the text of an example nor the package has changed."""
    before, now = _stamps(name, python(name))
    return before == now


def _timed(name: str) -> tuple[str, float]:
    """Run an example and return its name and the seconds that it has taken."""
    tell(f"gallery: running {name}")
    started = time.monotonic()
    _make(name)
    return name, time.monotonic() - started


def _make(name: str) -> None:
    """Run an example anew and keep its figure: chunks of another package are refused."""
    code = python(name)
    run = KEPT / "results" / name
    shutil.rmtree(run, ignore_errors=True)
    _run(f"the example {name} of docs/gallery.yaml", "-c", code)
    drawn = {path.stem: path for path in (run / "figures").glob("*.png")}
    if (figure := examples()[name]["figure"]) not in drawn:
        raise RuntimeError(f"{name} in docs/gallery.yaml has no figure {figure!r}; valid: {', '.join(sorted(drawn))}")
    shutil.copy(drawn[figure], KEPT / f"{name}.png")
    _stamp(name).write_text("\n".join(_stamps(name, code)[1]))


def _draw_pictures() -> None:
    """Draw the pictures of pages that are not current."""
    for name in PICTURES:
        code = DOCS / "_site" / f"{name}.py"
        before, now = _stamps(name, code.read_text("utf-8"))
        if before != now:
            _run(f"docs/_site/{name}.py", code, KEPT / f"{name}.png")
            _stamp(name).write_text("\n".join(now))


def _run(what: str, *words: str | Path) -> None:
    """Run Python with these words, or raise an error that names what has failed."""
    done = subprocess.run([sys.executable, *words], cwd=KEPT, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise RuntimeError(f"{what} failed:\n{done.stderr[-2000:]}")


def _stamp(name: str) -> Path:
    return KEPT / f"{name}.stamp"


def _stamps(name: str, text: str) -> tuple[list[str], list[str]]:
    """Return the digests of text and package with which a figure was made, and those of today."""
    before = _stamp(name).read_text().split() if _stamp(name).exists() else ["", ""]
    return before, [hashlib.blake2b(text.encode(), digest_size=16).hexdigest(), _package()]


@cache
def _package() -> str:
    """Return a digest of the package."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(each for folder in PACKAGE for each in (DOCS.parent / folder).rglob("*")):
        if path.suffix in ENDINGS:
            digest.update(path.read_bytes())
    return digest.hexdigest()
