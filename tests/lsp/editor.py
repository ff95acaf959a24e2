"""An editor, as far as a language server sees it: JSON-RPC over the server's standard input and output."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Editor:
    """A client that speaks JSON-RPC."""

    def __init__(self, argv: Sequence[str]) -> None:
        self.server = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        self.count = 0
        self.waiting: list[dict[str, Any]] = []

    def begin(self, **options: object) -> None:
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}, **options})
        self.send("initialized", {})

    def send(self, method: str, params: object, **more: object) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        assert self.server.stdin
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.server.stdin.flush()

    def ask(self, method: str, params: object) -> Any:
        self.count += 1
        self.send(method, params, id=self.count)
        while (message := self.read()).get("id") != self.count:
            self.waiting.append(message)
        assert "error" not in message, message
        return message["result"]

    def read(self) -> dict[str, Any]:
        assert self.server.stdout
        length = 0
        while line := self.server.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        found: dict[str, Any] = json.loads(self.server.stdout.read(length))
        return found

    def diagnostics(self) -> tuple[str, list[dict[str, Any]]]:
        """The next ones that are published."""
        while True:
            message = self.waiting.pop(0) if self.waiting else self.read()
            if message.get("method") == "textDocument/publishDiagnostics":
                return message["params"]["uri"], message["params"]["diagnostics"]

    def open(self, file: Path, text: str) -> str:
        file.write_text(text)
        document = {"uri": file.as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})
        return file.as_uri()

    def at(self, what: str, uri: str, line: int, character: int) -> Any:
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return self.ask(f"textDocument/{what}", place)

    def end(self) -> None:
        """Asks the server to end, and waits until it has."""
        self.ask("shutdown", None)
        self.send("exit", None)
        assert self.server.wait(10) == 0
