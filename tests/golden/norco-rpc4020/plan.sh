#!/bin/sh
# The plan for the host norco, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:b56e97c8f98afed0adc88a74eb551091e658671e5c1ea8f08bee1dd078c597db
# note[crowded-slot] layout line 19: the 8 disks in use behind norco_slot could send 880 MB/s at once, and norco_slot carries 820
# warning[spinup-surge] layout line 24: norco_psu starts 16 disks and 100 W besides: 43.5 A at 2.2 A for a hard disk, of its 45 at 12 V (97%)
# note[no-spare] layout line 30: fast has 8 members and no spare: after a failure it stays degraded until a disk is changed
# note[no-spare] layout line 36: bulk has 8 members and no spare: after a failure it stays degraded until a disk is changed
# note[write-hole] layout line 37: a crash of bulk while a member is missing can spoil data that nobody was writing (the write hole)
# note[component-loss-kills-array] layout line 39: bulk survives the loss of 2 disks, and the controller board takes 4 of its 8 members with it, rr2680 4

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
disk_nb0=$(find_disk nb0 2000398934016 512 NORC-YGB00 '' '' '')
disk_nb1=$(find_disk nb1 2000398934016 512 NORC-YGB01 '' '' '')
disk_nb2=$(find_disk nb2 2000398934016 512 NORC-YGB02 '' '' '')
disk_nb3=$(find_disk nb3 2000398934016 512 NORC-YGB03 '' '' '')
disk_nb4=$(find_disk nb4 2000398934016 512 NORC-YGB04 '' '' '')
disk_nb5=$(find_disk nb5 2000398934016 512 NORC-YGB05 '' '' '')
disk_nb6=$(find_disk nb6 2000398934016 512 NORC-YGB06 '' '' '')
disk_nb7=$(find_disk nb7 2000398934016 512 NORC-YGB07 '' '' '')
disk_nc0=$(find_disk nc0 2000398934016 512 NORC-YGC00 '' '' '')
disk_nc1=$(find_disk nc1 2000398934016 512 NORC-YGC01 '' '' '')
disk_nc2=$(find_disk nc2 2000398934016 512 NORC-YGC02 '' '' '')
disk_nc3=$(find_disk nc3 2000398934016 512 NORC-YGC03 '' '' '')
disk_nc4=$(find_disk nc4 2000398934016 512 NORC-YGC04 '' '' '')
disk_nc5=$(find_disk nc5 2000398934016 512 NORC-YGC05 '' '' '')
disk_nc6=$(find_disk nc6 2000398934016 512 NORC-YGC06 '' '' '')
disk_nc7=$(find_disk nc7 2000398934016 512 NORC-YGC07 '' '' '')
require_distinct "$disk_nb0" "$disk_nb1" "$disk_nb2" "$disk_nb3" "$disk_nb4" "$disk_nb5" "$disk_nb6" \
	"$disk_nb7" "$disk_nc0" "$disk_nc1" "$disk_nc2" "$disk_nc3" "$disk_nc4" "$disk_nc5" "$disk_nc6" "$disk_nc7"
require_all_blank "$disk_nb0" "$disk_nb1" "$disk_nb2" "$disk_nb3" "$disk_nb4" "$disk_nb5" "$disk_nb6" \
	"$disk_nb7" "$disk_nc0" "$disk_nc1" "$disk_nc2" "$disk_nc3" "$disk_nc4" "$disk_nc5" "$disk_nc6" "$disk_nc7"
require_blank_range "$disk_nb0" 1048576 2000263577600
require_blank_range "$disk_nb1" 1048576 2000263577600
require_blank_range "$disk_nb2" 1048576 2000263577600
require_blank_range "$disk_nb3" 1048576 2000263577600
require_blank_range "$disk_nb4" 1048576 2000263577600
require_blank_range "$disk_nb5" 1048576 2000263577600
require_blank_range "$disk_nb6" 1048576 2000263577600
require_blank_range "$disk_nb7" 1048576 2000263577600
require_blank_range "$disk_nc0" 1048576 2000263577600
require_blank_range "$disk_nc1" 1048576 2000263577600
require_blank_range "$disk_nc2" 1048576 2000263577600
require_blank_range "$disk_nc3" 1048576 2000263577600
require_blank_range "$disk_nc4" 1048576 2000263577600
require_blank_range "$disk_nc5" 1048576 2000263577600
require_blank_range "$disk_nc6" 1048576 2000263577600
require_blank_range "$disk_nc7" 1048576 2000263577600
require_room_for_initramfs /boot

