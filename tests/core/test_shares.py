"""One formula turns shares of the budget into noise, and the certificate shows what was written."""

import ast
from pathlib import Path

import pytest

import privlearn
from privlearn._core.mechanisms import LAPLACE
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency
from privlearn.feature_selection import KendallSelector, SubLassoSelector
from selection import fast_configurations
from support import N_FEATURES

SELECTORS = [
    (f"{kind.__name__}, {relation}", kind(2, epsilon=1.0, adjacency=relation))
    for kind in (KendallSelector, SubLassoSelector)
    for relation in ("zero_out", "add_remove", "replace_one")
]
COUNT, TOTAL = Release("count", (1,), clip=1.0), Release("sum", (3,), clip=5.0, count=7)


def test_every_plan_has_the_shares_that_were_written(monkeypatch):
    """Of every release of every configuration, at the scale that was found for it."""
    written = []
    split = Plan.split

    def recorded(self, parts):
        found = split(self, parts)
        written.append((found, [share for _, share in parts]))
        return found

    monkeypatch.setattr(Plan, "split", recorded)
    kinds = set()
    for name, model in [*fast_configurations(), *SELECTORS]:
        written.clear()
        model.plan(20_000, n_features=N_FEATURES)
        assert written, name
        for plan, shares in written:
            for release, share in zip(plan.releases, shares, strict=True):
                if share is not None:
                    kinds.add(release.name)
                    assert plan.share(release) == pytest.approx(share, rel=1e-3), (name, release)
    assert len(kinds) > 10


def test_only_one_formula_writes_a_weight():
    """Elsewhere weights are read from a file, or multiplied by a level's noise or the own scale."""
    home = Path(privlearn.__file__).parent
    writers = {
        f"{file.relative_to(home).as_posix()}: {function.name}"
        for file in home.rglob("*.py")
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for call in ast.walk(function)
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") in {"Release", "replace"}
        and any(keyword.arg == "weight" for keyword in call.keywords)
    }
    assert writers == {
        "_core/plan.py: split",
        "_core/plan.py: at_scale_one",
        "_core/certificate_file.py: _release",
        "solvers/one_pass/solver.py: _by_level",
    }


@pytest.mark.parametrize("relation", list(Adjacency))
@pytest.mark.parametrize("pure", [False, True])
def test_shares_come_out(relation, pure):
    """As squares of mu for Gaussian noise, as epsilons where nothing is Gaussian."""
    one, many = COUNT, TOTAL
    if pure:
        one, many = (Release(r.name, r.shape, r.clip, mechanism=LAPLACE) for r in (COUNT, TOTAL))
    plan = Plan((), relation, scale=4.3).split([(one, 0.1), (many, None)])
    assert [plan.share(release) for release in plan.releases] == pytest.approx([0.1, 0.9])
    assert plan.releases[1] == many
    odds = 9.0 / (1 if pure else 7)
    assert plan.releases[0].weight == pytest.approx(odds if pure else odds**0.5, rel=1e-6)


@pytest.mark.parametrize(
    "shares", [(0.5, 0.5), (1.0, None), (0.0, None), (-0.1, None), (1.2, None)]
)
def test_shares_that_leave_nothing_are_refused(shares):
    with pytest.raises(ValueError, match="leave a rest"):
        Plan((), Adjacency.ZERO_OUT, scale=1.0).split(
            list(zip((COUNT, TOTAL), shares, strict=True))
        )
