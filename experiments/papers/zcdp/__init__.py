"""Concentrated differential privacy (Bun, Steinke 2016)."""
