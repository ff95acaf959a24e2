#!/bin/sh
# The plan for the host loops, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:807a7253ad3544183d01cc511857a7a904d6c19c32641c7a66f433c3f06643f8
# note[write-hole] layout line 16: a crash of loop_five while a member is missing can corrupt data that was not being written (the write hole)

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
require_tools awk blkid chmod cpio dd df find grep lsblk mdadm mkdir mke2fs mkinitramfs mkswap mktemp \
	modprobe readlink run-parts sed sfdisk sort swapon systemctl udevadm unmkinitramfs update-initramfs wipefs
disks=$(list_disks)
disk_lo0=$(find_disk lo0 536870912 512 LOOP-0000 '' '' '')
disk_lo1=$(find_disk lo1 536870912 512 LOOP-0001 '' '' '')
disk_lo2=$(find_disk lo2 1073741824 512 LOOP-0002 '' '' '')
disk_lo3=$(find_disk lo3 1073741824 512 LOOP-0003 '' '' '')
disk_lo4=$(find_disk lo4 1073741824 512 LOOP-0004 '' '' '')
require_distinct "$disk_lo0" "$disk_lo1" "$disk_lo2" "$disk_lo3" "$disk_lo4"
require_all_blank "$disk_lo0" "$disk_lo1" "$disk_lo2" "$disk_lo3" "$disk_lo4" /swapfile-loops
require_blank_range "$disk_lo0" 1048576 534773760
require_blank_range "$disk_lo1" 1048576 534773760
require_blank_range "$disk_lo2" 1048576 1070596096
require_blank_range "$disk_lo3" 1048576 1070596096
require_blank_range "$disk_lo4" 1048576 1070596096
require_room_for_initramfs /boot

# name 2 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 14 (arrays)
step 1/35 'name 2 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf loops top 0644 <<'END'
MAILADDR root@example.org
ARRAY /dev/md/loop_pair metadata=1.2 UUID=e4e44bd9:ff5d5f65:968a075f:951f5592
ARRAY /dev/md/loop_five metadata=1.2 UUID=4c15ef26:c59b5295:9eb9917c:66ca7718
END

# let udev, at every boot, start 2 arrays that may be degraded, by /etc/udev/rules.d/65-raidplan-loops.rules
# layout line 14 (arrays)
step 2/35 'let udev, at every boot, start 2 arrays that may be degraded, by /etc/udev/rules.d/65-raidplan-loops.rules'
write_file /etc/udev/rules.d/65-raidplan-loops.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="e4e44bd9-ff5d-5f65-968a-075f951f5592", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="4c15ef26-c59b-5295-9eb9-917c66ca7718", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
END

# let udev read its rules again
# layout line 14 (arrays)
step 3/35 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 14 (arrays)
step 4/35 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid1
# layout line 14 (arrays)
step 5/35 'load the kernel module raid1'
modprobe raid1

# load the kernel module raid456
# layout line 14 (arrays)
step 6/35 'load the kernel module raid456'
modprobe raid456

# partition lo0: lo0.loop_pair of 510 MiB
# layout line 11 (hardware.disks.lo0); destroys everything on the disk lo0
step 7/35 'partition lo0: lo0.loop_pair of 510 MiB'
require_blank "$disk_lo0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_lo0" <<'END'
label: gpt
label-id: E9D03869-2652-5118-8C4F-D556247329A1
unit: sectors
sector-size: 512
start=2048, size=1044480, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=C46A368C-2163-5640-B6ED-69CC1A805871, name="loop_pair"
END
await_node /dev/disk/by-partuuid/c46a368c-2163-5640-b6ed-69cc1a805871 "$disk_lo0"

# partition lo1: lo1.loop_pair of 510 MiB
# layout line 11 (hardware.disks.lo1); destroys everything on the disk lo1
step 8/35 'partition lo1: lo1.loop_pair of 510 MiB'
require_blank "$disk_lo1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_lo1" <<'END'
label: gpt
label-id: 6EAB0743-FE80-5CB6-9141-0883DFFDB777
unit: sectors
sector-size: 512
start=2048, size=1044480, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=270E1383-CD96-5821-9550-F4EE6FB2F63C, name="loop_pair"
END
await_node /dev/disk/by-partuuid/270e1383-cd96-5821-9550-f4ee6fb2f63c "$disk_lo1"

# partition lo2: lo2.loop_five of 1021 MiB
# layout line 12 (hardware.disks.lo2); destroys everything on the disk lo2
step 9/35 'partition lo2: lo2.loop_five of 1021 MiB'
require_blank "$disk_lo2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_lo2" <<'END'
label: gpt
label-id: CAFB764E-8E44-5500-9156-41936667EBFF
unit: sectors
sector-size: 512
start=2048, size=2091008, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=326B5DB3-AC44-5D60-B3D1-DEFE2CC00A10, name="loop_five"
END
await_node /dev/disk/by-partuuid/326b5db3-ac44-5d60-b3d1-defe2cc00a10 "$disk_lo2"

