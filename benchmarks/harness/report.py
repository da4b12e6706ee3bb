"""Results as JSON, Markdown and figures, with what made them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness.needs import Options

if TYPE_CHECKING:
    from benchmarks.harness.components import Component

__all__ = ["folder", "provenance", "read", "source_hash", "store", "table", "write"]

RESULTS = Path(__file__).resolve().parents[1] / "results"
ALWAYS = ("privlearn", "numpy", "scipy", "scikit-learn", "numba")


def folder(options: Options) -> Path:
    """Where results go. Quick ones have a folder of their own and are not kept in the project."""
    if options.results is not None:
        return options.results
    return RESULTS / "quick" if options.quick else RESULTS


def provenance(name: str, packages: tuple[str, ...], options: Options) -> dict:
    """The command, versions and machine behind a result."""
    words = ["python -m benchmarks", name]
    words += ["--quick"] if options.quick else []
    words += ["--one-thread"] if options.one_thread else []
    words += [] if options.seeds is None else [f"--seeds {options.seeds}"]
    return {
        "command": " ".join(words),
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": _cpus(),
        "load": _load(),
        "clock": "CPU time, one thread each" if options.one_thread else "wall time",
        "source": source_hash(),
        "packages": dict(_versions((*ALWAYS, *packages))),
    }


def source_hash() -> str:
    """First digits of a hash over privlearn's source: one version number has many states."""
    import privlearn

    digest = hashlib.sha256()
    top = Path(privlearn.__file__).parent
    for file in sorted(top.rglob("*.py")):
        digest.update(file.relative_to(top).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def _cpus() -> int | None:
    usable = getattr(os, "sched_getaffinity", None)  # not on every system
    return os.cpu_count() if usable is None else len(usable(0))


def _load() -> float:
    """How many processes wanted a CPU in the last minute; 0 where the system does not tell."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0


def _versions(names: tuple[str, ...]):
    for name in names:
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue


def _path(name: str, suffix: str, options: Options) -> Path:
    return folder(options) / f"{name}{suffix}"


def store(name: str, made: dict, results: dict, options: Options) -> dict:
    """Keep what was measured, so that tables and figures can be made again without measuring."""
    stored = {"provenance": made, "results": results}
    path = _path(name, ".json", options)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def read(name: str, options: Options) -> dict | None:
    """What was measured earlier, or None."""
    path = _path(name, ".json", options)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def write(component: Component, stored: dict, options: Options) -> str:
    """Write the Markdown page and the figures; return the page's path for a message."""
    page = _path(component.name, ".md", options)
    page.parent.mkdir(parents=True, exist_ok=True)
    pictures = _save_figures(component, stored["results"], page.with_suffix(""))
    parts = [
        f"# {component.title}",
        component.text,
        component.tables(stored["results"]).strip(),
        _clock(component, stored["provenance"]),
        *(f"![{words}]({picture})" for picture, words in pictures.items()),
        _footer(stored["provenance"]),
    ]
    page.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    return os.path.relpath(page)


def _save_figures(component: Component, results: dict, stem: Path) -> dict[str, str]:
    """Write the figures; their files, and what they show in words."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("no figures, because matplotlib is missing: pip install 'privlearn[bench]'")
        return {}
    from benchmarks.harness import figures

    made = component.figures(results)
    names = {key: f"{stem.name}-{key}" if key else stem.name for key in made}
    for key, figure in made.items():
        figures.save(figure, stem.with_name(names[key]))
    return {f"{names[key]}.png": figures.described(figure) for key, figure in made.items()}


def _clock(component: Component, made: dict) -> str:
    """On pages about speed: the clock, and a warning when others used the machine too."""
    if not component.name.startswith("speed/"):
        return ""
    clock = f"Clock: {made['clock']}."
    if made["clock"] != "wall time" or made["load"] <= made["cpus"] / 2:
        return clock
    return (
        f"{clock} **The machine was busy.** Libraries with several threads lose more by that than "
        "others, so these ratios may flatter privlearn. Measure again on a quiet machine."
    )


def _footer(made: dict) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in made["packages"].items())
    state = (
        f"; SHA-256 of privlearn's source begins with {made['source']}" if "source" in made else ""
    )
    return (
        f"Made by `{made['command']}` on {made['date']}: {made['system']}, {made['cpus']} CPUs "
        f"(load {made['load']} before the start), Python {made['python']}, {versions}{state}."
    )


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, the first column to the left and the others to the right."""
    if any(len(row) != len(header) for row in rows):
        raise ValueError("every row of a table needs as many cells as the header")
    marks = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, marks, *rows))
