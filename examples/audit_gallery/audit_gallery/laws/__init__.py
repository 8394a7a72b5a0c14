"""Exact laws of the gallery's mechanisms. Nothing here is simulated, and no sampler is imported: each tests the other.

A law is handed on as two arrays: the probabilities of the same cells of outputs under two inputs. Where outputs are
discrete a cell is one output; elsewhere it is an interval, so that every union of cells is an event that has exactly
these probabilities.
"""
