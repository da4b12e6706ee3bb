"""Figures of a report: SVG for a wide and for a narrow screen, with a description in words."""
