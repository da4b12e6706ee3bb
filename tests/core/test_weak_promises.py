"""An epsilon that promises nothing is told before anything is charged; and warnings name a line."""

import ast
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import privlearn
from noise.test_seeded_warning import BOUNDS, FITS, X, Y
from privlearn import Ledger, LinearRegression
from privlearn.audit import check
from privlearn.cli import main
from privlearn.exceptions import DeltaWarning, NotPrivateWarning, WeakPromiseWarning
from privlearn.export.report.top import SCALE
from privlearn.metrics import evaluate
from privlearn.model_selection import PrivateSearchCV

LARGE = 25.0


@pytest.mark.parametrize(("model", "y"), FITS)
def test_a_large_epsilon_is_warned_of_before_the_charge(model, y, tmp_path):
    ledger = Ledger.create(tmp_path / "people.ledger", epsilon=300, delta=1e-3)
    model = clone(model).set_params(epsilon=LARGE, ledger=ledger, dataset="people")
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeakPromiseWarning)
        with pytest.raises(WeakPromiseWarning, match="epsilon=25 is hardly a promise"):
            model.fit(X, y)
    assert not ledger.history("people")
    with pytest.warns(WeakPromiseWarning) as told:
        model.fit(X, y)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert len(ledger.history("people")) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeakPromiseWarning)
        model.set_params(epsilon=20).fit(X, y)  # official statistics have been there


def test_what_is_said_is_so():
    with pytest.warns(WeakPromiseWarning, match="485 million: a suspicion of one in a million"):
        LinearRegression(epsilon=LARGE, **BOUNDS).fit(X, Y)
    assert round(math.exp(20.0) / 1e6) == 485
    odds = 1e-6 / (1.0 - 1e-6) * math.exp(20.0)
    assert round(100 * odds / (1 + odds), 1) == 99.8
    assert SCALE[-1][0] == 20.0
    with pytest.warns(WeakPromiseWarning, match=r"e\^1e\+06"):  # beyond all numbers
        LinearRegression(epsilon=1e6, **BOUNDS).fit(X, Y)


def test_filters_for_what_is_not_private_hold():
    assert issubclass(WeakPromiseWarning, NotPrivateWarning)


def test_scores_are_warned_of():
    model = LinearRegression(**BOUNDS).fit(X, Y)
    with pytest.warns(WeakPromiseWarning) as told:
        evaluate(model, X, Y, epsilon=LARGE, delta=1e-6, bounds_y=(0, 2))
    assert [one.filename for one in told] == [__file__]


def test_a_search_says_it_once():
    """How many tries it makes is a secret."""
    model = LinearRegression(**BOUNDS)
    search = PrivateSearchCV(model, {"fit_intercept": [True, False]}, epsilon=LARGE, delta=1e-6)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        search.fit(np.tile(X, (5, 1)), np.tile(Y, 5))
    assert [one.category for one in told].count(WeakPromiseWarning) == 1


def test_audits_and_plans_say_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeakPromiseWarning)
        LinearRegression(epsilon=LARGE, **BOUNDS).plan(n=1_000, n_features=2)
        check(LinearRegression(epsilon=LARGE, **BOUNDS), n_features=2)


def test_the_command_line_says_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [f"{k % 9},{k % 7}" for k in range(400)]
    (tmp_path / "rows.csv").write_text("a,y\n" + "\n".join(lines) + "\n")
    said = "privlearn: warning: epsilon=25 is hardly a promise: the worst case says little"
    for epsilon, times in (("25", 1), ("20", 0)):
        assert main(["fit", "rows.csv", "--target", "y", "--epsilon", epsilon, "--overwrite"]) == 0
        assert capsys.readouterr().err.count(said) == times
        assert main(["plan", "--rows", "400", "--features", "2", "--epsilon", epsilon]) == 0
        assert capsys.readouterr().err.count(said) == times


@pytest.mark.parametrize("behind", [False, True])
def test_warnings_name_the_line_of_whoever_fits(behind):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"patient_id": np.arange(400), "a": np.tile([0.0, 1.0], 200)})
    model = LinearRegression(
        schema="estimate", bounds_y=(0, 2), delta=0.01, random_state=0, epsilon=LARGE
    )
    if behind:
        model = make_pipeline(FunctionTransformer(), model)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(frame, np.tile(Y, 2))
    named = [one for one in told if "patient_id" in str(one.message)]
    named += [one for one in told if issubclass(one.category, NotPrivateWarning | DeltaWarning)]
    assert len(named) == 4
    assert {one.filename for one in named} == {__file__}


def test_every_warning_finds_the_line():
    """A number of frames is right for one way through the library alone."""
    found = []
    for file in Path(privlearn.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
                given = {one.arg: ast.unparse(one.value) for one in node.keywords}
                found.append((file.name, given.get("stacklevel")))
    assert len(found) > 10
    assert {level for _, level in found} == {"users_line()"}, found
