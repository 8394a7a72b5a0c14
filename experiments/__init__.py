"""What is compared and what it looks like; nothing is simulated in here.

An experiment module gives `rows(cell)`, the row of a cell with simulated beside exact and proved values, or several;
`report(table, console)`; and `figures(table)` -> (name, figure, its numbers). `known(rows, cells)`, if there is one,
gives rows that are known without simulation, and RELATION is what the neighbours are, if not those of the run.
"""
