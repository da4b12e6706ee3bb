"""Links of a page, which are those of the repository, as links of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from layout import ROOT, page_of

__all__ = ["on_site", "shown", "sources", "targets"]

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)


def on_site(markdown: str, path: str) -> str:
    """The text of the file `path` of the repository with links as they are on the site."""
    here = posixpath.dirname(page_of(path))

    def moved(match: re.Match) -> str:
        before, target, after = match.groups()
        if "://" in target or target.startswith("mailto:"):
            return match.group(0)
        place = page_of(_in_repository(target, path))
        return before + posixpath.relpath(place, here or ".") + after

    return _outside_code(markdown, lambda text: LINK.sub(moved, text))


def targets(markdown: str, path: str) -> set[str]:
    """Files of the repository that a page links to, by their paths."""
    texts = FENCED.split(markdown)[::2]
    found = [match.group(2) for text in texts for match in LINK.finditer(text)]
    return {_in_repository(one, path) for one in found if "://" not in one}


def sources(pages: dict[str, str]) -> list[str]:
    """Linked files and folders that are no pages, of {path: text}: they are shown as they are."""
    linked = set().union(*(targets(text, path) for path, text in pages.items()))
    return sorted(one for one in linked if page_of(one).startswith("source/"))


def shown(path: str) -> str:
    """A page that shows a file, or says what is in a folder."""
    place = ROOT / path
    if place.is_dir():
        names = sorted(p.name for p in place.iterdir() if p.suffix in (".py", ".md", ".json"))
        return f"# {path}\n\nFiles of this folder:\n\n" + "".join(f"- `{n}`\n" for n in names)
    kind = {".py": "python", ".yml": "yaml", ".toml": "toml"}.get(place.suffix, "text")
    text = place.read_text(encoding="utf-8")
    return f"# {path}\n\n````{kind}\n{text.rstrip()}\n````\n"


def _in_repository(target: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def _outside_code(markdown: str, change: Callable[[str], str]) -> str:
    parts = FENCED.split(markdown)
    parts[::2] = [change(part) for part in parts[::2]]
    return "".join(parts)
