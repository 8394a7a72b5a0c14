"""Truncated concentrated differential privacy (Bun, Dwork, Rothblum, Steinke 2018)."""
