"""Figures that a notebook shows."""

import io
from typing import Any

from matplotlib.figure import Figure


class Picture(Figure):
    """A matplotlib figure that shows itself at the end of a notebook's cell, without pyplot and its state.

    `left_out` says for each kind of thing how much of it the figure shows, in words for the caption.
    """

    def __init__(self, *how: Any, **more: Any) -> None:
        super().__init__(*how, **more)
        self.left_out: dict[str, str] = {}

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png")
        return image.getvalue()
