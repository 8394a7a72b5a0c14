"""The lowest layer: errors, types, quadrature with bounds, random streams, texts, log, registry, version."""

__all__: list[str] = []  # nothing here is public
