#!/bin/sh
# The plan for the host lvm-test, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:d7f3fac596f50779ea6f56fa083126deb16e82d9f444d3d544b2fdd66dea28bb
# note[write-hole] layout line 43: a crash of md0 while a member is missing can corrupt data that was not being written (the write hole)
# warning[slow-member] layout line 43: t5 reads 54.3 MB/s, t2 reads 59.2 MB/s, and the median of the 7 members of md0 is 89.3: every stripe waits for the slowest
# note[component-loss-kills-array] layout line 43: md0 survives the loss of 1 disk, and the controller ich10 takes 6 of its 7 members with it
# note[head-parking] layout line 43: t[0-4,7] of md0 park their heads after 8 s without work, up to thousands of times a day
# note[idle-volume-group] layout line 46: arrays holds one volume, storage, over the whole of md0: nothing of LVM is used
# warning[volume-read-ahead-low] layout line 46: arrays.storage reads 128KiB ahead, and a full stripe of md0 has 1536KiB on 6 data disks

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
require_tools awk blkid cpio df find grep lsblk lvcreate mdadm mkdir mkfs.xfs mkinitramfs mktemp modprobe \
	pvcreate readlink run-parts sed sfdisk sort systemctl udevadm unmkinitramfs update-initramfs vgcreate \
	wipefs
disks=$(list_disks)
disk_t0=$(find_disk t0 1000204886016 512 LVMT-WCAU40 '' '' '')
disk_t1=$(find_disk t1 1000204886016 512 LVMT-WCAU41 '' '' '')
disk_t2=$(find_disk t2 1000204886016 512 LVMT-WCAU42 '' '' '')
disk_t3=$(find_disk t3 1000204886016 512 LVMT-WCAU43 '' '' '')
disk_t4=$(find_disk t4 1000204886016 512 LVMT-WCAU44 '' '' '')
disk_t5=$(find_disk t5 1000204886016 512 LVMT-WCAU45 '' '' '')
disk_t7=$(find_disk t7 1000204886016 512 LVMT-WCAU47 '' '' '')
require_distinct "$disk_t0" "$disk_t1" "$disk_t2" "$disk_t3" "$disk_t4" "$disk_t5" "$disk_t7"
require_all_blank "$disk_t0" "$disk_t1" "$disk_t2" "$disk_t3" "$disk_t4" "$disk_t5" "$disk_t7"
require_blank_range "$disk_t0" 1048576 1000068874240
require_blank_range "$disk_t1" 1048576 1000068874240
require_blank_range "$disk_t2" 1048576 1000068874240
require_blank_range "$disk_t3" 1048576 1000068874240
require_blank_range "$disk_t4" 1048576 1000068874240
require_blank_range "$disk_t5" 1048576 1000068874240
require_blank_range "$disk_t7" 1048576 1000068874240
require_room_for_initramfs /boot

# name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 42 (arrays)
step 1/29 'name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf lvm-test top 0644 <<'END'
MAILADDR root@example.org
ARRAY /dev/md0 metadata=1.2 UUID=20a61fb0:4cf35196:baf9da0d:cd551fda
END

# let udev, at every boot, start 1 array that may be degraded, by /etc/udev/rules.d/65-raidplan-lvm-test.rules
# layout line 42 (arrays)
step 2/29 'let udev, at every boot, start 1 array that may be degraded, by /etc/udev/rules.d/65-raidplan-lvm-test.rules'
write_file /etc/udev/rules.d/65-raidplan-lvm-test.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="20a61fb0-4cf3-5196-baf9-da0dcd551fda", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
END

# let udev read its rules again
# layout line 42 (arrays)
step 3/29 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 42 (arrays)
step 4/29 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 42 (arrays)
step 5/29 'load the kernel module raid456'
modprobe raid456

# load the kernel module dm_mod
# layout line 45 (volume_groups)
step 6/29 'load the kernel module dm_mod'
modprobe dm_mod

# partition t0: t0.md0 of 931.4 GiB
# layout line 25 (hardware.disks.t0); destroys everything on the disk t0
step 7/29 'partition t0: t0.md0 of 931.4 GiB'
require_blank "$disk_t0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t0" <<'END'
label: gpt
label-id: 870598AD-E070-5DB6-9FB5-8975D30FDDB6
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0C2EA3F6-E397-5150-80EB-F62A58B76DDA, name="md0"
END
await_node /dev/disk/by-partuuid/0c2ea3f6-e397-5150-80eb-f62a58b76dda "$disk_t0"

