"""Stored results: the journal, which is the authoritative record, and the snapshot published from it."""

__all__: list[str] = []  # nothing here is public
