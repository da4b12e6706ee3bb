"""Cells of a frame as texts, gaps and bins, by functions of Python, NumPy and pandas alone.

A pipeline of these can be pickled and used where privlearn is not installed.
"""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from privlearn.export.formula import NO_VALUES

__all__ = ["applied", "hashed", "is_gap", "refuses_gaps", "stripped"]

# Numbers are hashed by their values: whole ones without decimals, others without zeros at the end,
# none with zeros in front or a plus; truth values are 1 and 0.
SPELLINGS = (
    (r"^(?:True|true|TRUE)$", "1"),
    (r"^(?:False|false|FALSE)$", "0"),
    (r"^([+-]?\d*\.\d*?)0+$", r"\1"),
    (r"^([+-]?\d+)\.$", r"\1"),
    (r"^([+-]?)0+(?=\d+(?:\.\d+)?$)", r"\1"),
    (r"^([+-]?)(?=\.\d+$)", r"\g<1>0"),
    (r"^\+(?=[\d.]+$)", ""),
    (r"^-0$", "0"),
)


def applied(function: Callable[..., Any], **given: object) -> FunctionTransformer:
    """A step that applies a function."""
    return FunctionTransformer(function, kw_args=given or None)


def _each(function: Callable[..., Any]) -> FunctionTransformer:
    """A step that applies a function to every cell of a frame.

    (Functions of `np.char` cannot be pickled before NumPy 2.)
    """
    import pandas as pd

    return applied(operator.methodcaller("apply", pd.Series.map, args=(function,)))


def _texts(*functions: Callable[[str], str]) -> list[FunctionTransformer]:
    """Cells as texts, with functions of texts applied."""
    import pandas as pd

    frame = [applied(np.asarray, dtype=str), applied(pd.DataFrame)]
    return [*frame, *map(_each, functions), applied(np.asarray, dtype=str)]


def stripped() -> list[FunctionTransformer]:
    """Cells as texts, without blanks around them."""
    return _texts(str.strip)


def _gaps() -> Pipeline:
    """Whether a cell is empty, or spells a number that is not finite."""
    import pandas as pd

    words = np.array(["", *NO_VALUES])
    small = _texts(str.strip, str.lower)
    spelled = make_pipeline(*small, applied(np.isin, test_elements=words))
    either = FeatureUnion([("empty", applied(pd.isna)), ("spelled", spelled)])
    return make_pipeline(either, applied(np.any, axis=1, keepdims=True))


def is_gap() -> Pipeline:
    """1 where a cell is missing."""
    return make_pipeline(_gaps(), applied(np.asarray, dtype=np.float64))


def refuses_gaps() -> Pipeline:
    """1 where a cell is there, and an error where one is missing."""
    there = OneHotEncoder(categories=[[False]], handle_unknown="error", sparse_output=False)
    return make_pipeline(_gaps(), there)


def hashed(bins: int) -> list[Any]:
    """A column for each bin, into which a cell falls as `Category(hashed=bins)` has it."""
    import pandas as pd

    normal = [_each(partial(re.sub, pattern, text)) for pattern, text in SPELLINGS]
    place = make_pipeline(
        *stripped(),
        applied(pd.DataFrame),
        *normal,
        _each(operator.methodcaller("encode", "utf-8", "surrogatepass")),
        _each(partial(hashlib.blake2b, digest_size=8)),
        _each(operator.methodcaller("digest")),
        _each(partial(int.from_bytes, byteorder="little")),
        _each(operator.methodcaller("__mod__", bins)),
        applied(np.asarray, dtype=np.float64),
    )
    below = applied(np.dot, b=np.array([[1.0], [-float(bins)]]))  # no bin for gaps
    known = {"categories": [np.arange(float(bins))], "handle_unknown": "ignore"}
    either = FeatureUnion([("bin", place), ("gap", is_gap())])
    return [either, below, OneHotEncoder(**known, sparse_output=False)]
