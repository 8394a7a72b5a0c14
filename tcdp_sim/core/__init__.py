"""The lowest layer: errors, types, numbers with bounds, random streams, texts, log, registry and version."""

__all__: list[str] = []  # nothing here is public
