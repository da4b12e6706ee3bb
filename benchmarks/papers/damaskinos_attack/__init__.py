"""Damaskinos et al. 2021: an attack on Algorithm 1's output."""
