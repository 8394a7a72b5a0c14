"""Per-record differential privacy (2024)."""
