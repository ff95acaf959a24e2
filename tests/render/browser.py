"""Chromium without a window, asked over a pipe (the DevTools protocol); nothing listens on a port."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.absent import left_out

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
]  # fmt: skip
FRAME = 1 << 16


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A browser with a new profile and one empty page."""
    program = shutil.which("chromium")
    if program is None:
        left_out("Chromium is not installed; `make packages` does it")
    read_requests, write_requests = os.pipe()
    read_answers, write_answers = os.pipe()
    # The browser takes its requests from file 3 and answers to file 4.
    shell = f'exec "$@" 3<&{read_requests} 4>&{write_answers}'
    argv = ["bash", "-c", shell, "chromium", program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    log = (profile.parent / "chromium.log").open("wb")
    process = subprocess.Popen(
        argv, pass_fds=(read_requests, write_answers), stdin=subprocess.DEVNULL, stdout=log, stderr=log
    )
    os.close(read_requests)
    os.close(write_answers)
    browser = Browser(write_requests, read_answers)
    try:
        browser.attach()
        yield browser
        browser.ask("Browser.close", whole=True)
        process.wait(timeout=60)
    finally:
        process.kill()
        process.wait()
        os.close(write_requests)
        os.close(read_answers)
        log.close()


@dataclass
class Browser:
    """One page; `events` are what the browser has told since it was opened."""

    requests: int
    answers: int
    session: str = ""
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    number: int = 0
    rest: bytes = b""

    def attach(self) -> None:
        pages = self.ask("Target.getTargets", whole=True)["targetInfos"]
        (target,) = (each["targetId"] for each in pages if each["type"] == "page")
        found = self.ask("Target.attachToTarget", whole=True, targetId=target, flatten=True)
        self.session = found["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, *, whole: bool = False, **params: object) -> dict[str, Any]:
        """What the browser answers; events that come before it are kept. `whole`: not of the page alone."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if not whole:
            request["sessionId"] = self.session
        os.write(self.requests, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                assert "error" not in message, f"{method}: {message['error']}"
                answer: dict[str, Any] = message["result"]
                return answer
            self.events.append((message.get("method", ""), message.get("params", {})))

    def message(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            read = os.read(self.answers, FRAME)
            assert read, "the browser has ended"
            self.rest += read
        first, _, self.rest = self.rest.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        return message

    def open(self, url: str) -> None:
        """Loads a page; returns when all of it is there."""
        self.events.clear()
        self.ask("Page.navigate", url=url)
        while not self.told("Page.loadEventFired"):
            message = self.message()
            self.events.append((message.get("method", ""), message.get("params", {})))

    def told(self, method: str) -> list[dict[str, Any]]:
        return [params for name, params in self.events if name == method]

    def look(
        self, *, width: int = 1300, height: int = 900, scheme: str = "light", media: str = "screen"
    ) -> None:
        """How wide the window is, and what the reader prefers."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=features)

    def value(self, script: str) -> Any:
        """What an expression is in the page."""
        done = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def press(self, key: str, code: int) -> None:
        text = "\r" if key == "Enter" else ""
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text
            )

    def picture(self, file: Path) -> bytes:
        """A PNG of the whole page, written to the file; its raw rows."""
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        data = base64.b64decode(shot["data"])
        file.write_bytes(data)
        return _rows(data)


def _rows(png: bytes) -> bytes:
    """The rows of a PNG as it stores them (ISO/IEC 15948, 5.3 and 10)."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, packed = 8, b""
    while at < len(png):
        length = int.from_bytes(png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            packed += png[at + 8 : at + 8 + length]
        at += length + 12
    return zlib.decompress(packed)
