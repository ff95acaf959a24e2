#!/bin/sh
# The plan for the host safe, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:dbeb11e60ffd01326d32a91fd62c932c08a27c9052913e1654e0b9872cc3c7c5
# note[header-without-copy] layout line 29: apply keeps its copy of the header of crypt in /var/lib/raidplan, which only crypt opens

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
[ -n "$below" ] || refuse 'this script makes /, and no system runs from that yet: in a rescue system, make it by raidplan plan --target /mnt --format shell'
require_tools awk blkid cpio cryptsetup debconf-set-selections df find grep grub-install lsblk mdadm mkdir \
	mke2fs mkinitramfs mkswap mktemp modprobe readlink run-parts sed sfdisk sort swapon systemctl udevadm \
	unmkinitramfs update-grub update-initramfs wipefs
disks=$(list_disks)
disk_d0=$(find_disk d0 8589934592 512 SAFE-0000 '' '' '')
disk_d1=$(find_disk d1 8589934592 512 SAFE-0001 '' '' '')
disk_d2=$(find_disk d2 8589934592 512 SAFE-0002 '' '' '')
disk_d3=$(find_disk d3 8589934592 512 SAFE-0003 '' '' '')
require_distinct "$disk_d0" "$disk_d1" "$disk_d2" "$disk_d3"
require_firmware bios
require_package /usr/share/initramfs-tools/hooks/cryptroot cryptsetup-initramfs
require_all_blank "$disk_d0" "$disk_d1" "$disk_d2" "$disk_d3"
require_blank_range "$disk_d0" 1048576 1048576
require_blank_range "$disk_d0" 2097152 536870912
require_blank_range "$disk_d0" 538968064 536870912
require_blank_range "$disk_d0" 1075838976 7504658432
require_blank_range "$disk_d1" 1048576 1048576
require_blank_range "$disk_d1" 2097152 536870912
require_blank_range "$disk_d1" 538968064 536870912
require_blank_range "$disk_d1" 1075838976 7504658432
require_blank_range "$disk_d2" 1048576 1048576
require_blank_range "$disk_d2" 2097152 536870912
require_blank_range "$disk_d2" 538968064 536870912
require_blank_range "$disk_d2" 1075838976 7504658432
require_blank_range "$disk_d3" 1048576 1048576
require_blank_range "$disk_d3" 2097152 536870912
require_blank_range "$disk_d3" 538968064 536870912
require_blank_range "$disk_d3" 1075838976 7504658432
require_room_for_initramfs /boot

# name 3 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 23 (arrays)
step 1/50 'name 3 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf safe top 0644 <<'END'
MAILADDR root@example.org
ARRAY /dev/md/boot metadata=1.2 UUID=949377c2:c96157e1:8495e3e8:7ab1e06e
ARRAY /dev/md/swap metadata=1.2 UUID=9c80e40f:807f5d8f:841c2650:04b73b41
ARRAY /dev/md/os metadata=1.2 UUID=9eeb6eea:f4435151:82dc0dbb:9086e66e
END

# let udev, at every boot, start 3 arrays that may be degraded, by /etc/udev/rules.d/65-raidplan-safe.rules
# layout line 23 (arrays)
step 2/50 'let udev, at every boot, start 3 arrays that may be degraded, by /etc/udev/rules.d/65-raidplan-safe.rules'
write_file /etc/udev/rules.d/65-raidplan-safe.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="949377c2-c961-57e1-8495-e3e87ab1e06e", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="9c80e40f-807f-5d8f-841c-265004b73b41", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="9eeb6eea-f443-5151-82dc-0dbb9086e66e", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
END

# let udev read its rules again
# layout line 23 (arrays)
step 3/50 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 23 (arrays)
step 4/50 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid1
# layout line 23 (arrays)
step 5/50 'load the kernel module raid1'
modprobe raid1

# load the kernel module raid10
# layout line 23 (arrays)
step 6/50 'load the kernel module raid10'
modprobe raid10

