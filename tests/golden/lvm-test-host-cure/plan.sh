#!/bin/sh
# The plan for the host lvm-test, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:55019880eda5b5a9a004c3d2fbe8566b67343764c297d4e503795d9a6f103aaa
# note[no-spare] layout line 42: md0 has 8 members and no spare: after a failure it stays degraded until a disk is changed
# note[write-hole] layout line 42: a crash of md0 while a member is missing can spoil data that nobody was writing (the write hole)
# warning[slow-member] layout line 42: t5 reads 54.3 MB/s, t2 reads 59.2 MB/s, and the median of the 8 members of md0 is 87.8: every stripe waits for the slowest
# note[component-loss-kills-array] layout line 42: md0 survives the loss of 1 disk, and the controller jmicron takes 2 of its 8 members with it, ich10 6
# note[head-parking] layout line 42: t0, t1, t2, t3 and 3 more of md0 park their heads after 8 s without work, up to thousands of times a day
# note[idle-volume-group] layout line 45: arrays holds one volume, storage, over the whole of md0: nothing of LVM is used

# Nothing in a quoted word is meant to be expanded.
# shellcheck disable=SC1003,SC2016
set -eu
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
umask 022

# What the steps below are made of.

at='looking at the machine'
begun=no
complete=no
disks=
temporary=

# Nothing more is done; `ended` adds whether anything was.
refuse() {
	printf 'raidplan: refused: %s\n' "$1" >&2
	exit 4
}

# The last words and the exit code: 3 stopped part-way, 4 refused with nothing written, 130 interrupted.
ended() {
	code=$?
	if [ "$complete" = yes ]; then
		exit 0
	fi
	# A udev rule that holds automatic assembly off does not outlive this script.
	if [ -n "$temporary" ] && [ -e "$temporary" ]; then
		rm -f "$temporary"
		udevadm control --reload || :
	fi
	if [ "$begun" = no ]; then
		printf 'raidplan: nothing was written\n' >&2
		[ "$code" -eq 130 ] || code=4
	else
		printf 'raidplan: stopped in %s; no later step was begun\n' "$at" >&2
		[ "$code" -eq 130 ] || code=3
	fi
	exit "$code"
}
trap ended EXIT
trap 'exit 130' HUP INT TERM

# step NUMBER SENTENCE
step() {
	at="step $1"
	printf '%s\n' "$1 $2"
}

# require_tools TOOL...
require_tools() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null || refuse "the program $tool is missing: install it"
	done
}

# Every disk of the machine, one a line: NAME="/dev/sda" TYPE="disk" ... Quotes, backslashes, $ and ` in a
# value stand as \x22 and so on, so that a quote always ends the value.
list_disks() {
	lsblk --nodeps --bytes --noheadings --paths --pairs \
		--output NAME,TYPE,SIZE,LOG-SEC,SERIAL,WWN,MODEL "$@"
}

# find_disk NAME SIZE SECTOR SERIAL WWN PATH MODEL: prints the node of the one disk that all of it fits.
# The texts are as lsblk prints them; an empty one is not compared. A wwn stands in lower case without its
# 0x, a model with spaces for underscores.
find_disk() {
	[ -n "$4$5$6$7" ] || refuse "$1: nothing tells which disk it is"
	on_path=
	if [ -n "$6" ]; then
		on_path=$(readlink -f "/dev/disk/by-path/$6") || on_path=
		[ -b "$on_path" ] || refuse "$1: no disk is at the path $6"
	fi
	found=$(printf '%s\n' "$disks" | serial=$4 wwn=$5 node=$on_path model=$7 awk -F '"' '
		# Joined to an empty text, so that 1e3 and 1000 are different serial numbers.
		function fits(wanted, is) { return wanted == "" || (wanted "") == (is "") }
		function trimmed(text) { sub(/^ +/, "", text); sub(/ +$/, "", text); return text }
		function wwn(text) {
			text = tolower(trimmed(text))
			sub(/^naa\./, "", text); sub(/^eui\./, "", text); sub(/^0x/, "", text)
			return text
		}
		function model(text) { gsub(/[_ ]+/, " ", text); return trimmed(text) }
		$4 == "disk" && fits(ENVIRON["serial"], trimmed($10)) && fits(ENVIRON["wwn"], wwn($12)) &&
			fits(ENVIRON["node"], $2) && fits(ENVIRON["model"], model($14)) { print $2, $6, $8 }')
	case $found in
	'') refuse "$1: no disk has ${4:+serial $4 }${5:+wwn $5 }${6:+path $6 }${7:+model $7}" ;;
	*"
"*) refuse "$1: more than one disk fits: $found" ;;
	esac
	check_size "$1" "$2" "$3" "$found"
}

