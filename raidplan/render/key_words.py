"""The sentences of refusals about passphrases and key files, as templates of `render/sentences.py`."""

from __future__ import annotations

from collections.abc import Mapping

AT = "{place} (line {line})"
CLOSED = (
    f"{AT}: the encryption is not open, so its content cannot be read: open it with `cryptsetup open {{node}} {{name}}`"
    "{target:?, or `raidplan mount` with --target %}; then try again"
)

KEYS: Mapping[str, Mapping[str, str]] = {
    "terminal-missing": {
        "": "{place}{line:? (line %)}: there is no terminal to ask for its passphrase: run raidplan from one, or name a key file"
    },
    "passphrase-unfit": {
        "short": f"{AT}: a passphrase has at least {{least}} characters (NIST SP 800-63B-4, 3.1.1.2), and this one has {{count}}",
        "long": f"{AT}: a passphrase has at most {{most}} bytes, which cryptsetup reads from a terminal, and this one has {{count}}",
    },
    "passphrase-differs": {
        "": f"{AT}: a new passphrase is typed twice, and the two differed {{times}} times: apply again"
    },
    "passphrase-wrong": {
        "": f"{AT}: none of the {{times}} passphrases that were typed opens it: try again with the right one"
    },
    "key-file": {
        "unreadable": "the key file {place} cannot be read ({error}): make it, for example with {command}, and keep a copy elsewhere",
        "no-file": "the key file {place} is not a regular file",
        "size": "the key file {place} has {count} bytes: cryptsetup reads 1 to {most}",
        "owner": "the key file {place} belongs to user {user}, who can read it: chown root {place}",
        "mode": "the key file {place} can be read by others than root (mode {mode}): chmod 0400 {place}",
        "other": "the key file {place} has another key than {file} of this rescue system, and would be overwritten: move it away",
        "folder": "others than root can replace the key file {place}: chown root {folder}; chmod go-w {folder}",
    },
    "key-wrong": {
        "": f"{AT}: the key file {{file}} does not open it: put the right one in its place, or add its key by hand "
        "(cryptsetup luksAddKey {node} {file}; luksChangeKey in place of another key)"
    },
}
"""By code and case."""
