"""Random configurations with random pairs of neighbours; the row that differs is anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np
from sklearn.base import clone

from fuzz.rows import Facts, contained, draw_facts, draw_labels, draw_rows, targets_of
from privlearn.feature_selection import KendallSelector, SubLassoSelector
from privlearn.solvers import BoostedStatistics, OutputPerturbation, Tukey
from support import FEW, N_FEATURES, every_configuration, every_estimator, modes_for

RELATIONS = ("zero_out", "add_remove", "replace_one")
PLACES = ("front", "middle", "end")
SELECTORS = (KendallSelector, SubLassoSelector)
SIZES = (1, 2, 7, 7, 40, 40, 300)
TABLES = ("float64", "float64", "float32", "int", "list", "object", "pandas", "pandas object")
TABLES += ("pandas nullable", "polars", "csr", "csr", "fortran", "arrow")
COLUMNS = ("array", "list", "object", "pandas", "polars")


@dataclass(frozen=True, eq=False)
class Configuration:
    """An estimator and the public facts that its data are drawn around."""

    model: object
    facts: Facts
    solver: str
    classes: list | None
    story: str
    levels: tuple[float, ...] = ()

    def fresh(self):
        return clone(self.model)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbours. `row` is where they differ; `shorter` says that it is missing in `other`."""

    X: object
    y: object
    other_X: object
    other_y: object
    row: int
    shorter: bool
    story: str
    levels: dict = field(default_factory=dict)
    other_levels: dict = field(default_factory=dict)


@cache
def _modes(cls, n_classes):
    found = dict(modes_for(cls, n_classes))
    if "output" in found:
        found["output, clip"] = OutputPerturbation(epochs=1, clip=0.5)
    if "boosted" in found:
        found["boosted, clip"] = BoostedStatistics(rounds=2, clip=30.0)
    if "tukey" in found:
        found["tukey"] = Tukey(models=79)
    return found


def pick(rng, options):
    return options[int(rng.integers(len(options)))]


@cache
def _known():
    """The configurations of the audits: levels, streams, selections, everything special."""
    return every_configuration(on_invalid="drop")


def _taken(rng):
    """One of the audits' configurations, around whose facts data are drawn."""
    name, model = pick(rng, _known())
    low, high = getattr(model, "bounds_X", None) or (-2.0, 2.0)
    box = [np.array(np.broadcast_to(side, (N_FEATURES,)), dtype=float) for side in (low, high)]
    target = getattr(model, "bounds_y", None) or (-1.0, 1.0)
    facts = Facts(*box, target, getattr(model, "data_norm", None))
    classes = getattr(model, "classes", None)
    by_place = ("level" in name or "stream" in name) and model.adjacency == "add_remove"
    if by_place:  # who has which level, or comes in which batch, is told by a row's number there
        model = clone(model).set_params(adjacency="zero_out")
    return Configuration(model, facts, f"audit: {name.split('-')[0]}", classes, f"audit: {name}")


def draw_configuration(rng):
    """An estimator with a solver, a relation and declared facts, or nothing declared."""
    if rng.random() < 0.15:
        return _taken(rng)
    cls = pick(rng, [*every_estimator(), *SELECTORS])
    p, relation = int(pick(rng, (1, 2, 3, 3, 5))), pick(rng, RELATIONS)
    common = {"adjacency": relation, "on_invalid": "drop", "random_state": int(rng.integers(99))}
    common["epsilon"] = float(pick(rng, (0.1, 1.0, 1.0, 8.0)))
    if cls in SELECTORS:
        own = {"k": int(rng.integers(1, p + 1)), "delta": float(pick(rng, (0.0, 1e-6)))}
        facts = Facts(np.full(p, -3.0), np.full(p, 3.0), (-1.0, 1.0))
        story = f"{cls.__name__} p={p} {relation} {own}"
        return Configuration(cls(**own, **common), facts, cls.__name__, None, story)
    return _with_solver(rng, cls, p, common)


def _with_solver(rng, cls, p, common):
    known = cls().get_params()
    classes = draw_labels(rng) if "classes" in known else None
    name, solver = pick(rng, list(_modes(cls, len(classes or (0, 1))).items()))
    intercept = bool(rng.random() < 0.7)
    facts, declared = draw_facts(rng, p, intercept, bare=bool(rng.random() < 0.15))
    given = {key: value for key, value in declared.items() if key in known}
    if "n_components" in known:
        given |= FEW | ({"bandwidth": 1.5} if rng.random() < 0.5 else {})
        given.pop("scale_X", None)
    if classes is not None:
        given["classes"] = classes
    if name.startswith("tukey"):
        common["epsilon"] = 8.0
    delta = 0.0 if name.startswith("one-pass") and "Gauss" not in name else 1e-6
    given |= {"delta": float(pick(rng, (delta, 1e-6))), "fit_intercept": intercept}
    levels = (0.05, 0.1) if name == "one-pass" and rng.random() < 0.2 else ()
    model = cls(solver=solver, **given, **common)
    public = {key: given[key] for key in sorted(given) if key not in ("classes", "n_components")}
    story = f"{cls.__name__} solver={name} p={p} {common['adjacency']} eps={common['epsilon']}"
    story += f" {public}" + (f" classes={classes}" if classes else "")
    return Configuration(model, facts, name, classes, story, levels)


def draw_pair(rng, configuration):
    """Base data, a row, and the neighbour under the configuration's relation."""
    relation, facts = configuration.model.adjacency, configuration.facts
    n = 300 if "tukey" in configuration.solver else int(pick(rng, SIZES))
    kind, base = draw_rows(rng, facts, n, configuration.classes)
    table, column = pick(rng, TABLES), pick(rng, COLUMNS)
    place = pick(rng, PLACES)
    row = {"front": 0, "middle": n // 2, "end": n}[place]
    own = targets_of(rng, facts, configuration.classes, may_be_empty=rng.random() < 0.2)
    first = [*base[:row], own, *base[row:]]
    if relation == "add_remove":
        other, second, changed = "nothing", base, None
    else:
        empty = relation == "zero_out"
        changed = targets_of(rng, facts, configuration.classes, may_be_empty=True, must=empty)
        other, second = changed.story, [*base[:row], changed, *base[row:]]
    story = f"{n} rows ({kind}) in {table}/{column}; at the {place}: {own.story} against {other}"
    levels = _levels(rng, configuration, n, row, relation == "add_remove")
    return Pair(
        *contained(first, table, column),
        *contained(second, table, column),
        row=row,
        shorter=relation == "add_remove",
        story=story,
        **levels,
    )


def _levels(rng, configuration, n, row, shorter):
    """Everybody's own epsilon; that of the row that differs is also somebody else's."""
    if not configuration.levels or n < 4:
        return {}
    own = configuration.model.epsilon * np.array((0.2, 0.5, 1.0))
    given = np.resize(own, n + 1)
    given[row] = own[int(rng.integers(3))]
    other = np.delete(given, row) if shorter else given
    if set(other) != set(given):
        return {}
    return {"levels": {"sample_epsilon": given}, "other_levels": {"sample_epsilon": other}}
