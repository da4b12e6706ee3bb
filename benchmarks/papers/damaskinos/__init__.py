"""Damaskinos et al. 2021: the published algorithms, ours, and their excess."""
