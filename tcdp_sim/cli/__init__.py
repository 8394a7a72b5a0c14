"""The command line: words to a config, and one file for each thing that can be done with it."""

__all__: list[str] = []  # nothing here is public
