#!/bin/sh
# The plan for the host r710, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:01d9f4cea84a0d45c3d95a97865760e84059b558b72a902fd418938b4f50a2ef

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
require_tools awk blkid cpio df find grep lsblk mdadm mkdir mkfs.xfs mkinitramfs mktemp modprobe readlink \
	run-parts sed sfdisk sort systemctl udevadm unmkinitramfs update-initramfs wipefs
disks=$(list_disks)
disk_k15_0=$(find_disk k15_0 300000000000 512 R710-6SJ00 '' '' '')
disk_k15_1=$(find_disk k15_1 300000000000 512 R710-6SJ01 '' '' '')
disk_k7_0=$(find_disk k7_0 500107862016 512 R710-9QM00 '' '' '')
disk_k7_1=$(find_disk k7_1 500107862016 512 R710-9QM01 '' '' '')
disk_k10_0=$(find_disk k10_0 600127266816 512 R710-6WN00 '' '' '')
disk_k10_1=$(find_disk k10_1 600127266816 512 R710-6WN01 '' '' '')
require_distinct "$disk_k15_0" "$disk_k15_1" "$disk_k7_0" "$disk_k7_1" "$disk_k10_0" "$disk_k10_1"
require_all_blank "$disk_k15_0" "$disk_k15_1" "$disk_k7_0" "$disk_k7_1" "$disk_k10_0" "$disk_k10_1"
require_blank_range "$disk_k15_0" 1048576 299864424448
require_blank_range "$disk_k15_1" 1048576 299864424448
require_blank_range "$disk_k7_0" 1048576 499972571136
require_blank_range "$disk_k7_1" 1048576 499972571136
require_blank_range "$disk_k10_0" 1048576 599990992896
require_blank_range "$disk_k10_1" 1048576 599990992896
require_room_for_initramfs /boot

# name 3 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 30 (arrays)
step 1/38 'name 3 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf r710 top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/quick metadata=1.2 UUID=f4b1a083:30da58dd:ab8fc4a0:f7c90bfa
ARRAY /dev/md/archive metadata=1.2 UUID=0edfe845:b5b2579f:b5e64972:314a8e27
ARRAY /dev/md/observations metadata=1.2 UUID=55234523:0d815618:a4f495f2:387a9c7e
END

# let udev start 3 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-r710.rules
# layout line 30 (arrays)
step 2/38 'let udev start 3 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-r710.rules'
write_file /etc/udev/rules.d/65-raidplan-r710.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="f4b1a083-30da-58dd-ab8f-c4a0f7c90bfa", TEST=="holders/md_quick/md/array_state", TEST!="holders/md_quick/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_quick.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="0edfe845-b5b2-579f-b5e6-4972314a8e27", TEST=="holders/md_archive/md/array_state", TEST!="holders/md_archive/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_archive.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="55234523-0d81-5618-a4f4-95f2387a9c7e", TEST=="holders/md_observations/md/array_state", TEST!="holders/md_observations/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_observations.timer"
END

# let udev read its rules again
# layout line 30 (arrays)
step 3/38 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 30 (arrays)
step 4/38 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid1
# layout line 30 (arrays)
step 5/38 'load the kernel module raid1'
modprobe raid1

# partition k15_0: k15_0.quick of 279.3 GiB
# layout line 23 (hardware.disks.k15_0); destroys everything on the disk k15_0
step 6/38 'partition k15_0: k15_0.quick of 279.3 GiB'
require_blank "$disk_k15_0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_k15_0" <<'END'
label: gpt
label-id: 5C10F8EA-11AD-5188-BD39-41E14477512F
unit: sectors
sector-size: 512
start=2048, size=585672704, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=9B451BDD-FF68-5C97-B9D7-578F3A783FBD, name="quick"
END
await_node /dev/disk/by-partuuid/9b451bdd-ff68-5c97-b9d7-578f3a783fbd

