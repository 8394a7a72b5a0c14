"""SIGKILL of everything that computes a run, at random moments, and damage in between: it ends as if nothing happened.

What is killed comes from shuffled decks, when from a uniform law, both with a fixed seed; what the kill meets depends
on the machine. `make torture` does the same with 1,000 kills. What is asserted after every single kill is in
tests/torture/campaign.py; docs/explained/durability.md says it in words.
"""

import random
import shutil
from collections import Counter

import pytest
from torture import damage, reader
from torture.campaign import TARGETS, Campaign
from torture.deck import Deck
from torture.sweep import Sweep, differences

KILLS = 60
CHUNKS = 30  # of each cell


@pytest.mark.slow
def test_sixty_kills_and_the_bytes_of_an_undisturbed_run(tmp_path):
    report = Campaign(tmp_path, CHUNKS, seed=5).run(KILLS)
    assert report.equal
    assert report.chunks == Sweep(tmp_path, CHUNKS).total
    assert report.total >= KILLS
    assert set(report.kills) == {(where, target) for where, cards in TARGETS.items() for target in cards}
    assert report.phases["starting"]
    assert report.phases["simulating"]
    assert sum(report.damages.values()) >= 5
    assert report.seen["right"]
    assert report.seen["status"]


def test_a_deck_deals_every_card_as_often_as_it_should():
    deck = Deck({"a": 3, "b": 1}, random.Random(1))
    assert Counter(deck.draw() for _ in range(8)) == {"a": 6, "b": 2}
    card = deck.draw()
    deck.put_back(card)
    assert Counter(deck.draw() for _ in range(4)) == {"a": 3, "b": 1}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    home = tmp_path_factory.mktemp("finished")
    sweep = Sweep(home / "one", 2)
    sweep.undisturbed()
    return sweep


@pytest.mark.slow
@pytest.mark.parametrize("kind", damage.JOURNAL + damage.PUBLISHED + damage.REST)
def test_the_harness_notices_each_kind_of_damage(finished, tmp_path, kind):
    """Or its comparison at the end would prove nothing."""
    shutil.copytree(finished.home, tmp_path / "copy", symlinks=True)
    copy = Sweep(tmp_path / "copy", 2)
    whole = len(copy.recorded())
    assert differences(finished, copy) == []
    assert kind(copy, random.Random(2))
    if kind in damage.JOURNAL:
        lost = whole - len(copy.recorded())
        assert lost >= (kind is not damage.garbage)
    elif kind is not damage.flipped_provenance:  # which differs between any two runs
        assert differences(finished, copy)


@pytest.mark.slow
def test_the_reader_does_not_take_one_run_for_another(finished, tmp_path, monkeypatch):
    other = Sweep(tmp_path, 1)
    other.undisturbed()
    flat = reader.open_cells(finished.folder).load()
    with pytest.raises(AssertionError, match="what no undisturbed run has published"):
        reader.look(reader.open_cells, other.folder, [flat], tmp_path / "damaged")
    monkeypatch.chdir(tmp_path)
    raw = reader.composed(other.words())
    assert reader.ask(raw, other.total) == other.total
    with pytest.raises(AssertionError):
        reader.ask(raw, other.total + 1)
