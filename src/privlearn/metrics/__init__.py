"""Scores of models on data about people, with a privacy guarantee and with intervals.

>>> from privlearn.metrics import evaluate
"""

from privlearn.metrics.evaluation import evaluate, plan
from privlearn.metrics.result import (
    CalibrationRow,
    CalibrationTable,
    ConfusionMatrix,
    Evaluation,
    Score,
)

__all__ = [
    "CalibrationRow",
    "CalibrationTable",
    "ConfusionMatrix",
    "Evaluation",
    "Score",
    "evaluate",
    "plan",
]
