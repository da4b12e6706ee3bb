"""Which file of the repository becomes which page of the site, and the list of pages."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

__all__ = ["ROOT", "complete", "elsewhere", "page_of", "title"]

ROOT = Path(__file__).resolve().parents[2]
RESULTS = "benchmarks/results/"
NOTES = "src/privlearn/"
PROJECT = {
    "README.md": "index.md",
    "CHANGELOG.md": "project/changes.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "RELEASING.md": "project/releasing.md",
    "SECURITY.md": "project/security.md",
}
FOLDERS = {
    "docs": "index.md",
    "docs/adr": "adr/index.md",
    "docs/tutorials": "tutorials/index.md",
    "benchmarks/results": "benchmarks.md",
}


def page_of(path: str) -> str:
    """Where a file or folder of the repository is on the site, as a name of a page or picture.

    What is neither page nor picture, such as a program that a page points to, is shown as it is
    on a page below `source/`.
    """
    path = path.rstrip("/")
    if path in PROJECT | FOLDERS:
        return (PROJECT | FOLDERS)[path]
    if path.startswith("docs/tutorials/") and path.endswith(".py"):
        return path.removeprefix("docs/").removesuffix(".py") + ".md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith(RESULTS) and path.endswith((".md", ".png")):
        return "benchmarks/" + path.removeprefix(RESULTS)
    if path.startswith(NOTES) and path.endswith(".md"):
        return "proofs/" + path.removeprefix(NOTES)
    return f"source/{path.lstrip('.')}.md"  # mkdocs passes over names with a leading dot


def elsewhere() -> list[str]:
    """Files outside `docs` that are pages or pictures: notes, results, and those of the project."""
    found = [name for name in PROJECT if name != "README.md"]
    for folder, ends in ((NOTES, (".md",)), (RESULTS, (".md", ".png"))):
        paths = sorted((ROOT / folder).rglob("*"))
        found += [p.relative_to(ROOT).as_posix() for p in paths if p.suffix in ends]
    return [path for path in found if not path.startswith(f"{RESULTS}quick/")]


def title(path: str) -> str:
    """The heading of a page, from its file in the repository."""
    text = (ROOT / path).read_text(encoding="utf-8")
    marked = re.search(r"^(?:# )?# (.+)$", text, re.M)
    return marked.group(1).replace("`", "") if marked else PurePosixPath(path).stem


def complete(nav: list) -> list:
    """The list of pages of `mkdocs.yml` without those that do not exist, and with all others.

    A name that ends with `*` stands for all pages of that folder; pages of `docs` that nobody
    named come under "More".
    """
    notes = [path for path in elsewhere() if path.startswith(NOTES)]
    results = [path for path in elsewhere() if path.startswith(RESULTS) and path.endswith(".md")]
    decisions = [f"docs/adr/{p.name}" for p in sorted((ROOT / "docs/adr").glob("0*.md"))]
    stars = {"proofs/*": notes, "benchmarks/*": results, "adr/*": decisions}
    filled = _filled(nav, stars)
    named = set(re.findall(r"[\w/.-]+\.md", str(filled)))
    more = [p.name for p in sorted((ROOT / "docs").glob("*.md")) if p.name not in named]
    return [*filled, *([{"More": more}] if more else [])]


def _filled(entries: list, stars: dict[str, list[str]]) -> list:
    out: list = []
    for entry in entries:
        if isinstance(entry, str) and entry in stars:
            out += [{title(path): page_of(path)} for path in stars[entry]]
        elif isinstance(entry, dict):
            ((name, inside),) = entry.items()
            kept = _filled(inside, stars) if isinstance(inside, list) else _existing(inside)
            out += [{name: kept}] if kept else []
        else:
            out += [entry] if _existing(entry) else []
    return out


def _existing(page: str) -> str | None:
    generated = page.startswith(("reference/", "project/", "proofs/", "tutorials/"))
    return page if generated or (ROOT / "docs" / page).exists() else None