# use_device NAME SIZE SECTOR NODE: the device named by the user in place of an identity.
use_device() {
	[ -b "$4" ] || refuse "$1: $4 is not a block device"
	found=$(list_disks "$4" | awk -F '"' '{ print $2, $6, $8 }')
	check_size "$1" "$2" "$3" "$found"
}

# check_size NAME SIZE SECTOR 'NODE SIZE SECTOR': prints NODE. One that is much larger is another disk.
check_size() {
	read -r node bytes sector <<-END
		$4
	END
	if [ "$bytes" -lt "$2" ] || [ "$bytes" -gt "$(($2 + $2 / 100))" ]; then
		refuse "$1: $node has $bytes bytes, and $2 to 1 % more are expected"
	fi
	[ "$sector" -eq "$3" ] || refuse "$1: $node has logical sectors of $sector bytes, not $3"
	printf '%s\n' "$node"
}

# require_distinct NODE...
require_distinct() {
	twice=$(printf '%s\n' "$@" | sort | uniq -d)
	[ -z "$twice" ] || refuse "two disks of the layout are one disk of this machine: $twice"
}

# require_blank TARGET: a device must carry nothing and be used by nobody; any other path must not exist.
require_blank() {
	case $1 in
	/dev/*) ;;
	*)
		if [ -e "$1" ] || [ -L "$1" ]; then
			refuse "$1 exists already"
		fi
		return 0
		;;
	esac
	[ -e "$1" ] || await_node "$1"
	[ -b "$1" ] || refuse "$1 is not a block device"
	require_unused "$1"
	[ -z "$(partitions_of "$1")" ] || refuse "$1 is not blank: there is $(partitions_of "$1")"
	signatures=$(wipefs --no-act --parsable "$1") || refuse "$1 cannot be read"
	signatures=$(printf '%s\n' "$signatures" | sed '/^#/d')
	[ -z "$signatures" ] || refuse "$1 is not blank: $signatures"
}

# sysfs_of NODE: the folder of a block device.
sysfs_of() {
	number=$(lsblk --nodeps --noheadings --raw --output MAJ:MIN "$1")
	printf '/sys/dev/block/%s\n' "$number"
}

# partitions_of NODE: the nodes of the partitions that the kernel has on it.
partitions_of() {
	for entry in "$(sysfs_of "$1")"/*/partition; do
		[ ! -e "$entry" ] || printf '/dev/%s\n' "$(basename "${entry%/partition}")"
	done
}

# require_unused NODE: nothing stands on the device, it is not mounted, it is not swapped to.
require_unused() {
	for entry in "$(sysfs_of "$1")/holders"/*; do
		[ ! -e "$entry" ] || refuse "$1 is not blank: there is $entry"
	done
	if number=$(lsblk --nodeps --noheadings --raw --output MAJ:MIN "$1") \
		awk '$3 == ENVIRON["number"] { found = 1 } END { exit !found }' /proc/self/mountinfo; then
		refuse "$1 is mounted"
	fi
	own=$(readlink -f "$1")
	while read -r area _; do
		[ "$(readlink -f "$area")" != "$own" ] || refuse "$1 is in use as swap"
	done </proc/swaps
}

# require_all_blank TARGET...
require_all_blank() {
	for target in "$@"; do
		require_blank "$target"
	done
}

# require_blank_range NODE START SIZE: no old superblock lies where a partition will be, in bytes; it would
# come alive the moment the table is written.
require_blank_range() {
	code=0
	old=$(blkid --probe --output=export --offset="$2" --size="$3" "$1") || code=$?
	[ "$code" -eq 2 ] || refuse "$1 is not blank from byte $2 on: ${old:-blkid ended with $code}"
}

# await_node PATH [DEVICE]: until udev has made it, for up to 60 s. After 10 s udev is asked to look at DEVICE again: what
# is closed while udev looks at it for another reason goes unseen.
await_node() {
	udevadm settle 2>/dev/null || : # it may read a table that was just written again, and take the node away meanwhile
	tries=0
	until [ -e "$1" ]; do
		tries=$((tries + 1))
		[ "$tries" -le 300 ] || refuse "$1 did not appear within 60 s"
		[ -z "${2-}" ] || [ $((tries % 50)) -ne 0 ] || udevadm trigger --action=change --name-match="$2"
		sleep 0.2
	done
}

# beside FILE MODE: prints a new file beside it, with its mode and owner; with MODE if there is no FILE.
beside() {
	new=${1%/*}/.${1##*/}.raidplan-new
	rm -f "$new"
	if [ -e "$1" ]; then
		cp -p "$1" "$new"
		cp -p "$1" "$1.raidplan-old"
	else
		: >"$new"
		chmod "$2" "$new"
	fi
	printf '%s\n' "$new"
}