# load the kernel module dm_mod
# layout line 1 (volume_groups)
step 7/50 'load the kernel module dm_mod'
modprobe dm_mod

# load the kernel module dm_crypt
# layout line 28 (encryption)
step 8/50 'load the kernel module dm_crypt'
modprobe dm_crypt

# partition d0: d0.bios of 1 MiB, d0.boot of 512 MiB, d0.swap of 512 MiB, d0.os of 7.0 GiB
# layout line 13 (hardware.disks.d0); destroys everything on the disk d0
step 9/50 'partition d0: d0.bios of 1 MiB, d0.boot of 512 MiB, d0.swap of 512 MiB, d0.os of 7.0 GiB'
require_blank "$disk_d0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d0" <<'END'
label: gpt
label-id: 4C0F5871-61A9-59FD-B72A-EB7042E1D693
unit: sectors
sector-size: 512
start=2048, size=2048, type=21686148-6449-6E6F-744E-656564454649, uuid=18B15855-511D-5BA4-A79D-73CA887F1230, name="bios"
start=4096, size=1048576, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=138B9B7B-51F3-5947-84F2-CEDF398E8838, name="boot"
start=1052672, size=1048576, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=FF91F7D1-84C4-5C39-9CDF-E0CB0828DD49, name="swap"
start=2101248, size=14657536, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=C3BA45EE-A584-57CB-9DBD-53B53289EA96, name="os"
END
await_node /dev/disk/by-partuuid/18b15855-511d-5ba4-a79d-73ca887f1230 "$disk_d0"
await_node /dev/disk/by-partuuid/138b9b7b-51f3-5947-84f2-cedf398e8838 "$disk_d0"
await_node /dev/disk/by-partuuid/ff91f7d1-84c4-5c39-9cdf-e0cb0828dd49 "$disk_d0"
await_node /dev/disk/by-partuuid/c3ba45ee-a584-57cb-9dbd-53b53289ea96 "$disk_d0"

# partition d1: d1.bios of 1 MiB, d1.boot of 512 MiB, d1.swap of 512 MiB, d1.os of 7.0 GiB
# layout line 13 (hardware.disks.d1); destroys everything on the disk d1
step 10/50 'partition d1: d1.bios of 1 MiB, d1.boot of 512 MiB, d1.swap of 512 MiB, d1.os of 7.0 GiB'
require_blank "$disk_d1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d1" <<'END'
label: gpt
label-id: 19280F0D-B01D-5EF9-8469-CF819AD6515D
unit: sectors
sector-size: 512
start=2048, size=2048, type=21686148-6449-6E6F-744E-656564454649, uuid=758665B9-0BAF-55D9-9EB3-01036ED8F140, name="bios"
start=4096, size=1048576, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=114ABADC-BF90-5881-9FAA-EE18CF153867, name="boot"
start=1052672, size=1048576, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=B155CE4C-23FE-5944-A86B-0BACB763EC1D, name="swap"
start=2101248, size=14657536, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=63F6A5D8-7876-5CDD-B020-051AC1FC71F2, name="os"
END
await_node /dev/disk/by-partuuid/758665b9-0baf-55d9-9eb3-01036ed8f140 "$disk_d1"
await_node /dev/disk/by-partuuid/114abadc-bf90-5881-9faa-ee18cf153867 "$disk_d1"
await_node /dev/disk/by-partuuid/b155ce4c-23fe-5944-a86b-0bacb763ec1d "$disk_d1"
await_node /dev/disk/by-partuuid/63f6a5d8-7876-5cdd-b020-051ac1fc71f2 "$disk_d1"

