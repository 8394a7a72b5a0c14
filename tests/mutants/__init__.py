"""Faults by hand, put into a copy of the code: do the tests notice? `make mutants`."""
