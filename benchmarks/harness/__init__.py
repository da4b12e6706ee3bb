"""What every benchmark shares: components, needs, reports, figures, timings."""
