"""What is public about the columns of a table, by name: kinds, ranges, lists, and missing cells.

>>> from privlearn.schema import Category, Ignore, Number
>>> schema = {"age": Number(17, 90), "sex": Category(["F", "M"]), "id": Ignore()}
"""

from privlearn.schema.categories import Category
from privlearn.schema.estimate import Estimate
from privlearn.schema.kinds import Date, Flag, Ignore, Number
from privlearn.schema.max_rows import MaxRows, estimate_max_rows

__all__ = [
    "Category",
    "Date",
    "Estimate",
    "Flag",
    "Ignore",
    "MaxRows",
    "Number",
    "estimate_max_rows",
]