# partition lo3: lo3.loop_five of 1021 MiB
# layout line 12 (hardware.disks.lo3); destroys everything on the disk lo3
step 10/35 'partition lo3: lo3.loop_five of 1021 MiB'
require_blank "$disk_lo3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_lo3" <<'END'
label: gpt
label-id: F99A18B5-0561-55DA-B51C-62778679AC95
unit: sectors
sector-size: 512
start=2048, size=2091008, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=B5072C53-60E8-5752-A215-86617D56210D, name="loop_five"
END
await_node /dev/disk/by-partuuid/b5072c53-60e8-5752-a215-86617d56210d "$disk_lo3"

# partition lo4: lo4.loop_five of 1021 MiB
# layout line 12 (hardware.disks.lo4); destroys everything on the disk lo4
step 11/35 'partition lo4: lo4.loop_five of 1021 MiB'
require_blank "$disk_lo4"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_lo4" <<'END'
label: gpt
label-id: 9F89380A-5FD6-5F2A-9729-6F83E7BC6541
unit: sectors
sector-size: 512
start=2048, size=2091008, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=DC04BA96-8C2F-57BB-AF22-7C7ED6766063, name="loop_five"
END
await_node /dev/disk/by-partuuid/dc04ba96-8c2f-57bb-af22-7c7ed6766063 "$disk_lo4"

# create raid1 loop_pair of 2 members (lo0, lo1), 509 MiB usable
# layout line 15 (arrays.loop_pair); destroys everything on lo0.loop_pair, everything on lo1.loop_pair
step 12/35 'create raid1 loop_pair of 2 members (lo0, lo1), 509 MiB usable'
require_blank /dev/disk/by-partuuid/c46a368c-2163-5640-b6ed-69cc1a805871
require_blank /dev/disk/by-partuuid/270e1383-cd96-5821-9550-f4ee6fb2f63c
mdadm --create /dev/md/loop_pair --run --quiet --readonly --metadata=1.2 --homehost=loops --name=loop_pair \
	--uuid=e4e44bd9:ff5d5f65:968a075f:951f5592 --level=raid1 --raid-devices=2 --bitmap=internal \
	--consistency-policy=bitmap /dev/disk/by-partuuid/c46a368c-2163-5640-b6ed-69cc1a805871 \
	/dev/disk/by-partuuid/270e1383-cd96-5821-9550-f4ee6fb2f63c
await_node /dev/md/loop_pair

# pause the initial sync of loop_pair, so that it does not slow down what follows
# layout line 15 (arrays.loop_pair)
step 13/35 'pause the initial sync of loop_pair, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/loop_pair}/md/sync_action' frozen

# open loop_pair for writing
# layout line 15 (arrays.loop_pair)
step 14/35 'open loop_pair for writing'
set_attribute '/sys/block/{/dev/md/loop_pair}/md/array_state' active

# create raid5 loop_five of 3 members (lo2, lo3, lo4), 2.0 GiB usable
# layout line 16 (arrays.loop_five); destroys everything on lo2.loop_five, everything on lo3.loop_five, everything on lo4.loop_five
step 15/35 'create raid5 loop_five of 3 members (lo2, lo3, lo4), 2.0 GiB usable'
require_blank /dev/disk/by-partuuid/326b5db3-ac44-5d60-b3d1-defe2cc00a10
require_blank /dev/disk/by-partuuid/b5072c53-60e8-5752-a215-86617d56210d
require_blank /dev/disk/by-partuuid/dc04ba96-8c2f-57bb-af22-7c7ed6766063
mdadm --create /dev/md/loop_five --run --quiet --readonly --metadata=1.2 --homehost=loops --name=loop_five \
	--uuid=4c15ef26:c59b5295:9eb9917c:66ca7718 --level=raid5 --raid-devices=3 --chunk=64K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap --force \
	/dev/disk/by-partuuid/326b5db3-ac44-5d60-b3d1-defe2cc00a10 \
	/dev/disk/by-partuuid/b5072c53-60e8-5752-a215-86617d56210d \
	/dev/disk/by-partuuid/dc04ba96-8c2f-57bb-af22-7c7ed6766063
await_node /dev/md/loop_five

# pause the initial sync of loop_five, so that it does not slow down what follows
# layout line 16 (arrays.loop_five)
step 16/35 'pause the initial sync of loop_five, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/loop_five}/md/sync_action' frozen

# open loop_five for writing
# layout line 16 (arrays.loop_five)
step 17/35 'open loop_five for writing'
set_attribute '/sys/block/{/dev/md/loop_five}/md/array_state' active

# format loop_pair as ext4 loop_pair, 509 MiB, 130,304 inodes
# layout line 19 (filesystems.loop_pair); destroys everything on loop_pair
step 18/35 'format loop_pair as ext4 loop_pair, 509 MiB, 130,304 inodes'
require_blank /dev/md/loop_pair
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 1024 -I 256 -N 130304 -m 0 -G 16 -E \
	stride=0,stripe_width=0,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	b845c78e-3bc1-5bf4-bc9a-8b9177b27c13 -L loop-pair /dev/md/loop_pair 521216
