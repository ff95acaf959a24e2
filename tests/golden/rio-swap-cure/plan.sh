#!/bin/sh
# The plan for the host rio, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:96a83affa184c34cbcc8b5138efc79be5820034c4c64fea884c86769640f3804

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
require_tools awk blkid cpio df find grep lsblk mdadm mkdir mkfs.xfs mkinitramfs mkswap mktemp modprobe \
	readlink run-parts sed sfdisk sort swapon systemctl udevadm unmkinitramfs update-initramfs wipefs
disks=$(list_disks)
disk_rs0=$(find_disk rs0 300069052416 512 RIOS-5QF00 '' '' '')
disk_rs1=$(find_disk rs1 300069052416 512 RIOS-5QF01 '' '' '')
disk_rs2=$(find_disk rs2 300069052416 512 RIOS-5QF02 '' '' '')
disk_rs3=$(find_disk rs3 300069052416 512 RIOS-5QF03 '' '' '')
require_distinct "$disk_rs0" "$disk_rs1" "$disk_rs2" "$disk_rs3"
require_all_blank "$disk_rs0" "$disk_rs1" "$disk_rs2" "$disk_rs3"
require_blank_range "$disk_rs0" 1048576 2147483648
require_blank_range "$disk_rs0" 2148532224 297786146816
require_blank_range "$disk_rs1" 1048576 2147483648
require_blank_range "$disk_rs1" 2148532224 297786146816
require_blank_range "$disk_rs2" 1048576 2147483648
require_blank_range "$disk_rs2" 2148532224 297786146816
require_blank_range "$disk_rs3" 1048576 2147483648
require_blank_range "$disk_rs3" 2148532224 297786146816
require_room_for_initramfs /boot

# name 2 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 30 (arrays)
step 1/29 'name 2 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf rio top 0644 <<'END'
MAILADDR root@example.org
ARRAY /dev/md/rio_swap metadata=1.2 UUID=25f11259:2da65088:8ce3480d:7da021bc
ARRAY /dev/md/rio_data metadata=1.2 UUID=a453dd1c:696056ab:9417af72:9cd92d41
END

# let udev start 2 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-rio.rules
# layout line 30 (arrays)
step 2/29 'let udev start 2 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-rio.rules'
write_file /etc/udev/rules.d/65-raidplan-rio.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="25f11259-2da6-5088-8ce3-480d7da021bc", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="a453dd1c-6960-56ab-9417-af729cd92d41", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
END

# let udev read its rules again
# layout line 30 (arrays)
step 3/29 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 30 (arrays)
step 4/29 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid1
# layout line 30 (arrays)
step 5/29 'load the kernel module raid1'
modprobe raid1

# load the kernel module raid10
# layout line 30 (arrays)
step 6/29 'load the kernel module raid10'
modprobe raid10

# partition rs0: rs0.swap of 2 GiB, rs0.data of 277.3 GiB
# layout line 21 (hardware.disks.rs0); destroys everything on the disk rs0
step 7/29 'partition rs0: rs0.swap of 2 GiB, rs0.data of 277.3 GiB'
require_blank "$disk_rs0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_rs0" <<'END'
label: gpt
label-id: F7AEB229-1E62-5021-A86B-2FC608D93E59
unit: sectors
sector-size: 512
start=2048, size=4194304, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=AF752EC5-D63D-516C-9149-5EEE7F59FA0A, name="swap"
start=4196352, size=581613568, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=66A45FC9-CBD3-5918-A96E-BEE5D4965727, name="data"
END
await_node /dev/disk/by-partuuid/af752ec5-d63d-516c-9149-5eee7f59fa0a
await_node /dev/disk/by-partuuid/66a45fc9-cbd3-5918-a96e-bee5d4965727

# partition rs1: rs1.swap of 2 GiB, rs1.data of 277.3 GiB
# layout line 21 (hardware.disks.rs1); destroys everything on the disk rs1
step 8/29 'partition rs1: rs1.swap of 2 GiB, rs1.data of 277.3 GiB'
require_blank "$disk_rs1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_rs1" <<'END'
label: gpt
label-id: E6E81A8E-031B-547F-8A96-78E5ADA07A1D
unit: sectors
sector-size: 512
start=2048, size=4194304, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=2D64F4C2-9C5A-586B-B3B6-57CC2C1F66E1, name="swap"
start=4196352, size=581613568, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=E9060D8F-BD51-5DE3-A9BD-EBF7E9069DC9, name="data"
END
await_node /dev/disk/by-partuuid/2d64f4c2-9c5a-586b-b3b6-57cc2c1f66e1
await_node /dev/disk/by-partuuid/e9060d8f-bd51-5de3-a9bd-ebf7e9069dc9