# partition d2: d2.bios of 1 MiB, d2.boot of 512 MiB, d2.swap of 512 MiB, d2.os of 7.0 GiB
# layout line 13 (hardware.disks.d2); destroys everything on the disk d2
step 11/50 'partition d2: d2.bios of 1 MiB, d2.boot of 512 MiB, d2.swap of 512 MiB, d2.os of 7.0 GiB'
require_blank "$disk_d2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d2" <<'END'
label: gpt
label-id: 2A3ABE05-D5B2-50E7-982F-0F4CB9786424
unit: sectors
sector-size: 512
start=2048, size=2048, type=21686148-6449-6E6F-744E-656564454649, uuid=93012E9D-0D6B-5F33-976F-DCF95C68D3CB, name="bios"
start=4096, size=1048576, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0F42104C-42A4-59E4-8BF9-DFDF52AD1F60, name="boot"
start=1052672, size=1048576, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=854B518A-ED05-510C-87A3-8E6AB3251D75, name="swap"
start=2101248, size=14657536, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7F7D41F8-CFED-5458-85F0-B766B60C9FE1, name="os"
END
await_node /dev/disk/by-partuuid/93012e9d-0d6b-5f33-976f-dcf95c68d3cb "$disk_d2"
await_node /dev/disk/by-partuuid/0f42104c-42a4-59e4-8bf9-dfdf52ad1f60 "$disk_d2"
await_node /dev/disk/by-partuuid/854b518a-ed05-510c-87a3-8e6ab3251d75 "$disk_d2"
await_node /dev/disk/by-partuuid/7f7d41f8-cfed-5458-85f0-b766b60c9fe1 "$disk_d2"

# partition d3: d3.bios of 1 MiB, d3.boot of 512 MiB, d3.swap of 512 MiB, d3.os of 7.0 GiB
# layout line 13 (hardware.disks.d3); destroys everything on the disk d3
step 12/50 'partition d3: d3.bios of 1 MiB, d3.boot of 512 MiB, d3.swap of 512 MiB, d3.os of 7.0 GiB'
require_blank "$disk_d3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d3" <<'END'
label: gpt
label-id: 52A01A1A-C5BF-50DE-A0F0-C6C127080BB0
unit: sectors
sector-size: 512
start=2048, size=2048, type=21686148-6449-6E6F-744E-656564454649, uuid=D8C1C5BF-E987-5D7A-9A12-4E939F3792C3, name="bios"
start=4096, size=1048576, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=A5EAFFC9-DB12-5BBC-AD5E-9A4134D44311, name="boot"
start=1052672, size=1048576, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=54B6ECF8-EF7A-59F8-9DCD-E17EEDB6CBAB, name="swap"
start=2101248, size=14657536, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=54A3D83D-3908-5689-A51C-84B3ED44791F, name="os"
END
await_node /dev/disk/by-partuuid/d8c1c5bf-e987-5d7a-9a12-4e939f3792c3 "$disk_d3"
await_node /dev/disk/by-partuuid/a5eaffc9-db12-5bbc-ad5e-9a4134d44311 "$disk_d3"
await_node /dev/disk/by-partuuid/54b6ecf8-ef7a-59f8-9dcd-e17eedb6cbab "$disk_d3"
await_node /dev/disk/by-partuuid/54a3d83d-3908-5689-a51c-84b3ed44791f "$disk_d3"

# create raid1 boot of 4 members (d0.boot, d1.boot, d2.boot, d3.boot), 511 MiB usable
# layout line 24 (arrays.boot); destroys everything on d0.boot, everything on d1.boot, everything on d2.boot, everything on d3.boot
step 13/50 'create raid1 boot of 4 members (d0.boot, d1.boot, d2.boot, d3.boot), 511 MiB usable'
require_blank /dev/disk/by-partuuid/138b9b7b-51f3-5947-84f2-cedf398e8838
require_blank /dev/disk/by-partuuid/114abadc-bf90-5881-9faa-ee18cf153867
require_blank /dev/disk/by-partuuid/0f42104c-42a4-59e4-8bf9-dfdf52ad1f60
require_blank /dev/disk/by-partuuid/a5eaffc9-db12-5bbc-ad5e-9a4134d44311
mdadm --create /dev/md/boot --run --quiet --readonly --metadata=1.2 --homehost=safe --name=boot \
	--uuid=949377c2:c96157e1:8495e3e8:7ab1e06e --level=raid1 --raid-devices=4 --bitmap=internal \
	--consistency-policy=bitmap /dev/disk/by-partuuid/138b9b7b-51f3-5947-84f2-cedf398e8838 \
	/dev/disk/by-partuuid/114abadc-bf90-5881-9faa-ee18cf153867 \
	/dev/disk/by-partuuid/0f42104c-42a4-59e4-8bf9-dfdf52ad1f60 \
	/dev/disk/by-partuuid/a5eaffc9-db12-5bbc-ad5e-9a4134d44311
