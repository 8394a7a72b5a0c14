"""What is asked: the yaml files and the command's words become checked settings, blocks, points and cells."""

__all__: list[str] = []  # nothing here is public
