"""Certificates: the price in full, the same in text, JSON and HTML, and a second opinion."""

import json

import pytest

from privlearn import LinearRegression, Ridge
from privlearn._core.mechanisms import GAUSSIAN, GUMBEL, LAPLACE, SPHERICAL
from privlearn._core.norms import L1, L2, LINF
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency, Budget
from privlearn._core.sampling import Poisson
from privlearn._core.verification import verify
from privlearn.exceptions import UnsupportedCombinationError
from support import regression


@pytest.fixture(scope="module", params=["zero_out", "add_remove", "replace_one"])
def certificate(request):
    X, y = regression(500)
    facts = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), "solver": "moments"}
    model = Ridge(epsilon=0.7, delta=1e-5, adjacency=request.param, **facts)
    return model.fit(X, y).privacy_


def test_it_names_everything(certificate):
    assert (certificate.epsilon, certificate.delta) == (0.7, 1e-5)
    assert certificate.spent(1e-5) <= 0.7
    assert certificate.spent() == pytest.approx(0.7, rel=1e-4)
    assert certificate.delta_at(0.7) <= 1e-5
    assert certificate.epsilon_at(1e-3) < 0.7 < certificate.epsilon_at(1e-9)
    assert certificate.unit == "row"
    assert certificate.private
    assert certificate.assumptions
    assert certificate.paper
    (release,) = certificate.releases
    assert release["released"] == release["count"] == 1
    for key in ("name", "mechanism", "clip", "noise_multiplier", "sampling"):
        assert release[key]


def test_text_json_and_html_tell_the_same(certificate):
    read = json.loads(certificate.to_json())
    assert read == certificate.to_dict()
    assert read["adjacency"] == certificate.adjacency
    text, page = str(certificate), certificate._repr_html_()
    for words in ("epsilon = 0.7", "delta = 1e-05", certificate.adjacency, "second moments"):
        assert words in text
        assert words in page
    assert "x x&#x27;" in page, "HTML is escaped"


def test_dp_accounting_agrees(certificate):
    pytest.importorskip("dp_accounting")
    opinion = certificate.verify()
    assert opinion.holds
    assert opinion.recomputed == pytest.approx(opinion.ours, rel=1e-3)


RELEASES = {
    "sampled": Release("a", (3,), 1.0, L2, GAUSSIAN, Poisson(0.02), count=50),
    "laplace": Release("b", (1,), 1.0, L1, LAPLACE, weight=8.0),
    "spherical": Release("c", (5,), 2.0, L2, SPHERICAL, weight=20.0),
}


@pytest.mark.parametrize("name", [*RELEASES, "mixed"])
@pytest.mark.parametrize("relation", Adjacency)
def test_dp_accounting_agrees_on_other_mechanisms(name, relation):
    pytest.importorskip("dp_accounting")
    releases = tuple(RELEASES.values()) if name == "mixed" else (RELEASES[name],)
    plan = Plan(releases, relation, scale=1.5, rows=1_000)
    epsilon = plan.epsilon(1e-5)
    opinion = verify(plan, Budget(epsilon, 1e-5))
    assert opinion.holds
    assert opinion.recomputed == pytest.approx(epsilon, rel=2e-3)
    assert not verify(plan, Budget(epsilon * 0.98, 1e-5)).holds


def test_what_cannot_be_verified_is_said():
    pytest.importorskip("dp_accounting")
    plan = Plan((Release("pick", (3,), 1.0, LINF, GUMBEL),), Adjacency.ZERO_OUT, scale=4.0)
    with pytest.raises(UnsupportedCombinationError, match="BoundedRange"):
        verify(plan, Budget(1.0, 1e-6))


def test_a_seed_is_confessed():
    X, y = regression(100)
    model = LinearRegression(bounds_X=(-1, 1), bounds_y=(-1, 1), random_state=3).fit(X, y)
    assert not model.privacy_.private
    assert "NO: random_state" in str(model.privacy_)
    assert any("seed" in text for text in model.privacy_.assumptions)
