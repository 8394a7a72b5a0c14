"""The papers' claims judged, by one command: studies run, evidence gathered and kept, pages written."""