await_node /dev/md/boot

# pause the initial sync of boot, so that it does not slow down what follows
# layout line 24 (arrays.boot)
step 14/50 'pause the initial sync of boot, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/boot}/md/sync_action' frozen

# open boot for writing
# layout line 24 (arrays.boot)
step 15/50 'open boot for writing'
set_attribute '/sys/block/{/dev/md/boot}/md/array_state' active

# create raid1 swap of 4 members (d0.swap, d1.swap, d2.swap, d3.swap), 511 MiB usable
# layout line 25 (arrays.swap); destroys everything on d0.swap, everything on d1.swap, everything on d2.swap, everything on d3.swap
step 16/50 'create raid1 swap of 4 members (d0.swap, d1.swap, d2.swap, d3.swap), 511 MiB usable'
require_blank /dev/disk/by-partuuid/ff91f7d1-84c4-5c39-9cdf-e0cb0828dd49
require_blank /dev/disk/by-partuuid/b155ce4c-23fe-5944-a86b-0bacb763ec1d
require_blank /dev/disk/by-partuuid/854b518a-ed05-510c-87a3-8e6ab3251d75
require_blank /dev/disk/by-partuuid/54b6ecf8-ef7a-59f8-9dcd-e17eedb6cbab
mdadm --create /dev/md/swap --run --quiet --readonly --metadata=1.2 --homehost=safe --name=swap \
	--uuid=9c80e40f:807f5d8f:841c2650:04b73b41 --level=raid1 --raid-devices=4 --bitmap=internal \
	--consistency-policy=bitmap /dev/disk/by-partuuid/ff91f7d1-84c4-5c39-9cdf-e0cb0828dd49 \
	/dev/disk/by-partuuid/b155ce4c-23fe-5944-a86b-0bacb763ec1d \
	/dev/disk/by-partuuid/854b518a-ed05-510c-87a3-8e6ab3251d75 \
	/dev/disk/by-partuuid/54b6ecf8-ef7a-59f8-9dcd-e17eedb6cbab
await_node /dev/md/swap

# pause the initial sync of swap, so that it does not slow down what follows
# layout line 25 (arrays.swap)
step 17/50 'pause the initial sync of swap, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/swap}/md/sync_action' frozen

# open swap for writing
# layout line 25 (arrays.swap)
step 18/50 'open swap for writing'
set_attribute '/sys/block/{/dev/md/swap}/md/array_state' active

