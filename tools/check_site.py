"""Click through the built site in a real browser, as a reader would.

    python tools/check_site.py site
    python tools/check_site.py site --axe axe.min.js --pictures /tmp/pictures

Every page is opened: no error on the console, no request that leaves the machine, no link to a
page or an anchor that is not there. The search finds something, and its first result opens. With
`--axe` (the file of axe-core, from npm) four pages are checked for accessibility; with `--pictures`
they are photographed in the width of a desk and of a phone. Needs Chromium and its driver (on
Debian: `apt-get install chromium chromium-driver`); without them it says so and exits with 0.
"""

from __future__ import annotations

import argparse
import functools
import sys
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

from browser.driver import Browser, missing, opened

LOOKED_AT = ("index.html", "start/five-minutes.html", "reference/privlearn.html",
             "proofs/solvers/coordinate_descent/proof.html")  # fmt: skip
WIDTHS = {"desk": (1280, 900), "phone": (390, 844)}
OWN = ("data:", "blob:", "chrome", "about:", "devtools:")


class Links(HTMLParser):
    """Where a page points to, and what may be pointed to in it."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links, pictures, scripts and anchors."""
        known = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := known.get(key))}
        for key in ("href", "src"):
            if (target := known.get(key)) and known.get("rel") != "canonical":
                self.targets.append(target)


def broken_links(site: Path) -> list[str]:
    """Links of all pages that lead nowhere within the site."""
    pages = {page.relative_to(site).as_posix(): Links() for page in sorted(site.rglob("*.html"))}
    for name, links in pages.items():
        links.feed((site / name).read_text(encoding="utf-8"))
    return [
        f"{name}: {target}"
        for name, links in pages.items()
        for target in links.targets
        if name != "404.html" and not _leads_somewhere(site, pages, name, target)
    ]


def _leads_somewhere(site: Path, pages: dict[str, Links], name: str, target: str) -> bool:
    if "://" in target or target.startswith(("mailto:", "data:", "javascript:")):
        return True
    place, anchor = urldefrag(urljoin(f"http://site/{name}", target))
    path = unquote(place.removeprefix("http://site/")) or "index.html"
    if not anchor or anchor.startswith("__"):
        return (site / path).exists()
    return path in pages and unquote(anchor) in pages[path].anchors


def serve(site: Path) -> str:
    """Serve the site on this machine; its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def visit(browser: Browser, address: str, names: list[str]) -> list[str]:
    """Open every page; what went wrong."""
    wrong = []
    for name in names:
        browser.open(address + name)
        wrong += [f"{name}: {one}" for one in browser.complaints()]
        left = [url for url in browser.requests() if not url.startswith((address, *OWN))]
        wrong += [f"{name}: asks for {url}" for url in left]
    return wrong


def search(browser: Browser, address: str, word: str = "epsilon") -> list[str]:
    """Type a word into the search, as a reader does, and open the first result."""
    browser.open(address + "index.html")
    browser.run("document.querySelector('[data-md-component=search-query]').focus()")
    box = browser.ask("/element", using="css selector", value="[data-md-component=search-query]")
    browser.ask(f"/element/{next(iter(box.values()))}/value", text=word)
    found = browser.until(
        "const a = document.querySelector('.md-search-result__item a'); return a && a.href"
    )
    if not found:
        return [f"the search finds nothing for {word!r}"]
    browser.open(found)
    shown = browser.run("return document.body.innerText.toLowerCase()")
    return [] if word in shown else [f"{found} does not say {word!r}"]


def accessible(browser: Browser, address: str, axe: Path) -> list[str]:
    """What axe-core finds on the pages that are looked at."""
    wrong = []
    for name in LOOKED_AT:
        browser.open(address + name)
        browser.run(axe.read_text(encoding="utf-8"))
        found = browser.run_later(
            "const done = arguments[arguments.length - 1];"
            "axe.run().then(r => done(r.violations.map("
            "v => [v.impact, v.id, v.nodes.length, v.nodes[0].html.slice(0, 160)].join(' | '))))"
        )
        wrong += [f"{name}: {one}" for one in found]
    return wrong


def photograph(browser: Browser, address: str, folder: Path) -> None:
    """Pictures of the pages that are looked at, in two widths."""
    folder.mkdir(parents=True, exist_ok=True)
    for width, size in WIDTHS.items():
        browser.resize(*size)
        for name in LOOKED_AT:
            browser.open(address + name)
            browser.picture(folder / f"{name.removesuffix('.html').replace('/', '-')}-{width}.png")


def main() -> int:
    """Check, print what is wrong, and say so by the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--axe", type=Path)
    parser.add_argument("--pictures", type=Path)
    args = parser.parse_args()
    wrong = broken_links(args.site)
    names = [page.relative_to(args.site).as_posix() for page in sorted(args.site.rglob("*.html"))]
    if reason := missing():
        print(f"links were checked, the browser was left out: {reason}")
    else:
        address = serve(args.site)
        with opened() as browser:
            wrong += visit(browser, address, names)
            wrong += search(browser, address)
            wrong += accessible(browser, address, args.axe) if args.axe else []
            if args.pictures:
                photograph(browser, address, args.pictures)
    print("\n".join(wrong))
    print(f"{len(names)} pages, {len(wrong)} complaints")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
