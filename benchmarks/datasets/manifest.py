"""Data sets for benchmarks: Parquet files beside a MANIFEST.json. None of them is in the project.

They are looked for in the folder named by the environment variable PRIVLEARN_DATA, else in
`shared/data` beside the project's folder. `--fetch` downloads a few from OpenML instead.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.datasets import openml

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Table", "entry", "folder", "load", "missing", "names", "transform_target"]

VARIABLE = "PRIVLEARN_DATA"
BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True)
class Table:
    """One data set: features as a pandas frame, the target, and the split that came with it."""

    name: str
    features: pd.DataFrame
    target: np.ndarray
    split: np.ndarray | None = None

    def part(self, which: str) -> Table:
        """The rows of "train" or "test", by the split that the data set comes with."""
        if self.split is None:
            raise ValueError(f"{self.name} comes without a split; choose the rows yourself")
        rows = self.split == which
        features = self.features[rows].reset_index(drop=True)
        return Table(self.name, features, self.target[rows])


def folder() -> Path:
    """Where data sets are looked for, whether it exists or not."""
    return Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else BESIDE


def _manifest() -> dict[str, dict]:
    file = folder() / "MANIFEST.json"
    if not file.is_file():
        return {}
    return {entry["name"]: entry for entry in json.loads(file.read_text(encoding="utf-8"))}


def names() -> list[str]:
    """Data sets that are here."""
    return [name for name, found in _manifest().items() if (folder() / found["file"]).is_file()]


def entry(name: str) -> dict:
    """What the manifest says about a data set."""
    return _manifest()[name]


def missing(name: str, *, fetch: bool = False) -> str | None:
    """Why this data set cannot be loaded, or None."""
    for reader in ("pandas", "pyarrow"):
        if importlib.util.find_spec(reader) is None:
            return f"{reader} is missing, which reads data sets; pip install 'privlearn[bench]'"
    if name in names() or (fetch and name in openml.IDENTIFIERS):
        return None
    set_to = "names a folder without it" if os.environ.get(VARIABLE) else "is not set"
    remedy = "set it to a folder with MANIFEST.json and Parquet files"
    remedy += ", or try --fetch" if name in openml.IDENTIFIERS else ""
    return f"the data set {name} is not here ({VARIABLE} {set_to}; {remedy})"


def load(name: str, *, fetch: bool = False) -> Table:
    """Read a data set; a file that is not the one of the manifest is refused."""
    import pandas as pd

    if name not in names() and fetch:
        return _table(name, openml.fetch(name))
    found = entry(name)
    file = folder() / found["file"]
    if hashlib.sha256(file.read_bytes()).hexdigest() != found["sha256"]:
        raise ValueError(f"{file.name} is not the file that MANIFEST.json describes; get it anew")
    return _table(name, pd.read_parquet(file))


def _table(name: str, frame: pd.DataFrame) -> Table:
    split = frame.pop("split").to_numpy(dtype=str) if "split" in frame else None
    target = frame.pop("target").to_numpy()
    return Table(name, frame, target, split)


def transform_target(name: str, target: np.ndarray) -> np.ndarray:
    """The target as published benchmarks use it: the logarithm where the manifest says so."""
    if entry(name).get("benchmark_target_transform", "").startswith("log"):
        return np.sign(target) * np.log1p(np.abs(target))
    return target
