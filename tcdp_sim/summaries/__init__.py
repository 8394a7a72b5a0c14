"""Summaries of chunks: small, frozen and mergeable, with their statistics."""

__all__: list[str] = []  # nothing here is public
