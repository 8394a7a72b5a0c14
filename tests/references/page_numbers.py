"""The numbers on a page of the papers, and the numbers in its tables."""

import csv
import io
import re
from html.parser import HTMLParser

from tcdp_sim.experiments.papers.page.wording import number

VOID = {"meta", "link", "br", "img", "input"}
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])")


class Texts(HTMLParser):
    """The text of a page without style, scripts and pictures. A tag closed out of order raises AssertionError."""

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
    """Return every number in a table of the page, as it is stored and as the page shows it."""
    known = set()
    for path in (folder / "claims.csv", *(folder / "figures").glob("*.csv")):
        for row in csv.reader(io.StringIO(path.read_text("utf-8"))):
            for cell in row:
                known |= set(NUMBER.findall(cell))
                if re.fullmatch(NUMBER, cell):
                    known.add(number(float(cell)))
    return known


def numbers(folder):
    """Return the numbers on a page, without those of its contents, counts ("3 of 5 shown") and provenance."""
    text = " ".join(parsed(folder).texts)
    body = text[text.rindex("Contents") : text.rindex("Provenance")]
    return set(NUMBER.findall(re.sub(r"\d+ of \d+ shown", " ", body)))


def stray_numbers(folder):
    """Return the numbers on a page that are in none of its tables."""
    return numbers(folder) - known_numbers(folder)
