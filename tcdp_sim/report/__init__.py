"""What a reader sees: the look of every figure and table."""

__all__: list[str] = []  # nothing here is public
