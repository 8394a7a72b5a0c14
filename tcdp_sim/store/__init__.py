"""What is kept on disk: the journal, which is the truth, and the snapshot that is published from it."""

__all__: list[str] = []  # nothing here is public
