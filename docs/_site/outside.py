"""Links of the Markdown that leave `docs/`: GitHub follows them, and this makes the site follow them too.

A link to a page of the repository that the site includes leads to its page. A link to a folder becomes its path.
Sphinx itself turns a link to a file into a download.
"""

import re
from pathlib import Path

LINK = re.compile(r"\[([^\]`]+)\]\((\.\./[^)#\s]+)\)")
INCLUDED = {  # files at the top, and the pages that include them
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}


def followed(app, docname, source):
    """Replace the links that leave `docs/` in a page."""
    docs, here = Path(app.srcdir), Path(app.env.doc2path(docname)).parent

    def replaced(link):
        path = (here / link[2]).resolve()
        if path.is_dir():
            return f"`{link[1]}`"
        if path.parent == docs.parent and path.name in INCLUDED:
            return f"[{link[1]}](/{INCLUDED[path.name]})"
        return link[0]

    source[0] = LINK.sub(replaced, source[0])


def setup(app):
    """Register the handler."""
    app.connect("source-read", followed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
