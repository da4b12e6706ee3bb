"""How the numbers of rules were chosen: `python -m benchmarks.derive`, on generated data only."""
