#!/bin/sh
# The plan for the host fifty, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:b247185adf4e65733834f16ecd73c37bb24ac399d5b406776f2ba72a86b88259
# note[write-hole] layout line 17: a crash of leg0 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 17: a crash of leg1 while a member is missing can spoil data that nobody was writing (the write hole)

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
disk_fi00=$(find_disk fi00 3221225472 512 FIFT-0H0 '' '' '')
disk_fi01=$(find_disk fi01 3221225472 512 FIFT-0H1 '' '' '')
disk_fi10=$(find_disk fi10 3221225472 512 FIFT-1H0 '' '' '')
disk_fi11=$(find_disk fi11 3221225472 512 FIFT-1H1 '' '' '')
disk_fi20=$(find_disk fi20 3221225472 512 FIFT-2H0 '' '' '')
disk_fi21=$(find_disk fi21 3221225472 512 FIFT-2H1 '' '' '')
require_distinct "$disk_fi00" "$disk_fi01" "$disk_fi10" "$disk_fi11" "$disk_fi20" "$disk_fi21"
require_all_blank "$disk_fi00" "$disk_fi01" "$disk_fi10" "$disk_fi11" "$disk_fi20" "$disk_fi21"
require_blank_range "$disk_fi00" 1048576 3215982592
require_blank_range "$disk_fi01" 1048576 3215982592
require_blank_range "$disk_fi10" 1048576 3215982592
require_blank_range "$disk_fi11" 1048576 3215982592
require_blank_range "$disk_fi20" 1048576 3215982592
require_blank_range "$disk_fi21" 1048576 3215982592
require_room_for_initramfs /boot

# name 3 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 16 (arrays)
step 1/33 'name 3 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf fifty top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/leg0 metadata=1.2 UUID=452786c8:5eb65727:98c8448f:14f24d43
ARRAY /dev/md/leg1 metadata=1.2 UUID=114147c3:928650ff:85c99cea:f263baf3
ARRAY /dev/md/fifty metadata=1.2 UUID=2e7bfc93:bfda5ebf:8c60eed6:56b8274d
END

# let udev tune 3 arrays and start 2 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-fifty.rules
# layout line 16 (arrays)
step 2/33 'let udev tune 3 arrays and start 2 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-fifty.rules'
write_file /etc/udev/rules.d/65-raidplan-fifty.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# leg0
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="452786c8:5eb65727:98c8448f:14f24d43", TEST=="md/stripe_cache_size", ATTR{md/stripe_cache_size}="1024"
# leg1
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="114147c3:928650ff:85c99cea:f263baf3", TEST=="md/stripe_cache_size", ATTR{md/stripe_cache_size}="1024"
# fifty
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="2e7bfc93:bfda5ebf:8c60eed6:56b8274d", ATTR{queue/read_ahead_kb}="1024"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="452786c8-5eb6-5727-98c8-448f14f24d43", TEST=="holders/md_leg0/md/array_state", TEST!="holders/md_leg0/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_leg0.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="114147c3-9286-50ff-85c9-9ceaf263baf3", TEST=="holders/md_leg1/md/array_state", TEST!="holders/md_leg1/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_leg1.timer"
END

# let udev read its rules again
# layout line 16 (arrays)
step 3/33 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 16 (arrays)
step 4/33 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid0
# layout line 16 (arrays)
step 5/33 'load the kernel module raid0'
modprobe raid0

# load the kernel module raid456
# layout line 16 (arrays)
step 6/33 'load the kernel module raid456'
modprobe raid456

# partition fi00: fi00.leg0 of 3.0 GiB
# layout line 14 (hardware.disks.fi00); destroys everything on the disk fi00
step 7/33 'partition fi00: fi00.leg0 of 3.0 GiB'
require_blank "$disk_fi00"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fi00" <<'END'
label: gpt
label-id: D208E991-1D1F-502B-81A5-51633BF24708
unit: sectors
sector-size: 512
start=2048, size=6281216, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=74181ED5-1347-5806-8199-2C19EB5B1246, name="leg0"
END
await_node /dev/disk/by-partuuid/74181ed5-1347-5806-8199-2c19eb5b1246

# partition fi01: fi01.leg1 of 3.0 GiB
# layout line 14 (hardware.disks.fi01); destroys everything on the disk fi01
step 8/33 'partition fi01: fi01.leg1 of 3.0 GiB'
require_blank "$disk_fi01"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fi01" <<'END'
label: gpt
label-id: 7490F6D3-361B-5A36-A874-0B0CC179E5B6
unit: sectors
sector-size: 512
start=2048, size=6281216, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=4F0D076E-033F-598B-A1BE-797D77B18924, name="leg1"
END
await_node /dev/disk/by-partuuid/4f0d076e-033f-598b-a1be-797d77b18924

