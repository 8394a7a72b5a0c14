"""A figure that a notebook shows."""

import io

from matplotlib.figure import Figure


class Picture(Figure):
    """A matplotlib figure that shows itself at the end of a notebook's cell; no pyplot, no state."""

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png")
        return image.getvalue()
