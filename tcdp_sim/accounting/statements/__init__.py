"""Statements of what a list of releases reveals: one page for readers, and plain data for their programs."""
