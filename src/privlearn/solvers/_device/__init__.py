"""Sums over rows that lie on a device: exact ones of integers (device.md, waves.md)."""
