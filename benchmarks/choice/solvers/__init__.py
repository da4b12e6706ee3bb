"""Which solver wins where: problems, fits, page and figure."""
