"""The README as a package index shows it: links of the repository would lead nowhere there.

With `repository` in `[tool.hatch.metadata.hooks.custom]` of `pyproject.toml` (RELEASING.md says
when to fill it in) they become links to the repository at the version's tag; without it they become
plain text, and pictures are left out. Comments that hide the set-up of snippets are taken out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = ["ReadmeHook", "for_index"]

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")
COMMENT = re.compile(r"^<!--.*?-->\n", re.M | re.S)
FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)


def for_index(readme: str, repository: str, version: str) -> str:
    """The text with links that work anywhere; `repository` is an address or empty."""
    base = f"{repository.rstrip('/')}/{{}}/v{version}" if repository else ""

    def moved(match: re.Match) -> str:
        picture, label, target = match.groups()
        if not base:
            return "" if picture else label
        return f"{picture}[{label}]({base.format('raw' if picture else 'blob')}/{target})"

    parts = FENCED.split(COMMENT.sub("", readme))
    parts[::2] = [LINK.sub(moved, part) for part in parts[::2]]
    return "".join(parts)


class ReadmeHook(MetadataHookInterface):
    """Called by hatchling when it builds the package."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in the field `readme`."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = (Path(self.root) / "src/privlearn/_core/version.py").read_text(encoding="utf-8")
        version = re.search(r'"([^"]+)"', source).group(1)
        made = for_index(text, self.config.get("repository", ""), version)
        metadata["readme"] = {"content-type": "text/markdown", "text": made}
