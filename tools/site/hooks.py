"""What mkdocs asks while it builds the site: which files, which links, which mathematics."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

import layout
import links
import mathematics
import notebooks
import reference

ORIGINS: dict[str, str] = {}  # by page: the file of the repository that it is made from
HIDDEN = re.compile(r"<!--.*?-->\n?", re.S)
SILENT = "---\nsearch:\n  exclude: true\n---\n"


def on_config(config: Any) -> Any:
    """Complete the list of pages by what is there."""
    config.nav = layout.complete(config.nav)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add notes, results, tutorials, the reference, and programs that pages point to."""
    ORIGINS.clear()
    for one in list(files):
        if one.src_uri.startswith("tutorials/") and not one.src_uri.endswith(".md"):
            files.remove(one)
        else:
            ORIGINS[one.src_uri] = f"docs/{one.src_uri}"
    for path in layout.elsewhere():
        _add(files, config, layout.page_of(path), path)
    for path in notebooks.found():
        name = layout.page_of(path)
        for made, content in notebooks.pages(path).items():
            files.append(File.generated(config, f"tutorials/{made}", content=content))
        ORIGINS[name] = path
    for name, text in reference.pages().items():
        files.append(File.generated(config, name, content=text))
    texts = {
        ORIGINS[f.src_uri]: f.content_string
        for f in files
        if f.src_uri in ORIGINS and f.is_documentation_page()
    }
    for path in links.sources(texts):
        files.append(
            File.generated(config, layout.page_of(path), content=SILENT + links.shown(path))
        )
    return files


def _add(files: Files, config: Any, name: str, path: str) -> None:
    files.append(File.generated(config, name, abs_src_path=str(layout.ROOT / path)))
    ORIGINS[name] = path


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Take out what readers do not see, and point links to where things are on the site."""
    name = page.file.src_uri
    if name not in ORIGINS:
        return markdown
    return links.on_site(HIDDEN.sub("", markdown), ORIGINS[name])


def on_post_page(output: str, **_: Any) -> str:
    """Say what the search is to those who do not see it, and let keys scroll wide snippets."""
    named = output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
    return named.replace("<pre><span></span><code>", '<pre tabindex="0"><span></span><code>')


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Draw formulas; those of the notes are written in plain letters."""
    drawn = mathematics.drawn(html)
    return mathematics.set_plain(drawn) if page.file.src_uri.startswith("proofs/") else drawn
