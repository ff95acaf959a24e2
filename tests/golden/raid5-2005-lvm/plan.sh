#!/bin/sh
# The plan for the host beast-lvm, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:e9f54457871b04507507c4fa56df490dd9c0b09c67bc6768d6617ac89537d2d0
# note[network-slower-than-array] layout line 20: the network carries 118 MB/s, and storagearray alone can read 166
# warning[degraded-autostart] layout line 25: bl_sil3114 is known to lose disks (bl4, bl5, bl6, bl7), and storagearray would start without them after 30 s; without a bitmap, storagearray must then be rebuilt whole
# note[no-spare] layout line 35: storagearray has 8 members and no spare: after a failure it stays degraded until a disk is changed
# note[write-hole] layout line 35: a crash of storagearray while a member is missing can corrupt data that was not being written (the write hole)
# warning[members-on-pci] layout line 35: 4 of 8 members of storagearray (bl4, bl5, bl6, bl7) share the PCI bus bl_pci, which carries 95 MB/s, 24 for each
# warning[oversubscribed-link] layout line 35: bl_pci carries 95 MB/s for 4 members of storagearray: 24 for each, which could read 63
# warning[slow-path-in-stripe] layout line 35: bl4 and 3 other members of storagearray get 24 MB/s over bl_pci, while bl0 reads 63: every stripe waits for the slowest
# note[component-loss-kills-array] layout line 35: storagearray survives the loss of 1 disk, and the controller bl_nforce4 takes 4 of its 8 members with it, bl_sil3114 4
# warning[no-bitmap] layout line 35: storagearray keeps no bitmap: after a crash, or when a member comes back, all 300 GB of each are synced, 3.5 h at 24 MB/s
# note[idle-volume-group] layout line 38: VolumeGroup1 holds one volume, lvol0, over the whole of storagearray: nothing of LVM is used
# warning[volume-read-ahead-low] layout line 38: VolumeGroup1.lvol0 reads 128KiB ahead, and a full stripe of storagearray has 448KiB on 7 data disks

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
require_tools awk blkid cpio df find grep lsblk lvcreate mdadm mkdir mke2fs mkinitramfs mktemp modprobe \
	pvcreate readlink run-parts sed sfdisk sort systemctl udevadm unmkinitramfs update-initramfs vgcreate \
	wipefs
disks=$(list_disks)
disk_bl0=$(find_disk bl0 300090728448 512 BSTL-B600 '' '' '')
disk_bl1=$(find_disk bl1 300090728448 512 BSTL-B601 '' '' '')
disk_bl2=$(find_disk bl2 300090728448 512 BSTL-B602 '' '' '')
disk_bl3=$(find_disk bl3 300090728448 512 BSTL-B603 '' '' '')
disk_bl4=$(find_disk bl4 300090728448 512 BSTL-B604 '' '' '')
disk_bl5=$(find_disk bl5 300090728448 512 BSTL-B605 '' '' '')
disk_bl6=$(find_disk bl6 300090728448 512 BSTL-B606 '' '' '')
disk_bl7=$(find_disk bl7 300090728448 512 BSTL-B607 '' '' '')
require_distinct "$disk_bl0" "$disk_bl1" "$disk_bl2" "$disk_bl3" "$disk_bl4" "$disk_bl5" "$disk_bl6" \
	"$disk_bl7"
require_all_blank "$disk_bl0" "$disk_bl1" "$disk_bl2" "$disk_bl3" "$disk_bl4" "$disk_bl5" "$disk_bl6" \
	"$disk_bl7"
require_blank_range "$disk_bl0" 1048576 299954601984
require_blank_range "$disk_bl1" 1048576 299954601984
require_blank_range "$disk_bl2" 1048576 299954601984
require_blank_range "$disk_bl3" 1048576 299954601984
require_blank_range "$disk_bl4" 1048576 299954601984
require_blank_range "$disk_bl5" 1048576 299954601984
require_blank_range "$disk_bl6" 1048576 299954601984
require_blank_range "$disk_bl7" 1048576 299954601984
require_room_for_initramfs /boot

