"""Attacks on every estimator, solver and relation: `make audit`."""
