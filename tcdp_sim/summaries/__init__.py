"""What is kept of a chunk's trials: a small, frozen, mergeable summary, and its statistics."""

__all__: list[str] = []  # nothing here is public