# partition k15_1: k15_1.quick of 279.3 GiB
# layout line 23 (hardware.disks.k15_1); destroys everything on the disk k15_1
step 7/38 'partition k15_1: k15_1.quick of 279.3 GiB'
require_blank "$disk_k15_1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_k15_1" <<'END'
label: gpt
label-id: 99EE0093-0FAA-55B6-AEB5-0C39095E01F6
unit: sectors
sector-size: 512
start=2048, size=585672704, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=FA0A2476-D211-5486-82F8-CA6EECB4A82C, name="quick"
END
await_node /dev/disk/by-partuuid/fa0a2476-d211-5486-82f8-ca6eecb4a82c

# partition k7_0: k7_0.archive of 465.6 GiB
# layout line 25 (hardware.disks.k7_0); destroys everything on the disk k7_0
step 8/38 'partition k7_0: k7_0.archive of 465.6 GiB'
require_blank "$disk_k7_0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_k7_0" <<'END'
label: gpt
label-id: AA4455A9-B0A9-53F0-8FD7-0591EA04C773
unit: sectors
sector-size: 512
start=2048, size=976508928, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=E78B609B-7121-5F22-A703-E2E4977704C6, name="archive"
END
await_node /dev/disk/by-partuuid/e78b609b-7121-5f22-a703-e2e4977704c6

# partition k7_1: k7_1.archive of 465.6 GiB
# layout line 25 (hardware.disks.k7_1); destroys everything on the disk k7_1
step 9/38 'partition k7_1: k7_1.archive of 465.6 GiB'
require_blank "$disk_k7_1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_k7_1" <<'END'
label: gpt
label-id: 111E89C0-275F-520C-BE94-852EED543EDB
unit: sectors
sector-size: 512
start=2048, size=976508928, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=771C6246-6899-5777-801E-9A7FFB46008C, name="archive"
END
await_node /dev/disk/by-partuuid/771c6246-6899-5777-801e-9a7ffb46008c

# partition k10_0: k10_0.observations of 558.8 GiB
# layout line 27 (hardware.disks.k10_0); destroys everything on the disk k10_0
step 10/38 'partition k10_0: k10_0.observations of 558.8 GiB'
require_blank "$disk_k10_0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_k10_0" <<'END'
label: gpt
label-id: 4EC56B3A-5FA2-5EB3-8433-C67F82BB634C
unit: sectors
sector-size: 512
start=2048, size=1171857408, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=35FC7287-4845-5F78-A935-8D260BBB0842, name="observations"
END
await_node /dev/disk/by-partuuid/35fc7287-4845-5f78-a935-8d260bbb0842

# partition k10_1: k10_1.observations of 558.8 GiB
# layout line 27 (hardware.disks.k10_1); destroys everything on the disk k10_1
step 11/38 'partition k10_1: k10_1.observations of 558.8 GiB'
require_blank "$disk_k10_1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_k10_1" <<'END'
label: gpt
label-id: D5665B1F-4D53-5963-A7BC-4A412BE21A2D
unit: sectors
sector-size: 512
start=2048, size=1171857408, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=88B91E66-5EA6-5F42-9065-9FCE65141DD2, name="observations"
END
await_node /dev/disk/by-partuuid/88b91e66-5ea6-5f42-9065-9fce65141dd2

# create raid1 quick of 2 members (k15_0, k15_1), 279.1 GiB usable
# layout line 31 (arrays.quick); destroys everything on k15_0.quick, everything on k15_1.quick
step 12/38 'create raid1 quick of 2 members (k15_0, k15_1), 279.1 GiB usable'
require_blank /dev/disk/by-partuuid/9b451bdd-ff68-5c97-b9d7-578f3a783fbd
require_blank /dev/disk/by-partuuid/fa0a2476-d211-5486-82f8-ca6eecb4a82c
mdadm --create /dev/md/quick --run --quiet --readonly --metadata=1.2 --homehost=r710 --name=quick \
	--uuid=f4b1a083:30da58dd:ab8fc4a0:f7c90bfa --level=raid1 --raid-devices=2 --bitmap=internal \
	--consistency-policy=bitmap /dev/disk/by-partuuid/9b451bdd-ff68-5c97-b9d7-578f3a783fbd \
	/dev/disk/by-partuuid/fa0a2476-d211-5486-82f8-ca6eecb4a82c
