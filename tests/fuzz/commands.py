"""The command line with files of any kind; what it prints and writes holds no cell."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from fuzz.cells import ODD
from fuzz.oracle import observe
from privlearn.cli import main

FACTS = ["--bounds", "age=0:1", "--bounds", "rooms=0:1", "--bounds-y", "0:1"]
NAMES = "age,rooms,wage"
SMALL = {"--epsilon": "8"}
ENDS = (0, 1, 2, 3)


def _line(secrets):
    return f"{secrets.small()},{secrets.small()},{secrets.small()}"


def _body(secrets, n=6):
    return [_line(secrets) for _ in range(n)]


def _with(secrets, odd):
    lines = _body(secrets)
    lines[2] = odd(secrets)
    return [NAMES, *lines]


CSV = {
    "plain": lambda s: [NAMES, *_body(s)],
    "large": lambda s: [NAMES, *(f"{s.large()},{s.whole()},{s.large()}" for _ in range(6))],
    "no header": lambda s: [f"{s.large()},{s.large()},{s.large()}" for _ in range(6)],
    "only a header": lambda s: [NAMES],
    "nothing": lambda s: [],
    "unbalanced quote": lambda s: _with(s, lambda s: f'"{s.word()},{s.small()},{s.small()}'),
    "quote inside": lambda s: _with(s, lambda s: f'{s.word()}"x",{s.small()},{s.small()}'),
    "text": lambda s: _with(s, lambda s: f"{s.word()},{s.small()},{s.small()}"),
    "text target": lambda s: _with(s, lambda s: f"{s.small()},{s.small()},{s.word()}"),
    "short line": lambda s: _with(s, lambda s: f"{s.large()}"),
    "long line": lambda s: _with(s, lambda s: _line(s) + f",{s.large()}"),
    "empty cell": lambda s: _with(s, lambda s: f",{s.small()},{s.small()}"),
    "NUL": lambda s: _with(s, lambda s: f"\0{s.word()},{s.small()},{s.small()}"),
    "not UTF-8": lambda s: _with(s, lambda s: f"\udcff{s.word()},{s.small()},{s.small()}"),
    "long cell": lambda s: _with(s, lambda s: f"{s.word() + 'x' * 200_000},1,1"),
    "1e400": lambda s: _with(s, lambda s: "1e400,1,1"),
    "many digits": lambda s: _with(s, lambda s: "9" * 5000 + ",1,1"),
    "newline in a cell": lambda s: _with(s, lambda s: f'"{s.word()}\n{s.small()}",1,1'),
    "other digits": lambda s: _with(s, lambda s: "\u0661,1,1"),
    "names twice": lambda s: ["age,age,wage", *_body(s)],
    "odd": lambda s: _with(s, lambda s: f"{ODD['Decimal'](s)!s},{s.large()},{s.word()}"),
    "semicolons": lambda s: [line.replace(",", ";") for line in [NAMES, *_body(s)]],
}
ENDINGS = {"\\n": "\n", "\\r\\n": "\r\n", "\\r": "\r", "mixed": "\n\r\n"}


def _write_csv(pick, secrets, path):
    lines = pick("csv", CSV)(secrets)
    text = pick("line end", ENDINGS).join(lines)
    mark = b"\xef\xbb\xbf" if pick.chance(10) else b""
    path.write_bytes(mark + text.encode("utf-8", "surrogateescape"))


def _columns(secrets, n=6):
    return {name: [secrets.small() for _ in range(n)] for name in ("age", "rooms", "wage")}


PARQUET = {
    "plain": lambda s: pl.DataFrame(_columns(s)),
    "nulls": lambda s: pl.DataFrame(_columns(s) | {"age": [None, *(s.large() for _ in range(5))]}),
    "texts": lambda s: pl.DataFrame(_columns(s) | {"age": [s.word() for _ in range(6)]}),
    "lists": lambda s: pl.DataFrame(_columns(s) | {"age": [[s.large()] for _ in range(6)]}),
    "bytes": lambda s: pl.DataFrame(_columns(s) | {"age": [s.word().encode() for _ in range(6)]}),
    "dates": lambda s: pl.DataFrame(_columns(s) | {"age": pl.Series(range(6)).cast(pl.Date)}),
    "structs": lambda s: pl.DataFrame(_columns(s) | {"age": [{"a": s.large()} for _ in range(6)]}),
    "decimals": lambda s: pl.DataFrame(
        _columns(s) | {"age": pl.Series([s.whole() for _ in range(6)]).cast(pl.Decimal(20, 2))}
    ),
    "NaN": lambda s: pl.DataFrame(_columns(s) | {"age": [np.nan] * 6}),
    "no rows": lambda s: pl.DataFrame(_columns(s, 0)),
}


def _write_parquet(pick, secrets, path):
    frame = pick("parquet", PARQUET)(secrets)
    out = io.BytesIO()
    frame.write_parquet(out)
    content = out.getvalue()
    if pick.chance(20):
        content = content[: pick.between(0, len(content))]
    path.write_bytes(content)


FACT_FILES = {
    "good": 'target = "wage"\n[bounds]\nage = [0, 1]\nrooms = [0, 1]\nwage = [0, 1]\n',
    "unknown": "colour = 3\n",
    "broken": "target = [",
    "huge": 'target = "wage"\n[bounds]\nage = [0, 1e308]\nrooms = [-1e308, 1e308]\nwage = [0, 1]\n',
    "texts": 'target = "wage"\n[bounds]\nage = ["a", "b"]\n',
    "tables": "[target]\na = 1\n",
    "categories": 'target = "wage"\n[categories]\nage = ["a", "b"]\n[bounds]\nrooms = [0, 1]\n',
    "numbers as categories": 'target = "wage"\n[categories]\nage = [1, 2]\n',
    "nan": 'target = "wage"\ndata_norm = nan\n',
    "tiny": 'target = "wage"\n[bounds]\nage = [0, 1e-320]\nrooms = [0, 1]\nwage = [0, 1e-320]\n',
    "binary": "\udcff\udcfe",
}
MODELS = ("linear", "ridge", "lasso", "elastic-net", "huber", "logistic", "svc")
EXTRA = {
    "nothing": [],
    "drop": ["--on-invalid", "drop"],
    "add_remove": ["--adjacency", "add_remove"],
    "norm": ["--data-norm", "3"],
    "solver": ["--solver", "sgd"],
    "unknown solver": ["--solver", "x"],
    "separator": ["--separator", ";"],
    "pure": ["--delta", "0", "--solver", "one-pass"],
    "tiny": ["--delta", "1e-300"],
    "alpha": ["--alpha", "1e300"],
    "data as output": ["-o", "data.csv", "--overwrite"],
    "ledger": ["--ledger", "a.ledger", "--dataset", "people", "--ledger-epsilon", "20"],
    "ledger as output": ["--ledger", "a.ledger", "--dataset", "people", "-o", "a.ledger"],
}


def _fit_line(pick, data):
    line = [
        "fit",
        data,
        "--target",
        "wage",
        "--epsilon",
        pick("epsilon", ("8", "1", "1e-9", "1e9")),
    ]
    if pick.chance(25):
        text = pick("facts", FACT_FILES)
        Path("schema.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
        line += ["--schema", "schema.toml"]
    elif pick.chance(75):
        line += FACTS
    model = pick("model", MODELS)
    if model in ("logistic", "svc"):
        line = [part for part in line if part not in ("--bounds-y", "0:1")]
    line += ["--model", model, *pick("extra", EXTRA), *pick("extra", EXTRA)]
    if pick.chance(25):
        line += [
            "--predict",
            data,
            "--predictions",
            pick("to", ("p.csv", "data.csv", "model.json")),
        ]
    return line


def _evaluate_line(pick, data):
    line = ["evaluate", "m.json", data, "--epsilon", pick("epsilon", ("8", "1", "1e-9"))]
    line += ["--on-invalid", pick("invalid", ("raise", "drop"))]
    return line + pick("more", (["--bounds-y", "0:1"], ["--json"], ["--adjacency", "add_remove"]))


def _command(pick, secrets):
    """A command line in a folder with its files."""
    data = pick("data", ("data.csv", "data.csv", "data.csv", "data.parquet"))
    (_write_csv if data.endswith("csv") else _write_parquet)(pick, secrets, Path(data))
    command = pick("command", ("fit", "fit", "fit", "template", "predict", "evaluate", "ledger"))
    if command == "template":
        return ["plan", "--template", data, "--target", "wage"]
    if command == "ledger":
        Path("a.ledger").write_bytes(pick("ledger", {"": b"", "text": b"hello", "0": b"\0" * 5000}))
        return ["ledger", pick("file", ("a.ledger", data, "none"))]
    if command in ("predict", "evaluate"):
        kinds = {
            "good": model_file(),
            "broken": "{",
            "list": "[]",
            "empty": "",
            "other": '{"a": 1}',
        }
        Path("m.json").write_text(pick("model file", kinds))
        if command == "evaluate":
            return _evaluate_line(pick, data)
        return ["predict", "m.json", data, "--on-invalid", pick("invalid", ("raise", "blank"))]
    return _fit_line(pick, data)


def run_command(pick, secrets):
    """Run one command and look at its status, its words and its files."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        os.chdir(folder)
        try:
            line = _command(pick, secrets)
            pick.story.append("privlearn " + " ".join(line))
            before = {path.name: path.read_bytes() for path in Path().iterdir()}
            seen = observe(lambda: main(line))
            after = {path.name: path.read_bytes() for path in Path().iterdir()}
        finally:
            os.chdir(here)
    if {"svc", "logistic"} & set(line) and "--classes" not in line and line[0] == "fit":
        after.pop("model.json", None)  # it holds the labels of y, which are public by assumption
    return f"privlearn {line[0]}", list(_verdict(pick, secrets, seen, before, after))


