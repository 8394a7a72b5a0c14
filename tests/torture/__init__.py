"""A torture of a study: its processes are killed again and again, and it must end with an undisturbed run's bytes.

`make torture KILLS=1000` runs it. tests/engine/test_kills.py does the same with fewer kills.
"""
