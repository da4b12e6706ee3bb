"""The only source of randomness: a cryptographic generator and exact integer noise on a grid."""

from privlearn.noise.source import NoiseSource
from privlearn.noise.vectors import check_generator

__all__ = ["NoiseSource", "check_generator"]
