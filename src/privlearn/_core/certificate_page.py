"""Certificates inside a report: blocks of JSON in a page of HTML."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["block_id", "blocks", "is_page"]

KEY = "privlearn-certificate"


def block_id(number: int) -> str:
    """The mark of a block: the model's own has number 0, those of scores follow.

    Examples
    --------
    >>> block_id(0), block_id(1)
    ('privlearn-certificate', 'privlearn-certificate-1')
    """
    return KEY if number == 0 else f"{KEY}-{number}"


def is_page(text: str) -> bool:
    """Whether a text is HTML and no JSON.

    Examples
    --------
    >>> is_page("<!DOCTYPE html>"), is_page("{}")
    (True, False)
    """
    return text.lstrip("\ufeff \t\r\n").startswith("<")


class _Blocks(HTMLParser):
    """Texts of the elements that are marked."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._open: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        mark = dict(attrs).get("id") or ""
        if mark == KEY or mark.startswith(f"{KEY}-"):
            if tag != "pre":
                raise ValueError(f"the mark {mark!r} of a certificate is not at its place")
            self.found.append((mark, ""))
            self._open = mark
        elif self._open is not None:
            raise ValueError("there is markup within the certificate; the page was changed")

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            mark, before = self.found[-1]
            self.found[-1] = mark, before + data


def blocks(text: str) -> list[str]:
    """The JSON of every certificate in a page, the model's own first.

    Raises
    ------
    ValueError
        If there is none, one stands twice, or something is missing between them.

    Examples
    --------
    >>> blocks('<p>words</p><pre id="privlearn-certificate">{}</pre>')
    ['{}']
    """
    reader = _Blocks()
    reader.feed(text)
    reader.close()
    marks = [mark for mark, _ in reader.found]
    if not marks:
        raise ValueError("this page holds no certificate; give one that model.report wrote")
    if marks != [block_id(k) for k in range(len(marks))]:
        raise ValueError("certificates of this page stand twice or are missing; it was changed")
    return [inside for _, inside in reader.found]