# name 2 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 29 (arrays)
step 1/43 'name 2 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf norco top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/fast metadata=1.2 UUID=a242a0f1:705f560f:8ed72816:f4cd71b5
ARRAY /dev/md/bulk metadata=1.2 UUID=3f86bb2f:e5095b80:b6182a44:d7d29c46
END

# let udev tune 1 array and start 2 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-norco.rules
# layout line 29 (arrays)
step 2/43 'let udev tune 1 array and start 2 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-norco.rules'
write_file /etc/udev/rules.d/65-raidplan-norco.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# bulk
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="3f86bb2f:e5095b80:b6182a44:d7d29c46", TEST=="md/stripe_cache_size", ATTR{md/stripe_cache_size}="4096"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="a242a0f1-705f-560f-8ed7-2816f4cd71b5", TEST=="holders/md_fast/md/array_state", TEST!="holders/md_fast/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_fast.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="3f86bb2f-e509-5b80-b618-2a44d7d29c46", TEST=="holders/md_bulk/md/array_state", TEST!="holders/md_bulk/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_bulk.timer"
END

# let udev read its rules again
# layout line 29 (arrays)
step 3/43 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 29 (arrays)
step 4/43 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid10
# layout line 29 (arrays)
step 5/43 'load the kernel module raid10'
modprobe raid10

# load the kernel module raid456
# layout line 29 (arrays)
step 6/43 'load the kernel module raid456'
modprobe raid456

# partition nb0: nb0.fast of 1.8 TiB
# layout line 26 (hardware.disks.nb0); destroys everything on the disk nb0
step 7/43 'partition nb0: nb0.fast of 1.8 TiB'
require_blank "$disk_nb0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nb0" <<'END'
label: gpt
label-id: CFB4FABF-5274-58BA-BC80-4C24E8310BB1
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=C9DFFF41-8B89-53CF-A22B-CAF2CD417417, name="fast"
END
await_node /dev/disk/by-partuuid/c9dfff41-8b89-53cf-a22b-caf2cd417417

# partition nb1: nb1.fast of 1.8 TiB
# layout line 26 (hardware.disks.nb1); destroys everything on the disk nb1
step 8/43 'partition nb1: nb1.fast of 1.8 TiB'
require_blank "$disk_nb1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nb1" <<'END'
label: gpt
label-id: DD9A13C9-4BB7-5C18-8476-B5D1324C6EC7
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=1DECCFCA-461B-5798-8C28-82A8B4577B99, name="fast"
END
await_node /dev/disk/by-partuuid/1deccfca-461b-5798-8c28-82a8b4577b99

# partition nb2: nb2.fast of 1.8 TiB
# layout line 26 (hardware.disks.nb2); destroys everything on the disk nb2
step 9/43 'partition nb2: nb2.fast of 1.8 TiB'
require_blank "$disk_nb2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nb2" <<'END'
label: gpt
label-id: 75478255-333E-509F-AE90-74A6AFA69F87
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F2B860D5-C78F-54AE-A5F3-B65FA73E313F, name="fast"
END
await_node /dev/disk/by-partuuid/f2b860d5-c78f-54ae-a5f3-b65fa73e313f

# partition nb3: nb3.fast of 1.8 TiB
# layout line 26 (hardware.disks.nb3); destroys everything on the disk nb3
step 10/43 'partition nb3: nb3.fast of 1.8 TiB'
require_blank "$disk_nb3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nb3" <<'END'
label: gpt
label-id: 8E41E092-1456-5166-AF61-AB95DC58D9D8
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7E5BA151-03A4-5FC4-A73F-777160894B63, name="fast"
END
await_node /dev/disk/by-partuuid/7e5ba151-03a4-5fc4-a73f-777160894b63

