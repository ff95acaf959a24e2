#!/bin/sh
# The plan for the host office, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:e92e14c30268a1f7f4c2b1c79abc23f74c21edfcdf140b8359ff5cb0e2e0d723
# note[write-hole] layout line 24: a crash of shares while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 25: a crash of moved while a member is missing can spoil data that nobody was writing (the write hole)

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
require_tools awk blkid cpio df find grep lsblk mdadm mkdir mke2fs mkfs.xfs mkinitramfs mktemp modprobe \
	readlink run-parts sed sfdisk sort systemctl udevadm unmkinitramfs update-initramfs wipefs
disks=$(list_disks)
disk_of0=$(find_disk of0 1000204886016 512 OFFI-9VP00 '' '' '')
disk_of1=$(find_disk of1 1000204886016 512 OFFI-9VP01 '' '' '')
disk_of2=$(find_disk of2 1000204886016 512 OFFI-9VP02 '' '' '')
disk_of3=$(find_disk of3 750156374016 512 OFFI-3QD03 '' '' '')
disk_of4=$(find_disk of4 750156374016 512 OFFI-3QD04 '' '' '')
disk_of5=$(find_disk of5 750156374016 512 OFFI-3QD05 '' '' '')
disk_of6=$(find_disk of6 750156374016 512 OFFI-3QD06 '' '' '')
require_distinct "$disk_of0" "$disk_of1" "$disk_of2" "$disk_of3" "$disk_of4" "$disk_of5" "$disk_of6"
require_all_blank "$disk_of0" "$disk_of1" "$disk_of2" "$disk_of3" "$disk_of4" "$disk_of5" "$disk_of6"
require_blank_range "$disk_of0" 1048576 1000068874240
require_blank_range "$disk_of1" 1048576 1000068874240
require_blank_range "$disk_of2" 1048576 1000068874240
require_blank_range "$disk_of3" 1048576 750020198400
require_blank_range "$disk_of4" 1048576 750020198400
require_blank_range "$disk_of5" 1048576 750020198400
require_blank_range "$disk_of6" 1048576 750020198400
require_room_for_initramfs /boot

# name 2 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 23 (arrays)
step 1/32 'name 2 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf office top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/shares metadata=1.2 UUID=c288fd56:e42951be:90b66fd5:aaaf5e31
ARRAY /dev/md/moved metadata=1.2 UUID=47769148:7321526b:88780c96:d764aefc
END

# let udev start 2 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-office.rules
# layout line 23 (arrays)
step 2/32 'let udev start 2 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-office.rules'
write_file /etc/udev/rules.d/65-raidplan-office.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="c288fd56-e429-51be-90b6-6fd5aaaf5e31", TEST=="holders/md_shares/md/array_state", TEST!="holders/md_shares/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_shares.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="47769148-7321-526b-8878-0c96d764aefc", TEST=="holders/md_moved/md/array_state", TEST!="holders/md_moved/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_moved.timer"
END

# let udev read its rules again
# layout line 23 (arrays)
step 3/32 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 23 (arrays)
step 4/32 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 23 (arrays)
step 5/32 'load the kernel module raid456'
modprobe raid456

# partition of0: of0.shares of 931.4 GiB
# layout line 19 (hardware.disks.of0); destroys everything on the disk of0
step 6/32 'partition of0: of0.shares of 931.4 GiB'
require_blank "$disk_of0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_of0" <<'END'
label: gpt
label-id: 7DA0E4BC-CF19-57A1-9069-A7930349DE7F
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=EA7EC0F5-C46D-5E39-9AFC-45FAA1E84A9C, name="shares"
END
await_node /dev/disk/by-partuuid/ea7ec0f5-c46d-5e39-9afc-45faa1e84a9c

# partition of1: of1.shares of 931.4 GiB
# layout line 19 (hardware.disks.of1); destroys everything on the disk of1
step 7/32 'partition of1: of1.shares of 931.4 GiB'
require_blank "$disk_of1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_of1" <<'END'
label: gpt
label-id: AD960E35-CE45-5604-9683-A775B4D65A20
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=72540123-CE78-541D-BD59-30094485439B, name="shares"
END
await_node /dev/disk/by-partuuid/72540123-ce78-541d-bd59-30094485439b

# partition of2: of2.shares of 931.4 GiB
# layout line 19 (hardware.disks.of2); destroys everything on the disk of2
step 8/32 'partition of2: of2.shares of 931.4 GiB'
require_blank "$disk_of2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_of2" <<'END'
label: gpt
label-id: 95A95EB1-84D7-543D-956A-00D714E2F7FF
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=88AFCA29-9BFE-5A35-8995-118D0B11FC93, name="shares"
END
await_node /dev/disk/by-partuuid/88afca29-9bfe-5a35-8995-118d0b11fc93

