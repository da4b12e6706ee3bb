"""`privlearn verify`, and files of earlier versions, which must be read as they were written."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from privlearn._core.certificate import Certificate
from privlearn._core.certificate_check import GRID, check_certificate
from privlearn.cli import main
from privlearn.cli.model_file import read_model

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
CERTIFICATES = sorted(FIXTURES.glob("certificates/*/*.json"))
MODELS = sorted(FIXTURES.glob("models/*/*.json"))
ANY_CERTIFICATE = FIXTURES / "certificates" / "0.1.0.dev0" / "moments-zero_out.json"
ANY_MODEL = FIXTURES / "models" / "0.1.0.dev0" / "owner.json"


def content_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


def short(path):
    return f"{path.parent.name}/{path.stem}"


# The command


@pytest.mark.parametrize("path", [ANY_CERTIFICATE, ANY_MODEL], ids=short)
def test_it_says_what_was_checked(path, capsys):
    assert main(["verify", str(path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{path}: the certificate holds")
    for words in (
        "promised     epsilon = 1, delta = 1e-06",
        "sensitivity, noise, grid and share of each follow from what is",
        "by our accountant, as the file says",
        "dp_accounting",
        "assumes      ",
        "not checked: that the fit made these releases and no others",
    ):
        assert words in said


def test_a_seed_is_confessed(capsys):
    main(["verify", str(ANY_CERTIFICATE)])
    said = capsys.readouterr().out
    assert said.partition("\n")[0].endswith("the certificate holds, but the fit is NOT PRIVATE")
    assert "private      NO: random_state was set" in said


def test_it_does_without_a_second_opinion(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    assert main(["verify", str(ANY_CERTIFICATE)]) == 0
    assert "dp_accounting is not installed" in capsys.readouterr().out


TAMPERED = {
    "clip": (lambda c: c["releases"][0].update(clip=0.1), "noise_scale of release"),
    "noise": (lambda c: c["releases"][0].update(noise_scale=99.0), "noise_scale of release"),
    "count": (lambda c: c["releases"][0].update(count=2), "but its releases cost"),
    "epsilon": (lambda c: c.update(epsilon=0.5), "epsilon = 0.5 was promised, but the releases"),
    "spent": (lambda c: c.update(spent_epsilon=0.5), "says that epsilon = 0.5 was spent"),
    "missing": (lambda c: c.pop("scale"), "lacks 'scale'"),
    "mechanism": (
        lambda c: c["releases"][0]["declared"].update(mechanism={"kind": "magic"}),
        "unknown kind of mechanism; this version knows gaussian, laplace",
    ),
    "newer": (lambda c: c.update(format="privlearn certificate 9"), "update privlearn"),
}


@pytest.mark.parametrize("path", [ANY_CERTIFICATE, ANY_MODEL], ids=short)
@pytest.mark.parametrize("what", TAMPERED)
def test_what_was_changed_is_found(path, what, tmp_path, capsys):
    change, words = TAMPERED[what]
    content = content_of(path)
    change(content.get("certificate", content))
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(content))
    assert main(["verify", str(file)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{file} does not hold: " in said.err
    assert words in said.err


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"\xff\xfe\x00", "is not text"),
        (b"not json", "this is not JSON"),
        (b"{}", "no certificate of a known format"),
        (b'{"format": "privlearn model 1", "certificate": 3}', "holds no certificate"),
    ],
)
def test_what_is_no_certificate_is_said(raw, words, tmp_path, capsys):
    file = tmp_path / "x.json"
    file.write_bytes(raw)
    assert main(["verify", str(file)]) == 1
    assert words in capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert main(["verify", str(tmp_path / "none.json")]) == 1
    assert "cannot be read: No such file" in capsys.readouterr().err


def test_nothing_that_reads_data_is_loaded():
    code = (
        f"import sys; from privlearn.cli import main; assert main(['verify', {str(ANY_MODEL)!r}]) "
        "== 0; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    heavy = {"sklearn", "numba", "pandas", "polars", "narwhals", "randomgen", "sqlite3"}
    rooms = (
        "data",
        "solvers",
        "linear_model",
        "kernel_model",
        "release",
        "noise",
        "private_bounds",
    )
    assert not loaded & (heavy | {f"privlearn.{room}" for room in rooms})


# Files of this and earlier versions


def test_fixtures_are_there():
    assert len(CERTIFICATES) >= 18
    assert len(MODELS) >= 3


@pytest.mark.parametrize("path", CERTIFICATES + MODELS, ids=short)
def test_files_of_earlier_versions_hold(path):
    """They are read, what they say adds up, and nothing that was spent becomes less."""
    content = content_of(path)
    checked = check_certificate(content, second_opinion=False)
    assert checked.problems == ()
    stated = content.get("certificate", content)["spent_epsilon"]
    assert checked.spent >= stated * (1 - GRID)
    again = Certificate.from_json(path.read_text(encoding="utf-8"))
    assert again == checked.certificate
    assert again.spent() == checked.spent


@pytest.mark.slow
@pytest.mark.parametrize("path", CERTIFICATES + MODELS, ids=short)
def test_a_second_accountant_agrees_on_earlier_versions(path):
    pytest.importorskip("dp_accounting")
    checked = check_certificate(content_of(path))
    assert checked.problems == ()
    assert checked.second is not None or "no counterpart" in checked.no_second


@pytest.mark.parametrize("path", MODELS, ids=short)
def test_models_of_earlier_versions_are_read(path):
    content = content_of(path)
    again = read_model(path).to_dict()
    assert {**again, "privlearn": content["privlearn"]} == content