# partition nb4: nb4.bulk of 1.8 TiB
# layout line 26 (hardware.disks.nb4); destroys everything on the disk nb4
step 11/43 'partition nb4: nb4.bulk of 1.8 TiB'
require_blank "$disk_nb4"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nb4" <<'END'
label: gpt
label-id: 5FD747A2-E52E-5127-954D-62685455B4DC
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=FB7553F3-F6A4-5570-AE7A-D86F0B5A6193, name="bulk"
END
await_node /dev/disk/by-partuuid/fb7553f3-f6a4-5570-ae7a-d86f0b5a6193

# partition nb5: nb5.bulk of 1.8 TiB
# layout line 26 (hardware.disks.nb5); destroys everything on the disk nb5
step 12/43 'partition nb5: nb5.bulk of 1.8 TiB'
require_blank "$disk_nb5"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nb5" <<'END'
label: gpt
label-id: 256B6377-B1F4-5AA8-A587-F79652FCE638
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=61A6784A-AB8A-50AA-AA4A-34A24CB280D8, name="bulk"
END
await_node /dev/disk/by-partuuid/61a6784a-ab8a-50aa-aa4a-34a24cb280d8

# partition nb6: nb6.bulk of 1.8 TiB
# layout line 26 (hardware.disks.nb6); destroys everything on the disk nb6
step 13/43 'partition nb6: nb6.bulk of 1.8 TiB'
require_blank "$disk_nb6"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nb6" <<'END'
label: gpt
label-id: E21CB8B9-3B5D-550A-9181-5F311BC59722
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=838F6195-6877-5DD0-B8AE-70CDCC364925, name="bulk"
END
await_node /dev/disk/by-partuuid/838f6195-6877-5dd0-b8ae-70cdcc364925

# partition nb7: nb7.bulk of 1.8 TiB
# layout line 26 (hardware.disks.nb7); destroys everything on the disk nb7
step 14/43 'partition nb7: nb7.bulk of 1.8 TiB'
require_blank "$disk_nb7"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nb7" <<'END'
label: gpt
label-id: 1B2E9D0D-4BA0-50CE-AC51-7D6049F3BDB5
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=A6070FBA-3FEB-5D2B-ACE9-3BE5188B2209, name="bulk"
END
await_node /dev/disk/by-partuuid/a6070fba-3feb-5d2b-ace9-3be5188b2209

# partition nc0: nc0.fast of 1.8 TiB
# layout line 27 (hardware.disks.nc0); destroys everything on the disk nc0
step 15/43 'partition nc0: nc0.fast of 1.8 TiB'
require_blank "$disk_nc0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nc0" <<'END'
label: gpt
label-id: 3B6909AA-98EB-5E0C-9C47-FCEF10509C5C
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=11FBB219-DCA0-54DA-978A-16B9D99871D4, name="fast"
END
await_node /dev/disk/by-partuuid/11fbb219-dca0-54da-978a-16b9d99871d4

# partition nc1: nc1.fast of 1.8 TiB
# layout line 27 (hardware.disks.nc1); destroys everything on the disk nc1
step 16/43 'partition nc1: nc1.fast of 1.8 TiB'
require_blank "$disk_nc1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nc1" <<'END'
label: gpt
label-id: 2A59E75C-2B87-5C67-B941-7E565100B1B2
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=1C38369D-6792-5B62-A655-0AFC89239AD0, name="fast"
END
await_node /dev/disk/by-partuuid/1c38369d-6792-5b62-a655-0afc89239ad0

# partition nc2: nc2.fast of 1.8 TiB
# layout line 27 (hardware.disks.nc2); destroys everything on the disk nc2
step 17/43 'partition nc2: nc2.fast of 1.8 TiB'
require_blank "$disk_nc2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nc2" <<'END'
label: gpt
label-id: CECBDA8F-0181-5F84-9E10-38FC9FAAE83D
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F8FE203B-52B4-5538-A6F7-552ECA282E77, name="fast"
END
await_node /dev/disk/by-partuuid/f8fe203b-52b4-5538-a6f7-552eca282e77