# partition fi10: fi10.leg0 of 3.0 GiB
# layout line 14 (hardware.disks.fi10); destroys everything on the disk fi10
step 9/33 'partition fi10: fi10.leg0 of 3.0 GiB'
require_blank "$disk_fi10"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fi10" <<'END'
label: gpt
label-id: 10523280-226A-5D00-92BA-37762095522F
unit: sectors
sector-size: 512
start=2048, size=6281216, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=D805A343-C9B0-5771-9A4D-FADF2967D82C, name="leg0"
END
await_node /dev/disk/by-partuuid/d805a343-c9b0-5771-9a4d-fadf2967d82c

# partition fi11: fi11.leg1 of 3.0 GiB
# layout line 14 (hardware.disks.fi11); destroys everything on the disk fi11
step 10/33 'partition fi11: fi11.leg1 of 3.0 GiB'
require_blank "$disk_fi11"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fi11" <<'END'
label: gpt
label-id: 0DD29BC8-6BC4-54B6-BD19-4473498378EC
unit: sectors
sector-size: 512
start=2048, size=6281216, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=35C82230-C5A6-567F-8687-B4726DEDFFC2, name="leg1"
END
await_node /dev/disk/by-partuuid/35c82230-c5a6-567f-8687-b4726dedffc2

# partition fi20: fi20.leg0 of 3.0 GiB
# layout line 14 (hardware.disks.fi20); destroys everything on the disk fi20
step 11/33 'partition fi20: fi20.leg0 of 3.0 GiB'
require_blank "$disk_fi20"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fi20" <<'END'
label: gpt
label-id: 86B896C0-E2A7-5B20-8DAF-720B08D63586
unit: sectors
sector-size: 512
start=2048, size=6281216, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7F4EFC98-C079-589A-B13A-A5D596713ED8, name="leg0"
END
await_node /dev/disk/by-partuuid/7f4efc98-c079-589a-b13a-a5d596713ed8

# partition fi21: fi21.leg1 of 3.0 GiB
# layout line 14 (hardware.disks.fi21); destroys everything on the disk fi21
step 12/33 'partition fi21: fi21.leg1 of 3.0 GiB'
require_blank "$disk_fi21"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fi21" <<'END'
label: gpt
label-id: 8DC2D832-ED92-5C6E-88A1-00AADA2030C3
unit: sectors
sector-size: 512
start=2048, size=6281216, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=105A61AB-BC4F-5C2C-BE87-0BD8B39A95EE, name="leg1"
END
await_node /dev/disk/by-partuuid/105a61ab-bc4f-5c2c-be87-0bd8b39a95ee

# create raid5 leg0 of 3 members (fi00, fi10, fi20), 6.0 GiB usable
# layout line 17 (arrays.leg0); destroys everything on fi00.leg0, everything on fi10.leg0, everything on fi20.leg0
step 13/33 'create raid5 leg0 of 3 members (fi00, fi10, fi20), 6.0 GiB usable'
require_blank /dev/disk/by-partuuid/74181ed5-1347-5806-8199-2c19eb5b1246
require_blank /dev/disk/by-partuuid/d805a343-c9b0-5771-9a4d-fadf2967d82c
require_blank /dev/disk/by-partuuid/7f4efc98-c079-589a-b13a-a5d596713ed8
mdadm --create /dev/md/leg0 --run --quiet --readonly --metadata=1.2 --homehost=fifty --name=leg0 \
	--uuid=452786c8:5eb65727:98c8448f:14f24d43 --level=raid5 --raid-devices=3 --chunk=64K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap --force \
	/dev/disk/by-partuuid/74181ed5-1347-5806-8199-2c19eb5b1246 \
	/dev/disk/by-partuuid/d805a343-c9b0-5771-9a4d-fadf2967d82c \
	/dev/disk/by-partuuid/7f4efc98-c079-589a-b13a-a5d596713ed8
await_node /dev/md/leg0

# hold the initial sync of leg0, so that it does not slow down what follows
# layout line 17 (arrays.leg0)
step 14/33 'hold the initial sync of leg0, so that it does not slow down what follows'
set_attribute /sys/block/md_leg0/md/sync_action frozen

# open leg0 for writing
# layout line 17 (arrays.leg0)
step 15/33 'open leg0 for writing'
set_attribute /sys/block/md_leg0/md/array_state active

# let udev tune leg0 as it will at every boot: stripe_cache_size 1024
# layout line 17 (arrays.leg0)
step 16/33 'let udev tune leg0 as it will at every boot: stripe_cache_size 1024'
udevadm trigger --settle --action=change --name-match=/dev/md/leg0

