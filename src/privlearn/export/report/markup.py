"""HTML that is made of elements: a text can get into a page only as text.

Names of columns, labels, categories and names of data sets are texts of others. Whatever is not
made by `tag` is escaped by it, so there is no place where that could be forgotten.
"""

from __future__ import annotations

from privlearn._core.harmless import harmless

__all__ = ["Markup", "group", "name", "tag"]

VOID = frozenset({"meta", "circle", "line", "path", "polygon", "polyline", "rect"})


class Markup(str):
    """What `tag` made; any other text is no markup."""

    __slots__ = ()


def _inside(child: str) -> str:
    return child if isinstance(child, Markup) else harmless(child, "html")


def tag(kind: str, *children: str, **attributes: str | float | None) -> Markup:
    """One element.

    Parameters
    ----------
    kind : str
        Its name.
    *children : str
        What is inside: elements, or texts, which are escaped.
    **attributes : str, number or None
        Underscores stand for hyphens, and one at the end is dropped; None leaves one out.

    Examples
    --------
    >>> print(tag("p", tag("b", "a < b"), " and more", class_="note"))
    <p class="note"><b>a &lt; b</b> and more</p>
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{harmless(_plain(value), "html")}"'
        for key, value in attributes.items()
        if value is not None
    )
    if kind in VOID:
        return Markup(f"<{kind}{given}>" if kind == "meta" else f"<{kind}{given}/>")
    return Markup(f"<{kind}{given}>{''.join(map(_inside, children))}</{kind}>")


def _plain(value: str | float | None) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def group(*children: str) -> Markup:
    """Elements and texts one after the other.

    Examples
    --------
    >>> group("a & ", tag("i", "b"))
    'a &amp; <i>b</i>'
    """
    return Markup("".join(map(_inside, children)))


def name(text: str) -> Markup:
    """A text of others among ours, in whatever direction it is written.

    Examples
    --------
    >>> name("<script>")
    '<bdi>&lt;script&gt;</bdi>'
    """
    return tag("bdi", text)
