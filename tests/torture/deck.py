"""What is hit next: at random, but nothing is forgotten."""

import random


class Deck:
    """Cards in random order, shuffled anew when all have been drawn: each comes up as often as it should."""

    def __init__(self, cards: dict[str, int], rng: random.Random):
        self._all = [card for card, count in cards.items() for _ in range(count)]
        self._rng = rng
        self._left: list[str] = []

    def draw(self) -> str:
        if not self._left:
            self._left = self._rng.sample(self._all, len(self._all))
        return self._left.pop()

    def put_back(self, card: str) -> None:
        """It could not be played, and comes last."""
        self._left.insert(0, card)
