"""Faults written by hand, which are put into a copy of the code to see if the tests notice (`make mutants`)."""