def _verdict(pick, secrets, seen, before, after):
    said = dict(seen.texts).get("output", "")
    status = seen.error.code if isinstance(seen.error, SystemExit) else seen.result
    secrets.outcome = "succeeded" if status == 0 else f"status {status}"
    if seen.error is not None and not isinstance(seen.error, SystemExit):
        yield f"undocumented {type(seen.error).__name__}", "", str(seen.error)[:200]
    elif status not in ENDS:
        yield "exit status", str(status), said[-200:]
    if "unexpected" in said and "--traceback" in said:
        yield "undocumented " + said.split("unexpected ")[1].split(";")[0], "command", said[-200:]
    for where, text in seen.texts:
        secret = secrets.found_in(text, noisy=True)
        if secret is not None:
            yield f"quoted in {where}", "", f"{secret}: {text[:200]}"
            break
    yield from _files(secrets, before, after, status)


def _files(secrets, before, after, status):
    for name, content in before.items():
        if name not in after or (after[name] != content and name != "a.ledger"):
            yield "a file of the user was overwritten", name, ""
    for name, content in after.items():
        if name not in before or (name == "a.ledger" and after[name] != before[name]):
            secret = secrets.found_in_bytes(content)
            if secret is not None:
                yield "quoted in a file", name, str(secret)
            if status not in (0, None) and name in ("model.json", "p.csv"):
                yield "output of a command that failed", name, ""


@cache
def model_file():
    """What a good fit writes."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        data, out = Path(folder) / "d.csv", Path(folder) / "m.json"
        data.write_text("\n".join([NAMES, *["0.5,0.25,0.75"] * 6]))
        line = ["fit", str(data), "--target", "wage", "--epsilon", "8", *FACTS, "-o", str(out)]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main(line)
        return out.read_text()
