"""Pictures of models, certificates, plans and ledgers; they need ``privlearn[plot]``.

Every function draws on the axes it is given, or on new ones, and returns them. Nothing that is
drawn depends on data beyond what was released.
"""

from privlearn.plotting.coefficients import coefficients
from privlearn.plotting.forecasts import forecast
from privlearn.plotting.ledgers import spent_budget
from privlearn.plotting.plans import budget_shares, privacy_curve

__all__ = ["budget_shares", "coefficients", "forecast", "privacy_curve", "spent_budget"]
