"""Song et al. 2013: one pass of private SGD."""
