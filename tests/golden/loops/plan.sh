#!/bin/sh
# The plan for the host loops, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:807a7253ad3544183d01cc511857a7a904d6c19c32641c7a66f433c3f06643f8
# note[write-hole] layout line 16: a crash of loop_five while a member is missing can spoil data that nobody was writing (the write hole)

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
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/loop_pair metadata=1.2 UUID=e4e44bd9:ff5d5f65:968a075f:951f5592
ARRAY /dev/md/loop_five metadata=1.2 UUID=4c15ef26:c59b5295:9eb9917c:66ca7718
END

# let udev start 2 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-loops.rules
# layout line 14 (arrays)
step 2/35 'let udev start 2 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-loops.rules'
write_file /etc/udev/rules.d/65-raidplan-loops.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="e4e44bd9-ff5d-5f65-968a-075f951f5592", TEST=="holders/md_loop_pair/md/array_state", TEST!="holders/md_loop_pair/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_loop_pair.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="4c15ef26-c59b-5295-9eb9-917c66ca7718", TEST=="holders/md_loop_five/md/array_state", TEST!="holders/md_loop_five/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_loop_five.timer"
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
await_node /dev/disk/by-partuuid/c46a368c-2163-5640-b6ed-69cc1a805871

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
await_node /dev/disk/by-partuuid/270e1383-cd96-5821-9550-f4ee6fb2f63c

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
await_node /dev/disk/by-partuuid/326b5db3-ac44-5d60-b3d1-defe2cc00a10

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
await_node /dev/disk/by-partuuid/b5072c53-60e8-5752-a215-86617d56210d

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
await_node /dev/disk/by-partuuid/dc04ba96-8c2f-57bb-af22-7c7ed6766063

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

# hold the initial sync of loop_pair, so that it does not slow down what follows
# layout line 15 (arrays.loop_pair)
step 13/35 'hold the initial sync of loop_pair, so that it does not slow down what follows'
set_attribute /sys/block/md_loop_pair/md/sync_action frozen

# open loop_pair for writing
# layout line 15 (arrays.loop_pair)
step 14/35 'open loop_pair for writing'
set_attribute /sys/block/md_loop_pair/md/array_state active

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

# hold the initial sync of loop_five, so that it does not slow down what follows
# layout line 16 (arrays.loop_five)
step 16/35 'hold the initial sync of loop_five, so that it does not slow down what follows'
set_attribute /sys/block/md_loop_five/md/sync_action frozen

# open loop_five for writing
# layout line 16 (arrays.loop_five)
step 17/35 'open loop_five for writing'
set_attribute /sys/block/md_loop_five/md/array_state active

# make ext4 loop_pair on loop_pair, 509 MiB, 130,048 inodes
# layout line 19 (filesystems.loop_pair); destroys everything on loop_pair
step 18/35 'make ext4 loop_pair on loop_pair, 509 MiB, 130,048 inodes'
require_blank /dev/md/loop_pair
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 1024 -I 256 -N 130304 -m 0 -G 16 -E \
	stride=0,stripe_width=0,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	b845c78e-3bc1-5bf4-bc9a-8b9177b27c13 -L loop-pair /dev/md/loop_pair 521216
await_node /dev/disk/by-uuid/b845c78e-3bc1-5bf4-bc9a-8b9177b27c13 /dev/md/loop_pair

# make ext4 loop_five on loop_five, 2.0 GiB, 130,560 inodes, stride 16, stripe width 32
# layout line 20 (filesystems.loop_five); destroys everything on loop_five
step 19/35 'make ext4 loop_five on loop_five, 2.0 GiB, 130,560 inodes, stride 16, stripe width 32'
require_blank /dev/md/loop_five
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 4096 -I 256 -N 130560 -m 0 -G 16 -E \
	stride=16,stripe_width=32,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	ac639dd4-0b85-5bb1-96a6-f6788a456741 -L loop-five /dev/md/loop_five 522240
await_node /dev/disk/by-uuid/ac639dd4-0b85-5bb1-96a6-f6788a456741 /dev/md/loop_five

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 14 (arrays)
step 20/35 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot 'e4e44bd9:ff5d5f65:968a075f:951f5592 4c15ef26:c59b5295:9eb9917c:66ca7718' \
	/etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 25 (monitoring.mail)
step 21/35 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 25 (monitoring.scrub)
step 22/35 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 25 (monitoring.scrub)
step 23/35 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm loops bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 3 lines into /etc/fstab
# layout line 18 (filesystems)
step 24/35 'enter 3 lines into /etc/fstab'
write_block /etc/fstab loops bottom 0644 <<'END'
/swapfile-loops none swap sw,nofail,pri=1 0 0
UUID=b845c78e-3bc1-5bf4-bc9a-8b9177b27c13 /srv/loop-pair ext4 defaults,nofail,x-systemd.device-timeout=120s 0 2
UUID=ac639dd4-0b85-5bb1-96a6-f6788a456741 /srv/loop-five ext4 defaults,nofail,x-systemd.device-timeout=120s 0 2
END

# let systemd read fstab again
# layout line 18 (filesystems)
step 25/35 'let systemd read fstab again'
systemctl daemon-reload

# write the swap file /swapfile-loops, 64 MiB
# layout line 23 (swap.loop_file)
step 26/35 'write the swap file /swapfile-loops, 64 MiB'
require_blank /swapfile-loops
dd if=/dev/zero of=/swapfile-loops bs=1MiB count=64 conv=excl,fsync status=none

# let only root read /swapfile-loops
# layout line 23 (swap.loop_file)
step 27/35 'let only root read /swapfile-loops'
chmod 0600 /swapfile-loops

# make swap loop_file in /swapfile-loops
# layout line 23 (swap.loop_file)
step 28/35 'make swap loop_file in /swapfile-loops'
mkswap --quiet --uuid 195d962c-01bf-557b-97ae-6eaac424af58 /swapfile-loops

# use swap loop_file
# layout line 23 (swap.loop_file)
step 29/35 'use swap loop_file'
swapon --priority 1 /swapfile-loops

# make the folder /srv/loop-pair
# layout line 19 (filesystems.loop_pair)
step 30/35 'make the folder /srv/loop-pair'
mkdir --parents /srv/loop-pair

# mount loop_pair at /srv/loop-pair
# layout line 19 (filesystems.loop_pair)
step 31/35 'mount loop_pair at /srv/loop-pair'
systemctl start /srv/loop-pair

# make the folder /srv/loop-five
# layout line 20 (filesystems.loop_five)
step 32/35 'make the folder /srv/loop-five'
mkdir --parents /srv/loop-five

# mount loop_five at /srv/loop-five
# layout line 20 (filesystems.loop_five)
step 33/35 'mount loop_five at /srv/loop-five'
systemctl start /srv/loop-five

# let the initial sync of loop_pair run
# layout line 15 (arrays.loop_pair)
step 34/35 'let the initial sync of loop_pair run'
set_attribute /sys/block/md_loop_pair/md/sync_action idle

# let the initial sync of loop_five run
# layout line 16 (arrays.loop_five)
step 35/35 'let the initial sync of loop_five run'
set_attribute /sys/block/md_loop_five/md/sync_action idle

complete=yes
echo 'done'
}
