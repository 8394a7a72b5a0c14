"""The numbers of a page of the papers, and those of its tables."""

import csv
import io
import re
from html.parser import HTMLParser

from tcdp_sim.experiments.papers.page.wording import number

VOID = {"meta", "link", "br", "img", "input"}
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])")


class Texts(HTMLParser):
    """All text of a page but for style, script and pictures; and whether its tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.texts, self.stack, self.ids = [], [], []

    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        if not {"style", "script", "svg"} & set(self.stack):
            self.texts.append(data)


def parsed(folder):
    texts = Texts()
    texts.feed((folder / "index.html").read_text("utf-8"))
    assert texts.stack == []
    return texts


def known_numbers(folder):
    """Every number that stands in a table of the page, as it stands and as people read it."""
    known = set()
    for path in (folder / "claims.csv", *(folder / "figures").glob("*.csv")):
        for row in csv.reader(io.StringIO(path.read_text("utf-8"))):
            for cell in row:
                known |= set(NUMBER.findall(cell))
                if re.fullmatch(NUMBER, cell):
                    known.add(number(float(cell)))
    return known


def numbers(folder):
    """The numbers on a page, but for those of its own order, its counts (the table's), and what it was made of."""
    text = " ".join(parsed(folder).texts)
    body = text[text.rindex("Contents") : text.rindex("Provenance")]
    return set(NUMBER.findall(re.sub(r"\d+ of \d+ shown", " ", body)))


def stray_numbers(folder):
    """Those that are in none of its tables."""
    return numbers(folder) - known_numbers(folder)