# create raid10 os of 4 members (d0.os, d1.os, d2.os, d3.os), 14.0 GiB usable
# layout line 26 (arrays.os); destroys everything on d0.os, everything on d1.os, everything on d2.os, everything on d3.os
step 19/50 'create raid10 os of 4 members (d0.os, d1.os, d2.os, d3.os), 14.0 GiB usable'
require_blank /dev/disk/by-partuuid/c3ba45ee-a584-57cb-9dbd-53b53289ea96
require_blank /dev/disk/by-partuuid/63f6a5d8-7876-5cdd-b020-051ac1fc71f2
require_blank /dev/disk/by-partuuid/7f7d41f8-cfed-5458-85f0-b766b60c9fe1
require_blank /dev/disk/by-partuuid/54a3d83d-3908-5689-a51c-84b3ed44791f
mdadm --create /dev/md/os --run --quiet --readonly --metadata=1.2 --homehost=safe --name=os \
	--uuid=9eeb6eea:f4435151:82dc0dbb:9086e66e --level=raid10 --raid-devices=4 --chunk=512K --layout=n2 \
	--bitmap=internal --consistency-policy=bitmap /dev/disk/by-partuuid/c3ba45ee-a584-57cb-9dbd-53b53289ea96 \
	/dev/disk/by-partuuid/63f6a5d8-7876-5cdd-b020-051ac1fc71f2 \
	/dev/disk/by-partuuid/7f7d41f8-cfed-5458-85f0-b766b60c9fe1 \
	/dev/disk/by-partuuid/54a3d83d-3908-5689-a51c-84b3ed44791f
await_node /dev/md/os

# pause the initial sync of os, so that it does not slow down what follows
# layout line 26 (arrays.os)
step 20/50 'pause the initial sync of os, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/os}/md/sync_action' frozen

# open os for writing
# layout line 26 (arrays.os)
step 21/50 'open os for writing'
set_attribute '/sys/block/{/dev/md/os}/md/array_state' active

# put a label of 1 MiB in front of swap, by which it is known
# layout line 30 (encryption.cryptswap); destroys everything on swap
step 22/50 'put a label of 1 MiB in front of swap, by which it is known'
require_blank /dev/md/swap
mke2fs -q -F -t ext2 -b 4096 -E nodiscard,stride=0,stripe_width=0 -U 5648e059-182b-55ea-9cad-ed673dd11580 \
	/dev/md/swap 1024k
await_node /dev/disk/by-uuid/5648e059-182b-55ea-9cad-ed673dd11580

# open cryptswap with a random key
# layout line 30 (encryption.cryptswap)
step 23/50 'open cryptswap with a random key'
cryptsetup open --type plain --cipher aes-xts-plain64 --key-size 512 --sector-size 4096 --offset 2048 \
	--key-file /dev/urandom /dev/md/swap cryptswap
await_node /dev/mapper/cryptswap

# encrypt os as crypt, LUKS2, passphrase asked for, data from 16 MiB on
# layout line 29 (encryption.crypt); destroys everything on os
step 24/50 'encrypt os as crypt, LUKS2, passphrase asked for, data from 16 MiB on'
require_blank /dev/md/os
cryptsetup luksFormat --type luks2 --batch-mode --uuid 309a9bd7-54dc-590f-b10b-59f1fa21bd98 --cipher \
	aes-xts-plain64 --key-size 512 --pbkdf argon2id --sector-size 4096 --offset 32768 --verify-passphrase \
	/dev/md/os </dev/tty
await_node /dev/disk/by-uuid/309a9bd7-54dc-590f-b10b-59f1fa21bd98

# open crypt
# layout line 29 (encryption.crypt)
step 25/50 'open crypt'
cryptsetup open --type luks2 /dev/md/os crypt </dev/tty
await_node /dev/mapper/crypt

# format boot as ext4 boot, 511 MiB, 130,816 inodes
# layout line 33 (filesystems.boot); destroys everything on boot
step 26/50 'format boot as ext4 boot, 511 MiB, 130,816 inodes'
require_blank /dev/md/boot
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 1024 -I 256 -N 130816 -m 5 -G 16 -E \
	stride=0,stripe_width=0,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	9c454c8e-c0b8-5b23-8632-2c0ab3c24012 /dev/md/boot 523264
await_node /dev/disk/by-uuid/9c454c8e-c0b8-5b23-8632-2c0ab3c24012 /dev/md/boot

# format cryptswap as the swap area swap, 510 MiB
# layout line 37 (swap.swap)
step 27/50 'format cryptswap as the swap area swap, 510 MiB'
mkswap --quiet --uuid e6cf731f-5d39-50a3-aa2e-19b159125bbb /dev/mapper/cryptswap
await_node /dev/mapper/cryptswap

