"""Kill what computes a study, again and again, and see that it ends with the bytes of an undisturbed run.

`python -m tests.torture --kills 1000` (or `make torture`); tests/test_kills.py does the same with fewer.
"""
