"""A journal that keeps what it is told."""

from __future__ import annotations


class Record:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def record_intent(self, step: str, sectors: bytes = b"") -> None:
        self.lines.append(("intent", step))

    def record_end(self, step: str, seconds: float, made: str = "") -> None:
        self.lines.append(("ended", step))

    def record_failure(self, step: str, message: str) -> None:
        self.lines.append(("failed", step))

    def record_refusal(self, step: str, message: str) -> None:
        self.lines.append(("refused", step))
