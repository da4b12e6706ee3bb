"""Compiled loops that several solvers share."""
