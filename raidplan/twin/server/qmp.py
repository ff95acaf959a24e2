"""QEMU's monitor: one command and its answer, and waiting for an event."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from raidplan.twin.server.failure import TwinError


class Monitor:
    """A connection to the monitor socket of a running QEMU; a context manager."""

    def __init__(self, path: Path, timeout: float = 60) -> None:
        """Connects. Raises TwinError where nobody listens."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout)
        self._events: list[dict[str, Any]] = []
        try:
            self._socket.connect(str(path))
            self._lines = self._socket.makefile("r", encoding="utf-8")
            self._receive()  # the greeting
        except OSError as error:
            self._socket.close()
            raise _silent(error) from error
        self.ask("qmp_capabilities")

    def ask(self, command: str, **arguments: object) -> Any:
        """The answer to `command`. Raises TwinError with QEMU's own words where it refuses."""
        request: dict[str, object] = {"execute": command}
        if arguments:
            request["arguments"] = arguments
        try:
            self._socket.sendall(json.dumps(request).encode() + b"\n")
        except OSError as error:
            raise _silent(error) from error
        while True:
            message = self._receive()
            if "event" in message:
                self._events.append(message)
            elif "error" in message:
                raise TwinError(f"{command}: {message['error'].get('desc', message['error'])}")
            else:
                return message["return"]

    def wait_for(self, event: str, timeout: float, **data: object) -> None:
        """Returns when `event` with at least this `data` has come; TwinError after `timeout` seconds."""
        end = time.monotonic() + timeout
        while True:
            for seen in self._events:
                if seen["event"] == event and data.items() <= seen.get("data", {}).items():
                    self._events.remove(seen)
                    return
            left = end - time.monotonic()
            if left <= 0:
                raise TwinError(f"the virtual machine did not report {event} {data} within {timeout:.0f} s")
            self._socket.settimeout(left)
            message = self._receive()
            if "event" in message:
                self._events.append(message)

    def close(self) -> None:
        """Ends the connection; the machine keeps running."""
        self._lines.close()
        self._socket.close()

    def _receive(self) -> dict[str, Any]:
        try:
            line = self._lines.readline()
        except OSError as error:
            raise _silent(error) from error
        if not line.endswith("\n"):  # nothing, or a part of an answer
            raise TwinError("the virtual machine closed its monitor")
        message: dict[str, Any] = json.loads(line)
        return message

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _silent(error: OSError) -> TwinError:
    return TwinError(f"the monitor of the virtual machine does not answer: {error}")