await_node /dev/md/quick

# hold the initial sync of quick, so that it does not slow down what follows
# layout line 31 (arrays.quick)
step 13/38 'hold the initial sync of quick, so that it does not slow down what follows'
set_attribute /sys/block/md_quick/md/sync_action frozen

# open quick for writing
# layout line 31 (arrays.quick)
step 14/38 'open quick for writing'
set_attribute /sys/block/md_quick/md/array_state active

# create raid1 archive of 2 members (k7_0, k7_1), 465.5 GiB usable
# layout line 32 (arrays.archive); destroys everything on k7_0.archive, everything on k7_1.archive
step 15/38 'create raid1 archive of 2 members (k7_0, k7_1), 465.5 GiB usable'
require_blank /dev/disk/by-partuuid/e78b609b-7121-5f22-a703-e2e4977704c6
require_blank /dev/disk/by-partuuid/771c6246-6899-5777-801e-9a7ffb46008c
mdadm --create /dev/md/archive --run --quiet --readonly --metadata=1.2 --homehost=r710 --name=archive \
	--uuid=0edfe845:b5b2579f:b5e64972:314a8e27 --level=raid1 --raid-devices=2 --bitmap=internal \
	--consistency-policy=bitmap /dev/disk/by-partuuid/e78b609b-7121-5f22-a703-e2e4977704c6 \
	/dev/disk/by-partuuid/771c6246-6899-5777-801e-9a7ffb46008c
await_node /dev/md/archive

# hold the initial sync of archive, so that it does not slow down what follows
# layout line 32 (arrays.archive)
step 16/38 'hold the initial sync of archive, so that it does not slow down what follows'
set_attribute /sys/block/md_archive/md/sync_action frozen

# open archive for writing
# layout line 32 (arrays.archive)
step 17/38 'open archive for writing'
set_attribute /sys/block/md_archive/md/array_state active

# create raid1 observations of 2 members (k10_0, k10_1), 558.7 GiB usable
# layout line 33 (arrays.observations); destroys everything on k10_0.observations, everything on k10_1.observations
step 18/38 'create raid1 observations of 2 members (k10_0, k10_1), 558.7 GiB usable'
require_blank /dev/disk/by-partuuid/35fc7287-4845-5f78-a935-8d260bbb0842
require_blank /dev/disk/by-partuuid/88b91e66-5ea6-5f42-9065-9fce65141dd2
mdadm --create /dev/md/observations --run --quiet --readonly --metadata=1.2 --homehost=r710 \
	--name=observations --uuid=55234523:0d815618:a4f495f2:387a9c7e --level=raid1 --raid-devices=2 \
	--bitmap=internal --consistency-policy=bitmap /dev/disk/by-partuuid/35fc7287-4845-5f78-a935-8d260bbb0842 \
	/dev/disk/by-partuuid/88b91e66-5ea6-5f42-9065-9fce65141dd2
await_node /dev/md/observations

# hold the initial sync of observations, so that it does not slow down what follows
# layout line 33 (arrays.observations)
step 19/38 'hold the initial sync of observations, so that it does not slow down what follows'
set_attribute /sys/block/md_observations/md/sync_action frozen

# open observations for writing
# layout line 33 (arrays.observations)
step 20/38 'open observations for writing'
set_attribute /sys/block/md_observations/md/array_state active

# make xfs quick on quick, 279.1 GiB
# layout line 36 (filesystems.quick); destroys everything on quick
step 21/38 'make xfs quick on quick, 279.1 GiB'
require_blank /dev/md/quick
mkfs.xfs -q -K -m crc=1,uuid=40a98d9a-d387-5222-a1f9-b96a04745e67 -b size=4096 -s size=512 -i \
	size=512,maxpct=25 -d agsize=74932289536,noalign -l size=146350080 -L quick /dev/md/quick
