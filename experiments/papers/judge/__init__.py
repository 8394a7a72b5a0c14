"""The judge of the papers: evidence, the verdict that follows from it, and the power of the evidence."""
