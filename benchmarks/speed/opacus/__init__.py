"""DP-SGD beside Opacus."""
