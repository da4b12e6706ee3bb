"""Sums over rows that lie on a device: the same bits as NumPy's (integer_rows.md, device.md)."""
