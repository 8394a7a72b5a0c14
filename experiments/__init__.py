"""Experiments: the tables and figures that compare simulated with exact and proved values.

No module here simulates anything. An experiment module defines these functions:

- `rows(cell)` returns the row, or several rows, of a cell: simulated values with exact and proved ones.
- `report(table, console)` prints a digest.
- `figures(table)` yields (name, figure, its numbers).
- `known(rows, cells)`, which is optional, yields rows that are known without simulation.
- EXACT, BOUND and UNKNOWN, which are optional, have exact values, bounds, and reasons why there are none, by quantity.
- RELATION, which is optional, names the neighbouring relation if it differs from the run's.
"""
