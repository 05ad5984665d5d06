"""A real browser for tests: Chromium with its own driver, in the WebDriver protocol."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = None if DRIVER and CHROMIUM else "no chromium with its chromedriver (Debian: chromium, chromium-driver)"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """A window of a browser."""

    def __init__(self, address: str, folder: Path, width: int) -> None:
        self.address, self.folder = address, folder
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        chrome = {
            "binary": CHROMIUM,
            "args": [*arguments, f"--window-size={width},900", f"--user-data-dir={folder / 'profile'}"],
        }
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": chrome,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        self.session = ""
        made = self.ask("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/{made['sessionId']}"

    def ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}/session{self.session}{path}", data, method=method)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, path: Path) -> None:
        self.ask("POST", "/url", {"url": path.resolve().as_uri()})

    def reload(self) -> None:
        self.ask("POST", "/refresh", {})

    def run(self, script: str, *arguments: object) -> Any:
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, keys: str) -> None:
        """Type where the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def click(self, selector: str) -> None:
        found = self.ask("POST", "/element", {"using": "css selector", "value": selector})
        self.ask("POST", f"/element/{found[ELEMENT]}/click", {})

    def type_into(self, selector: str, text: str) -> None:
        found = self.ask("POST", "/element", {"using": "css selector", "value": selector})
        self.ask("POST", f"/element/{found[ELEMENT]}/value", {"text": text})

    def text(self, selector: str = "body") -> str:
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector))

    def complaints(self) -> list[str]:
        """What the browser's console holds, but for what its own pages say."""
        held = [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]
        return [message for message in held if not message.startswith("chrome://")]

    def requests(self) -> list[str]:
        """What was asked for over any network, or from disk, since it was last asked."""
        events = [
            json.loads(entry["message"])["message"] for entry in self.ask("POST", "/se/log", {"type": "performance"})
        ]
        return [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]

    def command(self, name: str, **parameters: object) -> Any:
        """A command of the DevTools protocol."""
        return self.ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def resize(self, width: int, *, dark: bool = False) -> None:
        """A window of another size, light or dark."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])

    def wait_for(self, condition: str, seconds: float = 30) -> None:
        """Until an expression holds in the page."""
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition})"):
            if time.monotonic() > end:
                raise AssertionError(f"not so within {seconds} s: {condition}")
            time.sleep(0.02)

    def downloaded(self, pattern: str) -> Path:
        """The file that was saved."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            found = [path for path in self.folder.rglob(pattern) if path.suffix != ".crdownload"]
            if found:
                return found[0]
            time.sleep(0.05)
        raise AssertionError(f"no {pattern} in {self.folder}")


@contextmanager
def browser(folder: Path, *, width: int = 1200) -> Iterator[Browser]:
    """A browser that saves files in a folder."""
    assert DRIVER is not None
    environment = {**os.environ, "HOME": str(folder)}
    driver = subprocess.Popen(
        [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    try:
        assert driver.stdout is not None
        port = next(found[1] for line in driver.stdout if (found := re.search(r"successfully on port (\d+)", line)))
        window = Browser(f"http://127.0.0.1:{port}", folder, width)
        try:
            yield window
        finally:
            window.ask("DELETE", "")
    finally:
        driver.terminate()
        driver.wait()
        if driver.stdout is not None:
            driver.stdout.close()
