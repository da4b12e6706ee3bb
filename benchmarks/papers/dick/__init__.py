"""Dick et al. 2023: the published methods, mended ones, ours."""
