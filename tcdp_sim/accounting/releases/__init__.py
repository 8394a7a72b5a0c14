"""The catalogue of releases: each file has one kind, with its law of the privacy loss and its source."""

__all__: list[str] = []