# format crypt as ext4 root, 14.0 GiB, 914,432 inodes, stride 128, stripe width 256
# layout line 34 (filesystems.root); destroys everything on crypt
step 28/50 'format crypt as ext4 root, 14.0 GiB, 914,432 inodes, stride 128, stripe width 256'
require_blank /dev/mapper/crypt
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 4096 -I 256 -N 914432 -m 5 -G 16 -E \
	stride=128,stripe_width=256,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	ac27c453-578c-5c33-836b-06dbe44d122a /dev/mapper/crypt 3657728
await_node /dev/disk/by-uuid/ac27c453-578c-5c33-836b-06dbe44d122a /dev/mapper/crypt

# write 2 lines to /etc/crypttab
# layout line 28 (encryption)
step 29/50 'write 2 lines to /etc/crypttab'
write_block /etc/crypttab safe bottom 0644 <<'END'
cryptswap UUID=5648e059-182b-55ea-9cad-ed673dd11580 /dev/urandom plain,swap,cipher=aes-xts-plain64,size=512,offset=2048,sector-size=4096,nofail
crypt UUID=309a9bd7-54dc-590f-b10b-59f1fa21bd98 none luks
END

# update the initramfs, so that arrays keep their names and it opens the encryption at boot
# layout line 23 (arrays)
step 30/50 'update the initramfs, so that arrays keep their names and it opens the encryption at boot'
renew_initramfs /boot \
	'949377c2:c96157e1:8495e3e8:7ab1e06e 9c80e40f:807f5d8f:841c2650:04b73b41 9eeb6eea:f4435151:82dc0dbb:9086e66e' \
	/etc/initramfs/post-update.d 309a9bd7-54dc-590f-b10b-59f1fa21bd98

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 40 (monitoring.mail)
step 31/50 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month to find latent errors (all arrays of this machine, also those that no layout names)
# layout line 40 (monitoring.scrub)
step 32/50 'read all members once a month to find latent errors (all arrays of this machine, also those that no layout names)'
systemctl enable --now mdcheck_start.timer

# switch off checkarray, which cron runs on the same first Sunday (all arrays of this machine, also those that no layout names)
# layout line 40 (monitoring.scrub)
step 33/50 'switch off checkarray, which cron runs on the same first Sunday (all arrays of this machine, also those that no layout names)'
write_block /etc/default/mdadm safe bottom 0644 <<'END'
AUTOCHECK=false
END

# write 3 lines to /etc/fstab
# layout line 32 (filesystems)
step 34/50 'write 3 lines to /etc/fstab'
write_block /etc/fstab safe bottom 0644 <<'END'
UUID=9c454c8e-c0b8-5b23-8632-2c0ab3c24012 /boot ext4 defaults 0 2
/dev/mapper/cryptswap none swap sw,nofail 0 0
UUID=ac27c453-578c-5c33-836b-06dbe44d122a / ext4 defaults 0 1
END

# let systemd read fstab again
# layout line 32 (filesystems)
step 35/50 'let systemd read fstab again'
systemctl daemon-reload

# install GRUB on d0: the boot sector, and its core image in d0.bios
# layout line 39 (boot)
step 36/50 'install GRUB on d0: the boot sector, and its core image in d0.bios'
grub-install --target=i386-pc "$disk_d0"

# install GRUB on d1: the boot sector, and its core image in d1.bios
# layout line 39 (boot)
step 37/50 'install GRUB on d1: the boot sector, and its core image in d1.bios'
grub-install --target=i386-pc "$disk_d1"

# install GRUB on d2: the boot sector, and its core image in d2.bios
# layout line 39 (boot)
step 38/50 'install GRUB on d2: the boot sector, and its core image in d2.bios'
grub-install --target=i386-pc "$disk_d2"