# partition nc3: nc3.fast of 1.8 TiB
# layout line 27 (hardware.disks.nc3); destroys everything on the disk nc3
step 18/43 'partition nc3: nc3.fast of 1.8 TiB'
require_blank "$disk_nc3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nc3" <<'END'
label: gpt
label-id: C8728CE4-6091-5DA0-8FEE-7C4A72366661
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=38B504D8-A9DF-5B1B-AA8D-1664D2171694, name="fast"
END
await_node /dev/disk/by-partuuid/38b504d8-a9df-5b1b-aa8d-1664d2171694

# partition nc4: nc4.bulk of 1.8 TiB
# layout line 27 (hardware.disks.nc4); destroys everything on the disk nc4
step 19/43 'partition nc4: nc4.bulk of 1.8 TiB'
require_blank "$disk_nc4"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nc4" <<'END'
label: gpt
label-id: 77A7CC4E-A78E-5406-8AD9-C617B1C07010
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=40AB9C9C-678B-58CF-8CEA-217FA16043D3, name="bulk"
END
await_node /dev/disk/by-partuuid/40ab9c9c-678b-58cf-8cea-217fa16043d3

# partition nc5: nc5.bulk of 1.8 TiB
# layout line 27 (hardware.disks.nc5); destroys everything on the disk nc5
step 20/43 'partition nc5: nc5.bulk of 1.8 TiB'
require_blank "$disk_nc5"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nc5" <<'END'
label: gpt
label-id: 371D4C71-1DC0-5BEA-A188-42CC8729B81E
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=9A4393F8-F4D7-5519-970A-9B266A24C30F, name="bulk"
END
await_node /dev/disk/by-partuuid/9a4393f8-f4d7-5519-970a-9b266a24c30f

# partition nc6: nc6.bulk of 1.8 TiB
# layout line 27 (hardware.disks.nc6); destroys everything on the disk nc6
step 21/43 'partition nc6: nc6.bulk of 1.8 TiB'
require_blank "$disk_nc6"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nc6" <<'END'
label: gpt
label-id: E616F190-5A09-5D99-AB7F-CE97C4B24DB2
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=3153A761-1CE9-543D-A3CE-CEADF4A2222A, name="bulk"
END
await_node /dev/disk/by-partuuid/3153a761-1ce9-543d-a3ce-ceadf4a2222a

# partition nc7: nc7.bulk of 1.8 TiB
# layout line 27 (hardware.disks.nc7); destroys everything on the disk nc7
step 22/43 'partition nc7: nc7.bulk of 1.8 TiB'
require_blank "$disk_nc7"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_nc7" <<'END'
label: gpt
label-id: 03EDF89C-3893-5225-BCE6-7DA54200C302
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=BD2F1FD5-04CB-528D-9171-A55FF165A39F, name="bulk"
END
await_node /dev/disk/by-partuuid/bd2f1fd5-04cb-528d-9171-a55ff165a39f

# create raid10 fast of 8 members (nb0, nc0, nb1, nc1, nb2, nc2, nb3, nc3), 7.3 TiB usable
# layout line 30 (arrays.fast); destroys everything on nb0.fast, everything on nc0.fast, everything on nb1.fast, everything on nc1.fast, everything on nb2.fast, everything on nc2.fast, everything on nb3.fast, everything on nc3.fast
step 23/43 'create raid10 fast of 8 members (nb0, nc0, nb1, nc1, nb2, nc2, nb3, nc3), 7.3 TiB usable'
require_blank /dev/disk/by-partuuid/c9dfff41-8b89-53cf-a22b-caf2cd417417
require_blank /dev/disk/by-partuuid/11fbb219-dca0-54da-978a-16b9d99871d4
require_blank /dev/disk/by-partuuid/1deccfca-461b-5798-8c28-82a8b4577b99
require_blank /dev/disk/by-partuuid/1c38369d-6792-5b62-a655-0afc89239ad0
require_blank /dev/disk/by-partuuid/f2b860d5-c78f-54ae-a5f3-b65fa73e313f
require_blank /dev/disk/by-partuuid/f8fe203b-52b4-5538-a6f7-552eca282e77
require_blank /dev/disk/by-partuuid/7e5ba151-03a4-5fc4-a73f-777160894b63
require_blank /dev/disk/by-partuuid/38b504d8-a9df-5b1b-aa8d-1664d2171694
mdadm --create /dev/md/fast --run --quiet --readonly --metadata=1.2 --homehost=norco --name=fast \
	--uuid=a242a0f1:705f560f:8ed72816:f4cd71b5 --level=raid10 --raid-devices=8 --chunk=256K --layout=n2 \
	--bitmap=internal --consistency-policy=bitmap /dev/disk/by-partuuid/c9dfff41-8b89-53cf-a22b-caf2cd417417 \
	/dev/disk/by-partuuid/11fbb219-dca0-54da-978a-16b9d99871d4 \
	/dev/disk/by-partuuid/1deccfca-461b-5798-8c28-82a8b4577b99 \
	/dev/disk/by-partuuid/1c38369d-6792-5b62-a655-0afc89239ad0 \
	/dev/disk/by-partuuid/f2b860d5-c78f-54ae-a5f3-b65fa73e313f \
	/dev/disk/by-partuuid/f8fe203b-52b4-5538-a6f7-552eca282e77 \
	/dev/disk/by-partuuid/7e5ba151-03a4-5fc4-a73f-777160894b63 \
	/dev/disk/by-partuuid/38b504d8-a9df-5b1b-aa8d-1664d2171694
