"""Correlated noise on the steps of a training run (matrix mechanisms): strategies, participations, privacy losses."""