# partition of3: of3.moved of 698.5 GiB
# layout line 21 (hardware.disks.of3); destroys everything on the disk of3
step 9/32 'partition of3: of3.moved of 698.5 GiB'
require_blank "$disk_of3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_of3" <<'END'
label: gpt
label-id: 3E805BA5-AA81-50E5-8FD9-F82D3F602523
unit: sectors
sector-size: 512
start=2048, size=1464883200, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=75DBE032-A03F-50C4-A6AB-879809F2EB05, name="moved"
END
await_node /dev/disk/by-partuuid/75dbe032-a03f-50c4-a6ab-879809f2eb05

# partition of4: of4.moved of 698.5 GiB
# layout line 21 (hardware.disks.of4); destroys everything on the disk of4
step 10/32 'partition of4: of4.moved of 698.5 GiB'
require_blank "$disk_of4"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_of4" <<'END'
label: gpt
label-id: CD0652C4-6857-577C-8EAF-97CFC79AD7E5
unit: sectors
sector-size: 512
start=2048, size=1464883200, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=1ADED481-AEA1-55DC-BA89-C1A005883877, name="moved"
END
await_node /dev/disk/by-partuuid/1aded481-aea1-55dc-ba89-c1a005883877

# partition of5: of5.moved of 698.5 GiB
# layout line 21 (hardware.disks.of5); destroys everything on the disk of5
step 11/32 'partition of5: of5.moved of 698.5 GiB'
require_blank "$disk_of5"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_of5" <<'END'
label: gpt
label-id: AACC6469-6DA2-5898-8047-FE3A465E0025
unit: sectors
sector-size: 512
start=2048, size=1464883200, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=D7B43522-74A3-583B-98F6-8C785540478D, name="moved"
END
await_node /dev/disk/by-partuuid/d7b43522-74a3-583b-98f6-8c785540478d

# partition of6: of6.moved of 698.5 GiB
# layout line 21 (hardware.disks.of6); destroys everything on the disk of6
step 12/32 'partition of6: of6.moved of 698.5 GiB'
require_blank "$disk_of6"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_of6" <<'END'
label: gpt
label-id: 8F8A21A7-E44A-5954-B4F6-076C07EA8423
unit: sectors
sector-size: 512
start=2048, size=1464883200, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=326AFB11-A6DA-5BD5-AF98-AE58F3FA091B, name="moved"
END
await_node /dev/disk/by-partuuid/326afb11-a6da-5bd5-af98-ae58f3fa091b

# create raid5 shares of 3 members (of0, of1, of2), 1.8 TiB usable
# layout line 24 (arrays.shares); destroys everything on of0.shares, everything on of1.shares, everything on of2.shares
step 13/32 'create raid5 shares of 3 members (of0, of1, of2), 1.8 TiB usable'
require_blank /dev/disk/by-partuuid/ea7ec0f5-c46d-5e39-9afc-45faa1e84a9c
require_blank /dev/disk/by-partuuid/72540123-ce78-541d-bd59-30094485439b
require_blank /dev/disk/by-partuuid/88afca29-9bfe-5a35-8995-118d0b11fc93
mdadm --create /dev/md/shares --run --quiet --readonly --metadata=1.2 --homehost=office --name=shares \
	--uuid=c288fd56:e42951be:90b66fd5:aaaf5e31 --level=raid5 --raid-devices=3 --chunk=128K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap --force \
	/dev/disk/by-partuuid/ea7ec0f5-c46d-5e39-9afc-45faa1e84a9c \
	/dev/disk/by-partuuid/72540123-ce78-541d-bd59-30094485439b \
	/dev/disk/by-partuuid/88afca29-9bfe-5a35-8995-118d0b11fc93
await_node /dev/md/shares

# hold the initial sync of shares, so that it does not slow down what follows
# layout line 24 (arrays.shares)
step 14/32 'hold the initial sync of shares, so that it does not slow down what follows'
set_attribute /sys/block/md_shares/md/sync_action frozen

# open shares for writing
# layout line 24 (arrays.shares)
step 15/32 'open shares for writing'
set_attribute /sys/block/md_shares/md/array_state active

