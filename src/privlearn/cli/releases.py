"""Plans and certificates on a screen, with one line for all their releases."""

from __future__ import annotations

__all__ = ["in_short"]


def in_short(text: str, where: str) -> str:
    """The text with one line in place of its releases, which are listed elsewhere.

    Parameters
    ----------
    text : str
        A plan or a certificate.
    where : str
        Where they are listed, in words.

    Examples
    --------
    >>> print(in_short("Plan\\n  release     a\\n  release     b\\n  method", "listed elsewhere"))
    Plan
      release     2 kinds, listed elsewhere
      method
    """
    lines = text.splitlines()
    places = [k for k, line in enumerate(lines) if line.startswith("  release ")]
    if not places:
        return text
    short = f"  release     {len(places)} kind{'s' if len(places) > 1 else ''}, {where}"
    others = [line for k, line in enumerate(lines) if k not in places]
    return "\n".join([*others[: places[0]], short, *others[places[0] :]])
