"""Privacy losses as distributions: of one release, and of many."""