# create raid5 leg1 of 3 members (fi01, fi11, fi21), 6.0 GiB usable
# layout line 17 (arrays.leg1); destroys everything on fi01.leg1, everything on fi11.leg1, everything on fi21.leg1
step 17/33 'create raid5 leg1 of 3 members (fi01, fi11, fi21), 6.0 GiB usable'
require_blank /dev/disk/by-partuuid/4f0d076e-033f-598b-a1be-797d77b18924
require_blank /dev/disk/by-partuuid/35c82230-c5a6-567f-8687-b4726dedffc2
require_blank /dev/disk/by-partuuid/105a61ab-bc4f-5c2c-be87-0bd8b39a95ee
mdadm --create /dev/md/leg1 --run --quiet --readonly --metadata=1.2 --homehost=fifty --name=leg1 \
	--uuid=114147c3:928650ff:85c99cea:f263baf3 --level=raid5 --raid-devices=3 --chunk=64K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap --force \
	/dev/disk/by-partuuid/4f0d076e-033f-598b-a1be-797d77b18924 \
	/dev/disk/by-partuuid/35c82230-c5a6-567f-8687-b4726dedffc2 \
	/dev/disk/by-partuuid/105a61ab-bc4f-5c2c-be87-0bd8b39a95ee
await_node /dev/md/leg1

# hold the initial sync of leg1, so that it does not slow down what follows
# layout line 17 (arrays.leg1)
step 18/33 'hold the initial sync of leg1, so that it does not slow down what follows'
set_attribute /sys/block/md_leg1/md/sync_action frozen

# open leg1 for writing
# layout line 17 (arrays.leg1)
step 19/33 'open leg1 for writing'
set_attribute /sys/block/md_leg1/md/array_state active

# let udev tune leg1 as it will at every boot: stripe_cache_size 1024
# layout line 17 (arrays.leg1)
step 20/33 'let udev tune leg1 as it will at every boot: stripe_cache_size 1024'
udevadm trigger --settle --action=change --name-match=/dev/md/leg1

# create raid0 fifty of 2 members (leg0, leg1), 12.0 GiB usable
# layout line 18 (arrays.fifty); destroys everything on leg0, everything on leg1
step 21/33 'create raid0 fifty of 2 members (leg0, leg1), 12.0 GiB usable'
require_blank /dev/md/leg0
require_blank /dev/md/leg1
mdadm --create /dev/md/fifty --run --quiet --metadata=1.2 --homehost=fifty --name=fifty \
	--uuid=2e7bfc93:bfda5ebf:8c60eed6:56b8274d --level=raid0 --raid-devices=2 --chunk=128K /dev/md/leg0 \
	/dev/md/leg1
await_node /dev/md/fifty

# let udev tune fifty as it will at every boot: read_ahead_kb 1024
# layout line 18 (arrays.fifty)
step 22/33 'let udev tune fifty as it will at every boot: read_ahead_kb 1024'
udevadm trigger --settle --action=change --name-match=/dev/md/fifty

# make xfs fifty on fifty, 12.0 GiB, su 128 KiB, sw 2
# layout line 21 (filesystems.fifty); destroys everything on fifty
step 23/33 'make xfs fifty on fifty, 12.0 GiB, su 128 KiB, sw 2'
require_blank /dev/md/fifty
mkfs.xfs -q -K -m crc=1,uuid=185588b5-71fe-5df3-8f6c-f56006236662 -b size=4096 -s size=512 -i \
	size=512,maxpct=25 -d agsize=802553856,su=131072,sw=2 -l size=67108864,su=131072 -L fifty /dev/md/fifty
await_node /dev/disk/by-uuid/185588b5-71fe-5df3-8f6c-f56006236662 /dev/md/fifty

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 16 (arrays)
step 24/33 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot \
	'452786c8:5eb65727:98c8448f:14f24d43 114147c3:928650ff:85c99cea:f263baf3 2e7bfc93:bfda5ebf:8c60eed6:56b8274d' \
	/etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 23 (monitoring.mail)
step 25/33 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 23 (monitoring.scrub)
step 26/33 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 23 (monitoring.scrub)
step 27/33 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm fifty bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 1 line into /etc/fstab
# layout line 20 (filesystems)
step 28/33 'enter 1 line into /etc/fstab'
write_block /etc/fstab fifty bottom 0644 <<'END'
UUID=185588b5-71fe-5df3-8f6c-f56006236662 /data/fifty xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 20 (filesystems)
step 29/33 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /data/fifty
# layout line 21 (filesystems.fifty)
step 30/33 'make the folder /data/fifty'
mkdir --parents /data/fifty

# mount fifty at /data/fifty
# layout line 21 (filesystems.fifty)
step 31/33 'mount fifty at /data/fifty'
systemctl start /data/fifty

# let the initial sync of leg0 run
# layout line 17 (arrays.leg0)
step 32/33 'let the initial sync of leg0 run'
set_attribute /sys/block/md_leg0/md/sync_action idle

# let the initial sync of leg1 run
# layout line 17 (arrays.leg1)
step 33/33 'let the initial sync of leg1 run'
set_attribute /sys/block/md_leg1/md/sync_action idle

complete=yes
echo 'done'
}
