"""Sentences on objects and settings of an earlier version of the layout that stay as they are."""

from __future__ import annotations

import shlex

from raidplan.apply.change.obsolete import Mounted, Obsolete, Prioritised, Standing, Tuned
from raidplan.base.hidden import escaped

SETTERS = {"layout": "the layout", "rule": "that rule"}


def obsolete_text(found: Obsolete) -> str:
    """A sentence: the object or setting, how long it stays, and the command that ends it now, if there is one."""
    match found:
        case Standing(kind, name, key):
            return f"left standing: the {kind.replace('_', ' ')} {escaped(name)} ({escaped(key)}) is no longer in the layout; raidplan leaves it as it is"
        case Tuned(device, attribute, value, by):
            name = attribute.partition("/")[2]
            says = f"left running: {device} keeps {name} {value}, which {SETTERS[by]} no longer sets; it ends with the next boot"
            return says + (
                f", or now: echo {found.default} >/sys/block/{device}/{attribute}" if found.default else ""
            )
        case Mounted(point):
            says = f"left mounted: {escaped(point)}, which the layout no longer mounts; it ends with the next boot"
            return says + (f", or now: umount {escaped(shlex.quote(point))}" if found.can_end else "")
        case Prioritised(source, priority):
            word = escaped(shlex.quote(source))
            return (
                f"left running: swap {escaped(source)} keeps priority {priority}, which the layout no longer sets; it ends with "
                f"the next boot, or now, if the memory has room for its content: swapoff {word} && swapon {word}"
            )
