"""The ledger: one file that knows what was ever released about a data set, and says when to stop.

Every charge is written down before anything is released. A ledger is a privacy filter: the next
charge may be chosen after seeing what the last one released. Why it is right: `ledger.md`.
"""

from privlearn.ledger.book import Ledger
from privlearn.ledger.history import Charge

__all__ = ["Charge", "Ledger"]
