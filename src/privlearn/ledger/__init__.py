"""The ledger: one file that knows what was ever released about a data set, and says when to stop.

Every charge is written down before anything is released. A ledger is a privacy filter: the next
charge may be chosen after seeing what the last one released. Why it is right: `ledger.md`.
"""

from privlearn.ledger.history import Charge
from privlearn.ledger.ledger import Ledger

__all__ = ["Charge", "Ledger"]
