"""The only source of randomness: a cryptographic generator and exact integer noise on a grid."""

from privlearn.noise.source import NoiseSource

__all__ = ["NoiseSource"]
