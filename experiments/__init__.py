"""What is compared and what it looks like; nothing is simulated in here.

An experiment module gives `reference(flat) -> DataFrame` (simulated beside exact and proved values, one row a
cell), `report(table, console)` and `figures(table)` -> (name, figure, its numbers).
"""
