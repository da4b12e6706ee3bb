"""The models that the command offers, by the names it uses."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import privlearn
from privlearn.cli.errors import CommandError
from privlearn.cli.options import own_options

if TYPE_CHECKING:
    from privlearn.cli.design import Design

__all__ = ["MODELS", "Kind", "build", "build_from"]


@dataclass(frozen=True)
class Kind:
    """An estimator, what it predicts, and the options of its own."""

    estimator: str
    summary: str
    classifies: bool = False
    probabilities: bool = False
    options: tuple[str, ...] = ()


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
        probabilities=True,
        options=("C",),
    ),
    "svc": Kind(
        "LinearSVC", "a class, by the widest margin", classifies=True, options=("C", "loss")
    ),
}


def build(name: str, design: Design, own: Mapping[str, Any], **common: object) -> Any:  # noqa: ANN401
    """An unfitted estimator.

    Parameters
    ----------
    name : str
        A key of `MODELS`.
    design : Design
        Bounds and classes.
    own : mapping
        Options that only some models have; None means not given.
    **common : object
        Parameters that every estimator has.
    """
    kind = MODELS[name]
    if design.classes is not None and not kind.classifies:
        raise CommandError(
            f"--classes are labels, but --model {name} predicts a number; use "
            "--model logistic or svc, or leave them out"
        )
    given = {key: value for key, value in own.items() if value is not None}
    for key in given:
        if key not in kind.options:
            owners = [f"--model {other}" for other, k in MODELS.items() if key in k.options]
            flag = key.replace("_", "-")
            raise CommandError(f"--{flag} belongs to {' and '.join(owners)}, not to --model {name}")
    if not kind.classifies:
        given["bounds_y"] = design.target_bounds
    elif design.classes is not None:
        given["classes"] = list(design.classes)
    estimator = getattr(privlearn, kind.estimator)
    return estimator(bounds_X=design.box, data_norm=design.row_norm, **given, **common)


def build_from(args: argparse.Namespace, design: Design, **more: object) -> Any:  # noqa: ANN401
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
    common = {name: getattr(args, name) for name in ("epsilon", "delta", "adjacency", "solver")}
    return build(args.model, design, own_options(args), **common, **more)
