"""`privlearn plan`: what a fit would release and how noisy it would be, before any data."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from privlearn._core.budget import budget_of, warn_of_epsilon
from privlearn._core.harmless import harmless, json_text
from privlearn.cli import options
from privlearn.cli.design import Design, design
from privlearn.cli.dialect import Dialect, add_dialect
from privlearn.cli.errors import CommandError
from privlearn.cli.models import MODELS, build, heading
from privlearn.cli.notices import plain_warnings
from privlearn.cli.people import add_person, demand_most, facts_of_others, refuse_as_feature
from privlearn.cli.schema import Facts
from privlearn.cli.tables import open_source
from privlearn.cli.template import template
from privlearn.private_bounds.summary import what_is_estimated
from privlearn.schema import Ignore

if TYPE_CHECKING:
    from privlearn._core.plan import Plan

__all__ = ["add_options", "run"]

MOST_FEATURES = 1_000_000

EXAMPLE = """\
examples:
  how noisy would a model of 8 columns and 10,000 people be, with all ranges estimated privately?
    privlearn plan --rows 10000 --features 8 --epsilon 1
  with ranges that are known: narrower ones are looked for inside them (15 % of the budget, and 10 %
  or more for a target of numbers; not with --solver cd); noise is told in the columns' own units
    privlearn plan --rows 10000 --schema schema.toml --epsilon 1
  how large must epsilon be for predictions that vary by at most 5 % of the target's spread?
    privlearn plan --rows 10000 --features 8 --for-error 0.05
  a schema file to fill in; it holds column names and nothing else from the data
    privlearn plan --template people.csv --target wage > schema.toml
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.description = (
        "Show what a fit would release, what it would cost and how large the noise "
        "would be. Nothing is released and no privacy is spent."
    )
    parser.epilog = EXAMPLE
    parser.usage = (
        "privlearn plan --epsilon E --rows N (--features P | public metadata) [options]\n"
        "       privlearn plan --for-error X --rows N (--features P | public metadata) [options]\n"
        "       privlearn plan --template DATA --target COLUMN"
    )
    add = parser.add_argument
    add("--rows", type=options.count, metavar="N", help="number of people")
    add(
        "--features",
        type=options.count,
        metavar="P",
        help="number of columns, if there is no schema",
    )
    add(
        "--for-error",
        type=options.positive,
        metavar="X",
        help="in place of --epsilon: the smallest one whose forecast error of a prediction is at "
        "most X, relative to the target's standard deviation (of labels: of their probability)",
    )
    add(
        "--share-of-rarer-class",
        type=options.number,
        metavar="SHARE",
        help="of labels: part of all rows that are of the rarest class, such as 0.04, from public "
        "knowledge; errors are then relative to the standard deviation of such a label",
    )
    add("--json", action="store_true", help="the plan as JSON, and nothing else")
    add("--target", metavar="COLUMN", help="the column to predict")
    add(
        "--columns",
        type=options.names,
        metavar="A,B,...",
        help="predict from these (default: all others)",
    )
    add(
        "--template", metavar="DATA", help="print a schema file to fill in for this file, then stop"
    )
    add_person(parser)
    add_dialect(parser)
    options.add_model(parser)
    options.add_budget(parser, required=False)
    options.add_facts(parser)


def run(args: argparse.Namespace) -> int:
    """Print the plan, or a template of a schema file."""
    if args.template is not None:
        return _template(args)
    _check_budget(args)
    facts = _facts(args)
    chosen = _design(args, facts, MODELS[args.model].classifies)
    head = heading(args.model, facts.target, chosen.classes, method=True)  # as `fit` tells it
    if args.for_error is not None:
        args.epsilon = _epsilon_for(args, chosen)
        of = _unit_of_error(args)
        head += f"\nan error of {args.for_error:g}{of} needs epsilon = {args.epsilon:g}\n"
    with plain_warnings():
        warn_of_epsilon(budget_of(args.epsilon, args.delta))  # as the fit would
        plan = _plan(args, chosen)
    if args.json:
        print(json_text(_as_values(args, chosen, plan)))
        return 0
    print(f"{head}\n{plan}")
    print(f"  cost        epsilon = {plan.epsilon(args.delta):.6g} at delta = {args.delta:g}")
    _explain(args, chosen, plan)
    return 0


def _facts(args: argparse.Namespace) -> Facts:
    """What is known of columns to predict from; the column of ids is none."""
    facts = options.gather_facts(args, default_target="target")
    demand_most(args)
    refuse_as_feature(args.person, facts)
    return facts_of_others(facts, args.person)


def _as_values(args: argparse.Namespace, chosen: Design, plan: Plan) -> dict[str, Any]:
    """The plan as plain values; coefficients' noise is in the columns' own units."""
    from privlearn._core.certificate import Certificate

    whole = Certificate(plan, budget_of(args.epsilon, args.delta), private=True, made={}).to_dict()
    kept = ("epsilon", "delta", "spent_epsilon", "adjacency", "unit", "rows", "releases")
    found = {name: whole[name] for name in (*kept, "assumptions", "paper")}
    found |= {"model": args.model, "solver": plan.solver, "features": chosen.n_features}
    outlook = plan.outlook
    if outlook is None:
        return found | {"forecast": None}
    numbers = {"prediction": outlook.prediction, "relative": outlook.relative, "kept": outlook.kept}
    plain = {name: None if value != value else float(value) for name, value in numbers.items()}
    plain["share_of_rarer_class"] = args.share_of_rarer_class
    return found | {"forecast": plain | {"unit": outlook.unit, "withheld": outlook.withheld}}


