"""The gathering of evidence: studies are run, points are computed, and both are kept in a folder."""