await_node /dev/md/fast

# hold the initial sync of fast, so that it does not slow down what follows
# layout line 30 (arrays.fast)
step 24/43 'hold the initial sync of fast, so that it does not slow down what follows'
set_attribute /sys/block/md_fast/md/sync_action frozen

# open fast for writing
# layout line 30 (arrays.fast)
step 25/43 'open fast for writing'
set_attribute /sys/block/md_fast/md/array_state active

# create raid6 bulk of 8 members (nb4, nb5, nb6, nb7, nc4, nc5, nc6, nc7), 10.9 TiB usable
# layout line 36 (arrays.bulk); destroys everything on nb4.bulk, everything on nb5.bulk, everything on nb6.bulk, everything on nb7.bulk, everything on nc4.bulk, everything on nc5.bulk, everything on nc6.bulk, everything on nc7.bulk
step 26/43 'create raid6 bulk of 8 members (nb4, nb5, nb6, nb7, nc4, nc5, nc6, nc7), 10.9 TiB usable'
require_blank /dev/disk/by-partuuid/fb7553f3-f6a4-5570-ae7a-d86f0b5a6193
require_blank /dev/disk/by-partuuid/61a6784a-ab8a-50aa-aa4a-34a24cb280d8
require_blank /dev/disk/by-partuuid/838f6195-6877-5dd0-b8ae-70cdcc364925
require_blank /dev/disk/by-partuuid/a6070fba-3feb-5d2b-ace9-3be5188b2209
require_blank /dev/disk/by-partuuid/40ab9c9c-678b-58cf-8cea-217fa16043d3
require_blank /dev/disk/by-partuuid/9a4393f8-f4d7-5519-970a-9b266a24c30f
require_blank /dev/disk/by-partuuid/3153a761-1ce9-543d-a3ce-ceadf4a2222a
require_blank /dev/disk/by-partuuid/bd2f1fd5-04cb-528d-9171-a55ff165a39f
mdadm --create /dev/md/bulk --run --quiet --readonly --metadata=1.2 --homehost=norco --name=bulk \
	--uuid=3f86bb2f:e5095b80:b6182a44:d7d29c46 --level=raid6 --raid-devices=8 --chunk=256K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/fb7553f3-f6a4-5570-ae7a-d86f0b5a6193 \
	/dev/disk/by-partuuid/61a6784a-ab8a-50aa-aa4a-34a24cb280d8 \
	/dev/disk/by-partuuid/838f6195-6877-5dd0-b8ae-70cdcc364925 \
	/dev/disk/by-partuuid/a6070fba-3feb-5d2b-ace9-3be5188b2209 \
	/dev/disk/by-partuuid/40ab9c9c-678b-58cf-8cea-217fa16043d3 \
	/dev/disk/by-partuuid/9a4393f8-f4d7-5519-970a-9b266a24c30f \
	/dev/disk/by-partuuid/3153a761-1ce9-543d-a3ce-ceadf4a2222a \
	/dev/disk/by-partuuid/bd2f1fd5-04cb-528d-9171-a55ff165a39f
