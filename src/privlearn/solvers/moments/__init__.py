"""Noise on second moments ("moments")."""