await_node /dev/disk/by-uuid/40a98d9a-d387-5222-a1f9-b96a04745e67 /dev/md/quick

# make xfs archive on archive, 465.5 GiB
# layout line 37 (filesystems.archive); destroys everything on archive
step 22/38 'make xfs archive on archive, 465.5 GiB'
require_blank /dev/md/archive
mkfs.xfs -q -K -m crc=1,uuid=884c7c94-c18d-5f69-92f3-c24c56aa1914 -b size=4096 -s size=512 -i \
	size=512,maxpct=25 -d agsize=124959326208,noalign -l size=244060160 -L archive /dev/md/archive
await_node /dev/disk/by-uuid/884c7c94-c18d-5f69-92f3-c24c56aa1914 /dev/md/archive

# make xfs observations on observations, 558.7 GiB
# layout line 38 (filesystems.observations); destroys everything on observations
step 23/38 'make xfs observations on observations, 558.7 GiB'
require_blank /dev/md/observations
mkfs.xfs -q -K -m crc=1,uuid=353c5ee1-685a-59ae-a500-134bda13234b -b size=4096 -s size=512 -i \
	size=512,maxpct=25 -d agsize=149963931648,noalign -l size=292896768 -L observations /dev/md/observations
await_node /dev/disk/by-uuid/353c5ee1-685a-59ae-a500-134bda13234b /dev/md/observations

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 30 (arrays)
step 24/38 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot \
	'f4b1a083:30da58dd:ab8fc4a0:f7c90bfa 0edfe845:b5b2579f:b5e64972:314a8e27 55234523:0d815618:a4f495f2:387a9c7e' \
	/etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 40 (monitoring.mail)
step 25/38 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 40 (monitoring.scrub)
step 26/38 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 40 (monitoring.scrub)
step 27/38 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm r710 bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 3 lines into /etc/fstab
# layout line 35 (filesystems)
step 28/38 'enter 3 lines into /etc/fstab'
write_block /etc/fstab r710 bottom 0644 <<'END'
UUID=40a98d9a-d387-5222-a1f9-b96a04745e67 /srv/quick xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
UUID=884c7c94-c18d-5f69-92f3-c24c56aa1914 /srv/archive xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
UUID=353c5ee1-685a-59ae-a500-134bda13234b /srv/observations xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 35 (filesystems)
step 29/38 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /srv/quick
# layout line 36 (filesystems.quick)
step 30/38 'make the folder /srv/quick'
mkdir --parents /srv/quick

# mount quick at /srv/quick
# layout line 36 (filesystems.quick)
step 31/38 'mount quick at /srv/quick'
systemctl start /srv/quick

# make the folder /srv/archive
# layout line 37 (filesystems.archive)
step 32/38 'make the folder /srv/archive'
mkdir --parents /srv/archive

# mount archive at /srv/archive
# layout line 37 (filesystems.archive)
step 33/38 'mount archive at /srv/archive'
systemctl start /srv/archive

# make the folder /srv/observations
# layout line 38 (filesystems.observations)
step 34/38 'make the folder /srv/observations'
mkdir --parents /srv/observations

# mount observations at /srv/observations
# layout line 38 (filesystems.observations)
step 35/38 'mount observations at /srv/observations'
systemctl start /srv/observations

# let the initial sync of quick run
# layout line 31 (arrays.quick)
step 36/38 'let the initial sync of quick run'
set_attribute /sys/block/md_quick/md/sync_action idle

# let the initial sync of archive run
# layout line 32 (arrays.archive)
step 37/38 'let the initial sync of archive run'
set_attribute /sys/block/md_archive/md/sync_action idle

# let the initial sync of observations run
# layout line 33 (arrays.observations)
step 38/38 'let the initial sync of observations run'
set_attribute /sys/block/md_observations/md/sync_action idle

complete=yes
echo 'done'
}
