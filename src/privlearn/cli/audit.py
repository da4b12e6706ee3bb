"""`privlearn audit`: try to prove a configuration's promise wrong, on data made for it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from privlearn.cli.design import design
from privlearn.cli.models import MODELS, build
from privlearn.cli.notices import plain_warnings
from privlearn.cli.options import add_budget, add_model, count
from privlearn.cli.schema import Facts

if TYPE_CHECKING:
    from privlearn.audit import BlackBox, WhiteBox
    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["add_options", "run"]

EXAMPLE = """\
examples:
  does the default keep its promise?
    privlearn audit --epsilon 1
  another model and adjacency, and 2,000 fits on each side for the black box
    privlearn audit --model logistic --adjacency replace_one --epsilon 1 --black-box 2000
"""
MEANING = """
What this means: nothing above the promise was found. That is evidence, and no proof: an audit can
only refute. The proofs are beside the solvers; docs/audits.md says what each number shows."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.description = (
        "Try to prove the promise of a configuration wrong. All data are made here; "
        "yours are neither needed nor read, and nothing is charged."
    )
    parser.epilog = EXAMPLE
    parser.add_argument(
        "--features", type=count, default=3, metavar="P", help="number of columns (default: 3)"
    )
    add_model(parser)
    add_budget(parser)
    add = parser.add_argument_group("audit").add_argument
    add(
        "--black-box",
        type=count,
        metavar="N",
        help="also attack the published models alone, with N fits on each side",
    )
    add(
        "--no-checks",
        action="store_true",
        help="leave out the checks of plan, ledger, sampling and noise, which take longest",
    )
    add("--seed", type=int, default=0, help="of the generated data (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Say what was promised and measured; status 1 when something is above its promise."""
    with plain_warnings(show=False):  # attacks have few rows on purpose
        return _audit(args, _model(args))


def _audit(args: argparse.Namespace, model: PrivateEstimator) -> int:
    from privlearn import audit

    plan = model.plan(n=400, n_features=args.features)
    print(f"Audit of {type(model).__name__}, {args.features} columns in [0, 1], {args.adjacency}")
    print(f"promised    epsilon = {args.epsilon:g} at delta = {args.delta:g}")
    what = "rows" if args.max_rows is None else f"people of up to {args.max_rows} rows"
    print(f"planned     epsilon = {plan.epsilon(args.delta):.6g}, for 400 {what}", flush=True)
    try:
        for check in () if args.no_checks else audit.CHECKS:
            check(model, n_features=args.features, seed=args.seed)
            print(f"passed      {check.__name__}", flush=True)
        _tell_white(audit.white_box(model, n_features=args.features, seed=args.seed))
        if args.black_box is not None:
            found = audit.black_box(model, n_features=args.features, fits=args.black_box)
            _tell_black(found)
    except audit.AuditFailure as failure:
        print(f"BROKEN      {failure}")
        return 1
    print(MEANING)
    return 0


def _tell_white(found: WhiteBox) -> None:
    for name in found.uncovered:
        print(f"NOT COVERED {name}: it has no density here, so the white box measured nothing")
    if found.uncovered:
        return
    print(
        f"white box   whoever sees every release learns {found.unit} = {found.measured:.4g} about "
        f"the strongest row found;\n            {found.planned:.4g} is planned ({found.ratio:.0%})"
    )


def _tell_black(found: BlackBox) -> None:
    print(
        f"black box   {found.fits:,} models on each side prove epsilon >= "
        f"{found.bound.epsilon:.4g} at delta = {found.delta:g}"
    )
    if found.mu is not None:
        print(f"            and mu >= {found.bound.mu:.4g}; {found.mu:.4g} is planned")
    print(f"            (confidence {found.bound.confidence:.0%} each)")


def _model(args: argparse.Namespace) -> PrivateEstimator:
    """The estimator that `fit` would build, for columns in [0, 1]."""
    names = [f"column {place}" for place in range(1, args.features + 1)]
    classifies = MODELS[args.model].classifies
    known = {name: (0.0, 1.0) for name in ([*names] if classifies else [*names, "target"])}
    chosen = design(
        [*names, "target"],
        Facts(bounds=known, target="target"),
        where="the audit",
        classifies=classifies,
    )
    # Attacks are arrays, and for these columns the same without a schema: [0, 1] stays as it is.
    model = build(args, chosen).set_params(schema=None, bounds_X=(0.0, 1.0))
    return model.set_params(classes=[0, 1]) if classifies else model
