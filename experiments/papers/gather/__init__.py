"""Evidence is gathered here: studies are run, points are computed, and both are kept in a folder."""
