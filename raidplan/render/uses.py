"""Reasons not to write to a device or a path, as sentences: templates of `render/sentences.py`, by kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from raidplan.facts.uses import Use, UseKind
from raidplan.render.sentences import filled

DEVICE = "{place}{below:? (below %)}"
BY = "by process {process} ({program})"
USES: Mapping[UseKind, str] = {
    "unseen": "{place} cannot be looked at: {error}",
    "unseen-process": "{place}: not all that process {process} ({program}) has open can be looked at, and it may be writing to these "
    "devices: end it first",
    "mounted": f"{DEVICE} is mounted at {{point}}{{process:? for process %}}{{program:? (%)}}",
    "exported": f"{DEVICE} is exported by a SCSI target of the kernel ({{name}})",
    "exported-by-nvme": f"{DEVICE} is exported by an NVMe target of the kernel ({{name}})",
    "exported-by-usb": f"{DEVICE} is exported by a USB gadget of the kernel ({{name}})",
    "loop": f"{DEVICE} is what the loop device {{loop}} stands on",
    "open": f"{DEVICE} is open {BY}",
    "written": f"{DEVICE} is open for writing {BY}",
    "mapped": f"{DEVICE} is mapped for writing {BY}",
    "registered": f"{DEVICE} is registered with an io_uring {BY}",
    "busy-ring": "{place}: process {process} ({program}) has an io_uring so busy that its files cannot be read, and may be writing to "
    "these devices: end it first",
    "claimed": "{place} cannot be opened exclusively ({error}), and its user was not found: `lsof`, `dmsetup ls` or `lsblk` may show it",
    "absent": "{place} is not there",
    "exists": "{place} exists already",
    "no-device": "{place} is not a block device",
    "other-partition": "{place} leads to {partition}, another partition",
    "other-table": "{place} leads to {partition}, whose partition table cannot be read",
    "held": "{place} is held by {holder}",
    "partition": "{place} has the partition {partition}",
    "busy": "{place} cannot be opened exclusively: {error}",
    "signature": "{place} carries {type} at {offset}",
    "data": "{place} is not blank: {found}",
    "unreadable": "{place} could not be read: {error}",
    "new": "{place} carries what it did not when the plan was made: {found:; }",
    "changed": "{place} has other content than when the plan was made, from byte {byte} on",
    "not-of-layout": "{place} is on {disk}, which is no disk of this layout",
    "other-disk": "{place} is no longer the disk that was {disk}",
    "other-array": "{place} is no longer the array {uuid}",
    "link": "{place} is a symbolic link, which could lead anywhere",
    "leads-out": "{place} leads out of the target{to:?, to %}",
    "carries": "{place} carries {content}",
    "table": "{place} has the partition table {uuid}",
    "group": "{place} belongs to the volume group '{group}'",
    "stands": "{device} stands on {place}",
    "used": "{place} is in use, {uses:, }",
    "stain": "{place} holds {stain}",
}
UNKNOWN = {"below": "", "to": "", "process": 0, "program": ""}


def use_texts(uses: Iterable[Use]) -> tuple[str, ...]:
    """The sentences, each once."""
    known = (filled(USES[each.kind], {**UNKNOWN, **each.figures, "place": each.place}) for each in uses)
    return tuple(dict.fromkeys(known))
