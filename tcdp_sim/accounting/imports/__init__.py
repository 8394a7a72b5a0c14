"""Ledgers of what other accounting libraries wrote. None of them is imported here: objects are read by their names."""
