"""Certificates as files: a schema, a way back, and numbers that cannot be changed unnoticed."""

import copy
import json
import math
from importlib.resources import files

import pytest

from privlearn import LinearRegression, LogisticRegression, Ridge
from privlearn._core import norms
from privlearn._core.certificate import Certificate
from privlearn._core.certificate_check import check_certificate
from privlearn._core.certificate_file import (
    _MECHANISMS,
    _SAMPLINGS,
    FORMAT,
    KEYS,
    OPTIONAL_KEYS,
    RELEASE_KEYS,
)
from privlearn._core.norms import BALLOT, NORMS, UNIT_BOX, Norm
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency, Budget
from privlearn.feature_selection import KendallSelector, SubLassoSelector
from privlearn.model_selection import PrivateSearchCV
from privlearn.solvers import SGD, CoordinateDescent, OnePassSGD, OutputPerturbation, Tukey
from support import N_FEATURES, every_configuration, regression

SCHEMA = json.loads(
    files("privlearn").joinpath("_core", "schemas", "certificate.json").read_text("utf-8")
)
BOX = {"bounds_X": (-1.0, 1.0), "bounds_y": (-1.0, 1.0)}


def validator():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return jsonschema.Draft202012Validator(SCHEMA)


def planned(model, n=1_500, n_features=N_FEATURES):
    """The certificate that a fit would issue, without one."""
    plan = model.plan(n=n, n_features=n_features)
    made = {release.name: release.count for release in plan.releases}
    return Certificate(plan, Budget(model.epsilon, model.delta), model.random_state is None, made)


def check_file(certificate, schema, second_opinion):
    """Written, valid, read, written again, and computed again from the file alone."""
    content = json.loads(certificate.to_json())
    schema.validate(content)
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.to_dict() == content
    assert check_certificate(content, second_opinion=second_opinion).problems == ()
    return content


# The way there and back


def test_some_configurations():
    """The first of every solver, with an estimator of its own where that changes the plan."""
    schema, met, seen = validator(), set(), set()
    for name, model in every_configuration():
        estimated = "estimated" in name or "declared" in name
        kind = (repr(model.solver), type(model).__module__ == "support", estimated)
        if kind in seen:
            continue
        seen.add(kind)
        content = check_file(planned(model), schema, second_opinion=False)
        for each in content["releases"]:
            own = each["declared"]
            met |= {own["mechanism"]["kind"], own["sampling"]["kind"], each["norm"]}
    # That of selectors, two that nobody uses, and that of lists (tests/schema/test_discovery.py).
    elsewhere = {BALLOT.name, "l1", UNIT_BOX.name, "frequent"}
    elsewhere |= {"tries", "parts"}  # of searches, below
    assert {*_MECHANISMS, *_SAMPLINGS, *NORMS} - elsewhere <= met


@pytest.mark.slow
def test_every_configuration():
    schema = validator()
    for k, (_, model) in enumerate(every_configuration()):
        check_file(planned(model), schema, second_opinion=k % 8 == 0)


@pytest.mark.parametrize("selector", [KendallSelector(k=2), SubLassoSelector(k=2, models=20)])
@pytest.mark.parametrize("relation", ["zero_out", "replace_one"])
def test_selectors(selector, relation):
    X, y = regression(200)
    model = type(selector)(**selector.get_params() | {"adjacency": relation, "random_state": 1})
    check_file(model.fit(X, y).privacy_, validator(), second_opinion=False)


@pytest.mark.parametrize("solver", ["cd", "moments"])
def test_searches(solver):
    X, y = regression(200)
    model = Ridge(bounds_X=(-1, 1), bounds_y=(-1, 1), solver=solver)
    search = PrivateSearchCV(model, {"alpha": [1.0, 2.0]}, epsilon=20.0, random_state=1)
    content = check_file(search.fit(X, y).privacy_, validator(), second_opinion=False)
    kind = content["releases"][0]["declared"]["mechanism"]["kind"]
    assert kind == ("parts" if solver == "moments" else "tries")


