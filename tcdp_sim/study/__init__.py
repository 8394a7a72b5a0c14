"""The description of a study: yaml files and a command's words become checked settings, blocks, points and cells."""

__all__: list[str] = []  # nothing here is public
