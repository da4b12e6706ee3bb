"""Boosted second moments ("boosted": Dick et al. 2023)."""
