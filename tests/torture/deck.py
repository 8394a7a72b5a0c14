"""A random choice of the next target that leaves no target out."""

import random


class Deck:
    """A deck of cards in random order, which is shuffled anew when all cards have been drawn."""

    def __init__(self, cards: dict[str, int], rng: random.Random):
        self._all = [card for card, count in cards.items() for _ in range(count)]
        self._rng = rng
        self._left: list[str] = []

    def draw(self) -> str:
        if not self._left:
            self._left = self._rng.sample(self._all, len(self._all))
        return self._left.pop()

    def put_back(self, card: str) -> None:
        """Put a card that could not be played below the others."""
        self._left.insert(0, card)
