"""Kinds and lists that a fit finds out: what it finds, what it promises, and what it refuses."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm

from discovery_models import N_FEATURES, discovering
from privlearn import LinearRegression, LogisticRegression, audit, exceptions
from privlearn._core.certificate_check import check_certificate
from privlearn._core.mechanisms.frequent import FrequentValues, standard_threshold
from privlearn._core.narrowing import narrowed
from privlearn._core.norms import ONE_BIN
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency, Budget
from privlearn._core.releaser import Releaser
from privlearn.accounting import Gaussian, compose
from privlearn.exceptions import PlanViolationError, UnsupportedCombinationError
from privlearn.schema import Category, Date, Estimate, Flag, Ignore, Number

ROWS = 6_000
FAST = ("lists-zero_out", "kinds-replace_one", "people-add_remove", "moments-kinds", "sgd-lists")


def people(rows=ROWS, seed=0):
    """Text, numbers, dates, words, gaps and an id; half of the target follows the town."""
    rng = np.random.default_rng(seed)
    shares = np.array([0.5, 0.3, 0.15, 0.04, 0.01])
    town = rng.choice(["Ulm", "Bonn", "Kiel", "Jena", "Hof"], rows, p=shares).astype(object)
    age = rng.integers(17, 91, rows).astype(object)
    score = 2.0 * (town == "Ulm") + 0.03 * age.astype(float) + rng.logistic(size=rows)
    age[rng.random(rows) < 0.2] = None
    days = rng.integers(0, 4_000, rows).astype("datetime64[D]")
    frame = pd.DataFrame(
        {
            "town": town,
            "age": age,
            "since": np.datetime_as_string(days).astype(object),
            "member": rng.choice(["yes", "no"], rows),
            "secret": [f"only {k}" for k in range(rows)],
        }
    )
    return frame, np.where(score > np.median(score), "much", "little")


def fitted(schema, **more):
    X, y = people()
    own = {"epsilon": 3.0, "delta": 1e-5, "classes": ["little", "much"], "random_state": 0} | more
    return LogisticRegression(schema=schema, **own).fit(X, y), X, y


# What is found


def test_a_raw_table_goes_in_with_nothing_declared():
    model, X, y = fitted("estimate")
    kinds = {column.name: column.kind for column in model._encoding.columns}
    assert kinds["town"].values[:3] == ("Ulm", "Bonn", "Kiel")
    assert (kinds["town"].missing, kinds["town"].other) == ("fill", True)
    assert kinds["age"] == Number(missing="flag")
    assert kinds["since"] == Date(missing="fill")
    assert kinds["member"] == Flag(missing="fill")
    assert kinds["secret"].values == ()  # nobody's text is told
    assert model.score(X, y) > 0.7
    assert model.privacy_.spent() <= 3.0
    assert "town is another value" in model.feature_names_out_
    assert "the names of the columns are public" in model.privacy_.assumptions


def test_lists_are_found_beside_what_is_declared():
    schema = {
        "town": Category(max_categories=2),
        "age": Number(17, 90, missing="flag"),
        "since": Ignore(),
        "member": Flag(),
        "secret": Category(hashed=8),
    }
    model, X, _ = fitted(schema)
    names = [name for name in model.feature_names_out_ if name.startswith("town")]
    assert names == ["town = Ulm", "town = Bonn", "town is another value"]
    assert sum(name.startswith("secret in bin") for name in model.feature_names_out_) == 8
    # Centred over the values of the list: what hardly any row may hold moves none of them.
    assert model.coef_[0][:2].sum() == pytest.approx(0.0, abs=1e-9)
    assert abs(model.coef_[0][2]) > 1e-3
    strange = X.assign(town="Nowhere")
    assert set(model.predict(strange)) <= {"little", "much"}
    again = LogisticRegression.from_dict(json.loads(json.dumps(model.to_dict())))
    assert (again.predict(X) == model.predict(X)).all()
    assert list(again.feature_names_out_) == list(model.feature_names_out_)


def test_values_are_compared_by_number_and_spelled_alike():
    frame = pd.DataFrame({"code": np.array([1, "1.0", True, "01", 2.0, "two"] * 500, dtype=object)})
    y = np.tile([0.0, 0.0, 0.0, 0.0, 1.0, 0.5], 500)
    model = LinearRegression(
        schema={"code": Category()}, bounds_y=(0, 1), epsilon=5.0, random_state=0
    ).fit(frame, y)
    listed = model._encoding.columns[0].kind.values
    assert listed[0] == "1"
    assert set(listed) == {"1", "2", "two"}


def test_a_reproducible_fit_does_not_depend_on_the_order_of_rows():
    X, y = people()
    own = {"schema": {"secret": Ignore(), "town": Category(), "since": Date(), "member": Flag()}}
    models = []
    for order in (np.arange(ROWS), np.arange(ROWS)[::-1]):
        model = LogisticRegression(epsilon=3.0, random_state=0, **own)
        rows = X.iloc[order].drop(columns="age")
        models.append(model.fit(rows, y[order]))
    assert list(models[0].feature_names_out_) == list(models[1].feature_names_out_)
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-6, atol=1e-6)


def test_people_of_several_rows_need_more_of_them():
    X, y = people()
    ids = np.arange(ROWS) // 3
    one, _, _ = fitted({"town": Category(), "age": Number(missing="fill"), **REST})
    several = LogisticRegression(
        schema={"town": Category(), "age": Number(missing="fill"), **REST},
        epsilon=3.0,
        delta=1e-5,
        max_rows_per_person=3,
        random_state=0,
    ).fit(X, y, groups=ids)
    least = [
        next(r["threshold"] for r in model.privacy_.releases if "threshold" in r)
        for model in (one, several)
    ]
    assert least[1] > 2.9 * least[0]
    assert several.privacy_.unit == "person"


REST = {"since": Ignore(), "member": Ignore(), "secret": Ignore()}


# What is promised


def tau_plan(relation, delta, scale=3.0, columns=1, most=None):
    release = Release("x", (columns, 5), math.sqrt(columns), ONE_BIN, FrequentValues(delta))
    return Plan((release,), relation, scale, 3, rows_per_person=most), release


@pytest.mark.parametrize("relation", list(Adjacency))
@pytest.mark.parametrize("columns", [1, 2, 7])
@pytest.mark.parametrize("most", [None, 3])
def test_the_threshold_is_what_the_failure_needs(relation, columns, most):
    plan, release = tau_plan(relation, 1e-3, columns=columns, most=most)
    rows = most or 1
    values = columns * rows * (2 if relation is Adjacency.REPLACE_ONE else 1)
    z = (plan.threshold(release) - rows) / plan.noise_scale(release)
    failure = -math.expm1(values * norm.logcdf(z))
    assert 0.999e-3 < failure <= 1e-3
    assert plan.noise_scale(release) == pytest.approx(3.0 * rows * math.sqrt(columns))


def laws(counts, values, noise, least, points):
    """Probabilities of what may be told about each value: nothing, or a count between points."""
    found = []
    for value in values:
        count = counts.get(value, 0)
        edges = norm.cdf((points - count) / noise)
        told = np.concatenate([[norm.cdf((least - count) / noise)], np.diff(edges)])
        found.append(told if count else np.eye(1, len(told))[0])  # nothing is drawn for absent ones
    joint = found[0]
    for other in found[1:]:
        joint = np.multiply.outer(joint, other)
    return joint


def worst_excess(relation, delta, lower=0.0):
    """How far the divergence of any two tiny neighbours exceeds what is charged; exact sums."""
    plan, release = tau_plan(relation, delta)
    noise, values = plan.noise_scale(release), ("a", "b")
    least = plan.threshold(release) - lower * noise
    points = np.concatenate([np.linspace(least, least + 8 * noise, 160), [np.inf]])
    charged, worst = compose(plan.pairs()), -np.inf
    for one, other in neighbours(relation):
        p, q = (laws(counts, values, noise, least, points) for counts in (one, other))
        for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0):
            told = float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())
            worst = max(worst, told - charged.delta(epsilon))
    return worst


def neighbours(relation):
    """All pairs of counts of up to three rows of one column with two values, both ways."""
    tables = [(a, b) for a in range(4) for b in range(4 - a)]
    for a, b in tables:
        exchanged = [(a - 1, b + 1), (a + 1, b - 1)]
        fewer = [(a - 1, b), (a, b - 1)]
        for c, d in exchanged if relation is Adjacency.REPLACE_ONE else fewer:
            if min(c, d) >= 0:
                pair = {"a": a, "b": b}, {"a": c, "b": d}
                yield pair
                yield pair[::-1]


@pytest.mark.parametrize("relation", list(Adjacency))
@pytest.mark.parametrize("delta", [1e-4, 0.05])
def test_the_promise_holds_on_all_tiny_tables(relation, delta):
    assert worst_excess(relation, delta) <= 1e-12


@pytest.mark.parametrize("relation", list(Adjacency))
def test_a_threshold_that_is_too_small_breaks_it(relation):
    assert worst_excess(relation, 0.05, lower=0.6) > 0.01


def test_what_fails_outright_is_charged_beside_the_noise():
    plan, release = tau_plan(Adjacency.ZERO_OUT, 1e-7)
    gauss = compose([(Gaussian(plan.pair(release).mu), 1)])
    for epsilon in (0.1, 1.0, 3.0):
        wanted = 1e-7 + (1 - 1e-7) * gauss.delta(epsilon)
        assert plan.delta(epsilon) == pytest.approx(wanted, rel=1e-9)
    assert standard_threshold(1, 0.5) == pytest.approx(0.0, abs=1e-8)


def test_a_value_of_one_person_is_told_as_rarely_as_charged():
    """Releases by the real Releaser; 2/3 of the noise would be seen."""
    draws = 2_000
    plan, _ = tau_plan(Adjacency.ZERO_OUT, 0.1)
    told = sum(
        bool(Releaser(plan, Budget(1.0, 0.1), seed).publish("x", {"a": 1.0}, clip=1.0))
        for seed in range(draws)
    )
    assert binomtest(told, draws, 0.1).pvalue > 1e-6
    assert told > 0
    less = 1.0 - norm.cdf(1.5 * standard_threshold(1, 0.1))  # noise of 2/3
    assert binomtest(told, draws, less).pvalue < 1e-6


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", FAST)
def test_audits(name):
    audit_all(discovering()[name], every=9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", sorted(set(discovering()) - set(FAST)))
def test_audits_of_the_rest(name):
    audit_all(discovering()[name], every=5)


def audit_all(model, every):
    for check in (
        audit.check_plan,
        audit.check_price,
        audit.check_empty_rows,
        audit.check_grid,
        audit.check_noise_law,
    ):
        check(model, n_features=N_FEATURES)
    audit.check_replay(model, n_features=N_FEATURES, every=every)


def test_the_certificate_shows_the_threshold_and_holds():
    model, _, _ = fitted("estimate")
    text = str(model.privacy_)
    assert "published above" in text
    assert "failing with probability 1e-06" in text
    content = json.loads(model.privacy_.to_json())
    assert check_certificate(content).holds
    (lists,) = [each for each in content["releases"] if "threshold" in each]
    lists["threshold"] /= 2
    assert "threshold" in check_certificate(content).problems[0]


# Sizes that later releases have


def test_a_narrower_plan_may_not_cost_more():
    charged = Plan((Release("x", (9,), 3.0),), Adjacency.ZERO_OUT, 2.0)
    found = narrowed(Plan((Release("x", (4,), 2.0, weight=9.0),), Adjacency.ZERO_OUT, 2.0), charged)
    assert found.releases == (Release("x", (4,), 2.0),)  # with the weight that was charged
    wrong = [
        Plan((Release("x", (4,), 2.0, count=2),), Adjacency.ZERO_OUT, 2.0),
        Plan((Release("x", (10,), 2.0),), Adjacency.ZERO_OUT, 2.0),
        Plan((Release("y", (4,), 2.0),), Adjacency.ZERO_OUT, 2.0),
        Plan((Release("x", (4,), 2.0, ONE_BIN),), Adjacency.ZERO_OUT, 2.0),
        Plan((Release("x", (4,), 2.0),), Adjacency.ZERO_OUT, 1.9),
        Plan((Release("x", (4,), 2.0),), Adjacency.REPLACE_ONE, 2.0),
    ]
    for plan in wrong:
        with pytest.raises(PlanViolationError):
            narrowed(plan, charged)


@pytest.mark.parametrize("epsilon", [0.05, 50.0])
@pytest.mark.parametrize("solver", ["cd", "scd", "sgd"])
def test_narrow_plans_cost_no_more_whatever_the_scale(epsilon, solver):
    """Rounding is another part of a release at every scale; weights are those charged."""
    fitted("estimate", epsilon=epsilon, solver=solver)


def test_what_was_made_cannot_be_narrowed():
    plan = Plan((Release("x", (9,), 3.0),), Adjacency.ZERO_OUT, 2.0)
    release = Releaser(plan, Budget(1.0, 1e-6), 0)
    release("x", np.zeros(9), clip=3.0)
    with pytest.raises(PlanViolationError, match="before its plan was narrowed"):
        release.narrow(plan)


# What is refused


def test_without_a_delta_nothing_can_be_found():
    with pytest.raises(exceptions.InvalidBudgetError, match="declare them in schema"):
        fitted("estimate", delta=0.0)


@pytest.mark.parametrize("solver", ["one-pass", "output", "tukey"])
def test_solvers_that_cannot_narrow_say_so(solver):
    with pytest.raises(UnsupportedCombinationError, match="estimated"):
        fitted("estimate", solver=solver)


def test_personal_levels_are_refused():
    X, y = people()
    model = LogisticRegression(schema="estimate", epsilon=3.0, classes=["little", "much"])
    with pytest.raises(UnsupportedCombinationError, match="sample_epsilon"):
        model.fit(X, y, np.full(ROWS, 1.0))


def test_a_plan_needs_a_number_of_columns():
    with pytest.raises(ValueError, match="n_features is missing"):
        LogisticRegression(schema="estimate").plan(n=1_000)
    plan = LogisticRegression(schema="estimate").plan(n=100_000, n_features=4)
    assert plan.releases[0].shape == (4, 6)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"max_categories": 0}, "max_categories=0"),
        ({"max_categories": 2.5}, "max_categories=2.5"),
        ({"hashed": True}, "hashed=True"),
        ({"values": ["a", "b"], "hashed": 4}, "leave values and other out"),
        ({"other": 1}, "other=1"),
    ],
)
def test_wrong_lists(wrong, said):
    with pytest.raises(ValueError, match=said):
        Category(**wrong)


def test_a_schema_of_another_word_is_refused():
    with pytest.raises(ValueError, match='schema="estimate"'):
        fitted("guess")


def test_estimate_by_name():
    model, _, _ = fitted({"town": Estimate(max_categories=1), "age": Estimate(), **REST})
    assert model._encoding.columns[0].kind.values == ("Ulm",)
