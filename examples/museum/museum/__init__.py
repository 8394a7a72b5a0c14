"""Privacy bugs that were shipped, and the audits that find them from outputs alone."""