def _check_budget(args: argparse.Namespace) -> None:
    if args.epsilon is not None and args.for_error is not None:
        raise CommandError("give --epsilon, or --for-error to look for one, but not both")
    if args.for_error is not None and args.rows is None:
        raise CommandError("--for-error needs the number of people: add --rows N")
    if args.epsilon is None and args.for_error is None:
        raise CommandError("how private shall it be? Add --epsilon 1 (smaller is more private)")


def _epsilon_for(args: argparse.Namespace, chosen: Design) -> float:
    """The smallest epsilon that will do; a plan for any epsilon can tell it."""
    args.epsilon = 1.0
    with plain_warnings(show=False):
        plan = _plan(args, chosen)
    return plan.for_accuracy(args.for_error)


def _plan(args: argparse.Namespace, chosen: Design) -> Plan:
    """What the estimator plans, with what is known of classes."""
    share = args.share_of_rarer_class
    known = {} if share is None else {"share_of_rarer_class": share}
    if known and not MODELS[args.model].classifies:
        raise CommandError(
            f"--share-of-rarer-class is about labels, but --model {args.model} predicts a number; "
            "add --model logistic, or leave it out"
        )
    return build(args, chosen).plan(n=args.rows, n_features=_columns(args, chosen), **known)


def _unit_of_error(args: argparse.Namespace) -> str:
    """What the wanted error is relative to, where it is not the target's standard deviation."""
    if not MODELS[args.model].classifies or args.model == "svc":
        return ""
    if args.share_of_rarer_class is None:
        points = f"{100 * args.for_error:g} points of the probability"
        return f" ({points}, which must be few beside the share of the rarer class)"
    return " of a label's standard deviation"


def _columns(args: argparse.Namespace, chosen: Design) -> int:
    """How many columns the estimator will see."""
    return chosen.n_features if MODELS[args.model].mapped else len(chosen.columns)


def _template(args: argparse.Namespace) -> int:
    source = open_source(args.template, Dialect.of(args))
    classifies = MODELS[args.model].classifies
    print(template(source.names, args.target, args.template, classifies=classifies), end="")
    return 0


def _design(args: argparse.Namespace, facts: Facts, classifies: bool) -> Design:
    """Columns from facts, or as many as --features says."""
    target = facts.target or "target"
    kinds = facts.kinds.items()
    known = [name for name, kind in kinds if name != target and not isinstance(kind, Ignore)]
    known += facts.columns or ()
    if args.features is not None:
        if known:
            raise CommandError("give --features, or a schema, but not both")
        if args.delta == 0:
            raise CommandError(
                "--delta 0 leaves no way to estimate ranges privately, so the columns must be "
                "known: give "
                "--schema or --bounds instead of --features, or --delta 1e-6"
            )
        if args.features > MOST_FEATURES:
            raise CommandError(f"--features {args.features:,} is too many; {MOST_FEATURES:,} work")
        known = [f"column {place}" for place in range(1, args.features + 1)]
    if not known:
        raise CommandError("how many columns? Add --features P, --columns A,B,... or --schema FILE")
    return design(
        list(dict.fromkeys([*known, *facts.schema, target])),
        replace(facts, target=target),
        where="the schema",
        classifies=classifies,
        estimates=args.delta > 0,
        mapped=MODELS[args.model].mapped,
    )


def _inside_alone(args: argparse.Namespace, chosen: Design) -> bool:
    """Whether ranges are estimated for no other reason than that "auto" looks inside declared."""
    pending = chosen.unlimited or chosen.encoding.pending
    target = chosen.classifies or chosen.target_bounds is not None
    automatic = args.solver == "auto" and not MODELS[args.model].mapped
    return automatic and target and not pending


def _explain(args: argparse.Namespace, chosen: Design, plan: Plan) -> None:
    """Say what the numbers mean, with the noise per column where ranges are known."""
    estimated = what_is_estimated(plan)
    if estimated is not None:
        print(f"\n{estimated}")
        print("Declared ranges are limits: what is estimated lies inside, and so do new values.")
        if _inside_alone(args, chosen):
            print(
                "To take them as they are, for nothing, but at the risk that wide ranges hide what"
            )
            print(f"columns tell, name the solver: --solver {plan.solver}.")
    if args.rows is None:
        print("\nAdd --rows N to see how large the noise would be.")
    unknown = chosen.unlimited or chosen.encoding.pending or MODELS[args.model].mapped
    if args.rows is None or unknown or plan.outlook is None:
        return
    print("\nThe plan sees columns with bounds scaled to 0..1, and one column per category.")
    if args.intervals:
        print("\nHow large standard errors will be depends on how columns go together, and of rare")
        print(
            "categories and classes on how rare they are: no public fact tells. Coefficients of a"
        )
        print("fit with intervals are shrunk by no noise, and 1.5 to 4 times as noisy as without.")
        return
    print("\nNoise to expect on each coefficient, in the column's own units, if columns filled")
    print("their ranges and were independent. Columns with long tails and those that go together")
    print("get more, a hundred times as much in places: the forecast above is what to choose by.")
    _, size = chosen.encoding.units
    noise = plan.outlook.coefficient / size
    for column, part in chosen.encoding.parts():
        told = zip(column.features, noise[part], strict=True)
        for name, own in [(column.name, noise[part].max())] if column.is_list else told:
            print(f"  {harmless(name, 'terminal'):<20} {float(own):.3g}")
