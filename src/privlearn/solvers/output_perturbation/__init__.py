"""Noise on the result of gradient descent ("output": Wang and Guo 2024)."""
