"""Renyi divergences: one choice of the quadrature for each noise (`choice`), and one file of integrands (`kernels`)."""
