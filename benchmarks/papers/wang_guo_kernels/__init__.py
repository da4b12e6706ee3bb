"""Wang and Guo 2024: kernel regression with random features."""
