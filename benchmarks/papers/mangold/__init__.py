"""Mangold et al. 2022: five problems by coordinate descent."""
