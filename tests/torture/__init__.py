"""Kill what computes a study, again and again, and see that it ends with the bytes of an undisturbed run.

`make torture KILLS=1000`; tests/engine/test_kills.py does the same with fewer.
"""
