"""The models that the command offers, by the names it uses."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import privlearn
from privlearn._core.harmless import harmless
from privlearn.cli.errors import CommandError

if TYPE_CHECKING:
    from privlearn.cli.design import Design
    from privlearn.linear_model.base import PrivateEstimator
    from privlearn.schema.encoding import EncodedRows
    from privlearn.schema.raw import RawRows

__all__ = ["MODELS", "Kind", "build", "estimator_rows", "heading"]

OWN = ("alpha", "l1_ratio", "C", "loss")  # options that belong to some models only


@dataclass(frozen=True)
class Kind:
    """An estimator, what it predicts, and the options of its own."""

    estimator: str
    summary: str
    classifies: bool = False
    mapped: bool = False  # whether a map computes features, so that columns are encoded before
    options: tuple[str, ...] = ()

    def estimator_class(self) -> type[PrivateEstimator]:
        """The estimator's class; looked up late, so that help is quick."""
        found: type[PrivateEstimator] = getattr(privlearn, self.estimator)
        return found


MODELS = {
    "linear": Kind("LinearRegression", "a number, by least squares"),
    "ridge": Kind("Ridge", "a number, by least squares with a penalty", options=("alpha",)),
    "lasso": Kind("Lasso", "a number, from the columns that matter most", options=("alpha",)),
    "elastic-net": Kind(
        "ElasticNet", "a number, between ridge and lasso", options=("alpha", "l1_ratio")
    ),
    "huber": Kind("HuberRegressor", "a number, when some rows are far off", options=("alpha",)),
    "poisson": Kind("PoissonRegressor", "a count, such as visits per year", options=("alpha",)),
    "logistic": Kind(
        "LogisticRegression",
        "a class, such as yes or no, with probabilities",
        classifies=True,
        options=("C",),
    ),
    "svc": Kind(
        "LinearSVC", "a class, by the widest margin", classifies=True, options=("C", "loss")
    ),
    "kernel": Kind("KernelRegressor", "a number, by a curve", mapped=True, options=("alpha",)),
    "kernel-classifier": Kind(
        "KernelClassifier",
        "a class, with curved borders and probabilities",
        classifies=True,
        mapped=True,
        options=("C",),
    ),
}


def heading(
    name: str, target: str | None, classes: Sequence[str] | None, *, method: bool = False
) -> str:
    """What a model is, and of what: of two classes it is one of the second in sorted order.

    Examples
    --------
    >>> heading("logistic", "readmitted", ["yes", "no"])
    'logistic model of readmitted = yes'
    >>> heading("linear", "wage", None, method=True)
    'linear model (least squares) of wage'
    """
    how = " (least squares)" if method and name == "linear" else ""
    if target is None:
        return f"{name} model{how}"
    what = harmless(target, "terminal")
    if classes is not None and len(classes) == 2:
        what += f" = {harmless(max(classes), 'terminal')}"
    return f"{name} model{how} of {what}"


def build(args: argparse.Namespace, design: Design, **more: object) -> PrivateEstimator:
    """An unfitted estimator as the options of a command say.

    Parameters
    ----------
    args : argparse.Namespace
        With the options of models and of the budget.
    design : Design
        Bounds and classes.
    **more : object
        Further parameters that every estimator has.
    """
    kind = MODELS[args.model]
    if design.classes is not None and not kind.classifies:
        raise CommandError(
            f"--classes are labels, but --model {args.model} predicts a number; use "
            "--model logistic or svc, or leave them out"
        )
    given: dict[str, Any] = {key: value for key in OWN if (value := getattr(args, key)) is not None}
    for key in given:
        if key not in kind.options:
            owners = [f"--model {other}" for other, k in MODELS.items() if key in k.options]
            flag, these = key.replace("_", "-"), " and ".join(owners)
            raise CommandError(f"--{flag} belongs to {these}, not to --model {args.model}")
    if args.intervals:
        given["intervals"] = _with_intervals(args.model)
        if args.model == "poisson":  # its usual penalty is what rate ratios would be about
            given.setdefault("alpha", 0.0)
    if not kind.classifies:
        given["bounds_y"] = design.target_bounds
    elif design.classes is not None:
        given["classes"] = list(design.classes)
    given |= {name: getattr(args, name) for name in ("epsilon", "delta", "adjacency", "solver")}
    given["max_rows_per_person"] = args.max_rows
    given |= _facts(kind, design) | more
    if kind.mapped and design.encoding.drops:  # rows that the schema makes empty ones
        given["on_invalid"] = "drop"
    return kind.estimator_class()(data_norm=design.data_norm, **given)


def _with_intervals(name: str) -> bool:
    """True for models that tell standard errors; of others, which ones do."""
    able = [other for other, k in MODELS.items() if hasattr(k.estimator_class(), "intervals")]
    if name in able:
        return True
    models = " and ".join(f"--model {other}" for other in able)
    raise CommandError(f"--intervals belongs to {models}, not to --model {name}")


def _facts(kind: Kind, design: Design) -> dict[str, Any]:
    """What an estimator is told about columns: their kinds, or a box of what they are encoded as.

    A box is given as a whole: where a range is missing, all are estimated.
    """
    if not kind.mapped:
        return {"schema": design.schema}
    box = design.encoding.box()
    return {"bounds_X": box if all(np.isfinite(end).all() for end in box) else None}


def estimator_rows(
    name: str, design: Design, X: EncodedRows | RawRows
) -> EncodedRows | RawRows | NDArray[np.float64]:
    """Rows that were read, as the estimator takes them."""
    if design.encoding.pending:
        return X
    if MODELS[name].mapped:
        return design.encoding.scaled(X.features(design.encoding))
    return X  # with the names of the columns, by which warnings and tables speak of them
