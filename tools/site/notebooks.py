"""Tutorials: programs with cells, run while the site is built.

A tutorial is a Python file in which `# %%` begins a cell and `# %% [markdown]` a text, the form
that Jupyter (with jupytext), VS Code and PyCharm open as a notebook. Nothing that it prints is kept
in the repository: what the site shows was printed while the site was built.

    python tools/site/notebooks.py             # runs all, says how long each took, and of a CPU
    python tools/site/notebooks.py docs/tutorials/wages.py
"""

from __future__ import annotations

import ast
import base64
import contextlib
import html
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from layout import ROOT

__all__ = ["cells", "found", "pages", "run"]

FOLDER = ROOT / "docs" / "tutorials"
CELL = re.compile(r"^# %%(?P<kind> \[markdown\])?(?P<rest>.*)$", re.M)
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
Cell = tuple[str, str]  # "text" or "code", and what it holds


def found() -> list[str]:
    """Every tutorial, by its path in the repository."""
    return [path.relative_to(ROOT).as_posix() for path in sorted(FOLDER.glob("[a-z]*.py"))]


def cells(source: str) -> list[Cell]:
    """The cells of a tutorial, in their order."""
    marks = [*CELL.finditer(source)]
    ends = [*(mark.start() for mark in marks[1:]), len(source)]
    return [_cell(mark, source[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]


def _cell(mark: re.Match, body: str) -> Cell:
    if not mark.group("kind"):
        return "code", body.strip("\n")
    return "text", "\n".join(re.sub(r"^# ?", "", line) for line in body.strip("\n").splitlines())


def run(path: str) -> list[dict]:
    """Run a tutorial in a process and a folder of its own; what each cell showed comes back."""
    data = Path(os.environ.get("PRIVLEARN_DATA", ROOT.parent / "shared" / "data")).resolve()
    known = {"PRIVLEARN_DATA": str(data)} if data.is_dir() else {}
    ways = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), "--cells", str(ROOT / path)],
            cwd=folder,
            env=os.environ | ONE_THREAD | known | {"PYTHONPATH": ways, "MPLBACKEND": "agg"},
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise RuntimeError(f"{path} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


@cache
def _all() -> dict[str, list[dict]]:
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(found(), pool.map(run, found()), strict=True))


def pages(path: str) -> dict[str, str | bytes]:
    """The page of a tutorial, its pictures, and the notebook to take away, by their names."""
    stem = Path(path).stem
    files: dict[str, str | bytes] = {f"{stem}.ipynb": _notebook(path)}
    parts = []
    for cell, shown in zip(cells((ROOT / path).read_text("utf-8")), _all()[path], strict=True):
        parts.append(cell[1] if cell[0] == "text" else f"```python\n{cell[1]}\n```")
        parts += [f"```text\n{shown['printed'].rstrip()}\n```"] if shown["printed"].strip() else []
        parts += (
            [f'<div class="result" markdown="0">{shown["html"]}</div>'] if shown["html"] else []
        )
        for picture in shown["pictures"]:
            name = f"{stem}-{len(files)}.png"
            files[name] = base64.b64decode(picture["png"])
            parts.append(f"![{html.escape(picture['alt'])}]({name})")
    parts.append(f"This page is a notebook: [take it with you]({stem}.ipynb).")
    return files | {f"{stem}.md": "\n\n".join(parts) + "\n"}


def _notebook(path: str) -> str:
    """The tutorial as Jupyter stores it, without outputs."""
    shape: dict[str, Any] = {"text": {"cell_type": "markdown"}, "code": {"cell_type": "code"}}
    shape["code"] |= {"outputs": [], "execution_count": None}
    listed = [
        {**shape[kind], "id": f"cell-{number}", "metadata": {}, "source": text}
        for number, (kind, text) in enumerate(cells((ROOT / path).read_text("utf-8")))
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"cells": listed, "metadata": {"kernelspec": kernel}, "nbformat": 4}
    return json.dumps(whole | {"nbformat_minor": 5}, indent=1) + "\n"


def _run_cells(path: Path) -> list[dict]:
    """In the child process: run every cell in one name space."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_shown(kind, text, names) for kind, text in cells(path.read_text("utf-8"))]


def _shown(kind: str, text: str, names: dict[str, Any]) -> dict:
    if kind == "text":
        return {"printed": "", "html": "", "pictures": []}
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out, rich = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "<cell>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None
        rich = _html(value)
        if value is not None and not rich and not _is_drawing(value):
            print(repr(value))
    return {"printed": out.getvalue(), "html": rich, "pictures": _pictures()}


def _html(value: object) -> str:
    make = getattr(value, "_repr_html_", None)
    return make() if callable(make) and not isinstance(value, type) else ""


def _is_drawing(value: object) -> bool:
    return type(value).__module__.startswith("matplotlib") or isinstance(value, (list, tuple))


def _pictures() -> list[dict]:
    if "matplotlib.pyplot" not in sys.modules:
        return []
    from matplotlib import pyplot

    made = []
    for number in pyplot.get_fignums():
        figure, file = pyplot.figure(number), io.BytesIO()
        figure.savefig(
            file, format="png", dpi=130, bbox_inches="tight", metadata={"Software": None}
        )
        alt = figure.get_label() or "figure"
        made.append({"alt": alt, "png": base64.b64encode(file.getvalue()).decode()})
    pyplot.close("all")
    return made


def _main(words: list[str]) -> None:
    if words[:1] == ["--cells"]:
        print(json.dumps(_run_cells(Path(words[1]))))
        return
    for path in words or found():
        before = os.times()
        run(path)
        after = os.times()
        cpu = sum(after[2:4]) - sum(before[2:4])
        print(
            f"{after.elapsed - before.elapsed:6.1f} s, {cpu:5.1f} s of CPU time  {path}", flush=True
        )


if __name__ == "__main__":
    _main(sys.argv[1:])
