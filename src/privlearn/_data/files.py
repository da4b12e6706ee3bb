"""Files and other rows that stay where they are, where rows in memory are needed: words for errors.

A path and the type of a container are no data, and no file is opened here.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from privlearn._data.reading import native

__all__ = ["FROM_DISK", "into_memory", "needs_memory", "refuse_files"]

READERS = {
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".txt": "read_csv",
    ".arrow": "read_feather",
    ".feather": "read_feather",
    ".xlsx": "read_excel",
    ".json": "read_json",
}
FROM_DISK = "fit reads Parquet and Arrow files from disk"


def into_memory(X: Any) -> str:  # noqa: ANN401
    """A line of Python that reads such rows into memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> into_memory(Path("people.parquet")), into_memory(b"people.csv")
    ('X = pandas.read_parquet(path)', 'X = pandas.read_csv(path)')
    """
    if isinstance(X, str | bytes | os.PathLike):
        ending = os.path.splitext(os.fsdecode(X))[1].lower()  # paths may be bytes
        return f"X = pandas.{READERS.get(ending, 'read_parquet')}(path)"
    if isinstance(X, np.memmap):
        return "X = numpy.array(X)"
    if native("pyarrow.dataset", X, "Dataset"):
        return "X = X.to_table()"
    if native("polars", X, "LazyFrame"):
        return "X = X.collect()"
    if native("dask.array", X, "Array") or native("dask.dataframe", X, "DataFrame"):
        return "X = X.compute()"
    return "X = pandas.concat(X), of batches that are data frames"


def refuse_files(X: Any) -> None:  # noqa: ANN401
    """Refuse a file's name, a path and a dataset on disk, where rows are needed."""
    kind = type(X).__name__
    if isinstance(X, str | bytes):
        raise ValueError(
            f"X is a {kind}, but rows are needed; if it is the name of a file, read it into "
            f"memory, {into_memory(X)}. A linear model's {FROM_DISK} itself: give it "
            "X = pathlib.Path(name), and y as the name of a column"
        )
    if isinstance(X, os.PathLike) or native("pyarrow.dataset", X, "Dataset"):
        raise ValueError(
            f"X is a {kind}, but rows in memory are needed here: {into_memory(X)}. Only the fit of "
            "a linear model reads rows from disk; predict can be asked about one part of them "
            "after another, such as the batches of pyarrow.dataset.dataset(path).to_batches()"
        )


def needs_memory(name: str, X: object, instead: str) -> str:
    """What to do about something that takes all rows at once, where they stay on disk."""
    return (
        f"{name} is not supported where rows stay on disk, for it needs all of them in memory: "
        f"read them first, if they fit, {into_memory(X)}, and fit that; or {instead}"
    )
