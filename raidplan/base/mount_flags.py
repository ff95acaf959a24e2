"""The options of a mount: flags in the kernel, as mountinfo shows them, which a remount changes; and those that only a new mount reads."""

from __future__ import annotations

from collections.abc import Iterable

ATIME = ("noatime", "relatime", "strictatime")
"""When reading a file is noted in its inode: one of the three; the kernel's default is relatime."""
SWITCHES = {
    "nosuid": "suid",
    "nodev": "dev",
    "noexec": "exec",
    "nodiratime": "diratime",
    "ro": "rw",
}
"""The other flags, each with the word that takes it back (mount(8))."""
IMPLIED = {
    "defaults": ("rw", "suid", "dev", "exec"),
    "user": ("nosuid", "nodev", "noexec"),
    "users": ("nosuid", "nodev", "noexec"),
    "owner": ("nosuid", "nodev"),
    "group": ("nosuid", "nodev"),
}
"""Options of mount itself that stand for others."""
LIVE = frozenset(
    {
        *SWITCHES, *SWITCHES.values(), *ATIME, *IMPLIED, "atime", "norelatime", "nostrictatime",
        "auto", "noauto", "nofail", "nouser", "_netdev",
    }
)  # fmt: skip
"""Options that a remount changes, or that only mount and systemd read."""


def fixed(options: Iterable[str]) -> frozenset[str]:
    """The options that a file system reads when it is mounted, and that a remount may not change."""
    return frozenset(word for word in options if word not in LIVE and not word.startswith(("x-", "comment=")))


def flags(options: Iterable[str]) -> list[str]:
    """The flags that differ from the kernel's own, sorted: `noatime`, `ro`; a later option wins over an earlier one."""
    found: set[str] = set()
    atime: set[str] = set()
    back = {word: flag for flag, word in SWITCHES.items()}
    for word in (each for option in options for each in IMPLIED.get(option, (option,))):
        if word in SWITCHES:
            found.add(word)
        elif word in back:
            found.discard(back[word])
        elif word in ATIME:
            atime.add(word)
        elif word in ("atime", "nostrictatime", "norelatime"):
            atime.discard({"atime": "noatime"}.get(word, word[2:]))
    # The kernel lets strictatime win over noatime, and both over relatime (namespace.c, path_mount).
    shown = {"noatime"} if atime & {"noatime"} else {"relatime"}
    return sorted(found | (set() if "strictatime" in atime else shown))
