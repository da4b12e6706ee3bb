"""Dual coordinate descent ("scd": Damaskinos et al. 2021)."""
