#!/bin/sh
# The plan for the host commenter, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:efc73e4eb396e4b3ff2b6e6c2043a548d7c1389b3fa69ab3fb7e5c1ba17a1bc0
# note[write-hole] layout line 20: a crash of home while a member is missing can spoil data that nobody was writing (the write hole)
# note[idle-volume-group] layout line 23: vg_home holds one volume, files, over the whole of home: nothing of LVM is used

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
require_tools awk blkid cpio df find grep lsblk lvcreate mdadm mkdir mke2fs mkinitramfs mktemp modprobe \
	pvcreate readlink run-parts sed sfdisk sort systemctl udevadm unmkinitramfs update-initramfs vgcreate \
	wipefs
disks=$(list_disks)
disk_co0=$(find_disk co0 200049647616 512 COMM-Y60A0 '' '' '')
disk_co1=$(find_disk co1 200049647616 512 COMM-Y60A1 '' '' '')
disk_co2=$(find_disk co2 200049647616 512 COMM-Y60A2 '' '' '')
disk_co3=$(find_disk co3 200049647616 512 COMM-Y60A3 '' '' '')
require_distinct "$disk_co0" "$disk_co1" "$disk_co2" "$disk_co3"
require_all_blank "$disk_co0" "$disk_co1" "$disk_co2" "$disk_co3"
require_blank_range "$disk_co0" 1048576 199914160128
require_blank_range "$disk_co1" 1048576 199914160128
require_blank_range "$disk_co2" 1048576 199914160128
require_blank_range "$disk_co3" 1048576 199914160128
require_room_for_initramfs /boot

# name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 19 (arrays)
step 1/27 'name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf commenter top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/home metadata=1.2 UUID=500f6f7a:c6555497:ae4fbc8a:770a5ee7 spares=1
END

# let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-commenter.rules
# layout line 19 (arrays)
step 2/27 'let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-commenter.rules'
write_file /etc/udev/rules.d/65-raidplan-commenter.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# home
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="500f6f7a:c6555497:ae4fbc8a:770a5ee7", ATTR{queue/read_ahead_kb}="1024"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="500f6f7a-c655-5497-ae4f-bc8a770a5ee7", TEST=="holders/md_home/md/array_state", TEST!="holders/md_home/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_home.timer"
END

# let udev read its rules again
# layout line 19 (arrays)
step 3/27 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 19 (arrays)
step 4/27 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 19 (arrays)
step 5/27 'load the kernel module raid456'
modprobe raid456

# load the kernel module dm_mod
# layout line 22 (volume_groups)
step 6/27 'load the kernel module dm_mod'
modprobe dm_mod

# partition co0: co0.home of 186.2 GiB
# layout line 17 (hardware.disks.co0); destroys everything on the disk co0
step 7/27 'partition co0: co0.home of 186.2 GiB'
require_blank "$disk_co0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_co0" <<'END'
label: gpt
label-id: 60DE01D5-795C-5747-AD39-45C5DFFD336F
unit: sectors
sector-size: 512
start=2048, size=390457344, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=8A3EABC2-F74D-55FD-AB1D-53B77913FDFC, name="home"
END
await_node /dev/disk/by-partuuid/8a3eabc2-f74d-55fd-ab1d-53b77913fdfc

# partition co1: co1.home of 186.2 GiB
# layout line 17 (hardware.disks.co1); destroys everything on the disk co1
step 8/27 'partition co1: co1.home of 186.2 GiB'
require_blank "$disk_co1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_co1" <<'END'
label: gpt
label-id: D1860DDF-0ABF-56CB-BDFE-F3CFF5EA6861
unit: sectors
sector-size: 512
start=2048, size=390457344, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F20FB7B6-C906-53CD-986A-8023BDCB8656, name="home"
END
await_node /dev/disk/by-partuuid/f20fb7b6-c906-53cd-986a-8023bdcb8656

# partition co2: co2.home of 186.2 GiB
# layout line 17 (hardware.disks.co2); destroys everything on the disk co2
step 9/27 'partition co2: co2.home of 186.2 GiB'
require_blank "$disk_co2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_co2" <<'END'
label: gpt
label-id: E88DE8D6-B9FB-53D6-B668-8929E516EDC0
unit: sectors
sector-size: 512
start=2048, size=390457344, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=930AB832-DD8B-5F4E-BA30-ACB5BF677F04, name="home"
END
await_node /dev/disk/by-partuuid/930ab832-dd8b-5f4e-ba30-acb5bf677f04

# partition co3: co3.home of 186.2 GiB
# layout line 17 (hardware.disks.co3); destroys everything on the disk co3
step 10/27 'partition co3: co3.home of 186.2 GiB'
require_blank "$disk_co3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_co3" <<'END'
label: gpt
label-id: 8EFC5E5D-9B5D-5357-B1D3-4CE36BFDD29B
unit: sectors
sector-size: 512
start=2048, size=390457344, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=609F85A2-D471-5AFE-8FF2-11C05345EC5F, name="home"
END
await_node /dev/disk/by-partuuid/609f85a2-d471-5afe-8ff2-11c05345ec5f

