"""A guest that answers what a test wants, and the parts of a case, of a layout and of an outcome that several tests speak of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kills import in_guest

LAYOUT = """
arrays: {main: {level: LEVEL, members: [k0.a, k1.a]SPARE}}
filesystems: {top: {device: main, type: ext4, mount: /srv/top}, plain: {device: k2.b, type: ext4, mount: /srv/plain}}
"""
ORDER = ["disk.k0.partition", *(f"other.{n}" for n in range(6)), "array.main.create", "array.main.open", "filesystem.top.make",
         "filesystem.plain.make", "filesystem.top.mount", "filesystem.plain.mount", *(f"more.{n}" for n in range(8))]  # fmt: skip
JOURNAL = [(kind, step) for step in ORDER for kind in ("intent", "ended")]


class Guest:
    """Gives one answer after the other, and keeps what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: tuple[int, str]) -> None:
        self.asked: list[list[str]] = []
        self.shell: list[str] = []
        monkeypatch.setattr(
            in_guest, "start", lambda argv, tty=False: (self.asked.append(argv) or len(self.asked), None)
        )
        monkeypatch.setattr(in_guest, "wait", lambda pid, seconds=900: answers[pid - 1][0])
        monkeypatch.setattr(in_guest, "said", lambda: answers[len(self.asked) - 1][1])
        monkeypatch.setattr(in_guest, "sh", lambda line: self.shell.append(line) or "")


def case(kind: str = "kill all", agreed: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "apply": ["raidplan", "apply", "f", "--confirm", "kills"],
        "agreed": agreed,
        "adversity": {"kind": kind, "disk": 0},
        "host": "h",
    }


def outcome(result: str, **more: Any) -> dict[str, Any]:
    return {
        "result": result,
        "look": {"lvs": ["a"]},
        "decoys": {},
        "files": {},
        "note": {"interrupted": True},
        **more,
    }
