"""What "auto" takes: by public facts only, and each reason for it."""

import inspect
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import privlearn
from privlearn import (
    HuberRegressor,
    Lasso,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from privlearn._core.problem import Budget, Level
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.audit.tape import record
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.private_bounds import selection
from privlearn.private_bounds import solver as bounds_solver
from privlearn.solvers import SGD, SOLVERS, resolve
from privlearn.solvers import auto as choice
from privlearn.solvers.tukey.rules import enough_models
from support import accepted, every_estimator, regression

BOX = {"bounds_X": (-1.0, 1.0), "bounds_y": (-1.0, 1.0)}
CHOSEN = {"cd": "DP-CD", "scd": "DP-SCD", "sgd": "DP-SGD"}


def chosen(model, n=20_000, n_features=5, n_classes=2):
    problem = model._problem(n, n_features, n_classes)
    return resolve("auto", problem, Budget(model.epsilon, model.delta)).name


def rows_for(signal, epsilon=1.0, delta=1e-6):
    """How many rows make rows times mu this large."""
    return round(signal / equivalent_mu(epsilon, delta))


@pytest.mark.parametrize("cls", every_estimator(), ids=lambda cls: cls.__name__)
def test_many_rows_in_a_box_go_to_coordinate_descent(cls):
    """Hinges go to its dual, which knows them."""
    facts = {"bounds_X": (-1.0, 1.0), "bounds_y": (-1.0, 1.0)}
    expected = "scd" if cls is LinearSVC else "cd"
    assert chosen(cls(**accepted(cls, facts)), n=100_000) == expected


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("n", [20, 500, 10**6])
@pytest.mark.parametrize("classes", [2, 3])
def test_hinges_go_to_dual_coordinate_descent(loss, n, classes):
    model = LinearSVC(loss=loss, bounds_X=(0, 1), data_norm=1.2)
    assert chosen(model, n, n_classes=classes) == "scd"


@pytest.mark.parametrize("cls", [Ridge, Lasso, HuberRegressor])
def test_little_signal_goes_to_the_dual(cls):
    model = cls(**BOX)
    assert chosen(model, rows_for(1.05 * choice.ENOUGH)) == "cd"
    assert chosen(model, rows_for(0.95 * choice.ENOUGH)) == "scd"
    assert chosen(model, 1) == "scd"


def test_budget_and_relation_count_as_rows_do():
    n = rows_for(1.5 * choice.ENOUGH)
    assert chosen(Ridge(**BOX), n) == "cd"
    assert chosen(Ridge(epsilon=0.3, **BOX), n) == "scd"
    assert chosen(Ridge(adjacency="replace_one", **BOX), n) == "scd"


def test_a_private_n_plays_no_part():
    for epsilon in (0.003, 0.05, 1.0):
        model = Ridge(adjacency="add_remove", epsilon=epsilon, **BOX)
        assert len({chosen(model, n) for n in (1, 100, 10**7)}) == 1
    assert chosen(Ridge(adjacency="add_remove", **BOX), 1) == "cd"


def test_rows_that_are_declared_short():
    """One-hot rows: the norm tells what would be estimated, where the slope is bounded, too."""
    facts = {"bounds_X": (0.0, 1.0), "data_norm": 2.0}
    assert chosen(LogisticRegression(**facts), n_features=50) == "scd"
    assert chosen(HuberRegressor(bounds_y=(0, 1), **facts), n_features=50) == "scd"
    assert chosen(LinearRegression(bounds_y=(0, 1), **facts), n_features=50) == "cd"
    assert chosen(LogisticRegression(**facts), n_features=7) == "cd"
    assert chosen(LogisticRegression(bounds_X=(0.0, 1.0)), n_features=50) == "cd"


def test_a_norm_without_a_box_goes_to_the_dual_for_labels():
    assert chosen(LogisticRegression(data_norm=2.0), n=10**6) == "scd"
    assert chosen(LogisticRegression(data_norm=2.0, bounds_X=(0, 1))) == "cd"
    assert chosen(LogisticRegression()) == "cd"


def test_a_norm_without_a_box_needs_more_signal_for_squares():
    facts = {"bounds_y": (0, 1), "data_norm": 2.0}
    fewer, more = (rows_for(share * choice.ENOUGH_IN_A_BALL) for share in (0.95, 1.05))
    assert chosen(Ridge(**facts), fewer) == "scd"
    assert chosen(Ridge(**facts), more) == "cd"
    assert chosen(Ridge(bounds_X=(0, 1), **facts), fewer) == "cd"
    assert chosen(Ridge(**BOX), fewer) == "cd"
    assert chosen(HuberRegressor(**facts), fewer) == "cd"


def test_several_classes_go_to_sgd_where_weights_cannot_be_told_from_noise():
    """Of 3 classes in 10 columns there are 33 weights."""
    model = LogisticRegression(bounds_X=(-1, 1), classes=[0, 1, 2])
    edge = 33 * choice.ENOUGH_PER_WEIGHT
    assert chosen(model, rows_for(1.05 * edge), n_features=10, n_classes=3) == "cd"
    assert chosen(model, rows_for(0.95 * edge), n_features=10, n_classes=3) == "sgd"


def test_counts_go_to_sgd_where_there_is_little_signal():
    """The dual does not know them; short rows alone are no reason."""
    model = PoissonRegressor(bounds_X=(0, 1), bounds_y=(0, 9), data_norm=2.0)
    assert chosen(model, rows_for(1.05 * choice.ENOUGH), n_features=50) == "cd"
    assert chosen(model, rows_for(0.95 * choice.ENOUGH), n_features=50) == "sgd"


def test_nothing_able_is_refused_in_words():
    class Odd:
        name = "odd loss"
        lipschitz = 1.0

    class Strange(Ridge):
        def _loss(self, n_classes):
            return Odd()

    with pytest.raises(UnsupportedCombinationError, match="odd loss"):
        chosen(Strange(**BOX))


def test_among_what_is_offered_only():
    problem = Ridge(**BOX)._problem(20_000, 5, 0)
    budget = Budget(1.0, 1e-6)
    assert choice.choose(SOLVERS, problem, budget).name == "cd"
    others = {name: solver for name, solver in SOLVERS.items() if name != "cd"}
    assert choice.choose(others, problem, budget).name in others
    assert isinstance(choice.choose({"sgd": SGD}, problem, budget), SGD)


@pytest.mark.parametrize("n", [60, 400, 3_000])
@pytest.mark.parametrize("relation", ["zero_out", "replace_one"])
def test_the_same_for_all_data(n, relation):
    """A fit takes what the plan announced, whatever the rows hold."""
    model = Ridge(adjacency=relation, random_state=0, **BOX)
    X, y = regression(n)
    plans = [
        record(model, *given).plan
        for given in ((X, y), (np.zeros_like(X), y), (np.sign(X), np.sign(y)), (X * 1e9, -y))
    ]
    assert all(plan == model.plan(n=n, n_features=4) for plan in plans)
    assert plans[0].paper.startswith(CHOSEN[chosen(model, n, 4)])


def test_the_rule_sees_a_problem_and_a_budget():
    """Both hold public facts only, so that a choice cannot look at data."""
    assert [*inspect.signature(choice.choose).parameters] == ["solvers", "problem", "budget"]


# docs/how-to-choose.md


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to-choose.md").read_text()
MODELS = [cls.__name__ for cls in every_estimator()]
LOSSES = {"squares": "squared", "Huber": "huber", "several classes": "softmax"}


def rows_under(heading):
    """Cells of the first table below a heading, without its head."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = re.search(r"(?:^\|.*\|\n)+", section, re.M).group().splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def number(words):
    return float(words.replace(",", ""))


def taken(have, model, n, n_features):
    declared = getattr(model, "classes", ())
    n_classes = 2 if isinstance(declared, str) else len(declared)
    problem = model._problem(n, n_features, n_classes)
    if "sample_epsilon" in have:
        problem = replace(problem, levels=(Level(0.5, n),))
    return model._solver_for(problem, Budget(model.epsilon, model.delta))[1].name


@pytest.mark.parametrize("row", rows_under("What `auto` takes"), ids=lambda row: row[0])
def test_the_page_says_what_auto_takes(row):
    have, example, n, n_features, solver = row
    model = eval(example.strip("`"), {name: getattr(privlearn, name) for name in MODELS})
    assert f'`"{taken(have, model, int(number(n)), int(n_features))}"`' == solver


def test_the_page_has_an_example_of_every_choice():
    """What the rule can take is on the page, and every estimator is named on it."""
    found = {row[-1].strip('`"') for row in rows_under("What `auto` takes")}
    assert found == {"cd", "scd", "sgd", "one-pass", "cd, scd"}
    assert all(f"`{name}`" in PAGE for name in MODELS)


def test_the_page_lists_every_solver_with_what_it_supports():
    listed = {row[0].strip('`"'): row[1].split(", ") for row in rows_under("The solvers")}
    assert set(listed) == set(SOLVERS)
    for name, losses in listed.items():
        assert {LOSSES.get(loss, loss) for loss in losses} == SOLVERS[name].support.losses


def test_the_page_is_right_about_special_abilities():
    assert [name for name, solver in SOLVERS.items() if solver.support.levels] == ["one-pass"]
    assert [name for name, solver in SOLVERS.items() if not solver.support.bounds] == ["tukey"]
    assert SOLVERS["tukey"].support.penalties == {"none"}
    assert f"n mu below {choice.ENOUGH:g}" in PAGE
    assert f"n mu below {choice.ENOUGH_IN_A_BALL:,g}" in PAGE


def test_the_page_is_right_about_what_is_estimated():
    assert pytest.approx(0.25) == bounds_solver.FEATURES + bounds_solver.TARGET
    assert "estimated privately](nothing-declared.md) with a quarter of the budget" in PAGE
    assert f"{selection.TOO_MANY:g} sqrt(n mu)" in PAGE


def test_the_page_is_right_about_mu():
    epsilons = re.search(r"^\| epsilon \|(.*)\|$", PAGE, re.M).group(1).split("|")
    mus, rows = rows_under("What to expect: n mu")
    for epsilon, mu, n in zip(epsilons, mus[1:], rows[1:], strict=True):
        exact = equivalent_mu(float(epsilon), 1e-6)
        assert float(mu) == pytest.approx(exact, rel=0.03)
        assert number(n) == round(choice.ENOUGH / exact)


@pytest.mark.parametrize("n_features", [5, 20])
def test_the_page_is_right_about_rows_for_tukey(n_features):
    """At least a row per coefficient in each of the models that the test needs."""
    said = re.search(
        r"at the least some ([\d,]+) for 5 features at epsilon 1, ([\d,]+) for 20", PAGE
    )
    rows = number(said.group(1 if n_features == 5 else 2))
    width = n_features + 1
    assert rows == pytest.approx(width * enough_models(width, Budget(1.0, 1e-6)), rel=0.05)
