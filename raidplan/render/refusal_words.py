"""The sentences of refusals, by code and case, as templates of `render/sentences.py`."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.render.key_words import AT, CLOSED, KEYS
from raidplan.render.machine_words import MACHINE, MOUNT

UNSEEN = "and what stands on it cannot be seen"
AWAY = "a boot could take one for the other: unplug that disk, or clear it by hand if nobody misses what is on it"
STAYS = "which this plan does not write over"
DESTROYED = "which this plan would destroy: remove"
PLAN_AGAIN = "make it again with `raidplan plan`"
WAYS_OUT = (
    "the step was interrupted, and this is not left from it: `raidplan adopt` enters what is whole as done; clear by hand "
    "what nobody misses, the top layer first"
)
THERE = f"{AT}: {{there}} of its {{devices}} devices are there"
DIFFERS = f"{AT} is there already, but not as planned: {{differences:; }}"
COMMANDS = "by hand, after a backup: {commands:, then }{before:?; ? (before: %)}"
PARTITIONED = (
    "a new disk is partitioned before, by the command for it in `raidplan plan --offline --format shell`"
)
NOT_OURS = "{device} is no device of this layout: by hand, mdadm {array} --remove {device}, then mdadm --zero-superblock {device}"
COPY = (
    f"{AT}: the {{kind}} with its UUID {{uuid}} is on {{device}}, which is on no disk of this layout (a copy, or a disk that was in it "
    "before), and a boot could take one for the other: unplug that disk"
)
LOST = (
    f"{AT}: the apply of {{began}} made this array on these {{devices}} devices, and too few of them carry its superblock now; its "
    "data may be whole, so nothing here is written over. This writes the superblocks again, and no data"
)
LOOKED_AT = (
    "`{command}`; the array is read-only then: look at what is on it without writing (fsck -n, mount -o ro), and if it is right, "
    "`mdadm --readwrite {node}` and apply again; if not, `mdadm --stop {node}`. If nobody misses it, `raidplan adopt LAYOUT --forget "
    "{place}` makes the journal forget it"
)
BY_HAND = "put it right by hand"
HERE = "{place} ({node})"

SENTENCES: Mapping[str, Mapping[str, str]] = {
    # the disks, and what is on them
    "disk-unmatched": {
        "device": "{place}: {node} is not a disk of this machine, which has {nodes:12|none}",
        "no-identifier": "{place}: nothing tells which disk it is: give its serial, wwn, path or model",
        "meaningless": "{place}: {identifiers: and } tells nothing about a disk: give another identifier",
        "several": "{place}: {count} disks have {identifiers: and }: {nodes:12}; add what tells them apart, such as path",
        "none": "{place}: no disk has {identifiers: and }; the machine has {nodes:12}",
        "no-disks": "{place}: no disk has {identifiers: and }; the machine shows no disks at all",
        "nearest": "{place}: no disk has {identifiers: and }; the nearest is {node} with {has: and }",
        "several-paths": "{place}: {nodes:12} are one disk by several paths (wwn {wwn}, serial {serial}): what is written by one path "
        "is not seen by the other; leave it one path",
        "small": "{place}: {node} has {size:exact}, planned {planned:exact}: it is {short} bytes too small",
        "large": "{place}: {node} has {size:exact}, planned {planned:exact}: {percent} % more, is it another disk?",
        "logical-block": "{place}: {node} has logical blocks of {size} bytes, planned {planned}",
        "taken": "{place}: {node} is {others: and } as well: two disks of the layout cannot be one disk",
    },
    "kept-differs": {
        "none": "{place} is kept as described, and has no partition {number} ({name})",
        "size": "{place} is kept as described, and its partition {number} ({name}) has {has:exact}, described as {planned:exact}",
        "type": "{place} is kept as described, and its partition {number} ({name}) has the type {has:|none}, described as {planned}",
        "uuid": "{place} is kept as described, and its partition {number} ({name}) has the UUID {has:|none}, described as {planned}",
        "holds": "{place} is kept as described, and its partition {number} ({name}) holds {has:|nothing known}, described as {planned}",
        "mount": "{place} is kept as described, and its partition {number} ({name}) is not what is mounted at {planned}",
        "written": "{place} is kept, and the step {step} would write to it: " + PLAN_AGAIN,
    },
    "disk-not-blank": {"": f"{HERE} is not blank: {{found:12; }}"},
    "disk-read-only": {"": f"{HERE} is read-only"},
    "disk-unreadable": {
        "": f"{HERE}: {{part:|the disk}} cannot be read at byte {{byte}} ({{error}}): replace the disk",
        "read-only": f"{HERE} is read-only",
    },
    "target-not-blank": {"": "{place} is not blank: {found:12; }", "device": "{found:; }"},
    "in-use": {"": "{place} is in use, {use}: what is in use is never cleared"},
    "in-use-elsewhere": {"": "{use}"},
    "open-for-writing": {"": "{use}"},
    "not-understood": {
        "layer": "{place} on {disks:4} is no array and no LVM volume: close it before",
        "name": "{place} has a name that no command may hold: stop it before",
        "external": "{place} has the metadata of firmware ({metadata}): delete it there",
    },
    "hidden-from-lvm": {
        "": "{place} carries the physical volume {uuid}, which LVM does not show (a filter, or its devices file), so nobody knows "
        "what else its group stands on: let `pvs` see it, or remove it with its own tools"
    },
    "shared": {
        "": f"{{place}} stands on {{others:4}} as well, {STAYS}",
        "member": f"the {{kind}}{{name:? '%'}} ({{uuid}}) has a member on {{part:?% of }}{{place}} as well, {STAYS}",
    },
    "firmware": {
        "raid": f"{{place}} carries {{format}}{{others:?, as % does, {STAYS}}}; an array of firmware: delete it there",
        "cache": f"{{place}} carries {{format}}{{others:?, as % does, {STAYS}}}; a cache has its other half elsewhere: detach it before",
    },
    "needed-at-boot": {
        "mount": f"{{place}} line {{number}} mounts {{word}}, {DESTROYED} the line before",
        "unit": f"{{place}} mounts {{word}}, {DESTROYED} that unit before",
        "crypttab": f"{{place}} line {{number}} opens {{word}}, {DESTROYED} the line before",
    },
    # what stands already
    "not-started": {
        "inactive": f"{THERE}, but md has not started it, {UNSEEN}: mdadm starts it half a minute after the boot, or "
        "`mdadm --run {node}` does; then try again",
        "inactive-incomplete": f"{THERE}, but md has not started it, {UNSEEN}: bring {{missing}} back and boot, or start it without "
        "with `mdadm --run {node}`; then try again",
        "not-assembled": f"{THERE}, but it is not assembled, {UNSEEN}: assemble it with `mdadm --assemble {{node}} --uuid={{uuid}}`, "
        "or clear them by hand if nobody misses it; then try again",
        "not-assembled-incomplete": f"{THERE}, but it is not assembled, {UNSEEN}: bring {{missing}} back, or assemble it without with "
        "`mdadm --assemble --run {node} --uuid={uuid}`, or clear them by hand if nobody misses it; then try again",
        "encryption": CLOSED,
        "volume": f"{AT}: the volume is not active, {UNSEEN}: activate it with `lvchange --activate y {{volume}}`; then try again",
    },
    "superblocks-lost": {
        "": f"{LOST}: {LOOKED_AT}",
        "changed": f"{LOST} (the layout or a disk was changed since: compare every value with what the array had, first): {LOOKED_AT}",
    },
    "differs": {
        "header-damaged": f"{DIFFERS}; by hand: `cryptsetup repair {{node}}` writes a damaged header again from the other",
        "no-key": f"{DIFFERS}; no key opens it, and whatever it held is lost: clear it by hand if nobody misses it (wipefs --all)",
        "discards": f"{DIFFERS}; by hand: cryptsetup refresh, with --allow-discards or without, or close it; then apply again",
        "opened-otherwise": f"{DIFFERS}; close it (cryptsetup close), then apply again",
        "other-mount": f"{DIFFERS}; another file system is mounted there: end that mount (umount {{node}}), then apply again",
        "swap-file": f"{DIFFERS}; by hand: swapoff {{node}} and remove the file, then apply again",
        "swap-in-use": f"{DIFFERS}; swap in use keeps its label: switch it off (swapoff {{node}}), then apply again",
        "table": f"{DIFFERS}; by hand, after a backup: sfdisk {{node}}; what stands on the partitions has to be moved first",
        "types": f"{DIFFERS}; only the types differ: {{kept:?write the type that is there (%), or }}by hand: sfdisk --part-type {{node}} "
        "NUMBER TYPE",
        "group-devices": f"{DIFFERS}; by hand: {{commands:, or }}",
        "root-elsewhere": f"{DIFFERS}; this system runs from another file system: in a rescue system, name the folder below which the "
        "machine is made: --target /mnt",
        "stripe-stays": f"{DIFFERS}; its data is in no danger, and it keeps its stripe: only a new file system, made elsewhere and copied to, "
        "has the planned one",
        "new-filesystem": f"{DIFFERS}; make a new file system elsewhere and copy: this one cannot become it",
        "new-array": f"{DIFFERS}; make a new array of other disks and copy: this one cannot become it ({{reason}})",
        "shrinks-not": f"{DIFFERS}; it cannot shrink in place: back up, remove it by hand (the top layer first), apply again and restore",
        "other": f"{DIFFERS}; move what is on it elsewhere, take it away by hand, then apply again",
        "commands": f"{DIFFERS}; {COMMANDS}",
        "commands-after-device": f"{DIFFERS}; {COMMANDS}, once its device has its size",
        "commands-before-content": f"{DIFFERS}; {COMMANDS}, then grow what stands on it",
        "member-missing": f"{DIFFERS}; it runs without a member: {COMMANDS}, and wait for the rebuild; {PARTITIONED}",
        "member-exchanged": f"{DIFFERS}; {COMMANDS}, and wait for it; {PARTITIONED}",
        "order": f"{DIFFERS}; write the members in the order of the slots that they have: {{members:, }}",
        "follows": f"{DIFFERS}; it follows from the {{keys: and |others}}",
        "label": f"{DIFFERS}; {{advice}}",
        "syncing": f"{DIFFERS}; it is syncing ({{action}}); wait until that has finished (mdadm --wait {{node}}), then apply again",
        "rebuilt": f"{DIFFERS}; a member of it is being rebuilt, or waits for that: look at it (mdadm --detail {{node}}), wait "
        "(mdadm --wait {node}), then apply again",
        "held": f"{DIFFERS}; its syncs are held until the next boot (sync_action is frozen): let them run now "
        "(echo idle > /sys/block/{device}/md/sync_action), wait (mdadm --wait {node}), then apply again",
        "state": f"{DIFFERS}; it is {{state}}: start it (mdadm --run or --readwrite {{node}}), then apply again",
        "spare-of-others": f"{DIFFERS}; {NOT_OURS}",
        "left-spare": f"{AT}: {NOT_OURS}",
        "copy": f"{COPY}, or give that one another UUID ({{command}} {{device}})",
        "copy-without-command": f"{COPY}, or clear it by hand if nobody misses what is on it",
    },
    "runs-under-other-name": {
        "": f"{AT}: it runs as {{now}} and not as {{planned}}, for it was assembled before its name was known, and is in use "
        "({users}): make the initramfs ({command}) and boot, or end its use; then apply again"
    },
    "not-of-that-step": {
        "": f"{AT}: {{found:; }}: {WAYS_OUT}",
        "file": f"{AT}: {{file}} exists already, {{stain:|with}}{{size:? % bytes}}: {WAYS_OUT}",
        "other-apply": f"{AT}: an apply of another layout, on other disks, or of an earlier raidplan began it ({{began}}), and "
        "no record says that it finished: finish it with `raidplan apply` of the {file} beside the journal, or let `raidplan adopt` "
        f"look at it: {WAYS_OUT}",
    },
    "gone": {
        "": f"{AT} was made by the apply of {{began}} and is gone: somebody changed the machine since; where it stood all blank, "
        "`raidplan adopt` lets it be made again"
    },
    "not-in-journal": {
        "": "{names:8} stand there as planned, but no journal says that they were ever finished: `raidplan adopt` looks at them, "
        "enters what is whole, and says what to do with what is not; then adopt and apply again"
    },
    "not-as-planned": {
        "": f"{AT}: {{differences:; }}",
        "file": "{place} does not hold what was written (line {line})",
        "absent": f"{AT}: there is no {{kind}} {{key}}",
        "journal": "the journal {place} did not take its last record: {error}",
    },
    "not-whole": {"": f"not whole: {AT}: {{command}} returned {{returned}}"},
    "not-looked-at": {
        "": f"not looked at: {AT}: {{command}} returned {{returned}}",
        "closed": f"not looked at: {AT}: nobody knows whether its key is known: open it with cryptsetup open, then adopt again",
    },
    "name-taken": {
        "array": "the name {place} is taken by the array {uuid} ({node})",
        "group": "there is a volume group {place} already",
        "folder": "there is a /dev/{place}, so no volume group can have that name",
        "mapping": "there is a {place} already, which is not the encryption of line {line}",
    },
    "uuid-taken": {
        "member": f"{{part:?% of }}{{place}} is a member of the array {{uuid}}, which the layout makes of other disks: {AWAY}",
        "partition": f"{{place}} has the UUID {{uuid}} of a partition of the layout: {AWAY}",
        "copy": "{devices: and } have the same {name} {uuid}: give the copy another one ({command}), or unplug it",
    },
    **KEYS,
    # the journal, and plans in files
    "undo-interrupted": {"": "an undo of the last apply was interrupted: finish it with `raidplan undo`"},
    "interrupted-elsewhere": {
        "": "the apply begun {began} was interrupted in {steps:5}, which this plan does not have: finish it first with `raidplan apply` "
        "of the {files: and the } beside its journal; if that cannot be done any more, because a disk died, `raidplan adopt` of this "
        "layout lets it be forgotten"
    },
    "machine-changed": {"": "{place} was {planned} when the plan was made, and is {now}"},
    "not-in-plan": {
        "": f"{{step}} ({{place}}) is to be done as well, which the plan does not say: {PLAN_AGAIN}",
        "otherwise": f"{{step}} ({{place}}) would be done in another way than the step {{id}} of the plan says: {PLAN_AGAIN}",
    },
    "journal-hidden": {"": "the mount at {point} would hide the journal in {place}: name another folder with --state"},
    "assembly-held-off": {
        "": "an interrupted apply still holds off automatic assembly by {place}: the next one that is not refused removes it"
    },
    "not-undoable": {
        "passed": "the point of no return was passed by {step}{say:? (%)}: what was there before is gone or mixed with new data",
        "not-in-layout": "{place} was written to, and the layout that was applied last does not have it",
        "no-copy": f"{{place}} was written, and there is no copy of what it held before: {BY_HAND}",
    },
    "changed-since": {
        "file": f"{{place}} was changed since, and not by this apply: {BY_HAND}",
        "unit": f"{{place}} is {{now}}, was {{before}} before, and this apply made it {{made}}: {BY_HAND}",
        "size": f"{HERE} has {{size}} bytes in blocks of {{block}}, and had {{size_before}} in {{block_before}}",
        "other-disk": f"{HERE} has serial {{serial}} and wwn {{wwn}}, and the disk that was copied has serial {{serial_before}} and wwn "
        "{wwn_before}: it is another one",
        "byte": f"{HERE} was changed at byte {{byte}} since, and not by this apply: it is left as it is",
        "in-use": f"{HERE} is in use: {{users:; }}",
        "other-table": f"{HERE}: it has another partition table now ({{uuid}}), which was not written by this apply",
        "table": f"{HERE}: {{differences:; }}",
        "content": f"{HERE}: it carries {{found}} now",
        "partition": f"{HERE}: its partition {{uuid}} carries {{found}} now: somebody uses it",
        "data": f"{HERE}: the partition from byte {{start}} on has {{found}}: it was blank, so somebody uses it; copy what is there, or "
        "clear it, before",
    },
    # configuration files
    "block-damaged": {
        "": "{place}: the lines '{opening}' and '{closing}' do not stand once each, in order (lines {lines}); restore them",
        "large": "{place} is larger than a configuration file should be: look into it",
    },
    "foreign-lines": {
        "": "{place} line {number} ({words}) stands in the block of raidplan, which is written again, and is of no layout: move it out of "
        "the block, or remove it"
    },
    "lines-conflict": {
        "line": "{place} line {number} speaks of {word} already: remove the line, or take it out of the layout",
        "unit": "{place} speaks of {words: and } already, and systemd heeds it before {file}: remove that unit, or take it out of the layout",
        "indented": "{place} line {number} is indented, so mdadm would take it for more of our last line above it: begin it without white space",
        "other-file": "{place} would be read no more, because mdadm takes {file} in its place once that is there: move it to /etc/mdadm",
        "overruled": "{place} line {number} says {name}={value:|}, which counts more than our {name}={ours:|} above it: remove that line",
        "number": "{place} calls an array {node}, a number that it gets by chance at each boot, and that one of the new arrays may get: "
        "write its UUID= there",
        "address": "{place} sends the alarms of all arrays to {address}, also those of {array}, which is not of this layout, and mdadm "
        "takes one address: write that one in the layout (monitoring: mail), or {ours} there",
    },
    "others-unchecked": {
        "": f"{AT}: without the monthly check nothing reads the members of {{arrays}} either, which are not of this layout, as mdadm and "
        "Debian have one switch for all arrays: write `scrub: monthly`, or leave the key out"
    },
    "mount-conflict": {
        "point": "{source} is mounted at {now}, and the layout wants {planned}: umount {now}, then apply again",
        "options": "{point} is wanted {changes: and }, which no remount is sure to change: umount {point}, then apply again",
    },
    "mount-point": {
        "link": "the mount point {place} is or lies behind a symbolic link",
        "not-empty": "the mount point {place} is not empty: the mount would hide what is in it",
        "no-folder": "the mount point {place} is not a folder",
    },
    "file-not-writable": {
        "not-regular": "{place} is not a regular file",
        "mount": "{place} is a mount of its own, as containers have them, so it cannot be replaced: umount {target}",
        "immutable": "{place} is immutable or append-only: chattr -i -a {place}",
        "out-of-target": "{place} leads out of the target, to {target}: put a file or a folder in place of the link, or one that stays below the target",
        "folder": "{folder} cannot be written to, so {place} cannot be replaced: is it mounted read-only?",
        "room": "{folder} has {free} bytes left, too few to replace {place}",
        "inodes": "{folder} has {free} inodes left, too few to replace {place}",
    },
    "initramfs": {
        "opens-nothing": "the system in {place} lacks {package}, without which its initramfs opens no encryption: install it",
        "no-volumes": "the system in {place} lacks {package}, without which its initramfs activates no volume, and / or /usr stands on one: install it",
        "none": "there is no initramfs in {place}, so the names of the arrays cannot be put into it: mount {place}, or make one ({command})",
        "other-generator": "{place} is not that of {name}, and images of other programs ({others}) are not made: install it",
        "switched-off": "{place} says {setting}, and a boot would not know the arrays by name: take that out",
        "link": "{place} is a symbolic link, and what it leads to would stay as it is: put the image in its place",
        "in-the-way": "{place} stands where images are made and kept, and is not what it should be there: move it away",
        "foreign-file": "{place} is in the folder where images are made, and is none: move it away",
        "unreadable": "{error}: make it again ({command}), or remove it with its kernel",
        "unpacker-missing": "the program {place} is missing, which unpacks the initramfs: install it",
        "run-parts-missing": "the program run-parts is missing, which runs what is in {place}: install it",
        "read-only": "{place} is mounted read-only, so no initramfs can be made: mount -o remount,rw {place}",
        "room": "{place} has {free:size} free, and a new initramfs for each of {images} kernels, beside the present one, takes {needed:size}: "
        "remove kernels that are not needed (apt autoremove --purge)",
    },
    **MACHINE,
    **MOUNT,
}  # fmt: skip
