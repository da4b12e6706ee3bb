"""Tables of a page: a caption, heads that screen readers find, and cells."""

from __future__ import annotations

from collections.abc import Sequence

from privlearn.export.report.markup import Markup, tag

__all__ = ["table", "terms"]


def table(
    caption: str,
    head: Sequence[str],
    body: Sequence[Sequence[str]],
    *,
    key: str,
    numbers: bool = True,
) -> Markup:
    """A table whose first column names the line.

    Parameters
    ----------
    caption : str
        Its title.
    head : sequence of str
        Names of the columns; an empty first one is no head.
    body : sequence of sequences of str
        Elements and texts.
    key : str
        Short name, for references within the page.
    numbers : bool, default=True
        Whether cells are numbers, which stand to the right.

    Examples
    --------
    >>> print(table("Ages", ["", "years"], [["Ana", "30"]], key="ages")[-73:])
    <tbody><tr><th scope="row">Ana</th><td>30</td></tr></tbody></table></div>
    """
    first, *others = head
    corner = tag("th", first, scope="col") if first else tag("td")
    top = tag("tr", corner, *(tag("th", cell, scope="col") for cell in others))
    lines = [
        tag("tr", tag("th", label, scope="row"), *(tag("td", cell) for cell in cells))
        for label, *cells in body
    ]
    made = tag(
        "table",
        tag("caption", caption, id=f"table-{key}"),
        tag("thead", top),
        tag("tbody", *lines),
        class_="numbers" if numbers else None,
    )
    # What is too wide for a phone scrolls by itself, with keys as well, and the page does not.
    reach = {"tabindex": "0", "role": "region", "aria_labelledby": f"table-{key}"}
    return tag("div", made, class_="table", **reach)


def terms(pairs: Sequence[tuple[str, Sequence[str]]]) -> Markup:
    """Words and what they are here."""
    return tag("dl", *(tag("div", tag("dt", word), tag("dd", *told)) for word, told in pairs))
