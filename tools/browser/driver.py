"""A browser that a program steers: Chromium by its own driver, nothing else installed."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["Browser", "missing", "opened"]

PORT = 9517


def missing() -> str | None:
    """Why there is no browser here, or None."""
    lacking = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"not installed: {', '.join(lacking)}" if lacking else None


class Browser:
    """One window. Speaks the protocol of WebDriver (W3C)."""

    def __init__(self, base: str) -> None:
        self._base = base

    def ask(self, path: str, method: str = "POST", **words: Any) -> Any:
        """One request to the driver."""
        body = json.dumps(words).encode() if method == "POST" else None
        request = urllib.request.Request(f"{self._base}{path}", body, method=method)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=330) as answer:
            return json.load(answer)["value"]

    def open(self, url: str) -> None:
        """Go to a page, and wait until it is loaded."""
        self.ask("/url", url=url)

    def run(self, script: str, *words: Any) -> Any:
        """What a script returns."""
        return self.ask("/execute/sync", script=script, args=list(words))

    def run_later(self, script: str) -> Any:
        """What a script hands to its last argument, a function."""
        return self.ask("/execute/async", script=script, args=[])

    def until(self, script: str, seconds: float = 20.0) -> Any:
        """What a script returns, as soon as that is true; else None."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self.run(script):
                return found
            time.sleep(0.1)
        return None

    def resize(self, width: int, height: int) -> None:
        """Make the page's window as large as a screen of that size."""
        self.ask(
            "/goog/cdp/execute",
            cmd="Emulation.setDeviceMetricsOverride",
            params={
                "width": width,
                "height": height,
                "deviceScaleFactor": 1,
                "mobile": width < 700,
            },
        )

    def picture(self, file: Path) -> None:
        """Write what the window shows as PNG."""
        file.write_bytes(base64.b64decode(self.ask("/screenshot", "GET")))

    def complaints(self) -> list[str]:
        """Errors on the console since the last call."""
        found = self.ask("/se/log", type="browser")
        return [one["message"] for one in found if one["level"] == "SEVERE"]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last call."""
        found = [
            json.loads(one["message"])["message"] for one in self.ask("/se/log", type="performance")
        ]
        sent = [one["params"] for one in found if one["method"] == "Network.requestWillBeSent"]
        return [one["request"]["url"] for one in sent]


@contextmanager
def opened() -> Iterator[Browser]:
    """A browser without a window on the screen, for as long as the block runs."""
    driver = subprocess.Popen(
        ["chromedriver", f"--port={PORT}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield _session(f"http://127.0.0.1:{PORT}")
    finally:
        driver.terminate()


def _session(address: str) -> Browser:
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    wanted = {
        "timeouts": {"script": 300_000, "pageLoad": 300_000},
        "goog:chromeOptions": {"args": [*flags, "--window-size=1280,900"]},
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
    }
    for _ in range(100):
        try:
            made = Browser(address).ask("/session", capabilities={"alwaysMatch": wanted})
            return Browser(f"{address}/session/{made['sessionId']}")
        except urllib.error.URLError:
            time.sleep(0.1)
    raise RuntimeError("chromedriver does not answer")
