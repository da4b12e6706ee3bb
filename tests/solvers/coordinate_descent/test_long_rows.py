"""Second moments of rare values are those of shortened rows: by how much, and what it tells."""

from types import SimpleNamespace

import numpy as np
import pytest

from privlearn import LinearRegression
from privlearn.solvers.coordinate_descent import long_rows, rules
from privlearn.solvers.coordinate_descent.long_rows import shortened_by
from privlearn.solvers.coordinate_descent.private_scales import RowMoments

SHARE, SCALE, SEEN, ROWS = 0.0008, 0.125, 12, 200_000


def prepared(rows_that_noise_hides):
    """Twelve ordinary features and a rare flag, in units of its scale."""
    rng = np.random.default_rng(0)
    ordinary = rng.standard_normal((ROWS, SEEN))
    flag = (rng.random(ROWS) < SHARE) / SCALE
    rows = np.column_stack([ordinary, flag, np.ones(ROWS)])
    hidden = rows_that_noise_hides / ROWS
    found = SimpleNamespace(
        objective=SimpleNamespace(scaling=SimpleNamespace(width=SEEN + 2, intercept_value=1.0)),
        scales=np.append(np.full(SEEN, 0.5), SCALE),
        squares=np.append(np.ones(SEEN), hidden / SCALE**2),
        count=float(ROWS),
    )
    return found, rows


def moments(found, rows, noise):
    limit = rules.LONGEST_ROW * (found.squares.sum() + 1.0)
    short = rows * np.sqrt(np.minimum(1.0, limit / np.sum(rows**2, axis=1)))[:, None]
    return RowMoments(np.eye(rows.shape[1]), short.T @ short / ROWS, noise, 0.0)


def times(found, own, rows_of_noise=300.0, *, given=False):
    release = SimpleNamespace(noise_scale=lambda _: rows_of_noise)
    return shortened_by(found, SimpleNamespace(scales_given=given), own, release)


def test_what_is_hidden_is_as_large_as_before_it_was_shortened():
    found, rows = prepared(300.0)
    own = moments(found, rows, 1e-5)
    expected = np.mean(rows[:, SEEN] ** 2) / own.noisy[SEEN, SEEN]
    assert expected > 2.0
    told = times(found, own)
    assert told[SEEN] == pytest.approx(expected, rel=0.1)
    np.testing.assert_array_equal(np.delete(told, SEEN), 1.0)


def test_what_is_seen_or_noise_or_given_stays():
    found, rows = prepared(300.0)
    own = moments(found, rows, 1e-5)
    np.testing.assert_array_equal(times(found, own, 200.0), 1.0)  # more rows than noise would hide
    np.testing.assert_array_equal(times(found, own._replace(noise=1.0)), 1.0)
    np.testing.assert_array_equal(times(found, own._replace(noise=0.0)), 1.0)
    np.testing.assert_array_equal(times(found, own, given=True), 1.0)


def test_noise_of_rare_flags_is_told_less_far_off(monkeypatch):
    rng = np.random.default_rng(1)
    X = (rng.random((30_000, 40)) < np.r_[np.full(8, 0.3), np.full(32, 0.0015)]).astype(float)
    y = X @ rng.normal(size=40) + rng.normal(size=30_000)
    model = LinearRegression(epsilon=3.0, bounds_y=(-8, 8))

    def off():
        coefs, told = [], []
        for seed in range(10):
            coefs.append(model.set_params(random_state=seed).fit(X, y).coef_)
            told.append(model.coef_noise())
        ratio = np.sqrt(np.mean(np.square(told), axis=0)) / np.std(coefs, axis=0, ddof=1)
        return float(np.median(np.abs(np.log(ratio[8:]))))

    now = off()
    monkeypatch.setattr(long_rows, "NOISE_OR_REAL", (1e9, 2e9))
    assert now < 0.8 * off()
