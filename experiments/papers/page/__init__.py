"""The page of the papers: a function of claims, evidence and verdicts."""
