"""The sets that one row's contribution to a release lies in, and how far apart two of them are.

A person of up to K rows moves a sum by at most K times as much, in every one of them (people.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = [
    "BALLOT",
    "L1",
    "L2",
    "LINF",
    "NORMS",
    "ONE_BIN",
    "ONE_MODEL",
    "OUTER",
    "UNIT_BOX",
    "Norm",
]


@dataclass(frozen=True)
class Norm:
    """The set that one row's contribution lies in.

    Attributes
    ----------
    name : str
        For certificates.
    diameter : float
        Largest distance between two contributions of a set with clip 1: what `replace_one` pays.
    exponent : float
        1, 2 or infinity: the norm in which distances are measured.
    """

    name: str
    diameter: float
    exponent: float


L2 = Norm("l2", 2.0, 2.0)
L1 = Norm("l1", 2.0, 1.0)
LINF = Norm("linf", 2.0, math.inf)
# |xx' - yy'|_F^2 = |x|^4 + |y|^4 - 2 (x'y)^2 <= 2 R^4: rank-one positive matrices never oppose.
OUTER = Norm("Frobenius norm of x x'", math.sqrt(2.0), 2.0)
# Contributions in [0, 1]^d, scaled to norm 1: no two differ by more than the corner's norm.
UNIT_BOX = Norm("l2 of a vector in the unit box", 1.0, 2.0)
# One entry of 1 in each of p histograms has norm sqrt(p); two such differ by at most sqrt(2 p).
ONE_BIN = Norm("l2 of one bin per histogram", math.sqrt(2.0), 2.0)
# Rows dealt to models: whatever happens to one row exchanges one model, under every relation.
ONE_MODEL = Norm("one of many models", 1.0, math.inf)
BALLOT = Norm("linf of one model's ballot", 1.0, math.inf)  # its zeros and ones, exchanged likewise
NORMS = {norm.name: norm for norm in (L1, L2, LINF, OUTER, UNIT_BOX, ONE_BIN, ONE_MODEL, BALLOT)}
