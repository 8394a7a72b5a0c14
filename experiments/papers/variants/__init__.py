"""The sheet of variants of differential privacy (2019)."""
