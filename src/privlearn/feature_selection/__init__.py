"""Features chosen with a privacy guarantee, as scikit-learn's selectors choose them."""

from privlearn.feature_selection.kendall_selector import KendallSelector
from privlearn.feature_selection.sub_lasso_selector import SubLassoSelector

__all__ = ["KendallSelector", "SubLassoSelector"]