# name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 34 (arrays)
step 1/30 'name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf beast-lvm top 0644 <<'END'
MAILADDR root@example.org
ARRAY /dev/md/storagearray metadata=1.2 UUID=ecadfc6b:dcbf595a:82df3f73:c40e50fa
END

# let udev start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-beast-lvm.rules
# layout line 34 (arrays)
step 2/30 'let udev start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-beast-lvm.rules'
write_file /etc/udev/rules.d/65-raidplan-beast-lvm.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="ecadfc6b-dcbf-595a-82df-3f73c40e50fa", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
END

# let udev read its rules again
# layout line 34 (arrays)
step 3/30 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 34 (arrays)
step 4/30 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 34 (arrays)
step 5/30 'load the kernel module raid456'
modprobe raid456

# load the kernel module dm_mod
# layout line 37 (volume_groups)
step 6/30 'load the kernel module dm_mod'
modprobe dm_mod

# partition bl0: bl0.storagearray of 279.4 GiB
# layout line 29 (hardware.disks.bl0); destroys everything on the disk bl0
step 7/30 'partition bl0: bl0.storagearray of 279.4 GiB'
require_blank "$disk_bl0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_bl0" <<'END'
label: gpt
label-id: 25662381-C39B-5D43-A8E8-8FAB7EAB3456
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7FEB0454-7EB4-5C41-83E0-FB2CFD993DD5, name="storagearray"
END
await_node /dev/disk/by-partuuid/7feb0454-7eb4-5c41-83e0-fb2cfd993dd5

# partition bl1: bl1.storagearray of 279.4 GiB
# layout line 29 (hardware.disks.bl1); destroys everything on the disk bl1
step 8/30 'partition bl1: bl1.storagearray of 279.4 GiB'
require_blank "$disk_bl1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_bl1" <<'END'
label: gpt
label-id: 312D2E8B-B113-536F-A821-798089579B69
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7C95712B-4A14-5146-88D7-87EA17B573E3, name="storagearray"
END
await_node /dev/disk/by-partuuid/7c95712b-4a14-5146-88d7-87ea17b573e3

# partition bl2: bl2.storagearray of 279.4 GiB
# layout line 29 (hardware.disks.bl2); destroys everything on the disk bl2
step 9/30 'partition bl2: bl2.storagearray of 279.4 GiB'
require_blank "$disk_bl2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_bl2" <<'END'
label: gpt
label-id: FDDAB795-5EAE-5048-86D9-4051C3E18E7A
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=27121FDC-4E73-5E0E-A3A9-F914F4997546, name="storagearray"
END
await_node /dev/disk/by-partuuid/27121fdc-4e73-5e0e-a3a9-f914f4997546

# partition bl3: bl3.storagearray of 279.4 GiB
# layout line 29 (hardware.disks.bl3); destroys everything on the disk bl3
step 10/30 'partition bl3: bl3.storagearray of 279.4 GiB'
require_blank "$disk_bl3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_bl3" <<'END'
label: gpt
label-id: 705626A5-89E2-5B4B-BD94-05578ABCD3C5
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=BD9D30EA-96A0-5E5D-AC04-04083B8D4034, name="storagearray"
END
await_node /dev/disk/by-partuuid/bd9d30ea-96a0-5e5d-ac04-04083b8d4034

# partition bl4: bl4.storagearray of 279.4 GiB
# layout line 31 (hardware.disks.bl4); destroys everything on the disk bl4
step 11/30 'partition bl4: bl4.storagearray of 279.4 GiB'
require_blank "$disk_bl4"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_bl4" <<'END'
label: gpt
label-id: 349C89A5-C9FA-5900-A968-4A590312334A
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=9B61966B-101F-5D04-9541-A0269C5C5BC2, name="storagearray"
END
await_node /dev/disk/by-partuuid/9b61966b-101f-5d04-9541-a0269c5c5bc2

# partition bl5: bl5.storagearray of 279.4 GiB
# layout line 31 (hardware.disks.bl5); destroys everything on the disk bl5
step 12/30 'partition bl5: bl5.storagearray of 279.4 GiB'
require_blank "$disk_bl5"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_bl5" <<'END'
label: gpt
label-id: 3F9701FF-E8DD-58C7-A4B4-DDD038F65378
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=3C7DA5DF-3AED-508F-B5A9-DC44D8443456, name="storagearray"
END
await_node /dev/disk/by-partuuid/3c7da5df-3aed-508f-b5a9-dc44d8443456

