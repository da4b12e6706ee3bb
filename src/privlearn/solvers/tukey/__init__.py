"""Tukey's median of many small models ("tukey": Dick et al. 2023)."""