# create raid5 moved of 4 members (of3, of4, of5, of6), 2.0 TiB usable
# layout line 25 (arrays.moved); destroys everything on of3.moved, everything on of4.moved, everything on of5.moved, everything on of6.moved
step 16/32 'create raid5 moved of 4 members (of3, of4, of5, of6), 2.0 TiB usable'
require_blank /dev/disk/by-partuuid/75dbe032-a03f-50c4-a6ab-879809f2eb05
require_blank /dev/disk/by-partuuid/1aded481-aea1-55dc-ba89-c1a005883877
require_blank /dev/disk/by-partuuid/d7b43522-74a3-583b-98f6-8c785540478d
require_blank /dev/disk/by-partuuid/326afb11-a6da-5bd5-af98-ae58f3fa091b
mdadm --create /dev/md/moved --run --quiet --readonly --metadata=1.2 --homehost=office --name=moved \
	--uuid=47769148:7321526b:88780c96:d764aefc --level=raid5 --raid-devices=4 --chunk=128K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap --force \
	/dev/disk/by-partuuid/75dbe032-a03f-50c4-a6ab-879809f2eb05 \
	/dev/disk/by-partuuid/1aded481-aea1-55dc-ba89-c1a005883877 \
	/dev/disk/by-partuuid/d7b43522-74a3-583b-98f6-8c785540478d \
	/dev/disk/by-partuuid/326afb11-a6da-5bd5-af98-ae58f3fa091b
await_node /dev/md/moved

# hold the initial sync of moved, so that it does not slow down what follows
# layout line 25 (arrays.moved)
step 17/32 'hold the initial sync of moved, so that it does not slow down what follows'
set_attribute /sys/block/md_moved/md/sync_action frozen

# open moved for writing
# layout line 25 (arrays.moved)
step 18/32 'open moved for writing'
set_attribute /sys/block/md_moved/md/array_state active

# make ext4 shares on shares, 1.8 TiB, 122,068,992 inodes, stride 32, stripe width 64
# layout line 28 (filesystems.shares); destroys everything on shares
step 19/32 'make ext4 shares on shares, 1.8 TiB, 122,068,992 inodes, stride 32, stripe width 64'
require_blank /dev/md/shares
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 4096 -I 256 -N 122062208 -m 1 -G 16 -E \
	stride=32,stripe_width=64,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	e76f23ec-8287-5f9e-84e5-a0a898668527 -L shares /dev/md/shares 488248832
await_node /dev/disk/by-uuid/e76f23ec-8287-5f9e-84e5-a0a898668527 /dev/md/shares

# make xfs moved on moved, 2.0 TiB, su 128 KiB, sw 3
# layout line 29 (filesystems.moved); destroys everything on moved
step 20/32 'make xfs moved on moved, 2.0 TiB, su 128 KiB, sw 3'
require_blank /dev/md/moved
mkfs.xfs -q -K -m crc=1,uuid=9b077c73-448f-56b8-986e-0c6356f05a26 -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=70301777920,su=131072,sw=3 -l size=1098514432,su=131072 -L moved /dev/md/moved
await_node /dev/disk/by-uuid/9b077c73-448f-56b8-986e-0c6356f05a26 /dev/md/moved

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 23 (arrays)
step 21/32 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot 'c288fd56:e42951be:90b66fd5:aaaf5e31 47769148:7321526b:88780c96:d764aefc' \
	/etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 31 (monitoring.mail)
step 22/32 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 31 (monitoring.scrub)
step 23/32 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 31 (monitoring.scrub)
step 24/32 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm office bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 2 lines into /etc/fstab
# layout line 27 (filesystems)
step 25/32 'enter 2 lines into /etc/fstab'
write_block /etc/fstab office bottom 0644 <<'END'
UUID=e76f23ec-8287-5f9e-84e5-a0a898668527 /srv/shares ext4 defaults,nofail,x-systemd.device-timeout=120s 0 2
UUID=9b077c73-448f-56b8-986e-0c6356f05a26 /srv/moved xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 27 (filesystems)
step 26/32 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /srv/shares
# layout line 28 (filesystems.shares)
step 27/32 'make the folder /srv/shares'
mkdir --parents /srv/shares

# mount shares at /srv/shares
# layout line 28 (filesystems.shares)
step 28/32 'mount shares at /srv/shares'
systemctl start /srv/shares

# make the folder /srv/moved
# layout line 29 (filesystems.moved)
step 29/32 'make the folder /srv/moved'
mkdir --parents /srv/moved

# mount moved at /srv/moved
# layout line 29 (filesystems.moved)
step 30/32 'mount moved at /srv/moved'
systemctl start /srv/moved

# let the initial sync of shares run
# layout line 24 (arrays.shares)
step 31/32 'let the initial sync of shares run'
set_attribute /sys/block/md_shares/md/sync_action idle

# let the initial sync of moved run
# layout line 25 (arrays.moved)
step 32/32 'let the initial sync of moved run'
set_attribute /sys/block/md_moved/md/sync_action idle

complete=yes
echo 'done'
}
