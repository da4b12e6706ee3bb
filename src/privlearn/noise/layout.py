"""The shape of a quantile table, which its builder and its reader must agree on.

A table has one row of ``DEGREE + 2`` numbers for each of 2 sides x (BINADES + 1) x SEGMENTS pieces;
``tables.py`` says what they mean.
"""

BINADES = 24
SEGMENTS = 32
SEGMENT_BITS = 5
DEGREE = 8
ERROR_COLUMN = DEGREE + 1
