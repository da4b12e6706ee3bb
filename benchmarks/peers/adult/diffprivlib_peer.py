"""Scores of diffprivlib's logistic regression, computed in its own environment."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness.needs import python_of

__all__ = ["scores"]

SCRIPT = Path(__file__).with_name("diffprivlib_fits.py")


def scores(train: tuple, test: tuple, *, epsilons: tuple, seeds: int, data_norm: float) -> dict:
    """{"versions": ..., "scores": [[test score per seed] per epsilon]}.

    diffprivlib's data_norm is that of the features alone; it adds the intercept's 1 by itself.
    """
    with tempfile.TemporaryDirectory() as name:
        task, answer = Path(name, "task.npz"), Path(name, "scores.json")
        np.savez(
            task,
            X=train[0],
            y=train[1],
            X_test=test[0],
            y_test=test[1],
            epsilons=np.asarray(epsilons),
            seeds=seeds,
            norm=np.sqrt(data_norm**2 - 1.0),
        )
        subprocess.run([python_of("diffprivlib"), SCRIPT, task, answer], check=True)
        return json.loads(answer.read_text())