# partition rs2: rs2.swap of 2 GiB, rs2.data of 277.3 GiB
# layout line 21 (hardware.disks.rs2); destroys everything on the disk rs2
step 9/29 'partition rs2: rs2.swap of 2 GiB, rs2.data of 277.3 GiB'
require_blank "$disk_rs2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_rs2" <<'END'
label: gpt
label-id: FCEC9B50-A25A-56EA-9C52-A703FE4DBD75
unit: sectors
sector-size: 512
start=2048, size=4194304, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4, uuid=089267E0-ED4B-54CB-B64F-61F5A821F439, name="swap"
start=4196352, size=581613568, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=AE98319C-5F3A-5284-9750-7FED6825A340, name="data"
END
await_node /dev/disk/by-partuuid/089267e0-ed4b-54cb-b64f-61f5a821f439
await_node /dev/disk/by-partuuid/ae98319c-5f3a-5284-9750-7fed6825a340

# partition rs3: rs3.swap of 2 GiB, rs3.data of 277.3 GiB
# layout line 21 (hardware.disks.rs3); destroys everything on the disk rs3
step 10/29 'partition rs3: rs3.swap of 2 GiB, rs3.data of 277.3 GiB'
require_blank "$disk_rs3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_rs3" <<'END'
label: gpt
label-id: A2255BA2-0C2A-52F9-B702-695D541BCF3F
unit: sectors
sector-size: 512
start=2048, size=4194304, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4, uuid=005A768A-631F-5A4A-B251-0FFB31B93988, name="swap"
start=4196352, size=581613568, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=591415D4-2FC3-5241-AC5C-24596AF83DAE, name="data"
END
await_node /dev/disk/by-partuuid/005a768a-631f-5a4a-b251-0ffb31b93988
await_node /dev/disk/by-partuuid/591415d4-2fc3-5241-ac5c-24596af83dae

# create raid1 rio_swap of 2 members (rs0.swap, rs1.swap), 2.0 GiB usable
# layout line 32 (arrays.rio_swap); destroys everything on rs0.swap, everything on rs1.swap
step 11/29 'create raid1 rio_swap of 2 members (rs0.swap, rs1.swap), 2.0 GiB usable'
require_blank /dev/disk/by-partuuid/af752ec5-d63d-516c-9149-5eee7f59fa0a
require_blank /dev/disk/by-partuuid/2d64f4c2-9c5a-586b-b3b6-57cc2c1f66e1
mdadm --create /dev/md/rio_swap --run --quiet --readonly --metadata=1.2 --homehost=rio --name=rio_swap \
	--uuid=25f11259:2da65088:8ce3480d:7da021bc --level=raid1 --raid-devices=2 --bitmap=internal \
	--consistency-policy=bitmap /dev/disk/by-partuuid/af752ec5-d63d-516c-9149-5eee7f59fa0a \
	/dev/disk/by-partuuid/2d64f4c2-9c5a-586b-b3b6-57cc2c1f66e1
await_node /dev/md/rio_swap

# pause the initial sync of rio_swap, so that it does not slow down what follows
# layout line 32 (arrays.rio_swap)
step 12/29 'pause the initial sync of rio_swap, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/rio_swap}/md/sync_action' frozen

# open rio_swap for writing
# layout line 32 (arrays.rio_swap)
step 13/29 'open rio_swap for writing'
set_attribute '/sys/block/{/dev/md/rio_swap}/md/array_state' active

# create raid10 rio_data of 4 members (rs0.data, rs1.data, rs2.data, rs3.data), 554.4 GiB usable
# layout line 31 (arrays.rio_data); destroys everything on rs0.data, everything on rs1.data, everything on rs2.data, everything on rs3.data
step 14/29 'create raid10 rio_data of 4 members (rs0.data, rs1.data, rs2.data, rs3.data), 554.4 GiB usable'
require_blank /dev/disk/by-partuuid/66a45fc9-cbd3-5918-a96e-bee5d4965727
require_blank /dev/disk/by-partuuid/e9060d8f-bd51-5de3-a9bd-ebf7e9069dc9
require_blank /dev/disk/by-partuuid/ae98319c-5f3a-5284-9750-7fed6825a340
require_blank /dev/disk/by-partuuid/591415d4-2fc3-5241-ac5c-24596af83dae
mdadm --create /dev/md/rio_data --run --quiet --readonly --metadata=1.2 --homehost=rio --name=rio_data \
	--uuid=a453dd1c:696056ab:9417af72:9cd92d41 --level=raid10 --raid-devices=4 --chunk=64K --layout=n2 \
	--bitmap=internal --consistency-policy=bitmap /dev/disk/by-partuuid/66a45fc9-cbd3-5918-a96e-bee5d4965727 \
	/dev/disk/by-partuuid/e9060d8f-bd51-5de3-a9bd-ebf7e9069dc9 \
	/dev/disk/by-partuuid/ae98319c-5f3a-5284-9750-7fed6825a340 \
	/dev/disk/by-partuuid/591415d4-2fc3-5241-ac5c-24596af83dae
