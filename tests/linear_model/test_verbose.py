"""Progress and logging: numbers of the plan, and nothing that depends on the data."""

import logging

import numpy as np
import pytest

from privlearn import KernelRegressor, Ledger, LinearRegression, LogisticRegression

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 1, (400, 3))
Y = X.sum(axis=1)
SEEDED = {"verbose": 1, "random_state": 0}
FITS = {
    "cd": (LinearRegression(**SEEDED), Y),
    "one-pass": (
        LinearRegression(**SEEDED, delta=0, bounds_X=(0, 1), bounds_y=(0, 3)),
        Y,
    ),
    "add_remove": (
        LogisticRegression(adjacency="add_remove", classes=[0, 1], **SEEDED),
        (Y > 1.5).astype(int),
    ),
    "kernel": (KernelRegressor(n_components=8, **SEEDED), Y),
}


def said(model, rows, y, capsys, caplog):
    """What a fit writes and logs, times left out."""
    caplog.clear()
    with caplog.at_level(logging.DEBUG, logger="privlearn"):
        model.fit(rows, y)
    seen = capsys.readouterr()
    assert seen.out == ""
    return seen.err, [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("name", sorted(FITS))
def test_neighbouring_data_sets_say_the_same(name, capsys, caplog):
    model, y = FITS[name]
    far, other = X.copy(), np.array(y)
    far[7], other[7] = [1e9, -1e9, 0.0], y[8]
    first = said(model, X, y, capsys, caplog)
    assert "releases" in first[0]
    assert first == said(model, far, other, capsys, caplog)
    if name == "add_remove":
        assert first == said(model, X[1:], y[1:], capsys, caplog)
    texts = " ".join([first[0], *first[1]])
    assert "400" not in texts


def test_progress_counts_planned_releases(capsys):
    model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 3), random_state=0, verbose=1).fit(X, Y)
    planned = sum(one["count"] for one in model.privacy_.releases)
    assert f"of {planned:,} releases" in capsys.readouterr().err
    model.set_params(verbose=0).fit(X, Y)
    assert capsys.readouterr().err == ""
    with pytest.raises(ValueError, match="verbose"):
        model.set_params(verbose="much").fit(X, Y)


def test_the_log_says_what_is_charged(tmp_path, caplog):
    ledger = Ledger.create(tmp_path / "l.ledger", epsilon=3, delta=1e-6)
    model = LinearRegression(ledger=ledger, dataset="people", solver="moments", bounds_X=(0, 1))
    with caplog.at_level(logging.INFO, logger="privlearn"):
        model.set_params(bounds_y=(0, 3)).fit(X, Y)
    (first,) = (record.getMessage() for record in caplog.records)
    assert "epsilon = 1 and delta = 1e-06 under zero_out; charging 'people'" in first
    assert "by moments" in first
