"""Training runs: what dp_accounting, opacus and jax_privacy print, beside the least and the largest epsilon."""
