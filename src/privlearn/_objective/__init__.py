"""Losses and penalties: what a model minimises."""
