"""The command line: one table of commands, and what turns the words of a study into a config."""

__all__: list[str] = []  # nothing here is public
