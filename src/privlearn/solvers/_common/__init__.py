"""What several solvers share."""