await_node /dev/disk/by-uuid/b845c78e-3bc1-5bf4-bc9a-8b9177b27c13 /dev/md/loop_pair

# format loop_five as ext4 loop_five, 2.0 GiB, 130,560 inodes, stride 16, stripe width 32
# layout line 20 (filesystems.loop_five); destroys everything on loop_five
step 19/35 'format loop_five as ext4 loop_five, 2.0 GiB, 130,560 inodes, stride 16, stripe width 32'
require_blank /dev/md/loop_five
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 4096 -I 256 -N 130560 -m 0 -G 16 -E \
	stride=16,stripe_width=32,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	ac639dd4-0b85-5bb1-96a6-f6788a456741 -L loop-five /dev/md/loop_five 522240
await_node /dev/disk/by-uuid/ac639dd4-0b85-5bb1-96a6-f6788a456741 /dev/md/loop_five

# update the initramfs, so that arrays keep their names at boot
# layout line 14 (arrays)
step 20/35 'update the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot 'e4e44bd9:ff5d5f65:968a075f:951f5592 4c15ef26:c59b5295:9eb9917c:66ca7718' \
	/etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 25 (monitoring.mail)
step 21/35 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month to find latent errors (all arrays of this machine, also those that no layout names)
# layout line 25 (monitoring.scrub)
step 22/35 'read all members once a month to find latent errors (all arrays of this machine, also those that no layout names)'
systemctl enable --now mdcheck_start.timer

# switch off checkarray, which cron runs on the same first Sunday (all arrays of this machine, also those that no layout names)
# layout line 25 (monitoring.scrub)
step 23/35 'switch off checkarray, which cron runs on the same first Sunday (all arrays of this machine, also those that no layout names)'
write_block /etc/default/mdadm loops bottom 0644 <<'END'
AUTOCHECK=false
END

# write 3 lines to /etc/fstab
# layout line 18 (filesystems)
step 24/35 'write 3 lines to /etc/fstab'
write_block /etc/fstab loops bottom 0644 <<'END'
/swapfile-loops none swap sw,nofail,pri=1 0 0
UUID=b845c78e-3bc1-5bf4-bc9a-8b9177b27c13 /srv/loop-pair ext4 defaults,nofail,x-systemd.device-timeout=120s 0 2
UUID=ac639dd4-0b85-5bb1-96a6-f6788a456741 /srv/loop-five ext4 defaults,nofail,x-systemd.device-timeout=120s 0 2
END

# let systemd read fstab again
# layout line 18 (filesystems)
step 25/35 'let systemd read fstab again'
systemctl daemon-reload

# create the swap file /swapfile-loops, 64 MiB
# layout line 23 (swap.loop_file)
step 26/35 'create the swap file /swapfile-loops, 64 MiB'
require_blank /swapfile-loops
dd if=/dev/zero of=/swapfile-loops bs=1MiB count=64 conv=excl,fsync status=none

# let only root read /swapfile-loops
# layout line 23 (swap.loop_file)
step 27/35 'let only root read /swapfile-loops'
chmod 0600 /swapfile-loops

# format /swapfile-loops as the swap area loop_file
# layout line 23 (swap.loop_file)
step 28/35 'format /swapfile-loops as the swap area loop_file'
mkswap --quiet --uuid 195d962c-01bf-557b-97ae-6eaac424af58 /swapfile-loops

# enable the swap area loop_file
# layout line 23 (swap.loop_file)
step 29/35 'enable the swap area loop_file'
swapon --priority 1 /swapfile-loops

# create directory /srv/loop-pair
# layout line 19 (filesystems.loop_pair)
step 30/35 'create directory /srv/loop-pair'
mkdir --parents /srv/loop-pair

# mount loop_pair at /srv/loop-pair
# layout line 19 (filesystems.loop_pair)
step 31/35 'mount loop_pair at /srv/loop-pair'
systemctl start /srv/loop-pair

# create directory /srv/loop-five
# layout line 20 (filesystems.loop_five)
step 32/35 'create directory /srv/loop-five'
mkdir --parents /srv/loop-five

# mount loop_five at /srv/loop-five
# layout line 20 (filesystems.loop_five)
step 33/35 'mount loop_five at /srv/loop-five'
systemctl start /srv/loop-five

# start the initial sync of loop_pair
# layout line 15 (arrays.loop_pair)
step 34/35 'start the initial sync of loop_pair'
set_attribute '/sys/block/{/dev/md/loop_pair}/md/sync_action' idle

# start the initial sync of loop_five
# layout line 16 (arrays.loop_five)
step 35/35 'start the initial sync of loop_five'
set_attribute '/sys/block/{/dev/md/loop_five}/md/sync_action' idle

complete=yes
echo 'done'
}
