"""Amplification by subsampling through couplings (Balle, Barthe, Gaboardi 2018)."""
