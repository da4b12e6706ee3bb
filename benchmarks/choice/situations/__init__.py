"""Which solver to take, by what is known: problems, fits, page and figure."""
