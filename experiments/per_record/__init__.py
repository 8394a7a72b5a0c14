"""Shared parts of the studies of per-record sums: exact laws of errors, names and looks of releases."""