def test_tries_beyond_the_proof_are_refused():
    """A file may not say that a try hides more than it does."""
    search = PrivateSearchCV(Ridge(bounds_y=(0, 1)), {"alpha": [1.0, 2.0]}, epsilon=1.0)
    made = Certificate(search.plan(200), Budget(1.0, 1e-6), private=True, made={})
    content = json.loads(made.to_json())
    content["releases"][0]["declared"]["mechanism"]["pivot"] *= 0.5
    with pytest.raises(ValueError, match="pivot_delta"):
        Certificate.from_dict(content)


def test_a_seed_and_an_unfinished_fit_come_back():
    plan = Plan((Release("sum", (3,), clip=1.0, count=5),), Adjacency.ZERO_OUT, scale=12.0)
    certificate = Certificate(plan, Budget(1.0, 1e-6), private=False, made={"sum": 2})
    content = check_file(certificate, validator(), second_opinion=False)
    assert not Certificate.from_dict(content).private
    assert content["releases"][0]["released"] == 2


def test_every_norm_is_known():
    found = {value for value in vars(norms).values() if isinstance(value, Norm)}
    assert found == set(NORMS.values())


def test_schema_and_reader_ask_for_the_same_fields():
    assert set(SCHEMA["required"]) == set(KEYS)
    assert set(SCHEMA["properties"]) == {*KEYS, *OPTIONAL_KEYS}
    assert set(SCHEMA["$defs"]["release"]["required"]) == set(RELEASE_KEYS)
    listed = SCHEMA["$defs"]["release"]["properties"]["declared"]["properties"]
    for key, kinds in (("mechanism", _MECHANISMS), ("sampling", _SAMPLINGS)):
        assert [each["properties"]["kind"]["const"] for each in listed[key]["oneOf"]] == [*kinds]
    assert SCHEMA["properties"]["format"]["const"] == FORMAT


# What is refused

EXAMPLE = planned(LinearRegression(solver="moments", **BOX)).to_dict()


def changed(content, path, value):
    """A copy with another value at a path; a missing one for `...`."""
    content = copy.deepcopy(content)
    place = content
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return content


def paths(content, path=()):
    """Every place in nested objects and lists."""
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in items:
        yield (*path, key), value
        if isinstance(value, dict | list):
            yield from paths(value, (*path, key))


def objects(content):
    return [p for p, _ in paths(content) if isinstance(p[-1], str)]


@pytest.mark.parametrize("path", objects(EXAMPLE), ids=lambda path: ".".join(map(str, path)))
def test_no_field_can_be_missing_or_of_another_kind(path):
    """The reader, written by hand, and the schema agree."""
    schema = validator()
    for wrong in (..., object, [[]], {"a": 1}, "1.0", True):
        if wrong is object:
            content = changed(EXAMPLE, (*path[:-1], f"{path[-1]}s"), 1)
        else:
            content = changed(EXAMPLE, path, wrong)
        if content == EXAMPLE or (wrong == "1.0" and type(value_at(EXAMPLE, path)) is str):
            continue  # another text is for the recomputation to find
        assert not schema.is_valid(content), wrong
        assert not holds(content), wrong


def value_at(content, path):
    for key in path:
        content = content[key]
    return content


def holds(content):
    """Whether nothing is found wrong with it."""
    try:
        return check_certificate(content, second_opinion=False).holds
    except ValueError:
        return False


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("format",), "privlearn certificate 3", "update privlearn"),
        (("format",), "pickle", "no certificate of a known format"),
        (("adjacency",), "cousins", "'adjacency' is not one of zero_out"),
        (("releases",), [], "lists no release"),
        (("releases", 0, "declared", "mechanism", "kind"), "none", "unknown kind of mechanism"),
        (("releases", 0, "declared", "sampling", "kind"), "some", "unknown kind of sampling"),
        (("releases", 0, "norm"), "l3", "unknown norm"),
        (("releases", 0, "declared", "norm", "diameter"), 0.5, "with diameter 0.5"),
        (("private",), False, "contradict each other"),
        (("epsilon",), ..., "lacks 'epsilon'"),
        (("epsilon",), float("nan"), "not of its kind"),
        (("epsilon",), True, "not of its kind"),
        (("more",), 1, "holds 'more', which this version does not know"),
        (("rows",), 0, "rows=0"),
        (("releases", 0, "shape"), [-1], "no list of lengths"),
        (("releases", 0, "clip"), 0.0, "must be finite and > 0"),
    ],
)
def test_what_is_wrong_is_said(path, value, words):
    with pytest.raises(ValueError, match=words):
        Certificate.from_dict(changed(EXAMPLE, path, value))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("[]", "neither a certificate nor a model"),
        ("[" * 100_000, "nested too deeply|not JSON"),
        ('{"epsilon": 1, "epsilon": 2}', "stands twice"),
        ('{"epsilon": NaN}', "NaN is no number"),
        ("{}", "no certificate of a known format"),
        ('{"format": "privlearn model 1"}', "holds no certificate"),
    ],
)
def test_what_is_no_certificate_is_said(text, words):
    with pytest.raises(ValueError, match=words):
        Certificate.from_json(text)