# partition t1: t1.md0 of 931.4 GiB
# layout line 25 (hardware.disks.t1); destroys everything on the disk t1
step 8/29 'partition t1: t1.md0 of 931.4 GiB'
require_blank "$disk_t1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t1" <<'END'
label: gpt
label-id: 5EA2E954-3019-57A7-B8F2-10E3F67CABA9
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0E166A0D-A239-5E89-8922-31117C5917CD, name="md0"
END
await_node /dev/disk/by-partuuid/0e166a0d-a239-5e89-8922-31117c5917cd "$disk_t1"

# partition t2: t2.md0 of 931.4 GiB
# layout line 25 (hardware.disks.t2); destroys everything on the disk t2
step 9/29 'partition t2: t2.md0 of 931.4 GiB'
require_blank "$disk_t2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t2" <<'END'
label: gpt
label-id: 20B944E8-41F4-5919-BBF4-4E741FC423F0
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=CD2D943F-9B59-554C-A690-F998A8C57CFC, name="md0"
END
await_node /dev/disk/by-partuuid/cd2d943f-9b59-554c-a690-f998a8c57cfc "$disk_t2"

# partition t3: t3.md0 of 931.4 GiB
# layout line 25 (hardware.disks.t3); destroys everything on the disk t3
step 10/29 'partition t3: t3.md0 of 931.4 GiB'
require_blank "$disk_t3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t3" <<'END'
label: gpt
label-id: 210BD1DB-2606-5B91-920D-815B37AE13C0
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=09C504BD-17F5-5BBF-8475-1670EFDB5848, name="md0"
END
await_node /dev/disk/by-partuuid/09c504bd-17f5-5bbf-8475-1670efdb5848 "$disk_t3"

# partition t4: t4.md0 of 931.4 GiB
# layout line 25 (hardware.disks.t4); destroys everything on the disk t4
step 11/29 'partition t4: t4.md0 of 931.4 GiB'
require_blank "$disk_t4"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t4" <<'END'
label: gpt
label-id: 2C28C0A5-7658-528D-A849-4501FDCEE48A
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=3746DE9E-682A-5966-8FD6-FA82BCB4BDF4, name="md0"
END
await_node /dev/disk/by-partuuid/3746de9e-682a-5966-8fd6-fa82bcb4bdf4 "$disk_t4"

# partition t5: t5.md0 of 931.4 GiB
# layout line 25 (hardware.disks.t5); destroys everything on the disk t5
step 12/29 'partition t5: t5.md0 of 931.4 GiB'
require_blank "$disk_t5"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t5" <<'END'
label: gpt
label-id: 2EFC7952-317B-527D-B44E-DF46707C30A3
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=014DB9D9-2C69-564E-AB19-68B9458947D2, name="md0"
END
await_node /dev/disk/by-partuuid/014db9d9-2c69-564e-ab19-68b9458947d2 "$disk_t5"

# partition t7: t7.md0 of 931.4 GiB
# layout line 33 (hardware.disks.t7); destroys everything on the disk t7
step 13/29 'partition t7: t7.md0 of 931.4 GiB'
require_blank "$disk_t7"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t7" <<'END'
label: gpt
label-id: 0882FA37-5283-5F53-9042-2B91C8EA5EBA
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=D99F7E1D-BAD2-5416-B2E6-4A7450ED55EF, name="md0"
END
await_node /dev/disk/by-partuuid/d99f7e1d-bad2-5416-b2e6-4a7450ed55ef "$disk_t7"

# create raid5 md0 of 7 members (t0, t1, t2, t3, t4, t5, t7), 5.5 TiB usable
# layout line 43 (arrays.md0); destroys everything on t0.md0, everything on t1.md0, everything on t2.md0, everything on t3.md0, everything on t4.md0, everything on t5.md0, everything on t7.md0
step 14/29 'create raid5 md0 of 7 members (t0, t1, t2, t3, t4, t5, t7), 5.5 TiB usable'
require_blank /dev/disk/by-partuuid/0c2ea3f6-e397-5150-80eb-f62a58b76dda
require_blank /dev/disk/by-partuuid/0e166a0d-a239-5e89-8922-31117c5917cd
require_blank /dev/disk/by-partuuid/cd2d943f-9b59-554c-a690-f998a8c57cfc
require_blank /dev/disk/by-partuuid/09c504bd-17f5-5bbf-8475-1670efdb5848
require_blank /dev/disk/by-partuuid/3746de9e-682a-5966-8fd6-fa82bcb4bdf4
require_blank /dev/disk/by-partuuid/014db9d9-2c69-564e-ab19-68b9458947d2
require_blank /dev/disk/by-partuuid/d99f7e1d-bad2-5416-b2e6-4a7450ed55ef
mdadm --create /dev/md0 --run --quiet --readonly --metadata=1.2 --homehost=lvm-test --name=md0 \
	--uuid=20a61fb0:4cf35196:baf9da0d:cd551fda --level=raid5 --raid-devices=7 --chunk=256K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap --force \
	/dev/disk/by-partuuid/0c2ea3f6-e397-5150-80eb-f62a58b76dda \
	/dev/disk/by-partuuid/0e166a0d-a239-5e89-8922-31117c5917cd \
	/dev/disk/by-partuuid/cd2d943f-9b59-554c-a690-f998a8c57cfc \
	/dev/disk/by-partuuid/09c504bd-17f5-5bbf-8475-1670efdb5848 \
	/dev/disk/by-partuuid/3746de9e-682a-5966-8fd6-fa82bcb4bdf4 \
	/dev/disk/by-partuuid/014db9d9-2c69-564e-ab19-68b9458947d2 \
	/dev/disk/by-partuuid/d99f7e1d-bad2-5416-b2e6-4a7450ed55ef