await_node /dev/md/bulk

# hold the initial sync of bulk, so that it does not slow down what follows
# layout line 36 (arrays.bulk)
step 27/43 'hold the initial sync of bulk, so that it does not slow down what follows'
set_attribute /sys/block/md_bulk/md/sync_action frozen

# open bulk for writing
# layout line 36 (arrays.bulk)
step 28/43 'open bulk for writing'
set_attribute /sys/block/md_bulk/md/array_state active

# let udev tune bulk as it will at every boot: stripe_cache_size 4096
# layout line 36 (arrays.bulk)
step 29/43 'let udev tune bulk as it will at every boot: stripe_cache_size 4096'
udevadm trigger --settle --action=change --name-match=/dev/md/bulk

# make ext4 fast on fast, 7.3 TiB, 244,158,464 inodes, stride 64, stripe width 256
# layout line 44 (filesystems.fast); destroys everything on fast
step 30/43 'make ext4 fast on fast, 7.3 TiB, 244,158,464 inodes, stride 64, stripe width 256'
require_blank /dev/md/fast
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 4096 -I 256 -N 244156288 -m 1 -G 16 -E \
	stride=64,stripe_width=256,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	7f723d05-5836-5b91-841c-29ad7f471500 -L fast /dev/md/fast 1953250304
await_node /dev/disk/by-uuid/7f723d05-5836-5b91-841c-29ad7f471500 /dev/md/fast

# make xfs bulk on bulk, 10.9 TiB, su 256 KiB, sw 6
# layout line 45 (filesystems.bulk); destroys everything on bulk
step 31/43 'make xfs bulk on bulk, 10.9 TiB, su 256 KiB, sw 6'
require_blank /dev/md/bulk
mkfs.xfs -q -K -m crc=1,uuid=3a332a2b-baf9-543b-8bc1-fb942f3dc46a -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=375023992832,su=262144,sw=6 -l size=2136997888,su=262144 -L bulk /dev/md/bulk
await_node /dev/disk/by-uuid/3a332a2b-baf9-543b-8bc1-fb942f3dc46a /dev/md/bulk

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 29 (arrays)
step 32/43 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot 'a242a0f1:705f560f:8ed72816:f4cd71b5 3f86bb2f:e5095b80:b6182a44:d7d29c46' \
	/etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 47 (monitoring.mail)
step 33/43 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 47 (monitoring.scrub)
step 34/43 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 47 (monitoring.scrub)
step 35/43 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm norco bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 2 lines into /etc/fstab
# layout line 43 (filesystems)
step 36/43 'enter 2 lines into /etc/fstab'
write_block /etc/fstab norco bottom 0644 <<'END'
UUID=7f723d05-5836-5b91-841c-29ad7f471500 /srv/fast ext4 defaults,nofail,x-systemd.device-timeout=120s 0 2
UUID=3a332a2b-baf9-543b-8bc1-fb942f3dc46a /srv/bulk xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 43 (filesystems)
step 37/43 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /srv/fast
# layout line 44 (filesystems.fast)
step 38/43 'make the folder /srv/fast'
mkdir --parents /srv/fast

# mount fast at /srv/fast
# layout line 44 (filesystems.fast)
step 39/43 'mount fast at /srv/fast'
systemctl start /srv/fast

# make the folder /srv/bulk
# layout line 45 (filesystems.bulk)
step 40/43 'make the folder /srv/bulk'
mkdir --parents /srv/bulk

# mount bulk at /srv/bulk
# layout line 45 (filesystems.bulk)
step 41/43 'mount bulk at /srv/bulk'
systemctl start /srv/bulk

# let the initial sync of fast run
# layout line 30 (arrays.fast)
step 42/43 'let the initial sync of fast run'
set_attribute /sys/block/md_fast/md/sync_action idle

# let the initial sync of bulk run
# layout line 36 (arrays.bulk)
step 43/43 'let the initial sync of bulk run'
set_attribute /sys/block/md_bulk/md/sync_action idle

complete=yes
echo 'done'
}