# What was changed is found


def mixed():
    return planned(LogisticRegression(classes=[0, 1], bounds_X=(-1, 1), solver=SGD(steps=40)))


def greedy():
    solver = CoordinateDescent(passes=6, selection="greedy")
    return planned(LogisticRegression(classes=[0, 1], bounds_X=(-1, 1), solver=solver))


def disjoint():
    solver = OnePassSGD(batch_size=150)
    return planned(LogisticRegression(classes=[0, 1], bounds_X=(-1, 1), delta=0.0, solver=solver))


def replaced():
    return planned(LinearRegression(adjacency="replace_one", solver="moments", **BOX))


def permuted():
    return planned(
        LogisticRegression(classes=[0, 1], bounds_X=(-1, 1), solver=OutputPerturbation(epochs=2))
    )


def with_replacement():
    solver = OutputPerturbation(epochs=2, sampling="with_replacement")
    return planned(LogisticRegression(classes=[0, 1], bounds_X=(-1, 1), solver=solver))


def by_depth():
    return planned(LinearRegression(epsilon=8.0, solver=Tukey(models=79)))


def levelled():
    model = dict(every_configuration())["two levels-zero_out"]
    return planned(model)


def immaterial(content, path, larger):
    """Numbers that no price depends on, with the reason."""
    name = path[-1]
    if path in (("epsilon",), ("delta",)) and larger:
        return "a weaker promise holds as well"
    if name == "released" and not larger:
        return "the whole plan is paid for, whatever was released"
    if name in ("blocks", "dealt"):
        return "how an epoch is cut changes no price"
    if "shape" in path:
        release = content["releases"][path[1]]
        in_steps = math.isinf(float(release["declared"]["norm"]["exponent"]))
        if in_steps or release["mechanism"] == "Gumbel":
            return "one step of the grid in every coordinate is one step in this norm"
    return ""


def numbers(content):
    for path, value in paths(content):
        if type(value) in (int, float) and value != 0:
            yield path, value


def moved(path, value, larger):
    if type(value) is int:
        step = max(1, value // 10)
        return value + step if larger else value - step
    factor = 2.0 if path[-1] == "delta" else 1.1
    return value * factor if larger else value / factor


def check_every_number(certificate):
    content = certificate.to_dict()
    assert holds(content)
    unnoticed = []
    for path, value in numbers(content):
        for larger in (False, True):
            found = not holds(changed(content, path, moved(path, value, larger)))
            if not found and not immaterial(content, path, larger):
                unnoticed.append((path, value, larger))
    assert not unnoticed


@pytest.mark.parametrize("made", [replaced, disjoint, levelled, by_depth])
def test_no_number_can_be_changed_unnoticed(made):
    """Up or down: whichever is the favourable one is among the two."""
    check_every_number(made())


@pytest.mark.slow
@pytest.mark.parametrize("made", [mixed, greedy, permuted, with_replacement])
def test_no_number_of_slower_plans_can_be_changed_unnoticed(made):
    check_every_number(made())


def test_less_noise_than_promised_is_found_though_the_file_agrees_with_itself():
    """A plan that costs too much, written down without a mistake."""
    plan = Plan((Release("sum", (3,), clip=1.0),), Adjacency.ZERO_OUT, scale=2.0)
    content = Certificate(plan, Budget(1.0, 1e-6), True, {"sum": 1}).to_dict()
    problems = check_certificate(content).problems
    assert "epsilon = 1 was promised, but the releases cost 2.25" in problems[0]
    if len(problems) > 1:
        assert "by dp_accounting" in problems[1]
