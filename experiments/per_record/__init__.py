"""What the studies of per-record sums share: exact laws of errors, names and looks of releases."""
