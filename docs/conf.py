"""How Sphinx builds the site; `make docs` calls it."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_site"), str(HERE.parent / "tests" / "references")]

from tcdp_sim.core.version import __version__  # noqa: E402

project = "tcdp_sim"
author = "the tcdp_sim developers"
project_copyright = author
version = release = __version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "names",
    "outside",
    "written",
]
exclude_patterns = ["_build", "_site", "**/README.md"]
default_role = "py:obj"  # a name in backticks of a docstring leads to its entry, if it has one

nitpicky = True  # each wrong name or link is an error; `_site/names.py` says which names are looked up
myst_heading_anchors = 4
myst_enable_extensions = ["deflist", "colon_fence"]
suppress_warnings = ["myst.header"]  # pages made by templates may skip a level

autodoc_typehints = "none"  # the Parameters sections have them
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
toc_object_entries = False  # a page lists its public names, not every method

html_theme = "furo"
html_title = f"tcdp_sim {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

os.environ.setdefault("MPLBACKEND", "agg")
