"""Fits that find out what columns hold, after the first charge: refused, with what to do."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from privlearn import Ledger, LinearRegression
from privlearn.cli import main
from privlearn.exceptions import BudgetExceededError
from privlearn.schema import Category, Number

N = 600
OWN = {"epsilon": 0.5, "delta": 1e-6, "bounds_y": (0, 100), "dataset": "people"}


def people():
    ages = 20.0 + np.arange(N) % 50
    return pd.DataFrame({"age": ages, "town": np.where(ages > 40, "Ulm", "Bonn")}), ages


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "people.ledger", epsilon=3, delta=1e-6)


def refusal(ledger, **more):
    with pytest.raises(BudgetExceededError) as caught:
        LinearRegression(ledger=ledger, **OWN, **more).fit(*people())
    return str(caught.value)


@pytest.mark.parametrize("first", ["estimate", {"town": Category(["Ulm", "Bonn"])}], ids=str)
@pytest.mark.parametrize("second", ["estimate", {"town": Category()}], ids=str)
def test_the_refusal_says_what_may_fail_and_what_to_do(ledger, first, second):
    LinearRegression(ledger=ledger, schema=first, **OWN).fit(*people())
    said = refusal(ledger, schema=second)
    assert "finds out what columns hold, or which values they have (schema estimate)" in said
    assert "to publish a value that only one person has" in said
    assert "the first charge of data set 'people' left too little of the ledger's delta" in said
    assert "--schema schema.toml" in said
    assert "ledger.reserve" in said
    assert len(ledger.history("people")) == 1
    described = {"age": Number(), "town": Category(["Ulm", "Bonn"])}  # as it advises
    LinearRegression(ledger=ledger, schema=described, **OWN).fit(*people())
    assert len(ledger.history("people")) == 2


def test_fits_that_are_reserved_together_pass(ledger):
    model = LinearRegression(ledger=ledger, schema="estimate", **OWN)
    ledger.reserve([model.plan(n=N, n_features=2)] * 2, "people")
    spent = ledger.spent("people")
    for _ in range(2):
        model.fit(*people())
    assert ledger.spent("people") == spent


def test_what_is_advised_can_be_typed(tmp_path, monkeypatch, capsys):
    """The commands of the message, as they stand."""
    monkeypatch.chdir(tmp_path)
    people()[0].assign(pay=people()[1]).to_csv("DATA", index=False)
    charge = ["--ledger", "l", "--dataset", "people", "--overwrite"]
    line = ["fit", "DATA", "--target", "pay", "--epsilon", "0.5", *charge]
    assert main([*line, "--schema", "estimate", "--ledger-epsilon", "3"]) == 0
    capsys.readouterr()
    assert main([*line, "--schema", "estimate"]) == 3
    said = capsys.readouterr().err
    (advised,) = re.findall(r"privlearn (plan --template DATA --target COLUMN) > schema.toml", said)
    assert main(advised.replace("COLUMN", "pay").split()) == 0
    text = capsys.readouterr().out
    filled = text.replace('town = { kind = "number" }', 'town = { kind = "category", hashed = 32 }')
    assert filled != text
    (tmp_path / "schema.toml").write_text(filled)
    assert main([*line, "--schema", "schema.toml"]) == 0
    assert "certificate" in json.loads((tmp_path / "model.json").read_text())
