"""The judge of the papers: what evidence is, which verdict follows from it, and how much it could have told."""
