"""Proximal coordinate descent ("cd": Mangold et al. 2022)."""