# real FILE: prints where the file itself is, behind links; its folder is made.
real() {
	mkdir -p "${1%/*}/"
	readlink -f "$1"
}

# write_file FILE MODE <CONTENT: whole or not at all.
write_file() {
	file=$(real "$1")
	temporary=$(beside "$file" "$2")
	cat >"$temporary"
	sync
	mv -f "$temporary" "$file"
}

# remove_file FILE: the earlier version stays beside.
remove_file() {
	file=$(real "$1")
	[ ! -e "$file" ] || mv -f "$file" "$file.raidplan-old"
	sync
}

# lines_like TEXT FILE: the numbers of the lines that are TEXT, blanks around it aside.
lines_like() {
	text=$1 awk '{ sub(/^[ \t]+/, ""); sub(/[ \t\r]+$/, "") } $0 == ENVIRON["text"] { print NR }' "$2"
}

# write_block FILE MARK top|bottom|nowhere MODE <CONTENT: puts the block where it stands, else at the top or at the
# bottom, or takes it out; every other byte of the file stays as it is.
write_block() {
	file=$(real "$1")
	opening="# >>> raidplan $2" closing="# <<< raidplan $2"
	opens='' closes=''
	if [ -e "$file" ]; then
		opens=$(lines_like "$opening" "$file")
		closes=$(lines_like "$closing" "$file")
	fi
	case $opens,$closes in
	,) ;;
	*[!0-9,]* | ,* | *,) refuse "$file: '$opening' and '$closing' do not stand once each; restore them" ;;
	*) [ "$opens" -lt "$closes" ] || refuse "$file: '$closing' stands before '$opening'; restore them" ;;
	esac
	[ "$3" != nowhere ] || [ -n "$opens" ] || return 0
	temporary=$(beside "$file" "$4")
	{
		if [ -n "$opens" ]; then
			head -n "$((opens - 1))" "$file"
		elif [ "$3" = bottom ] && [ -s "$file" ]; then
			cat "$file"
			[ -z "$(tail -c 1 "$file")" ] || echo
		fi
		if [ "$3" != nowhere ]; then
			printf '%s\n' "$opening"
			cat
			printf '%s\n' "$closing"
		fi
		if [ -n "$opens" ]; then
			tail -n "+$((closes + 1))" "$file"
		elif [ "$3" = top ] && [ -e "$file" ]; then
			cat "$file"
		fi
	} >"$temporary"
	sync
	mv -f "$temporary" "$file"
}

# set_attribute FILE VALUE: of sysfs; a file that is not there is never made.
set_attribute() {
	[ -f "$1" ] || refuse "there is no attribute $1"
	printf '%s\n' "$2" >"$1"
}

# The initramfs: made anew aside, proven, and only then put in place of the present one.