# partition bl6: bl6.storagearray of 279.4 GiB
# layout line 31 (hardware.disks.bl6); destroys everything on the disk bl6
step 13/30 'partition bl6: bl6.storagearray of 279.4 GiB'
require_blank "$disk_bl6"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_bl6" <<'END'
label: gpt
label-id: E5E4CA5D-B82C-508E-BE3A-0ED9A467D1BF
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=786DCDB0-7382-5330-9056-946C1388367B, name="storagearray"
END
await_node /dev/disk/by-partuuid/786dcdb0-7382-5330-9056-946c1388367b

# partition bl7: bl7.storagearray of 279.4 GiB
# layout line 31 (hardware.disks.bl7); destroys everything on the disk bl7
step 14/30 'partition bl7: bl7.storagearray of 279.4 GiB'
require_blank "$disk_bl7"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_bl7" <<'END'
label: gpt
label-id: 0226A831-5021-51F7-85EE-7F5CB7D3D09F
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F6A67F84-AC45-5686-A657-F5935CFECCAA, name="storagearray"
END
await_node /dev/disk/by-partuuid/f6a67f84-ac45-5686-a657-f5935cfeccaa

# create raid5 storagearray of 8 members (bl0, bl1, bl2, bl3, bl4, bl5, bl6, bl7), 1.9 TiB usable
# layout line 35 (arrays.storagearray); destroys everything on bl0.storagearray, everything on bl1.storagearray, everything on bl2.storagearray, everything on bl3.storagearray, everything on bl4.storagearray, everything on bl5.storagearray, everything on bl6.storagearray, everything on bl7.storagearray
step 15/30 'create raid5 storagearray of 8 members (bl0, bl1, bl2, bl3, bl4, bl5, bl6, bl7), 1.9 TiB usable'
require_blank /dev/disk/by-partuuid/7feb0454-7eb4-5c41-83e0-fb2cfd993dd5
require_blank /dev/disk/by-partuuid/7c95712b-4a14-5146-88d7-87ea17b573e3
require_blank /dev/disk/by-partuuid/27121fdc-4e73-5e0e-a3a9-f914f4997546
require_blank /dev/disk/by-partuuid/bd9d30ea-96a0-5e5d-ac04-04083b8d4034
require_blank /dev/disk/by-partuuid/9b61966b-101f-5d04-9541-a0269c5c5bc2
require_blank /dev/disk/by-partuuid/3c7da5df-3aed-508f-b5a9-dc44d8443456
require_blank /dev/disk/by-partuuid/786dcdb0-7382-5330-9056-946c1388367b
require_blank /dev/disk/by-partuuid/f6a67f84-ac45-5686-a657-f5935cfeccaa
mdadm --create /dev/md/storagearray --run --quiet --readonly --metadata=1.2 --homehost=beast-lvm \
	--name=storagearray --uuid=ecadfc6b:dcbf595a:82df3f73:c40e50fa --level=raid5 --raid-devices=8 --chunk=64K \
	--layout=left-symmetric --bitmap=none --consistency-policy=resync --force \
	/dev/disk/by-partuuid/7feb0454-7eb4-5c41-83e0-fb2cfd993dd5 \
	/dev/disk/by-partuuid/7c95712b-4a14-5146-88d7-87ea17b573e3 \
	/dev/disk/by-partuuid/27121fdc-4e73-5e0e-a3a9-f914f4997546 \
	/dev/disk/by-partuuid/bd9d30ea-96a0-5e5d-ac04-04083b8d4034 \
	/dev/disk/by-partuuid/9b61966b-101f-5d04-9541-a0269c5c5bc2 \
	/dev/disk/by-partuuid/3c7da5df-3aed-508f-b5a9-dc44d8443456 \
	/dev/disk/by-partuuid/786dcdb0-7382-5330-9056-946c1388367b \
	/dev/disk/by-partuuid/f6a67f84-ac45-5686-a657-f5935cfeccaa
