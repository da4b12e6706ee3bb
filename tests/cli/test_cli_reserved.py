"""A model's file takes no more bytes than were reserved before the charge."""

import inspect

import numpy as np
import pytest

from privlearn.cli import main
from privlearn.cli.models import MODELS
from privlearn.cli.outputs import Output

COLUMNS, ROWS = 14, 300
PLAIN = [[name] for name in MODELS]
WITH_INTERVALS = [
    [name, "--intervals"]
    for name, kind in MODELS.items()
    if "intervals" in inspect.signature(kind.estimator_class()).parameters
]


@pytest.fixture
def reserved(tmp_path, monkeypatch):
    """Bytes that were reserved, and that were written, of each file."""
    rng, found = np.random.default_rng(0), []
    names = [f"a_column_with_a_long_name_{k}" for k in range(COLUMNS)]
    table = np.column_stack([rng.uniform(0, 1, (ROWS, COLUMNS)), rng.integers(0, 2, ROWS)])
    head = ",".join([*names, "y"])
    np.savetxt(tmp_path / "p.csv", table, delimiter=",", header=head, comments="", fmt="%.3f")
    reserve, write = Output.__init__, Output.write

    def taking(self, path, *, size=2**16, **known):
        found.append([size, 0])
        reserve(self, path, size=size, **known)

    def writing(self, text):
        found[-1][1] = len(text.encode())
        write(self, text)

    monkeypatch.setattr(Output, "__init__", taking)
    monkeypatch.setattr(Output, "write", writing)
    monkeypatch.chdir(tmp_path)
    return names, found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", PLAIN + WITH_INTERVALS, ids=" ".join)
@pytest.mark.parametrize("epsilon", ["0.5", "30"])
def test_a_model_fits_into_what_was_reserved(reserved, line, epsilon):
    names, found = reserved
    own = ["--model", *line, "--epsilon", epsilon, "--target", "y", "-o", "m.json"]
    for name in names:
        own += ["--bounds", f"{name}=0:1"]
    own += ["--classes", "0.000,1.000"] if MODELS[line[0]].classifies else ["--bounds-y", "0:1"]
    assert main(["fit", "p.csv", *own]) == 0
    size, written = found[0]
    assert 0 < written <= size
