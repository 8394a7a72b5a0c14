"""Exact laws of the gallery's mechanisms. No sampler is imported here, so laws and samplers test each other.

A law is given as two arrays: the probabilities of the same cells of outputs under two inputs. A cell of discrete
outputs is one output, and a cell of other outputs is an interval. So every union of cells is an event with exactly
these probabilities.
"""
