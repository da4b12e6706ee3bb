"""Dual coordinate descent, and the Python loop it is timed against."""
