"""Run by the interpreter of diffprivlib's own environment: fits from a file, scores to another.

diffprivlib 0.6.6 cannot be imported beside scikit-learn 1.8 or newer, so it gets no say in which
version the others use. Usage: python diffprivlib_fits.py task.npz scores.json
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np


def main(task: str, answer: str) -> None:
    """Fit at every epsilon and seed of the task; write versions and test scores."""
    import diffprivlib
    import sklearn
    from diffprivlib.models import LogisticRegression

    warnings.simplefilter("ignore")
    given = np.load(task)
    scores = [
        [
            LogisticRegression(epsilon=float(e), data_norm=float(given["norm"]), random_state=seed)
            .fit(given["X"], given["y"])
            .score(given["X_test"], given["y_test"])
            for seed in range(int(given["seeds"]))
        ]
        for e in given["epsilons"]
    ]
    versions = {"diffprivlib": diffprivlib.__version__, "scikit-learn": sklearn.__version__}
    Path(answer).write_text(json.dumps({"versions": versions, "scores": scores}))


if __name__ == "__main__":
    main(*sys.argv[1:])
