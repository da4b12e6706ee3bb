"""What is public about the columns of a table, by name: kinds, ranges, lists, and missing cells.

>>> from privlearn.schema import Category, Ignore, Number
>>> schema = {"age": Number(17, 90), "sex": Category(["F", "M"]), "id": Ignore()}
"""

from privlearn.schema.kinds import Category, Date, Flag, Ignore, Number

__all__ = ["Category", "Date", "Flag", "Ignore", "Number"]
