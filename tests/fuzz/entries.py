"""Every public entry with an input of any kind: one example is one call and its verdict."""

from __future__ import annotations

import random
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from fuzz import commands, parameters
from fuzz.cells import ODD, draw_matrix, draw_targets
from fuzz.containers import column, contained
from fuzz.oracle import Witness, judge, observe, snapshot
from fuzz.planted import Pick, Secrets
from privlearn import Ledger
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency
from support import N_FEATURES

ENTRIES = {"fit": 46, "partial_fit": 8, "after": 22, "plan": 6, "map": 4, "ledger": 5, "command": 9}


class CountingLedger(Ledger):
    """A real ledger that counts."""

    charges = 0

    def charge(self, plan, dataset=None):
        super().charge(plan, dataset)
        self.charges += 1

    def __deepcopy__(self, memo):
        return self


def _entry(pick):
    place = pick.between(0, sum(ENTRIES.values()) - 1)
    for name, weight in ENTRIES.items():
        place -= weight
        if place < 0:
            pick.story.append(name)
            return name
    raise AssertionError


def example(source, only=None):
    """One example: entry, violations as (entry, kind, place, detail), outcome and story.

    Parameters
    ----------
    source : random.Random
        Makes all choices: a seeded one, or one of hypothesis, which can shrink them.
    only : str or None
        An entry, in place of any.
    """
    pick = Pick(source)
    secrets = Secrets(source.getrandbits(32))
    entry = only or _entry(pick)
    entry, found = RUNNERS[entry](pick, secrets)
    return entry, [(entry, *one) for one in found], secrets.outcome, pick.told()


def seeded_example(seed, number, only=None):
    """Example `number` of a seed, the same wherever it runs."""
    return example(random.Random(f"{seed}-{number}"), only)


# Data


def _classifies(cls):
    return "classes" in cls().get_params()


def _data(pick, secrets, cls, width=None):
    rows, p = draw_matrix(pick, secrets, width)
    values = draw_targets(pick, secrets, len(rows), _classifies(cls))
    return contained(pick, rows, p), column(pick, values)


