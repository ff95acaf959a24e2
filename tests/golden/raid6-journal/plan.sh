#!/bin/sh
# The plan for the host journal, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:8af821d85ea34f803e4b94716e2551b96207ca6c59e019815742201c159448bc
# note[degenerate-parity] layout line 30: journaled is raid6 of 4 members: it holds 2 members' worth, as raid10 would, and small writes cost 6 disk operations instead of 2
# warning[unmirrored-journal] layout line 34: the journal of journaled is lost with jossd: journaled then goes read-only, though its members are well

# Nothing in a quoted word is meant to be expanded.
# shellcheck disable=SC1003,SC2016
set -eu
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
umask 022

# functions.sh

# initramfs.sh

# In braces, so that nothing runs before all of this has been read.
{
exec </dev/null

# Before anything is written: every disk is found, and everything that is written over is blank.

[ "$(id -u)" -eq 0 ] || refuse 'not root: run it with sudo'
require_tools awk blkid cpio df find grep lsblk mdadm mkdir mkfs.xfs mkinitramfs mktemp modprobe readlink \
	run-parts sed sfdisk sort systemctl udevadm unmkinitramfs update-initramfs wipefs
disks=$(list_disks)
disk_jo0=$(find_disk jo0 2147483648 512 JOUR-D500 '' '' '')
disk_jo1=$(find_disk jo1 2147483648 512 JOUR-D501 '' '' '')
disk_jo2=$(find_disk jo2 2147483648 512 JOUR-D502 '' '' '')
disk_jo3=$(find_disk jo3 2147483648 512 JOUR-D503 '' '' '')
disk_jossd=$(find_disk jossd 2147483648 512 JOUR-SSD0 '' '' '')
require_distinct "$disk_jo0" "$disk_jo1" "$disk_jo2" "$disk_jo3" "$disk_jossd"
require_all_blank "$disk_jo0" "$disk_jo1" "$disk_jo2" "$disk_jo3" "$disk_jossd"
require_blank_range "$disk_jo0" 1048576 2143289344
require_blank_range "$disk_jo1" 1048576 2143289344
require_blank_range "$disk_jo2" 1048576 2143289344
require_blank_range "$disk_jo3" 1048576 2143289344
require_blank_range "$disk_jossd" 1048576 1073741824
require_room_for_initramfs /boot

# name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 28 (arrays)
step 1/24 'name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf journal top 0644 <<'END'
MAILADDR root@example.org
ARRAY /dev/md/journaled metadata=1.2 UUID=abd55f68:4f6651c2:87b843f8:177b037a
END

# let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-journal.rules
# layout line 28 (arrays)
step 2/24 'let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-journal.rules'
write_file /etc/udev/rules.d/65-raidplan-journal.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# journaled
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="abd55f68:4f6651c2:87b843f8:177b037a", TEST=="md/stripe_cache_size", ATTR{md/stripe_cache_size}="2048", ATTR{md/group_thread_cnt}="2", ATTR{queue/read_ahead_kb}="512"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="abd55f68-4f66-51c2-87b8-43f8177b037a", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
END

# let udev read its rules again
# layout line 28 (arrays)
step 3/24 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 28 (arrays)
step 4/24 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 28 (arrays)
step 5/24 'load the kernel module raid456'
modprobe raid456

# partition jo0: jo0.journaled of 2.0 GiB
# layout line 17 (hardware.disks.jo0); destroys everything on the disk jo0
step 6/24 'partition jo0: jo0.journaled of 2.0 GiB'
require_blank "$disk_jo0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_jo0" <<'END'
label: gpt
label-id: BD559650-2C6F-5DFC-A0AC-7BB560CDDEE0
unit: sectors
sector-size: 512
start=2048, size=4186112, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=252D6865-E886-5D79-9FF0-61D3B3BFF159, name="journaled"
END
await_node /dev/disk/by-partuuid/252d6865-e886-5d79-9ff0-61d3b3bff159

# partition jo1: jo1.journaled of 2.0 GiB
# layout line 17 (hardware.disks.jo1); destroys everything on the disk jo1
step 7/24 'partition jo1: jo1.journaled of 2.0 GiB'
require_blank "$disk_jo1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_jo1" <<'END'
label: gpt
label-id: 10E4E053-0A16-5203-B848-57545E08D287
unit: sectors
sector-size: 512
start=2048, size=4186112, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=E2E4848B-AC5E-51EA-B426-2262732889A1, name="journaled"
END
await_node /dev/disk/by-partuuid/e2e4848b-ac5e-51ea-b426-2262732889a1

# partition jo2: jo2.journaled of 2.0 GiB
# layout line 17 (hardware.disks.jo2); destroys everything on the disk jo2
step 8/24 'partition jo2: jo2.journaled of 2.0 GiB'
require_blank "$disk_jo2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_jo2" <<'END'
label: gpt
label-id: 239255F7-1E83-55A0-95B4-5DB2C087E4AA
unit: sectors
sector-size: 512
start=2048, size=4186112, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F43DFA0F-C847-5580-A774-ECA3DB1492E9, name="journaled"
END
await_node /dev/disk/by-partuuid/f43dfa0f-c847-5580-a774-eca3db1492e9

# partition jo3: jo3.journaled of 2.0 GiB
# layout line 17 (hardware.disks.jo3); destroys everything on the disk jo3
step 9/24 'partition jo3: jo3.journaled of 2.0 GiB'
require_blank "$disk_jo3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_jo3" <<'END'
label: gpt
label-id: 814B676D-8166-5A9A-AAB9-FE6B4E0559C8
unit: sectors
sector-size: 512
start=2048, size=4186112, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=241E7069-CAF0-5BEC-9DEE-6A37791767F0, name="journaled"
END
await_node /dev/disk/by-partuuid/241e7069-caf0-5bec-9dee-6a37791767f0

# partition jossd: jossd.log of 1 GiB
# layout line 19 (hardware.disks.jossd); destroys everything on the disk jossd
step 10/24 'partition jossd: jossd.log of 1 GiB'
require_blank "$disk_jossd"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_jossd" <<'END'
label: gpt
label-id: 9DFE7A52-97AE-5224-A6F6-A8406BCF95F3
unit: sectors
sector-size: 512
start=2048, size=2097152, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=341C4014-22EC-5BBE-B464-53E57AE71C0C, name="log"
END
await_node /dev/disk/by-partuuid/341c4014-22ec-5bbe-b464-53e57ae71c0c

# create raid6 journaled of 4 members (jo0, jo1, jo2, jo3), 4.0 GiB usable
# layout line 29 (arrays.journaled); destroys everything on jo0.journaled, everything on jo1.journaled, everything on jo2.journaled, everything on jo3.journaled, everything on jossd.log
step 11/24 'create raid6 journaled of 4 members (jo0, jo1, jo2, jo3), 4.0 GiB usable'
require_blank /dev/disk/by-partuuid/252d6865-e886-5d79-9ff0-61d3b3bff159
require_blank /dev/disk/by-partuuid/e2e4848b-ac5e-51ea-b426-2262732889a1
require_blank /dev/disk/by-partuuid/f43dfa0f-c847-5580-a774-eca3db1492e9
require_blank /dev/disk/by-partuuid/241e7069-caf0-5bec-9dee-6a37791767f0
require_blank /dev/disk/by-partuuid/341c4014-22ec-5bbe-b464-53e57ae71c0c
mdadm --create /dev/md/journaled --run --quiet --readonly --metadata=1.2 --homehost=journal --name=journaled \
	--uuid=abd55f68:4f6651c2:87b843f8:177b037a --level=raid6 --raid-devices=4 --chunk=128K \
	--layout=left-symmetric --bitmap=none /dev/disk/by-partuuid/252d6865-e886-5d79-9ff0-61d3b3bff159 \
	/dev/disk/by-partuuid/e2e4848b-ac5e-51ea-b426-2262732889a1 \
	/dev/disk/by-partuuid/f43dfa0f-c847-5580-a774-eca3db1492e9 \
	/dev/disk/by-partuuid/241e7069-caf0-5bec-9dee-6a37791767f0 \
	--write-journal=/dev/disk/by-partuuid/341c4014-22ec-5bbe-b464-53e57ae71c0c
await_node /dev/md/journaled

# pause the initial sync of journaled, so that it does not slow down what follows
# layout line 29 (arrays.journaled)
step 12/24 'pause the initial sync of journaled, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/journaled}/md/sync_action' frozen

# open journaled for writing
# layout line 29 (arrays.journaled)
step 13/24 'open journaled for writing'
set_attribute '/sys/block/{/dev/md/journaled}/md/array_state' active

# let udev tune journaled as it will at every boot: stripe_cache_size 2048, group_thread_cnt 2, read_ahead_kb 512
# layout line 29 (arrays.journaled)
step 14/24 'let udev tune journaled as it will at every boot: stripe_cache_size 2048, group_thread_cnt 2, read_ahead_kb 512'
udevadm trigger --settle --action=change --name-match=/dev/md/journaled

# format journaled as xfs journaled, 4.0 GiB, su 128 KiB, sw 2
# layout line 40 (filesystems.journaled); destroys everything on journaled
step 15/24 'format journaled as xfs journaled, 4.0 GiB, su 128 KiB, sw 2'
require_blank /dev/md/journaled
mkfs.xfs -q -K -m crc=1,uuid=0494e0c5-e2a2-5003-b0d5-62daf5084954 -b size=4096 -s size=512 -i \
	size=512,maxpct=25 -d agsize=535166976,su=131072,sw=2 -l size=67108864,su=131072 -L journaled \
	/dev/md/journaled
await_node /dev/disk/by-uuid/0494e0c5-e2a2-5003-b0d5-62daf5084954 /dev/md/journaled

# update the initramfs, so that arrays keep their names at boot
# layout line 28 (arrays)
step 16/24 'update the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot abd55f68:4f6651c2:87b843f8:177b037a /etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 42 (monitoring.mail)
step 17/24 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 42 (monitoring.scrub)
step 18/24 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 42 (monitoring.scrub)
step 19/24 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm journal bottom 0644 <<'END'
AUTOCHECK=false
END

# add 1 line to /etc/fstab
# layout line 39 (filesystems)
step 20/24 'add 1 line to /etc/fstab'
write_block /etc/fstab journal bottom 0644 <<'END'
UUID=0494e0c5-e2a2-5003-b0d5-62daf5084954 /srv/journaled xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 39 (filesystems)
step 21/24 'let systemd read fstab again'
systemctl daemon-reload

# create directory /srv/journaled
# layout line 40 (filesystems.journaled)
step 22/24 'create directory /srv/journaled'
mkdir --parents /srv/journaled

# mount journaled at /srv/journaled
# layout line 40 (filesystems.journaled)
step 23/24 'mount journaled at /srv/journaled'
systemctl start /srv/journaled

# start the initial sync of journaled
# layout line 29 (arrays.journaled)
step 24/24 'start the initial sync of journaled'
set_attribute '/sys/block/{/dev/md/journaled}/md/sync_action' idle

complete=yes
echo 'done'
}
