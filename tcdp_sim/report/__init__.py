"""The look of every figure, table and page."""

__all__: list[str] = []  # nothing here is public
