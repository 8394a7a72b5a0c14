"""The command line: one table of commands, and functions that turn the words of a study into a config."""

__all__: list[str] = []  # nothing here is public
