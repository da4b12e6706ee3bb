"""A model's report for people: one page of HTML that needs nothing else, offline.

`report(path)` of every estimator writes it, and so does ``privlearn report``.
"""

from privlearn.export.report.learned import Learned
from privlearn.export.report.page import page

__all__ = ["Learned", "page"]
