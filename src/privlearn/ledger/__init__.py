"""The ledger: one file that knows what was ever released about a data set, and says when to stop.

Every charge is written down before anything is released. The price of a data set is the composition
of all its charges, never a sum of epsilons. Why the bookkeeping is right: `ledger.md`.
"""

from privlearn.ledger.book import Ledger
from privlearn.ledger.history import Charge

__all__ = ["Charge", "Ledger"]