# initramfs_images FOLDER: the image of each kernel that is in the folder, and has modules.
initramfs_images() {
	for kernel in "$1"/vmlinu[xz]-*; do
		version=${kernel#"$1"/vmlinu?-}
		if [ -f "$1/initrd.img-$version" ] && [ -d "${1%/*}/lib/modules/$version" ]; then
			printf '%s\n' "$1/initrd.img-$version"
		fi
	done | sort -u
}

# require_room_for_initramfs FOLDER: it can be written to, and has room for each image once more, grown by a fifth.
require_room_for_initramfs() {
	settings=${1%/*}/etc/initramfs-tools/update-initramfs.conf
	if grep -qs '^[[:space:]]*update_initramfs=.\{0,1\}no' "$settings"; then
		refuse "$settings says update_initramfs=no, and a boot would not know the arrays by name: let it say yes"
	fi
	grep -qs mkinitramfs "${1%/*}/usr/sbin/update-initramfs" ||
		refuse 'this machine does not make its initramfs with initramfs-tools'
	[ -w "$1" ] || refuse "nothing can be written to $1"
	[ -n "$(initramfs_images "$1")" ] || refuse "there is no initramfs in $1: mount $1, or make one"
	needed=$(initramfs_images "$1" | while read -r image; do
		wc -c <"$image"
	done | awk '{ all += $1 } END { printf "%d", all * 1.2 / 1024 + 1 }')
	free=$(df -P -k "$1" | awk 'END { print $4 }')
	# The images of before make room, those that have no other name.
	freed=$(find "$1/raidplan.old" -type f -links 1 -size +0 -exec wc -c {} + 2>/dev/null | awk '$2 != "total" { all += $1 } END { printf "%d", all / 1024 }')
	free=$((free + freed))
	[ "$free" -ge "$needed" ] ||
		refuse "$1 has $free KiB free, and an initramfs made anew beside each present one takes $needed KiB"
}

# initramfs_names IMAGE UUID...: the image can be unpacked, and its mdadm.conf names the arrays.
initramfs_names() {
	image=$1
	shift
	unpacked=$(mktemp -d "${TMPDIR:-/var/tmp}/raidplan-initramfs.XXXXXX")
	damaged=no
	unmkinitramfs "$image" "$unpacked" >/dev/null || damaged=yes
	named=$(find "$unpacked" -path '*/etc/mdadm/mdadm.conf' -type f -exec sed -n '/^ARRAY /p' '{}' +)
	rm -rf "$unpacked"
	if [ "$damaged" = yes ]; then
		printf 'raidplan: %s cannot be unpacked\n' "$image" >&2
		return 1
	fi
	for uuid in "$@"; do
		case "$named " in
		*UUID="$uuid"[!0-9a-f]*) ;;
		*)
			printf 'raidplan: %s does not name the array %s in its mdadm.conf\n' "$image" "$uuid" >&2
			return 1
			;;
		esac
	done
}

