"""The sentences of refusals, by code and case, as templates of `render/sentences.py`."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.render.array_words import CLONES, NOT_STARTED, SUPERBLOCKS_LOST, TOO_MANY_LOST, UNSEEN
from raidplan.render.boot_words import NEEDED
from raidplan.render.journal_words import JOURNAL, PLAN_AGAIN
from raidplan.render.key_words import AT, CLOSED, KEYS
from raidplan.render.machine_words import MACHINE, MOUNT

AWAY = "a boot could confuse the two: unplug that disk, or wipe it by hand if nobody needs its content"
STAYS = "which this plan does not overwrite"
RECORDS = (
    "`raidplan adopt` records intact objects as done; wipe by hand what nobody needs, the top layer first"
)
WAYS_OUT = f"the interrupted step cannot have written this: {RECORDS}"
DIFFERS = f"{AT} exists already, but not as planned: {{differences:; }}"
COMMANDS = "by hand, after a backup: {commands:, then }{before:?; ? (before: %)}"
PARTITIONED = "partition a new disk first, with its command from `raidplan plan --offline --format shell`"
NOT_OURS = "{device} does not belong to this layout: by hand, mdadm {array} --remove {device}, then mdadm --zero-superblock {device}"
COPY = (
    f"{AT}: the {{kind}} with its UUID {{uuid}} is on {{device}}, outside the disks of this layout (a copy, or a disk that was in it "
    "before), and a boot could confuse the two: unplug that disk"
)
HERE = "{place} ({node})"
BY_HAND = "restore it by hand"
OPEN = "{opened:? (it is still open as %: copy its content elsewhere before it is closed)}"
NO_COPY = (
    "look for a copy of its header and write that back (`cryptsetup luksHeaderRestore {node} --header-backup-file FILE`); without one its "
    "content is lost, and only then close it and fill it with zeroes (`blkdiscard --zeroout {node}`): what wipefs leaves of it is data, which "
    "apply does not write over; then `raidplan adopt LAYOUT --forget {place}`"
)
FORGET = "let `raidplan adopt LAYOUT --forget OBJECT` take each object that held data out of the journal"
KEPT = (
    "apply kept the header as it was made, with its keys of then: open it by that without writing (`cryptsetup open --readonly --header {file} "
    "{node} kept`), look whether its content is right (`blkid /dev/mapper/kept`, fsck -n), and close it (`cryptsetup close kept`); if it is, write "
    "the header back (`cryptsetup luksHeaderRestore {node} --header-backup-file {file}`), then apply again"
)

SENTENCES: Mapping[str, Mapping[str, str]] = {
    # the disks, and what is on them
    "disk-unmatched": {
        "device": "{place}: {node} is not a disk of this machine, which has {nodes:12|none}",
        "no-identifier": "{place} has no identifier: give its serial, wwn, path or model",
        "meaningless": "{place}: {identifiers: and } tells nothing about a disk: give another identifier",
        "several": "{place}: {count} disks have {identifiers: and }: {nodes:12}; add what tells them apart, such as path",
        "none": "{place}: no disk has {identifiers: and }; the machine has {nodes:12}",
        "no-disks": "{place}: no disk has {identifiers: and }; the machine shows no disks at all",
        "nearest": "{place}: no disk has {identifiers: and }; the nearest is {node} with {has: and }",
        "several-paths": "{place}: {nodes:12} are several paths to one disk (wwn {wwn}, serial {serial}), and a write through one path "
        "is not seen through the other: leave it one path",
        "small": "{place}: {node} has {size:exact}, planned {planned:exact}: it is {short} bytes too small",
        "large": "{place}: {node} has {size:exact}, planned {planned:exact}: {percent} % more, is it another disk?",
        "logical-block": "{place}: {node} has logical blocks of {size} bytes, planned {planned}",
        "taken": "{place}: {node} also matches {others: and }; correct the identifiers, so that each disk of the layout matches another one",
    },
    "kept-differs": {
        "none": "{place} has `keep: true`, but its partition {number} ({name}) does not exist",
        "size": "{place} has `keep: true`, but its partition {number} ({name}) has {has:exact}, not {planned:exact}",
        "type": "{place} has `keep: true`, but its partition {number} ({name}) has the type {has:|none}, not {planned}",
        "uuid": "{place} has `keep: true`, but its partition {number} ({name}) has the UUID {has:|none}, not {planned}",
        "holds": "{place} has `keep: true`, but its partition {number} ({name}) holds {has:|nothing known}, not {planned}",
        "mount": "{place} has `keep: true`, but its partition {number} ({name}) is not mounted at {planned}",
        "written": "{place} has `keep: true`, but the step {step} would write to it: " + PLAN_AGAIN,
    },
    "disk-not-blank": {"": f"{HERE} is not blank: {{found:12; }}"},
    "disk-read-only": {"": f"{HERE} is read-only"},
    "disk-unreadable": {
        "": f"{HERE}: {{part:|the disk}} cannot be read at byte {{byte}} ({{error}}): replace the disk",
        "read-only": f"{HERE} is read-only",
    },
    "target-not-blank": {
        "": "{place} is not blank: {found:12; }",
        "header-kept": f"{{place}} is not blank: {{found:12; }}. Apply made an encryption on it, of whose header nothing is left{OPEN}; {KEPT}",
        "device": "{uses:; }",
    },
    "in-use": {"": "{place} is in use, {use}, and raidplan never clears a device in use: end that use first"},
    "in-use-elsewhere": {"": "{uses:; }"},
    "open-for-writing": {"": "{uses:; }"},
    "not-understood": {
        "layer": "raidplan cannot remove {place} on {disks:4} (neither md nor LVM nor an encryption): remove it with its own tool first",
        "name": "{place} has a name that is not safe in a command: stop it by hand first",
        "external": "{place} has metadata of the firmware ({metadata}): delete it in the setup of the firmware",
    },
    "hidden-from-lvm": {
        "": "{place} carries the physical volume {uuid}, which LVM does not show (because of a filter, or its devices file), so the other "
        "devices of its group are unknown: make `pvs` show it, or remove it with its own tools"
    },
    "shared": {
        "": f"{{place}} is also on {{others:4}}, {STAYS}",
        "member": f"the {{kind}}{{name:? '%'}} ({{uuid}}) also has a member on {{part:?% of }}{{place}}, {STAYS}",
    },
    "firmware": {
        "raid": f"{{place}} carries {{format}}{{others:?, as % does, {STAYS}}}; an array of the firmware: delete it in the setup of the firmware",
        "cache": f"{{place}} carries {{format}}{{others:?, as % does, {STAYS}}}; the other half of this cache is elsewhere: detach it first",
    },
    "needed-at-boot": NEEDED,
    # what stands already
    "not-started": {
        **NOT_STARTED,
        "encryption": CLOSED,
        "volume": f"{AT}: the volume is not active, {UNSEEN}: activate it with `lvchange --activate y {{volume}}`; then try again",
    },
    "too-many-lost": TOO_MANY_LOST,
    "superblocks-lost": SUPERBLOCKS_LOST,
    "differs": {
        "header-damaged": f"{DIFFERS}; by hand: `cryptsetup repair {{node}}` restores a damaged header from its second copy",
        "header-lost": f"{DIFFERS}; no copy of its header is whole{OPEN}: {NO_COPY}",
        "header-lost-kept": f"{DIFFERS}; no copy of its header on it is whole{OPEN}, but {KEPT}",
        "no-key": f"{DIFFERS}; no key opens it any more{OPEN}: {NO_COPY}",
        "no-key-kept": f"{DIFFERS}; no key opens it any more{OPEN}, but {KEPT}",
        "sector-size": f"{DIFFERS}; write `sector_size: {{size}}`, which it has, or move its content elsewhere, remove it by hand, {FORGET}, then apply again",
        "discards": f"{DIFFERS}; by hand: {{commands:, then }}, or close it; then apply again",
        "opened-otherwise": f"{DIFFERS}; close it ({{commands:, then }}), then apply again",
        "other-mount": f"{DIFFERS}; another file system is mounted there: end that mount ({{commands:, then }}), then apply again",
        "swap-file": f"{DIFFERS}; by hand: {{commands:, then }}, and remove the file, then apply again",
        "swap-in-use": f"{DIFFERS}; swap in use keeps its label: switch it off (swapoff {{node}}), then apply again",
        "table-stays": f"{DIFFERS}; no command changes that while its content stays ({{reason}})",
        "types": f"{DIFFERS}; only the types differ: {{kept:?write the type that is there (%), or }}by hand: {{commands:, then }}",
        "group-incomplete": f"{DIFFERS}; {{count}} of its devices are missing: connect them again, or start what they are on, then apply again; "
        "vgextend brings no data back, and vgreduce --removemissing gives up the volumes on them",
        "root-elsewhere": f"{DIFFERS}; this system runs from another file system: in a rescue system, name the folder below which the "
        "machine is made: --target /mnt",
        "stripe-stays": f"{DIFFERS}; its data is safe, but its stripe cannot be changed: only a new file system, made elsewhere and copied to, "
        "has the planned one",
        "new-filesystem": f"{DIFFERS}; make a new file system elsewhere and copy: this one cannot become it",
        "new-array": f"{DIFFERS}; make a new array of other disks and copy: this one cannot become it ({{reason}})",
        "shrinks-not": f"{DIFFERS}; it cannot shrink in place: back up, remove it by hand (the top layer first), {FORGET}, apply again "
        "and restore",
        "other": f"{DIFFERS}; move its content elsewhere, remove it by hand, {FORGET}, then apply again",
        "commands": f"{DIFFERS}; {COMMANDS}",
        "commands-after-device": f"{DIFFERS}; {COMMANDS}, once its device has its size",
        "commands-before-content": f"{DIFFERS}; {COMMANDS}, then grow its content; if the devices of its group have grown, pvresize them before",
        "member-missing": f"{DIFFERS}; it runs without a member: {COMMANDS}, and wait for the rebuild; if its disk is replaced, write the new "
        "serial number into the layout, leave out --add, and apply again",
        "member-newer": f"{DIFFERS}; {{newer:, }} may have later data than what runs now, {{running:, }}: the array went on there without these, "
        "and mdadm --add would overwrite it. End its use, `mdadm --stop {node}`, look at each half alone (mdadm --assemble --run --readonly), "
        "save what the other lacks, start the one to keep, clear the other's superblocks (mdadm --zero-superblock), then apply again",
        "not-blank": f"{DIFFERS}; a device that would be added is not blank: {{uses:; }}: look whether the layout names the right disk; only if "
        "nobody needs that content, clear it by hand, then apply again",
        "member-exchanged": f"{DIFFERS}; {COMMANDS}, and wait for it; {PARTITIONED}",
        "order": f"{DIFFERS}; list the members in the layout in the order of their slots: {{members:, }}",
        "follows": f"{DIFFERS}; this follows from {{keys: and |other settings}}, and goes when they are as planned",
        "label-characters": f"{DIFFERS}; by hand: xfs_io -c 'label -s NEW' at its mount point; xfs_admin takes letters, digits, ._- only",
        "label-mounted": f"{DIFFERS}; {{type}} takes another label only while it is not mounted: umount {{mounted}}, then apply again",
        "syncing": f"{DIFFERS}; it is syncing ({{action}}); wait until that has finished (mdadm --wait {{node}}), then apply again",
        "rebuilt": f"{DIFFERS}; a member is rebuilding, or waits for its rebuild: look at it (mdadm --detail {{node}}), wait "
        "(mdadm --wait {node}), then apply again",
        "held": f"{DIFFERS}; its syncs are held until the next boot (sync_action is frozen): let them run now "
        "(echo idle > /sys/block/{device}/md/sync_action), wait (mdadm --wait {node}), then apply again",
        "state": f"{DIFFERS}; it is {{state}}: see first that its content is right (fsck -n), then let it be written to "
        "(mdadm --readwrite {node}), then apply again",
        "spare-of-others": f"{DIFFERS}; {NOT_OURS}",
        "left-spare": f"{AT}: {NOT_OURS}",
        "later": f"{AT}: {{device}} has data at byte {{offset}} that came after raidplan had begun to clear it, so nothing is cleared "
        "there: if nobody needs its content, clear it by hand (blkdiscard --zeroout {device})",
        "copy": f"{COPY}, or give that one another UUID ({{command}} {{device}})",
        "copy-without-command": f"{COPY}, or wipe it by hand if nobody needs its content",
    },
    "runs-under-other-name": {
        "": f"{AT}: it runs as {{now}} instead of {{planned}}, the name that another array ({{other}}) has now: if nobody needs it, stop "
        "that one (mdadm --stop {other}), then apply again"
    },
    "not-of-that-step": {
        "": f"{AT}: {{uses:; }}: {WAYS_OUT}",
        "file": f"{AT}: {{file}} exists already, {{stain:|with}}{{size:? % bytes}}: {WAYS_OUT}",
        "other-apply": f"{AT}: an apply of another layout, on other disks, or of an earlier raidplan began it ({{began}}), and "
        "the journal does not record its end: finish it with `raidplan apply` of {file} beside the journal; or else, "
        f"{RECORDS}",
    },
    "gone": {
        "": f"{AT} was created by the apply of {{began}} and is missing now: see first whether its disks are connected. Its content can "
        "still be there, even if its devices look blank: it comes back from a second superblock (e2fsck -b, xfs_repair), or from a copy "
        "of the header or metadata{file:? (apply kept that header as %)}. Only if nobody needs it, `raidplan adopt LAYOUT --forget "
        "{place}` lets apply create it again on blank devices",
        "volume": f"{AT} was created by an earlier apply and is missing now, while at least one disk of its group is that of then. A new one would write over "
        "the first bytes of its content: `vgcfgrestore --list` tells which copy of LVM's metadata in /etc/lvm/archive still has it. Only if "
        "nobody needs it, `raidplan adopt LAYOUT --forget {place}` lets apply create it again",
    },
    "not-in-journal": {
        "": "{names:8} exist as planned, but no journal records that they were finished: run `raidplan adopt`, which checks them and "
        "records those that are intact, then apply again"
    },
    "not-as-planned": {
        "": f"{AT}: {{differences:; }}",
        "file": "{place} does not hold what was written (line {line})",
        "absent": f"{AT}: there is no {{kind}} {{key}}",
        "journal": "the last record could not be written to the journal {place}: {error}",
    },
    "not-whole": {"": f"not whole: {AT}: `{{command}}` found damage (exit status {{returned}})"},
    "not-looked-at": {
        "": f"not looked at: {AT}: `{{command}}` could not check it (exit status {{returned}})",
        "closed": f"not looked at: {AT}: whether a key opens it is unknown: open it with cryptsetup open, then adopt again",
    },
    "name-taken": {
        "array": "another array ({node}, UUID {uuid}) has the name {place} already: choose another name in the layout",
        "group": "another volume group has the name {place} already: choose another name in the layout",
        "folder": "/dev/{place} exists, so a volume group cannot have the name {place}: choose another name in the layout",
        "mapping": "{place} exists already, and is not the encryption of line {line}: close that one, or choose another name in the layout",
    },
    "uuid-taken": {
        "member": f"{{part:?% of }}{{place}}{{mark:? (%)}} is a member of the array {{uuid}}, which the layout makes of other disks: {AWAY}",
        "partition": f"{{place}}{{mark:? (%)}} has the UUID {{uuid}} of a partition of the layout: {AWAY}",
        "copy": "{devices: and } have the same {name} {uuid}{copies:?, ?, and by the serial number in the layout % is the copy}: unplug the "
        "copy, or give it another one ({command})",
        **CLONES,
    },
    **KEYS,
    **JOURNAL,
    "not-undoable": {
        "passed": "the point of no return was passed by {step}{say:? (%)}: what was there before is gone or mixed with new data, so undo cannot bring it back",
        "not-in-layout": "{place} was written to, and the layout that was applied last does not have it",
        "no-copy": f"{{place}} was written, and there is no copy of what it held before: {BY_HAND}",
    },
    "changed-since": {
        "file": f"{{place}} was changed since, and not by this apply: {BY_HAND}",
        "unit": f"this apply turned {{place}} from {{before}} to {{made}}, and somebody has made it {{now}} since: {BY_HAND}",
        "size": f"{HERE} has {{size}} bytes in blocks of {{block}}, and had {{size_before}} in {{block_before}}",
        "other-disk": f"{HERE} has serial {{serial}} and wwn {{wwn}}, and the disk that was copied has serial {{serial_before}} and wwn "
        "{wwn_before}: it is another one",
        "byte": f"{HERE} was changed at byte {{byte}} since, and not by this apply: it is left as it is",
        "in-use": f"{HERE} is in use: {{users:; }}",
        "other-table": f"{HERE}: it has another partition table now ({{uuid}}), which was not written by this apply",
        "table": f"{HERE}: {{differences:; }}",
        "content": f"{HERE}: it carries {{found}} now",
        "partition": f"{HERE}: its partition {{uuid}} carries {{found}} now: somebody uses it",
        "data": f"{HERE}: the partition from byte {{start}} on has {{found}}: it was blank, so somebody uses it; copy or clear "
        "its content first",
    },
    # configuration files
    "block-damaged": {
        "": "{place}: the lines '{opening}' and '{closing}' do not occur once each, in this order (lines {lines}); restore them",
        "large": "{place} is larger than a configuration file should be: check its content",
    },
    "foreign-lines": {
        "": "{place} line {number} ({words}) is inside raidplan's block, which will be rewritten, but belongs to no layout: move it out of "
        "the block, or remove it",
        "option": "{place} line {number}: {words} comes from no layout, and goes when raidplan's block is rewritten: remove it there if it may go",
    },
    "lines-conflict": {
        "line": "{place} line {number} names {word} already: remove the line, or take it out of the layout",
        "unit": "{place} names {words: and } already, and systemd prefers it to {file}: remove that unit, or take it out of the layout",
        "indented": "{place} line {number} is indented and would continue raidplan's last line above it: remove the indentation",
        "other-file": "once {file} exists, mdadm ignores {place}: move {place} to /etc/mdadm",
        "overruled": "{place} line {number} ({name}={value:|}) overrides raidplan's {name}={ours:|}: remove that line",
        "number": "{place} names an array by {node}, a number that is given by chance at each boot, and that a new array may get: "
        "write its UUID= there, or a line `ARRAY {node} UUID=…` into mdadm.conf",
        "image": "the initramfs names arrays that are not in this layout, by lines that are added as long as {place} has no line ARRAY; "
        "with those of the layout there, the next boot would give them other names: write into {place} first: {lines:; }",
        "address": "{place} sends the alarms of all arrays to {address}, also those of {array}, which is not in this layout, and mdadm "
        "uses one address only: write {address} in the layout (monitoring: mail), or {ours} in {place}",
    },
    "others-unchecked": {
        "": f"{AT}: this also ends the monthly check of arrays that are not in this layout ({{arrays}}), because mdadm "
        "and Debian have one switch for all arrays: write `scrub: monthly`, or leave the key out"
    },
    "mount-point": {
        "link": "the mount point {place} is or lies behind a symbolic link: write the path without links in the layout",
        "not-empty": "the mount point {place} is not empty, and the mount would hide what is in it: move that away first",
        "no-folder": "the mount point {place} is not a folder: move it away first",
    },
    "file-not-writable": {
        "not-regular": "{place} is not a regular file",
        "mount": "{place} is a mount of its own, as containers have them, so it cannot be replaced: umount {target}",
        "immutable": "{place} is immutable or append-only: chattr -i -a {place}",
        "out-of-target": "{place} leads out of the target, to {target}: put a file or a folder in place of the link, or one that stays below the target",
        "folder": "{folder} cannot be written to, so {place} cannot be replaced: is it mounted read-only?",
        "room": "{folder} has {free} bytes left, too few to replace {place}: make room there",
        "inodes": "{folder} has {free} inodes left, too few to replace {place}: remove files there",
    },
    "initramfs": {
        "opens-nothing": "the system in {place} lacks {package}, without which its initramfs opens no encryption: install it",
        "no-volumes": "the system in {place} lacks {package}, without which its initramfs activates no volume, and / or /usr stands on one: install it",
        "none": "there is no initramfs in {place} to put the names of the arrays into: mount {place}, or make one ({command})",
        "other-generator": "{place} does not belong to {name}, and raidplan cannot use other programs ({others}): install {name}",
        "switched-off": "{place} says {setting}, so a boot would not know the arrays by name: remove {setting}",
        "link": "{place} is a symbolic link, and its target would stay as it is: replace the link by the image",
        "in-the-way": "{place} is in the way where raidplan makes and keeps images: move it away",
        "foreign-file": "{place} is no image, but lies in the folder where raidplan makes them: move it away",
        "unreadable": "{failures:; }: renew the image ({command}), or remove it with its kernel",
        "unpacker-missing": "the program {place} is missing, which unpacks the initramfs: install it",
        "run-parts-missing": "the program run-parts is missing, which runs what is in {place}: install it",
        "read-only": "{place} is mounted read-only, so no initramfs can be made: mount -o remount,rw {place}",
        "room": "{place} has {free:size} free, and a new initramfs for each of {images} kernels, beside the present one, takes {needed:size}: "
        "remove kernels that are not needed (apt autoremove --purge)",
    },
    **MACHINE,
    **MOUNT,
}  # fmt: skip
