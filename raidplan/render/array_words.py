"""The sentences of refusals about arrays that give no data, or have a copy in them, as templates of `render/sentences.py`."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.render.key_words import AT

UNSEEN = "so its content cannot be read"
THERE = f"{AT}: {{there}} of its {{devices}} devices are present"
UNUSED = "end its use (umount, swapoff, vgchange --activate n, cryptsetup close)"
OLDER = "{behind:?, ?, without %, which missed its last updates (apply tells then how it comes back)}"
DEGRADED = "missing: {lacking:6}. {level} has all of its data without. Connect what is missing and boot, or, if it stays away, "
UNCLEAN = (
    "{unclean:?; if md refuses that (dmesg: dirty degraded), writes were cut off, and stripes can be damaged: `%` starts it read-only, so "
    "that its content can be checked first (fsck -n)}"
)
AFTER = f"{OLDER}{UNCLEAN}; after that it survives the loss of {{left}} more. Then apply again"
UNNEEDED = "only if nobody needs its data, wipe what is left of it by hand; then `raidplan adopt LAYOUT --forget {place}` removes it from the journal"
LOST = (
    f"{AT}: {{count}} of its {{devices}} members are missing or have failed{{lost:?, ?: %}}{{state:? (md: %)}}, and {{level}} "
    "survives the loss of {survived}{copies:?, of more only where another copy of the same data is left}. The data may be intact on "
    "them, so nothing here is overwritten; mdadm --add and mdadm --create would destroy it: use neither"
)
READ_ONLY = (
    "the array is read-only then: check its content without writing (fsck -n, mount -o ro), and if it is right, "
    "`mdadm --readwrite {node}` and apply again; if not, `mdadm --stop {node}`"
)
COPIED = (
    f"{AT}: in the place of a member the array has a copy of it: {{clones:; }}. The member, by the serial number in the layout, is "
    "{members:; }; it is not in the array, and may lack what was written since"
)
BY_LAYOUT = (
    "unplug the copy, and wipe nothing of it: what was written since is on it alone. Then `{command}`; the array is read-only then: check "
    "its content without writing (fsck -n, mount -o ro), and if it is right, `mdadm --readwrite {called}` and apply again; if not, "
    "`mdadm --stop {called}`"
)

NOT_STARTED: Mapping[str, str] = {
    "inactive": f"{THERE}, but md has not started it, {UNSEEN}: mdadm starts it half a minute after the boot, or "
    f"`mdadm --run {{node}}` does{OLDER}; then try again",
    "inactive-incomplete": f"{THERE}, but md has not started it, {UNSEEN}; {DEGRADED}start it degraded with "
    f"`mdadm --run {{node}}`{AFTER}",
    "not-assembled": f"{THERE}, but it is not assembled, {UNSEEN}: assemble it with `mdadm --assemble {{node}} --uuid={{uuid}}`, then "
    f"try again; {UNNEEDED}",
    "not-assembled-incomplete": f"{THERE}, but it is not assembled, {UNSEEN}; {DEGRADED}assemble it degraded with "
    f"`mdadm --assemble --run {{node}} --uuid={{uuid}}`{AFTER}; {UNNEEDED}",
}
TOO_MANY_LOST: Mapping[str, str] = {
    "": f"{LOST}. Connect the missing ones again (cables, controller, power) and apply again, which tells the next command. What stays "
    f"lost is only in a backup; {UNNEEDED}",
    "back": f"{LOST}. Enough of them are connected: {{stop:?{UNUSED}, then `%`; }}compare Events and Update Time of all (`{{examine}}`; "
    f"one that left long before the others has old data), then `{{command}}`{{forced:?, which writes superblocks and no data}}; {READ_ONLY}",
}
CLONES: Mapping[str, str] = {
    "clone": f"{COPIED}. The array goes on without the copy: `{{out:`, then `}}`; unplug the copy, and wipe nothing of it before the array is "
    "whole; then `{back:`, then `}`, which rebuilds the member from the others; wait (mdadm --wait {node}), then apply again",
    "clone-syncing": f"{COPIED}. Nothing can be taken out while a member is not whole: wait for its sync (`mdadm --wait {{node}}`), then "
    "apply again, which tells the next command",
    "clone-without-way-back": f"{COPIED}, and the others cannot rebuild it: {UNUSED}, then `{{stop}}`; {BY_LAYOUT}",
    "clone-not-started": f"{COPIED}. md has not started the array: `{{stop}}`; {BY_LAYOUT}",
}
WITHOUT_SUPERBLOCK = (
    f"{AT}: the apply of {{began}} created this array on these {{devices}} devices, but too few of them still have its superblock; its "
    "data may be intact, so nothing here is overwritten"
)
WRITTEN_AGAIN = f"{WITHOUT_SUPERBLOCK}. This command writes the superblocks again, and no data"
TABLE_LOST = (
    "{place} ({node}): the partition table is gone, and the apply of {began} created {arrays:, } on this very disk; their data may be "
    "intact, so nothing here is overwritten"
)
FIRST = (
    "then apply again, which names the command for the arrays. If nobody needs them, `raidplan adopt LAYOUT{arrays:? --forget ? --forget %}` "
    "removes them from the journal"
)
LOOKED_AT = f"`{{command}}`; {READ_ONLY}. If nobody needs it, `raidplan adopt LAYOUT --forget {{place}}` removes it from the journal"
SUPERBLOCKS_LOST: Mapping[str, str] = {
    "": f"{WRITTEN_AGAIN}: {LOOKED_AT}",
    "changed": f"{WRITTEN_AGAIN} (it was adopted, or the layout or a disk was changed since: first compare every value with those of the array): {LOOKED_AT}",
    "with-spares": f"{WRITTEN_AGAIN} (any slot may be on a spare now, {{spares: or }}, if it took the place of a failed member; the command has the "
    f"order of the layout: first compare it and every value with those of the array): {LOOKED_AT}",
    "disks-away": f"{WITHOUT_SUPERBLOCK}. Connect {{away:, }} first: what is on it can be the only superblock that is left",
    "unplaced": f"{WITHOUT_SUPERBLOCK}. Where its data lies on the others follows from the size of {{away:, }}, which is not there, so no command is "
    "right for certain: connect the disk that it was on. If nobody needs it, `raidplan adopt LAYOUT --forget {place}` removes it from the journal",
    "blank": f"{WITHOUT_SUPERBLOCK}. Not all of its data is on the others without {{blank:, }}, where nothing is and, by the journal, nothing of it ever was: "
    "connect the disks that it was on. If nobody needs it, `raidplan adopt LAYOUT --forget {place}` removes it from the journal",
    "table": f"{TABLE_LOST}. This command writes the table again, and no data: `{{command}}`; {FIRST}",
    "other-table": f"{TABLE_LOST}. The layout has another table for it now: write the one of then, which is the input of sfdisk in "
    f"the step {{step}} of {{file}}; {FIRST}",
}