await_node /dev/md/rio_data

# pause the initial sync of rio_data, so that it does not slow down what follows
# layout line 31 (arrays.rio_data)
step 15/29 'pause the initial sync of rio_data, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/rio_data}/md/sync_action' frozen

# open rio_data for writing
# layout line 31 (arrays.rio_data)
step 16/29 'open rio_data for writing'
set_attribute '/sys/block/{/dev/md/rio_data}/md/array_state' active

# format rio_swap as swap mirror, 2.0 GiB
# layout line 38 (swap.mirror); destroys everything on rio_swap
step 17/29 'format rio_swap as swap mirror, 2.0 GiB'
require_blank /dev/md/rio_swap
mkswap --quiet --uuid e1b56213-5527-5c6c-bfd9-0d225fa616a7 /dev/md/rio_swap
await_node /dev/disk/by-uuid/e1b56213-5527-5c6c-bfd9-0d225fa616a7 /dev/md/rio_swap

# format rio_data as xfs rio_data, 554.4 GiB, su 64 KiB, sw 2
# layout line 35 (filesystems.rio_data); destroys everything on rio_data
step 18/29 'format rio_data as xfs rio_data, 554.4 GiB, su 64 KiB, sw 2'
require_blank /dev/md/rio_data
mkfs.xfs -q -K -m crc=1,uuid=c66b2995-f651-52f3-bcfc-9ca32f12fef1 -b size=4096 -s size=512 -i \
	size=512,maxpct=25 -d agsize=18603114496,su=65536,sw=2 -l size=290717696,su=65536 -L rio-data \
	/dev/md/rio_data
await_node /dev/disk/by-uuid/c66b2995-f651-52f3-bcfc-9ca32f12fef1 /dev/md/rio_data

# update the initramfs, so that arrays keep their names at boot
# layout line 30 (arrays)
step 19/29 'update the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot '25f11259:2da65088:8ce3480d:7da021bc a453dd1c:696056ab:9417af72:9cd92d41' \
	/etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 40 (monitoring.mail)
step 20/29 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 40 (monitoring.scrub)
step 21/29 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 40 (monitoring.scrub)
step 22/29 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm rio bottom 0644 <<'END'
AUTOCHECK=false
END

# add 2 lines to /etc/fstab
# layout line 34 (filesystems)
step 23/29 'add 2 lines to /etc/fstab'
write_block /etc/fstab rio bottom 0644 <<'END'
UUID=e1b56213-5527-5c6c-bfd9-0d225fa616a7 none swap sw,nofail,pri=10 0 0
UUID=c66b2995-f651-52f3-bcfc-9ca32f12fef1 /srv/rio-data xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 34 (filesystems)
step 24/29 'let systemd read fstab again'
systemctl daemon-reload

# enable swap mirror
# layout line 38 (swap.mirror)
step 25/29 'enable swap mirror'
swapon --priority 10 /dev/md/rio_swap

# create directory /srv/rio-data
# layout line 35 (filesystems.rio_data)
step 26/29 'create directory /srv/rio-data'
mkdir --parents /srv/rio-data

# mount rio_data at /srv/rio-data
# layout line 35 (filesystems.rio_data)
step 27/29 'mount rio_data at /srv/rio-data'
systemctl start /srv/rio-data

# start the initial sync of rio_swap
# layout line 32 (arrays.rio_swap)
step 28/29 'start the initial sync of rio_swap'
set_attribute '/sys/block/{/dev/md/rio_swap}/md/sync_action' idle

# start the initial sync of rio_data
# layout line 31 (arrays.rio_data)
step 29/29 'start the initial sync of rio_data'
set_attribute '/sys/block/{/dev/md/rio_data}/md/sync_action' idle

complete=yes
echo 'done'
}
