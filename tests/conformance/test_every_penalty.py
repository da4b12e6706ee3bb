import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from privlearn._objective.penalties import PENALTIES


@pytest.fixture(params=PENALTIES, ids=lambda penalty: penalty.name)
def penalty(request):
    return request.param


@pytest.mark.parametrize("step", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("point", [-2.0, -0.1, 0.0, 1.5])
def test_prox_minimises_what_it_says(penalty, step, point):
    def objective(w):
        return (w - point) ** 2 / (2 * step) + penalty.value(np.array([w]))

    inside = max(-5, penalty.low[0]), min(5, penalty.high[0])
    found = minimize_scalar(objective, bounds=inside, method="bounded", options={"xatol": 1e-9})
    np.testing.assert_allclose(penalty.prox(np.array([point]), step)[0], found.x, atol=1e-6)


def test_separable_and_at_least_as_curved_as_declared(penalty):
    a, b = np.array([0.7, -1.2]), np.array([-0.4, 0.9])
    parts = sum(penalty.value(a[k : k + 1]) for k in range(2))
    assert penalty.value(a) == pytest.approx(parts)
    a, b = (np.clip(point, penalty.low, penalty.high) for point in (a, b))
    middle = penalty.value((a + b) / 2)
    chord = (penalty.value(a) + penalty.value(b)) / 2
    assert chord - middle >= penalty.curvature / 8 * np.sum((a - b) ** 2) - 1e-12


def test_names_are_unique():
    assert len({penalty.name for penalty in PENALTIES}) == len(PENALTIES)
