"""What Theorem 17 and Corollary 18 claim, and how it is drawn; the experiment is `tightness`."""
