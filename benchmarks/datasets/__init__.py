"""Readers of data sets, with bounds and scales from public knowledge, and generated data."""
