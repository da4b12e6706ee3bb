"""Look at a report in a browser, as a reader on a desk or on a phone would."""

from __future__ import annotations

from pathlib import Path

from browser.driver import Browser

__all__ = ["AXE", "WIDTHS", "complaints", "photograph"]

WIDTHS = {"desk": (1280, 900), "phone": (375, 812)}
OWN = ("data:", "blob:", "chrome", "about:", "devtools:")
AXE = (
    "const done = arguments[arguments.length - 1];"
    "axe.run().then(r => done(r.violations.map("
    "v => [v.impact, v.id, v.nodes.length, v.nodes[0].html.slice(0, 160)].join(' | '))))"
)
SIDEWAYS = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
SEEN = (
    "return [...document.querySelectorAll('figure')].map(f => [f.id, "
    "[...f.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().height > 40).length])"
)


def complaints(browser: Browser, page: Path, axe: Path | None) -> list[str]:
    """What is wrong with a page, in both widths; also what axe-core finds, where there is one."""
    wrong = []
    address = page.resolve().as_uri()
    for width, size in WIDTHS.items():
        browser.resize(*size)
        browser.complaints(), browser.requests()  # of pages before
        browser.open(address)
        found = browser.complaints()
        asked = [url for url in browser.requests() if url != address and not url.startswith(OWN)]
        found += [f"asks for {url}" for url in asked]
        found += [f"figure {key} is seen {n} times" for key, n in browser.run(SEEN) if n != 1]
        over = browser.run(SIDEWAYS)
        found += [f"scrolls sideways by {over} pixels"] if over > 0 else []
        if axe is not None:
            browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
            browser.run(axe.read_text(encoding="utf-8"))
            found += browser.run_later(AXE)
        wrong += [f"{page.name}, {width}: {one}" for one in found]
    return wrong


def photograph(browser: Browser, page: Path, folder: Path, heights: dict[str, int]) -> None:
    """Pictures from the top of the page down to a height, in both widths."""
    folder.mkdir(parents=True, exist_ok=True)
    for width, (pixels, _) in WIDTHS.items():
        browser.resize(pixels, heights[width])
        browser.open(page.resolve().as_uri())
        browser.picture(folder / f"report-{page.stem}-{width}.png")