# install GRUB on d3: the boot sector, and its core image in d3.bios
# layout line 39 (boot)
step 39/50 'install GRUB on d3: the boot sector, and its core image in d3.bios'
grub-install --target=i386-pc "$disk_d3"

# make GRUB's menu of the kernels in /boot, /boot/grub/grub.cfg
# layout line 39 (boot)
step 40/50 'make GRUB'"'"'s menu of the kernels in /boot, /boot/grub/grub.cfg'
update-grub

# let updates of grub-pc choose no disk by themselves (grub-pc/install_devices_empty): /usr/local/sbin/raidplan-boot-loaders has all of them
# layout line 39 (boot)
step 41/50 'let updates of grub-pc choose no disk by themselves (grub-pc/install_devices_empty): /usr/local/sbin/raidplan-boot-loaders has all of them'
debconf-set-selections <<'END'
grub-pc grub-pc/install_devices_empty boolean true
END

# write /usr/local/sbin/raidplan-boot-loaders, which gives d0.bios, d1.bios, d2.bios and d3.bios the boot loader of the installed packages
# layout line 39 (boot)
step 42/50 'write /usr/local/sbin/raidplan-boot-loaders, which gives d0.bios, d1.bios, d2.bios and d3.bios the boot loader of the installed packages'
write_file /usr/local/sbin/raidplan-boot-loaders 0755 <<'END'
#!/bin/sh
# Written by raidplan for the host safe: each of its disks has the boot loader of the installed packages.
# dpkg runs it after every update. By hand: raidplan-boot-loaders, or raidplan-boot-loaders --always.
# shellcheck disable=SC2317  # a machine uses boot_sector or esp, and mounted only for a /boot of its own
set -u
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
core=/boot/grub/i386-pc/core.img
made=/boot/grub/x86_64-efi/core.efi
signed=/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed
shim=/usr/lib/shim/shimx64.efi.signed
done_for=/var/lib/raidplan/boot-loaders
failed=0
absent=0
waits=0
# A hook that fails stops dpkg, and whatever apt has still to do: where nothing is changed it only says so.
unchanged=1
[ -z "${DPKG_HOOK_ACTION-}${DPKG_MAINTSCRIPT_NAME-}" ] || unchanged=0

# Lines "state package version" of the packages that a boot loader is made of.
packages() {
    dpkg-query --show --showformat='${db:Status-Abbrev} ${Package} ${Version}\n' 'grub*' 'shim*' 2>/dev/null |
        grep -v '^.[nc] ' | sort
}

say() {
    echo "raidplan-boot-loaders: $*" >&2
}

# mounted FOLDER: without its file system it is empty, and nothing that the machine starts from.
mounted() {
    if ! mountpoint -q "$1"; then
        say "$1 is not mounted, so nothing was changed: mount it, and run raidplan-boot-loaders"
        exit "$unchanged"
    fi
}

# rebuilt FOLDER: md still rebuilds a member below it. GRUB reads each that has a slot, also what is not written there yet.
rebuilt() {
    for device in $(lsblk -nsro KNAME "$(findmnt -nvro SOURCE -T "$1")" 2>/dev/null); do
        if [ "$(cat "/sys/block/$device/md/sync_action" 2>/dev/null)" = recover ]; then
            return 0
        fi
    done
    return 1
}

# install WHERE COMMAND...
install() {
    where=$1
    shift
    if rebuilt /boot; then
        say "$where keeps its boot loader while a member of the array below /boot is rebuilt: run raidplan-boot-loaders afterwards"
        waits=1
        return
    fi
    if "$@" >/dev/null 2>"$words"; then
        say "installed GRUB on $where"
    else
        say "GRUB was not installed on $where, which may not boot any more:"
        cat "$words" >&2
        failed=1
    fi
}

