"""One pass over disjoint batches ("one-pass": Song et al. 2013)."""