@cache
def _fitted(cls):
    """What a good fit leaves in an estimator of three columns."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(0, 1, (40, N_FEATURES)), rng.integers(0, 2, 40)
    known = cls().get_params()
    given = {"bounds_X": (0.0, 1.0), "bounds_y": (0.0, 1.0), "n_components": 6, "k": 2}
    given = {name: value for name, value in given.items() if name in known}
    if "random_state" in known:
        given["random_state"] = 0
    model = cls(**given).fit(X, y)
    return given, {name: v for name, v in vars(model).items() if name not in model.get_params()}


def _refitted(cls, given=None):
    """A fitted estimator at the price of a dictionary."""
    own, state = _fitted(cls)
    model = cls(**(own if given is None else given))
    vars(model).update(state)
    return model


def _estimator(pick, cls):
    given = parameters.good_parameters(pick, cls)
    if pick.chance(30):
        given = parameters.spoil(pick, cls, given)
    elif "random_state" in cls().get_params() and pick.chance(50):
        given["random_state"] = pick.between(0, 9)
    return given


def _ledger(pick, given):
    """A witness, or a real ledger in a folder that goes with the example."""
    if not pick.chance(6):
        given["ledger"] = Witness()
        return None
    folder = tempfile.TemporaryDirectory(prefix="fuzz-")
    given["ledger"] = _opened(Path(folder.name) / "a.ledger", 50.0, 1e-5)
    given["dataset"] = "people"
    return folder


def _opened(path, epsilon, delta):
    """A new ledger, made in whichever way ledgers are made."""
    if hasattr(Ledger, "create"):
        Ledger.create(path, epsilon=epsilon, delta=delta)
        return CountingLedger(path)
    return CountingLedger(path, epsilon=epsilon, delta=delta)


def _in_file(folder, secrets):
    if folder is None:
        return []
    found = []
    for path in sorted(Path(folder.name).iterdir()):
        secret = secrets.found_in_bytes(path.read_bytes())
        if secret is not None:
            found.append(("quoted in the ledger's file", "", str(secret)))
    folder.cleanup()
    return found


# Runners: (entry, violations)


def _built(pick, secrets, cls):
    """An estimator, or what its making raised; parameters may be objects that refuse."""
    seen = observe(lambda: _estimator(pick, cls))
    if seen.error is not None:
        return None, judge(seen, secrets)
    return seen.result, []


def _fit(pick, secrets):
    cls = parameters.draw_class(pick)
    entry = f"{cls.__name__}.fit"
    given, found = _built(pick, secrets, cls)
    if given is None:
        return "solver object", found
    folder = _ledger(pick, given)
    model = _refitted(cls, given) if pick.chance(30) else cls(**given)
    X, y = _data(pick, secrets, cls, width=3)
    more = _more_arguments(pick, secrets, cls)
    before = snapshot(model)
    seen = observe(lambda: model.fit(X, y, **more))
    verdict = judge(
        seen,
        secrets,
        estimator=model,
        before=before,
        charges=given["ledger"].charges,
        fits=True,
        price=pick.chance(5),
        once=True,
    )
    return entry, verdict + _in_file(folder, secrets)


def _more_arguments(pick, secrets, cls):
    if pick.chance(95) or cls in parameters.SELECTORS:
        return {}
    name = pick("argument", ("sample_epsilon", "sample_weight", "groups"))
    values = {
        "ones": [1.0] * 6,
        "zeros": [0.0] * 6,
        "odd": [pick("odd", ODD)(secrets)] * 6,
        "text": "x",
        "number": 1.0,
        "two": np.ones((6, 2)),
    }
    return {name: pick("argument's value", values)}


def _partial_fit(pick, secrets):
    streaming = [c for c in parameters.every_estimator() if hasattr(c, "partial_fit")]
    cls = pick("estimator", {c.__name__: c for c in streaming})
    given, found = _built(pick, secrets, cls)
    if given is None:
        return "solver object", found
    if pick.chance(80):
        given["solver"] = "one-pass"
    folder = _ledger(pick, given)
    model, found, released = cls(**given), [], set()
    for batch in range(pick.between(1, 3)):
        if batch:
            model = _changed_on_the_way(pick, model)
        ledger = model.ledger
        charged = ledger.charges
        X, y = _data(pick, secrets, cls, width=3)
        more = {"classes": [0, 1]} if _classifies(cls) and pick.chance(70) else {}
        before = snapshot(model)
        seen = observe(lambda model=model, X=X, y=y, m=more: model.partial_fit(X, y, **m))
        charges = ledger.charges - charged
        found += judge(seen, secrets, estimator=model, before=before, charges=charges, fits=True)
        if seen.error is None:
            released.add(ledger)
    found += [("released without a charge", "", "") for one in released if not one.charges]
    return f"{cls.__name__}.partial_fit", found + _in_file(folder, secrets)


def _changed_on_the_way(pick, model):
    """The model, now and then with another ledger than the stream was charged to."""
    if pick.chance(15):
        pick.story.append("another ledger")
        model.set_params(ledger=Witness())
    return model


AFTER = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score")
AFTER += ("transform", "inverse_transform", "get_feature_names_out", "fit_transform")


def _after(pick, secrets):
    cls = parameters.draw_class(pick)
    model = _refitted(cls)
    method = pick("method", [name for name in AFTER if hasattr(model, name)])
    if pick.chance(5):
        model = cls()
    X, y = _data(pick, secrets, cls, width=3)
    both = method in ("score", "fit_transform")
    before = snapshot(model) if method != "fit_transform" else None
    seen = observe(lambda: getattr(model, method)(X, y) if both else getattr(model, method)(X))
    estimator = model if before is not None else None
    return f"{cls.__name__}.{method}", judge(seen, secrets, estimator=estimator, before=before)


def _plan(pick, secrets):
    cls = parameters.draw_class(pick)
    given, found = _built(pick, secrets, cls)
    if given is None:
        return "solver object", found
    numbers = {"n": pick("n", parameters.ANYTHING | {"100": 100})}
    numbers["n_features"] = pick("n_features", parameters.ANYTHING | {"3": 3, "5": 5})
    if pick.chance(60):
        numbers |= {"n": 100, "n_features": 3}
    model = cls(**given)
    before = snapshot(model)
    seen = observe(lambda: str(model.plan(**numbers)))
    return f"{cls.__name__}.plan", judge(seen, secrets, estimator=model, before=before)


def _map(pick, secrets):
    cls = pick("map", {c.__name__: c for c in parameters.MAPS})
    given = dict(parameters.SIZE)
    if pick.chance(30):
        small = {k: v for k, v in parameters.ANYTHING.items() if k not in ("1e12",)}
        given |= {pick("parameter", list(cls(6).get_params())): pick("value", small)}
    model = cls(**given)
    rows, p = draw_matrix(pick, secrets)
    X = contained(pick, rows, p)
    before = snapshot(model)
    method = pick("method", ("fit", "fit_transform", "transform"))
    if method == "transform" and pick.chance(80):
        model = cls(6).fit(np.zeros((1, p)))
        before = snapshot(model)
    seen = observe(lambda: getattr(model, method)(X))
    estimator = None if method == "fit_transform" else model  # its first half may succeed
    return f"{cls.__name__}.{method}", judge(seen, secrets, estimator=estimator, before=before)


def _some_plan(pick):
    clip = pick("clip", (1.0, 1e-300, 1e300))
    scale = pick("scale", (5.0, 1e-6, 1e6))
    release = Release("sum", (3,), clip=clip)
    return Plan((release,), Adjacency(pick("relation", parameters.RELATIONS)), scale=scale)


def _book(pick, secrets):
    """The ledger's methods with arguments of any kind; a data set's name is public."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / "a.ledger"
        method = pick("method", ("create", "charge", "spent", "remaining", "history", "dataset"))
        odd = {"plan": None} | parameters.ANYTHING
        name = "people" if pick.chance(40) else pick("name", odd)
        call = _ledger_call(pick, path, method, name)
        seen = observe(call)
        return f"Ledger.{method}", judge(seen, secrets)


def _ledger_call(pick, path, method, name):
    if method == "create":
        epsilon, delta = pick("epsilon", parameters.ANYTHING), pick("delta", parameters.ANYTHING)
        where = (
            path if pick.chance(70) else pick("path", parameters.ANYTHING | {"folder": path.parent})
        )
        if not isinstance(where, Path):
            where = where if not isinstance(where, str | bytes) else path
        create = getattr(Ledger, "create", Ledger)
        return lambda: create(where, epsilon=epsilon, delta=delta)
    ledger = _opened(path, 2.0, 1e-6)
    if method == "charge":
        plan = _some_plan(pick) if pick.chance(70) else pick("plan", parameters.ANYTHING)
        return lambda: ledger.charge(plan, name)
    if method == "dataset":
        return lambda: ledger.dataset(name).__enter__()
    return lambda: getattr(ledger, method)(name)


RUNNERS = {
    "fit": _fit,
    "partial_fit": _partial_fit,
    "after": _after,
    "plan": _plan,
    "map": _map,
    "ledger": _book,
    "command": commands.run_command,
}