# boot_sector UUID of a BIOS boot partition: its core image is the present one, but for what is each disk's own.
boot_sector() {
    part=/dev/disk/by-partuuid/$1
    if ! [ -e "$part" ]; then
        absent=1
    elif [ -n "$always" ] || ! cmp -s -i 1024 -n "$(($(stat -c %s "$core") - 1024))" "$core" "$part"; then
        disk=/dev/$(lsblk -ndo PKNAME "$part") && install "$disk" grub-install --target=i386-pc "$disk"
    fi
}

# esp UUID MOUNT: what the firmware loads there is the signed loader of the packages, or else the one that was made last.
esp() {
    if ! [ -e "/dev/disk/by-partuuid/$1" ] || ! { mountpoint -q "$2" || mount "$2"; }; then
        absent=1
        return
    fi
    first=$made
    if [ -e "$signed" ]; then
        first=$signed
        [ ! -e "$shim" ] || first=$shim
    fi
    if [ -n "$always" ] || ! cmp -s "$first" "$2/EFI/BOOT/BOOTX64.EFI" ||
        { [ "$first" = "$shim" ] && ! cmp -s "$signed" "$2/EFI/BOOT/grubx64.efi"; }; then
        install "$2" grub-install --target=x86_64-efi --efi-directory="$2" --no-nvram --force-extra-removable
    fi
}

now=$(packages)
# Between unpacking and configuring dpkg is not done yet, and comes back.
if ! [ -d /usr/lib/grub/i386-pc ] || echo "$now" | grep -qv '^.i '; then
    exit 0
fi
mounted /boot
always=${1:-}
[ "$now" = "$(cat "$done_for" 2>/dev/null)" ] || always=yes
words=$(mktemp) || exit 1
trap 'rm -f "$words"' EXIT
boot_sector 18b15855-511d-5ba4-a79d-73ca887f1230
boot_sector 758665b9-0baf-55d9-9eb3-01036ed8f140
boot_sector 93012e9d-0d6b-5f33-976f-dcf95c68d3cb
boot_sector d8c1c5bf-e987-5d7a-9a12-4e939f3792c3
if [ "$failed$waits" = 00 ]; then
    mkdir -p "${done_for%/*}" && echo "$now" >"$done_for.new" && mv "$done_for.new" "$done_for" || failed=1
fi
[ "$absent" = 0 ] || [ -z "$always" ] || say "not every disk is there: run it again when it is"
[ "$failed$waits" != 01 ] || failed=$unchanged
exit "$failed"
END

# let dpkg run it after every update, by /etc/dpkg/dpkg.cfg.d/raidplan
# layout line 39 (boot)
step 43/50 'let dpkg run it after every update, by /etc/dpkg/dpkg.cfg.d/raidplan'
write_file /etc/dpkg/dpkg.cfg.d/raidplan 0644 <<'END'
# Written by raidplan
post-invoke=if [ -x /usr/local/sbin/raidplan-boot-loaders ]; then /usr/local/sbin/raidplan-boot-loaders; fi
END

# mount root at /
# layout line 34 (filesystems.root)
step 44/50 'mount root at /'
systemctl start /

# create directory /boot
# layout line 33 (filesystems.boot)
step 45/50 'create directory /boot'
mkdir --parents /boot

# mount boot at /boot
# layout line 33 (filesystems.boot)
step 46/50 'mount boot at /boot'
systemctl start /boot

# enable the swap area swap
# layout line 37 (swap.swap)
step 47/50 'enable the swap area swap'
swapon /dev/mapper/cryptswap

# start the initial sync of boot
# layout line 24 (arrays.boot)
step 48/50 'start the initial sync of boot'
set_attribute '/sys/block/{/dev/md/boot}/md/sync_action' idle

# start the initial sync of swap
# layout line 25 (arrays.swap)
step 49/50 'start the initial sync of swap'
set_attribute '/sys/block/{/dev/md/swap}/md/sync_action' idle

# start the initial sync of os
# layout line 26 (arrays.os)
step 50/50 'start the initial sync of os'
set_attribute '/sys/block/{/dev/md/os}/md/sync_action' idle

complete=yes
echo 'done'
}
