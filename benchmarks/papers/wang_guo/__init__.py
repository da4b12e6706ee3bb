"""Wang and Guo 2024: the theorem, an attack on it, a smooth target."""