# create raid5 home of 3 members (co0, co1, co2), 372.1 GiB usable, 1 spare
# layout line 20 (arrays.home); destroys everything on co0.home, everything on co1.home, everything on co2.home, everything on co3.home
step 11/27 'create raid5 home of 3 members (co0, co1, co2), 372.1 GiB usable, 1 spare'
require_blank /dev/disk/by-partuuid/8a3eabc2-f74d-55fd-ab1d-53b77913fdfc
require_blank /dev/disk/by-partuuid/f20fb7b6-c906-53cd-986a-8023bdcb8656
require_blank /dev/disk/by-partuuid/930ab832-dd8b-5f4e-ba30-acb5bf677f04
require_blank /dev/disk/by-partuuid/609f85a2-d471-5afe-8ff2-11c05345ec5f
mdadm --create /dev/md/home --run --quiet --readonly --metadata=1.2 --homehost=commenter --name=home \
	--uuid=500f6f7a:c6555497:ae4fbc8a:770a5ee7 --level=raid5 --raid-devices=3 --spare-devices=1 --chunk=64K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap --force \
	/dev/disk/by-partuuid/8a3eabc2-f74d-55fd-ab1d-53b77913fdfc \
	/dev/disk/by-partuuid/f20fb7b6-c906-53cd-986a-8023bdcb8656 \
	/dev/disk/by-partuuid/930ab832-dd8b-5f4e-ba30-acb5bf677f04 \
	/dev/disk/by-partuuid/609f85a2-d471-5afe-8ff2-11c05345ec5f
await_node /dev/md/home

# hold the initial sync of home, so that it does not slow down what follows
# layout line 20 (arrays.home)
step 12/27 'hold the initial sync of home, so that it does not slow down what follows'
set_attribute /sys/block/md_home/md/sync_action frozen

# open home for writing
# layout line 20 (arrays.home)
step 13/27 'open home for writing'
set_attribute /sys/block/md_home/md/array_state active

# let udev tune home as it will at every boot: read_ahead_kb 1024
# layout line 20 (arrays.home)
step 14/27 'let udev tune home as it will at every boot: read_ahead_kb 1024'
udevadm trigger --settle --action=change --name-match=/dev/md/home

# make home a physical volume, data from 1 MiB on
# layout line 23 (volume_groups.vg_home); destroys everything on home
step 15/27 'make home a physical volume, data from 1 MiB on'
require_blank /dev/md/home
pvcreate --yes --quiet --uuid=xD8KC1-5Q1v-a5H0-ASYr-kyK8-EP08-K4auPj --norestorefile --dataalignment=131072b \
	/dev/md/home

# create volume group vg_home on home
# layout line 23 (volume_groups.vg_home)
step 16/27 'create volume group vg_home on home'
vgcreate --autobackup=y --physicalextentsize=4194304b --setautoactivation=y vg_home /dev/md/home

# create volume vg_home.files of 372.1 GiB
# layout line 23 (volume_groups.vg_home.volumes.files)
step 17/27 'create volume vg_home.files of 372.1 GiB'
lvcreate --yes --quiet --wipesignatures=n --zero=y --extents=95261 --readahead=4096s --name=files vg_home
await_node /dev/vg_home/files

# make ext3 files on vg_home.files, 372.1 GiB, 24,387,584 inodes, stride 16, stripe width 32
# layout line 26 (filesystems.files); destroys everything on vg_home.files
step 18/27 'make ext3 files on vg_home.files, 372.1 GiB, 24,387,584 inodes, stride 16, stripe width 32'
require_blank /dev/vg_home/files
mke2fs -q -t ext3 -O none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal -b \
	4096 -I 256 -N 24386816 -m 1 -E stride=16,stripe_width=32,nodiscard,lazy_itable_init=1,lazy_journal_init=1 \
	-U 4ca4d9b7-2e2f-5476-b64e-6f28052144f1 -L files /dev/vg_home/files 97547264
await_node /dev/disk/by-uuid/4ca4d9b7-2e2f-5476-b64e-6f28052144f1 /dev/vg_home/files

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 19 (arrays)
step 19/27 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot 500f6f7a:c6555497:ae4fbc8a:770a5ee7 /etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 28 (monitoring.mail)
step 20/27 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 28 (monitoring.scrub)
step 21/27 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 28 (monitoring.scrub)
step 22/27 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm commenter bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 1 line into /etc/fstab
# layout line 25 (filesystems)
step 23/27 'enter 1 line into /etc/fstab'
write_block /etc/fstab commenter bottom 0644 <<'END'
UUID=4ca4d9b7-2e2f-5476-b64e-6f28052144f1 /srv/files ext3 defaults,nofail,x-systemd.device-timeout=120s 0 2
END

# let systemd read fstab again
# layout line 25 (filesystems)
step 24/27 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /srv/files
# layout line 26 (filesystems.files)
step 25/27 'make the folder /srv/files'
mkdir --parents /srv/files

# mount files at /srv/files
# layout line 26 (filesystems.files)
step 26/27 'mount files at /srv/files'
systemctl start /srv/files

# let the initial sync of home run
# layout line 20 (arrays.home)
step 27/27 'let the initial sync of home run'
set_attribute /sys/block/md_home/md/sync_action idle

complete=yes
echo 'done'
}