# renew_initramfs FOLDER 'UUID...' HOOKS
renew_initramfs() {
	boot=$1 arrays=$2 hooks=$3 aside=$1/raidplan.new goes_on=no
	[ ! -d "$aside" ] || goes_on=yes
	mkdir -p "$boot/raidplan.old"
	for present in $(initramfs_images "$boot"); do
		kept=$boot/raidplan.old/${present##*/}
		# A run that was cut off has kept it before: what names the arrays then is its work.
		# shellcheck disable=SC2086  # a word for each array
		if [ "$goes_on" = no ] || [ ! -e "$kept" ] || ! initramfs_names "$present" $arrays; then
			rm -f "$kept"
			ln "$present" "$kept" || cp -p "$present" "$kept"
		fi
	done
	mkdir -p "$aside"
	sync
	for present in $(initramfs_images "$boot"); do
		new=$aside/${present##*/}
		# shellcheck disable=SC2086  # a word for each array
		if ! mkinitramfs -o "$new" "${new##*/initrd.img-}" || ! initramfs_names "$new" $arrays; then
			rm -f "$aside"/initrd.img-*
			[ "$goes_on" = yes ] || rmdir "$aside"
			refuse "no initramfs that holds the new configuration was made: the present ones stay in $boot"
		fi
		chown --reference="$present" "$new"
		chmod --reference="$present" "$new"
	done
	sync
	for present in $(initramfs_images "$boot"); do
		mv -f "$aside/${present##*/}" "$present"
	done
	sync
	for present in $(initramfs_images "$boot"); do
		[ ! -d "$hooks" ] || run-parts --arg="${present##*/initrd.img-}" --arg="$present" "$hooks"
	done
	rmdir "$aside"
	sync
}

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
disk_t6=$(find_disk t6 1000204886016 512 LVMT-WCAU46 '' '' '')
disk_t7=$(find_disk t7 1000204886016 512 LVMT-WCAU47 '' '' '')
require_distinct "$disk_t0" "$disk_t1" "$disk_t2" "$disk_t3" "$disk_t4" "$disk_t5" "$disk_t6" "$disk_t7"
require_all_blank "$disk_t0" "$disk_t1" "$disk_t2" "$disk_t3" "$disk_t4" "$disk_t5" "$disk_t6" "$disk_t7"
require_blank_range "$disk_t0" 1048576 1000068874240
require_blank_range "$disk_t1" 1048576 1000068874240
require_blank_range "$disk_t2" 1048576 1000068874240
require_blank_range "$disk_t3" 1048576 1000068874240
require_blank_range "$disk_t4" 1048576 1000068874240
require_blank_range "$disk_t5" 1048576 1000068874240
require_blank_range "$disk_t6" 1048576 1000068874240
require_blank_range "$disk_t7" 1048576 1000068874240
require_room_for_initramfs /boot

# name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 41 (arrays)
step 1/31 'name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf lvm-test top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md0 metadata=1.2 UUID=20a61fb0:4cf35196:baf9da0d:cd551fda
END

# let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-lvm-test.rules
# layout line 41 (arrays)
step 2/31 'let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-lvm-test.rules'
write_file /etc/udev/rules.d/65-raidplan-lvm-test.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# md0
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="20a61fb0:4cf35196:baf9da0d:cd551fda", ATTR{queue/read_ahead_kb}="3584"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="20a61fb0-4cf3-5196-baf9-da0dcd551fda", TEST=="holders/md0/md/array_state", TEST!="holders/md0/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md0.timer"
END

# let udev read its rules again
# layout line 41 (arrays)
step 3/31 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 41 (arrays)
step 4/31 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 41 (arrays)
step 5/31 'load the kernel module raid456'
modprobe raid456

# load the kernel module dm_mod
# layout line 44 (volume_groups)
step 6/31 'load the kernel module dm_mod'
modprobe dm_mod

# partition t0: t0.md0 of 931.4 GiB
# layout line 24 (hardware.disks.t0); destroys everything on the disk t0
step 7/31 'partition t0: t0.md0 of 931.4 GiB'
require_blank "$disk_t0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t0" <<'END'
label: gpt
label-id: 870598AD-E070-5DB6-9FB5-8975D30FDDB6
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0C2EA3F6-E397-5150-80EB-F62A58B76DDA, name="md0"
END
await_node /dev/disk/by-partuuid/0c2ea3f6-e397-5150-80eb-f62a58b76dda

# partition t1: t1.md0 of 931.4 GiB
# layout line 24 (hardware.disks.t1); destroys everything on the disk t1
step 8/31 'partition t1: t1.md0 of 931.4 GiB'
require_blank "$disk_t1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t1" <<'END'
label: gpt
label-id: 5EA2E954-3019-57A7-B8F2-10E3F67CABA9
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0E166A0D-A239-5E89-8922-31117C5917CD, name="md0"
END
await_node /dev/disk/by-partuuid/0e166a0d-a239-5e89-8922-31117c5917cd

# partition t2: t2.md0 of 931.4 GiB
# layout line 24 (hardware.disks.t2); destroys everything on the disk t2
step 9/31 'partition t2: t2.md0 of 931.4 GiB'
require_blank "$disk_t2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t2" <<'END'
label: gpt
label-id: 20B944E8-41F4-5919-BBF4-4E741FC423F0
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=CD2D943F-9B59-554C-A690-F998A8C57CFC, name="md0"
END
await_node /dev/disk/by-partuuid/cd2d943f-9b59-554c-a690-f998a8c57cfc

# partition t3: t3.md0 of 931.4 GiB
# layout line 24 (hardware.disks.t3); destroys everything on the disk t3
step 10/31 'partition t3: t3.md0 of 931.4 GiB'
require_blank "$disk_t3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t3" <<'END'
label: gpt
label-id: 210BD1DB-2606-5B91-920D-815B37AE13C0
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=09C504BD-17F5-5BBF-8475-1670EFDB5848, name="md0"
END
await_node /dev/disk/by-partuuid/09c504bd-17f5-5bbf-8475-1670efdb5848

# partition t4: t4.md0 of 931.4 GiB
# layout line 24 (hardware.disks.t4); destroys everything on the disk t4
step 11/31 'partition t4: t4.md0 of 931.4 GiB'
require_blank "$disk_t4"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t4" <<'END'
label: gpt
label-id: 2C28C0A5-7658-528D-A849-4501FDCEE48A
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=3746DE9E-682A-5966-8FD6-FA82BCB4BDF4, name="md0"
END
await_node /dev/disk/by-partuuid/3746de9e-682a-5966-8fd6-fa82bcb4bdf4

# partition t5: t5.md0 of 931.4 GiB
# layout line 24 (hardware.disks.t5); destroys everything on the disk t5
step 12/31 'partition t5: t5.md0 of 931.4 GiB'
require_blank "$disk_t5"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t5" <<'END'
label: gpt
label-id: 2EFC7952-317B-527D-B44E-DF46707C30A3
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=014DB9D9-2C69-564E-AB19-68B9458947D2, name="md0"
END
await_node /dev/disk/by-partuuid/014db9d9-2c69-564e-ab19-68b9458947d2

# partition t6: t6.md0 of 931.4 GiB
# layout line 32 (hardware.disks.t6); destroys everything on the disk t6
step 13/31 'partition t6: t6.md0 of 931.4 GiB'
require_blank "$disk_t6"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t6" <<'END'
label: gpt
label-id: 1B6A9C22-11C4-5AA8-8C8E-E91A67D041CB
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7499CB4A-0971-58B6-A389-4B0C27234435, name="md0"
END
await_node /dev/disk/by-partuuid/7499cb4a-0971-58b6-a389-4b0c27234435

# partition t7: t7.md0 of 931.4 GiB
# layout line 32 (hardware.disks.t7); destroys everything on the disk t7
step 14/31 'partition t7: t7.md0 of 931.4 GiB'
require_blank "$disk_t7"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_t7" <<'END'
label: gpt
label-id: 0882FA37-5283-5F53-9042-2B91C8EA5EBA
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=D99F7E1D-BAD2-5416-B2E6-4A7450ED55EF, name="md0"
END
await_node /dev/disk/by-partuuid/d99f7e1d-bad2-5416-b2e6-4a7450ed55ef

# create raid5 md0 of 8 members (t0, t1, t2, t3, t4, t5, t6, t7), 6.4 TiB usable
# layout line 42 (arrays.md0); destroys everything on t0.md0, everything on t1.md0, everything on t2.md0, everything on t3.md0, everything on t4.md0, everything on t5.md0, everything on t6.md0, everything on t7.md0
step 15/31 'create raid5 md0 of 8 members (t0, t1, t2, t3, t4, t5, t6, t7), 6.4 TiB usable'
require_blank /dev/disk/by-partuuid/0c2ea3f6-e397-5150-80eb-f62a58b76dda
require_blank /dev/disk/by-partuuid/0e166a0d-a239-5e89-8922-31117c5917cd
require_blank /dev/disk/by-partuuid/cd2d943f-9b59-554c-a690-f998a8c57cfc
require_blank /dev/disk/by-partuuid/09c504bd-17f5-5bbf-8475-1670efdb5848
require_blank /dev/disk/by-partuuid/3746de9e-682a-5966-8fd6-fa82bcb4bdf4
require_blank /dev/disk/by-partuuid/014db9d9-2c69-564e-ab19-68b9458947d2
require_blank /dev/disk/by-partuuid/7499cb4a-0971-58b6-a389-4b0c27234435
require_blank /dev/disk/by-partuuid/d99f7e1d-bad2-5416-b2e6-4a7450ed55ef
mdadm --create /dev/md0 --run --quiet --readonly --metadata=1.2 --homehost=lvm-test --name=md0 \
	--uuid=20a61fb0:4cf35196:baf9da0d:cd551fda --level=raid5 --raid-devices=8 --chunk=256K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap --force \
	/dev/disk/by-partuuid/0c2ea3f6-e397-5150-80eb-f62a58b76dda \
	/dev/disk/by-partuuid/0e166a0d-a239-5e89-8922-31117c5917cd \
	/dev/disk/by-partuuid/cd2d943f-9b59-554c-a690-f998a8c57cfc \
	/dev/disk/by-partuuid/09c504bd-17f5-5bbf-8475-1670efdb5848 \
	/dev/disk/by-partuuid/3746de9e-682a-5966-8fd6-fa82bcb4bdf4 \
	/dev/disk/by-partuuid/014db9d9-2c69-564e-ab19-68b9458947d2 \
	/dev/disk/by-partuuid/7499cb4a-0971-58b6-a389-4b0c27234435 \
	/dev/disk/by-partuuid/d99f7e1d-bad2-5416-b2e6-4a7450ed55ef
await_node /dev/md0

# hold the initial sync of md0, so that it does not slow down what follows
# layout line 42 (arrays.md0)
step 16/31 'hold the initial sync of md0, so that it does not slow down what follows'
set_attribute /sys/block/md0/md/sync_action frozen

# open md0 for writing
# layout line 42 (arrays.md0)
step 17/31 'open md0 for writing'
set_attribute /sys/block/md0/md/array_state active

# let udev tune md0 as it will at every boot: read_ahead_kb 3584
# layout line 42 (arrays.md0)
step 18/31 'let udev tune md0 as it will at every boot: read_ahead_kb 3584'
udevadm trigger --settle --action=change --name-match=/dev/md0

# make md0 a physical volume, data from 1.8 MiB on
# layout line 45 (volume_groups.arrays); destroys everything on md0
step 19/31 'make md0 a physical volume, data from 1.8 MiB on'
require_blank /dev/md0
pvcreate --yes --quiet --uuid=2WKzjy-pVsc-4bc6-2NUO-nIcg-HThJ-2cHWU8 --norestorefile \
	--dataalignment=1835008b /dev/md0

# create volume group arrays on md0
# layout line 45 (volume_groups.arrays)
step 20/31 'create volume group arrays on md0'
vgcreate --autobackup=y --physicalextentsize=1073741824b --setautoactivation=y arrays /dev/md0

# create volume arrays.storage of 6.4 TiB
# layout line 45 (volume_groups.arrays.volumes.storage)
step 21/31 'create volume arrays.storage of 6.4 TiB'
lvcreate --yes --quiet --wipesignatures=n --zero=y --extents=6518 --readahead=auto --name=storage arrays
await_node /dev/arrays/storage

# make xfs storage on arrays.storage, 6.4 TiB, su 256 KiB, sw 7
# layout line 48 (filesystems.storage); destroys everything on arrays.storage
step 22/31 'make xfs storage on arrays.storage, 6.4 TiB, su 256 KiB, sw 7'
require_blank /dev/arrays/storage
mkfs.xfs -q -K -m crc=1,uuid=9c2b1f19-6353-5b93-a38a-e09db921d662 -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=218707787776,su=262144,sw=7 -l size=2136997888,su=262144 -L storage \
	/dev/arrays/storage
await_node /dev/disk/by-uuid/9c2b1f19-6353-5b93-a38a-e09db921d662 /dev/arrays/storage

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 41 (arrays)
step 23/31 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot 20a61fb0:4cf35196:baf9da0d:cd551fda /etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 50 (monitoring.mail)
step 24/31 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 50 (monitoring.scrub)
step 25/31 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 50 (monitoring.scrub)
step 26/31 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm lvm-test bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 1 line into /etc/fstab
# layout line 47 (filesystems)
step 27/31 'enter 1 line into /etc/fstab'
write_block /etc/fstab lvm-test bottom 0644 <<'END'
UUID=9c2b1f19-6353-5b93-a38a-e09db921d662 /data/storage xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 47 (filesystems)
step 28/31 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /data/storage
# layout line 48 (filesystems.storage)
step 29/31 'make the folder /data/storage'
mkdir --parents /data/storage

# mount storage at /data/storage
# layout line 48 (filesystems.storage)
step 30/31 'mount storage at /data/storage'
systemctl start /data/storage

# let the initial sync of md0 run
# layout line 42 (arrays.md0)
step 31/31 'let the initial sync of md0 run'
set_attribute /sys/block/md0/md/sync_action idle

complete=yes
echo 'done'
}