await_node /dev/md0

# pause the initial sync of md0, so that it does not slow down what follows
# layout line 43 (arrays.md0)
step 15/29 'pause the initial sync of md0, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md0}/md/sync_action' frozen

# open md0 for writing
# layout line 43 (arrays.md0)
step 16/29 'open md0 for writing'
set_attribute '/sys/block/{/dev/md0}/md/array_state' active

# create physical volume md0, data from 1.5 MiB on
# layout line 46 (volume_groups.arrays); destroys everything on md0
step 17/29 'create physical volume md0, data from 1.5 MiB on'
require_blank /dev/md0
pvcreate --yes --quiet --uuid=2WKzjy-pVsc-4bc6-2NUO-nIcg-HThJ-2cHWU8 --norestorefile \
	--dataalignment=1572864b /dev/md0

# create volume group arrays on md0
# layout line 46 (volume_groups.arrays)
step 18/29 'create volume group arrays on md0'
vgcreate --autobackup=y --physicalextentsize=1073741824b --setautoactivation=y arrays /dev/md0

# create volume arrays.storage of 5.5 TiB
# layout line 46 (volume_groups.arrays.volumes.storage)
step 19/29 'create volume arrays.storage of 5.5 TiB'
lvcreate --yes --quiet --wipesignatures=n --zero=y --extents=5587 --readahead=256s --name=storage arrays
await_node /dev/arrays/storage

# format arrays.storage as xfs storage, 5.5 TiB, su 256 KiB, sw 6
# layout line 49 (filesystems.storage); destroys everything on arrays.storage
step 20/29 'format arrays.storage as xfs storage, 5.5 TiB, su 256 KiB, sw 6'
require_blank /dev/arrays/storage
mkfs.xfs -q -K -m crc=1,uuid=9c2b1f19-6353-5b93-a38a-e09db921d662 -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=187468611584,su=262144,sw=6 -l size=2136997888,su=262144 -L storage \
	/dev/arrays/storage
await_node /dev/disk/by-uuid/9c2b1f19-6353-5b93-a38a-e09db921d662 /dev/arrays/storage

# update the initramfs, so that arrays keep their names at boot
# layout line 42 (arrays)
step 21/29 'update the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot 20a61fb0:4cf35196:baf9da0d:cd551fda /etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 51 (monitoring.mail)
step 22/29 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month to find latent errors (all arrays of this machine, also those that no layout names)
# layout line 51 (monitoring.scrub)
step 23/29 'read all members once a month to find latent errors (all arrays of this machine, also those that no layout names)'
systemctl enable --now mdcheck_start.timer

# switch off checkarray, which cron runs on the same first Sunday (all arrays of this machine, also those that no layout names)
# layout line 51 (monitoring.scrub)
step 24/29 'switch off checkarray, which cron runs on the same first Sunday (all arrays of this machine, also those that no layout names)'
write_block /etc/default/mdadm lvm-test bottom 0644 <<'END'
AUTOCHECK=false
END

# write 1 line to /etc/fstab
# layout line 48 (filesystems)
step 25/29 'write 1 line to /etc/fstab'
write_block /etc/fstab lvm-test bottom 0644 <<'END'
UUID=9c2b1f19-6353-5b93-a38a-e09db921d662 /data/storage xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 48 (filesystems)
step 26/29 'let systemd read fstab again'
systemctl daemon-reload

# create directory /data/storage
# layout line 49 (filesystems.storage)
step 27/29 'create directory /data/storage'
mkdir --parents /data/storage

# mount storage at /data/storage
# layout line 49 (filesystems.storage)
step 28/29 'mount storage at /data/storage'
systemctl start /data/storage

# start the initial sync of md0
# layout line 43 (arrays.md0)
step 29/29 'start the initial sync of md0'
set_attribute '/sys/block/{/dev/md0}/md/sync_action' idle

complete=yes
echo 'done'
}
