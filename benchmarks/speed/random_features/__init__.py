"""Random features, and the least arithmetic of an epoch."""
