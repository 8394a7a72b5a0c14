"""Random allocation: the law of one step (`step`), of the sum of ratios (`sums`), delta and epsilon (`profile`)."""
