"""The command line: one table of commands, and what turns the words of a study into a config."""