await_node /dev/md/storagearray

# pause the initial sync of storagearray, so that it does not slow down what follows
# layout line 35 (arrays.storagearray)
step 16/30 'pause the initial sync of storagearray, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/storagearray}/md/sync_action' frozen

# open storagearray for writing
# layout line 35 (arrays.storagearray)
step 17/30 'open storagearray for writing'
set_attribute '/sys/block/{/dev/md/storagearray}/md/array_state' active

# create physical volume storagearray, data from 1.3 MiB on
# layout line 38 (volume_groups.VolumeGroup1); destroys everything on storagearray
step 18/30 'create physical volume storagearray, data from 1.3 MiB on'
require_blank /dev/md/storagearray
pvcreate --yes --quiet --uuid=1rLwqM-cuNo-Lq0Y-v5Pd-R7yN-oS7W-F3dIOS --norestorefile --dataalignment=458752b \
	/dev/md/storagearray

# create volume group VolumeGroup1 on storagearray
# layout line 38 (volume_groups.VolumeGroup1)
step 19/30 'create volume group VolumeGroup1 on storagearray'
vgcreate --autobackup=y --physicalextentsize=4194304b --setautoactivation=y VolumeGroup1 \
	/dev/md/storagearray

# create volume VolumeGroup1.lvol0 of 1.9 TiB
# layout line 38 (volume_groups.VolumeGroup1.volumes.lvol0)
step 20/30 'create volume VolumeGroup1.lvol0 of 1.9 TiB'
lvcreate --yes --quiet --wipesignatures=n --zero=y --extents=500377 --readahead=256s --name=lvol0 \
	VolumeGroup1
await_node /dev/VolumeGroup1/lvol0

# format VolumeGroup1.lvol0 as ext3 storagearray, 1.9 TiB, 500,384 inodes, stride 16, stripe width 112
# layout line 41 (filesystems.storagearray); destroys everything on VolumeGroup1.lvol0
step 21/30 'format VolumeGroup1.lvol0 as ext3 storagearray, 1.9 TiB, 500,384 inodes, stride 16, stripe width 112'
require_blank /dev/VolumeGroup1/lvol0
mke2fs -q -t ext3 -O none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal -b \
	4096 -I 256 -N 500377 -m 1 -E stride=16,stripe_width=112,nodiscard,lazy_itable_init=1,lazy_journal_init=1 \
	-U 9363e64e-53e2-5c01-8480-50e05b938590 -L storagearray /dev/VolumeGroup1/lvol0 512386048
await_node /dev/disk/by-uuid/9363e64e-53e2-5c01-8480-50e05b938590 /dev/VolumeGroup1/lvol0

# update the initramfs, so that arrays keep their names at boot
# layout line 34 (arrays)
step 22/30 'update the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot ecadfc6b:dcbf595a:82df3f73:c40e50fa /etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 45 (monitoring.mail)
step 23/30 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 45 (monitoring.scrub)
step 24/30 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 45 (monitoring.scrub)
step 25/30 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm beast-lvm bottom 0644 <<'END'
AUTOCHECK=false
END

# add 1 line to /etc/fstab
# layout line 40 (filesystems)
step 26/30 'add 1 line to /etc/fstab'
write_block /etc/fstab beast-lvm bottom 0644 <<'END'
UUID=9363e64e-53e2-5c01-8480-50e05b938590 /storagearray ext3 defaults,nofail,x-systemd.device-timeout=120s 0 2
END

# let systemd read fstab again
# layout line 40 (filesystems)
step 27/30 'let systemd read fstab again'
systemctl daemon-reload

# create directory /storagearray
# layout line 41 (filesystems.storagearray)
step 28/30 'create directory /storagearray'
mkdir --parents /storagearray

# mount storagearray at /storagearray
# layout line 41 (filesystems.storagearray)
step 29/30 'mount storagearray at /storagearray'
systemctl start /storagearray

# start the initial sync of storagearray
# layout line 35 (arrays.storagearray)
step 30/30 'start the initial sync of storagearray'
set_attribute '/sys/block/{/dev/md/storagearray}/md/sync_action' idle

complete=yes
echo 'done'
}
