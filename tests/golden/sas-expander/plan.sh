#!/bin/sh
# The plan for the host expander, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:dcb902718645201391476469d5469cbd5d27f664249d2665e2e94404a954d60d
# note[no-spare] layout line 25: wide has 24 members and no spare: after a failure it stays degraded until a disk is changed
# note[write-hole] layout line 25: a crash of wide while a member is missing can spoil data that nobody was writing (the write hole)
# warning[component-loss-kills-array] layout line 25: wide survives the loss of 2 disks, and the expander exp0 takes all 24 members with it
# warning[oversubscribed-link] layout line 25: the uplink of exp0 carries 1104 MB/s for 24 members of wide: 46 for each, which could read 110
# note[rebuild-window] layout line 25: a rebuild of wide takes 12 h at best: 2.0 TB for each member at 46 MB/s, the pace of the uplink of exp0
# note[wide-parity-array] layout line 25: wide is raid6 of 24 members with 2 disks of parity; a rebuild reads 23 disks

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
disk_e00=$(find_disk e00 2000398934016 512 EXPD-00 '' '' '')
disk_e01=$(find_disk e01 2000398934016 512 EXPD-01 '' '' '')
disk_e02=$(find_disk e02 2000398934016 512 EXPD-02 '' '' '')
disk_e03=$(find_disk e03 2000398934016 512 EXPD-03 '' '' '')
disk_e04=$(find_disk e04 2000398934016 512 EXPD-04 '' '' '')
disk_e05=$(find_disk e05 2000398934016 512 EXPD-05 '' '' '')
disk_e06=$(find_disk e06 2000398934016 512 EXPD-06 '' '' '')
disk_e07=$(find_disk e07 2000398934016 512 EXPD-07 '' '' '')
disk_e08=$(find_disk e08 2000398934016 512 EXPD-08 '' '' '')
disk_e09=$(find_disk e09 2000398934016 512 EXPD-09 '' '' '')
disk_e10=$(find_disk e10 2000398934016 512 EXPD-10 '' '' '')
disk_e11=$(find_disk e11 2000398934016 512 EXPD-11 '' '' '')
disk_e12=$(find_disk e12 2000398934016 512 EXPD-12 '' '' '')
disk_e13=$(find_disk e13 2000398934016 512 EXPD-13 '' '' '')
disk_e14=$(find_disk e14 2000398934016 512 EXPD-14 '' '' '')
disk_e15=$(find_disk e15 2000398934016 512 EXPD-15 '' '' '')
disk_e16=$(find_disk e16 2000398934016 512 EXPD-16 '' '' '')
disk_e17=$(find_disk e17 2000398934016 512 EXPD-17 '' '' '')
disk_e18=$(find_disk e18 2000398934016 512 EXPD-18 '' '' '')
disk_e19=$(find_disk e19 2000398934016 512 EXPD-19 '' '' '')
disk_e20=$(find_disk e20 2000398934016 512 EXPD-20 '' '' '')
disk_e21=$(find_disk e21 2000398934016 512 EXPD-21 '' '' '')
disk_e22=$(find_disk e22 2000398934016 512 EXPD-22 '' '' '')
disk_e23=$(find_disk e23 2000398934016 512 EXPD-23 '' '' '')
require_distinct "$disk_e00" "$disk_e01" "$disk_e02" "$disk_e03" "$disk_e04" "$disk_e05" "$disk_e06" \
	"$disk_e07" "$disk_e08" "$disk_e09" "$disk_e10" "$disk_e11" "$disk_e12" "$disk_e13" "$disk_e14" "$disk_e15" \
	"$disk_e16" "$disk_e17" "$disk_e18" "$disk_e19" "$disk_e20" "$disk_e21" "$disk_e22" "$disk_e23"
require_all_blank "$disk_e00" "$disk_e01" "$disk_e02" "$disk_e03" "$disk_e04" "$disk_e05" "$disk_e06" \
	"$disk_e07" "$disk_e08" "$disk_e09" "$disk_e10" "$disk_e11" "$disk_e12" "$disk_e13" "$disk_e14" "$disk_e15" \
	"$disk_e16" "$disk_e17" "$disk_e18" "$disk_e19" "$disk_e20" "$disk_e21" "$disk_e22" "$disk_e23"
require_blank_range "$disk_e00" 1048576 2000263577600
require_blank_range "$disk_e01" 1048576 2000263577600
require_blank_range "$disk_e02" 1048576 2000263577600
require_blank_range "$disk_e03" 1048576 2000263577600
require_blank_range "$disk_e04" 1048576 2000263577600
require_blank_range "$disk_e05" 1048576 2000263577600
require_blank_range "$disk_e06" 1048576 2000263577600
require_blank_range "$disk_e07" 1048576 2000263577600
require_blank_range "$disk_e08" 1048576 2000263577600
require_blank_range "$disk_e09" 1048576 2000263577600
require_blank_range "$disk_e10" 1048576 2000263577600
require_blank_range "$disk_e11" 1048576 2000263577600
require_blank_range "$disk_e12" 1048576 2000263577600
require_blank_range "$disk_e13" 1048576 2000263577600
require_blank_range "$disk_e14" 1048576 2000263577600
require_blank_range "$disk_e15" 1048576 2000263577600
require_blank_range "$disk_e16" 1048576 2000263577600
require_blank_range "$disk_e17" 1048576 2000263577600
require_blank_range "$disk_e18" 1048576 2000263577600
require_blank_range "$disk_e19" 1048576 2000263577600
require_blank_range "$disk_e20" 1048576 2000263577600
require_blank_range "$disk_e21" 1048576 2000263577600
require_blank_range "$disk_e22" 1048576 2000263577600
require_blank_range "$disk_e23" 1048576 2000263577600
require_room_for_initramfs /boot

# name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 24 (arrays)
step 1/43 'name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf expander top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/wide metadata=1.2 UUID=3eb3016c:b4d257a7:bded2c63:92affa2e
END

# let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-expander.rules
# layout line 24 (arrays)
step 2/43 'let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-expander.rules'
write_file /etc/udev/rules.d/65-raidplan-expander.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# wide
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="3eb3016c:b4d257a7:bded2c63:92affa2e", ATTR{queue/read_ahead_kb}="22528"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="3eb3016c-b4d2-57a7-bded-2c6392affa2e", TEST=="holders/md_wide/md/array_state", TEST!="holders/md_wide/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_wide.timer"
END

# let udev read its rules again
# layout line 24 (arrays)
step 3/43 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 24 (arrays)
step 4/43 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 24 (arrays)
step 5/43 'load the kernel module raid456'
modprobe raid456

# partition e00: e00.wide of 1.8 TiB
# layout line 22 (hardware.disks.e00); destroys everything on the disk e00
step 6/43 'partition e00: e00.wide of 1.8 TiB'
require_blank "$disk_e00"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e00" <<'END'
label: gpt
label-id: 3E568185-DE5F-5D95-A9BE-BD819FD1E7EC
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=C37D7096-00DD-50C4-9887-F30D6D46E591, name="wide"
END
await_node /dev/disk/by-partuuid/c37d7096-00dd-50c4-9887-f30d6d46e591

# partition e01: e01.wide of 1.8 TiB
# layout line 22 (hardware.disks.e01); destroys everything on the disk e01
step 7/43 'partition e01: e01.wide of 1.8 TiB'
require_blank "$disk_e01"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e01" <<'END'
label: gpt
label-id: BCB807A2-EF4D-5AA8-9130-F160A41FF871
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F4905A7B-0496-5C9A-841C-16D95A86FBF7, name="wide"
END
await_node /dev/disk/by-partuuid/f4905a7b-0496-5c9a-841c-16d95a86fbf7

# partition e02: e02.wide of 1.8 TiB
# layout line 22 (hardware.disks.e02); destroys everything on the disk e02
step 8/43 'partition e02: e02.wide of 1.8 TiB'
require_blank "$disk_e02"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e02" <<'END'
label: gpt
label-id: D225EA46-4E37-51DD-AD29-EB17F3746E1E
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F9DBA6FF-2B83-5C3F-BC2D-169AC1A07456, name="wide"
END
await_node /dev/disk/by-partuuid/f9dba6ff-2b83-5c3f-bc2d-169ac1a07456

# partition e03: e03.wide of 1.8 TiB
# layout line 22 (hardware.disks.e03); destroys everything on the disk e03
step 9/43 'partition e03: e03.wide of 1.8 TiB'
require_blank "$disk_e03"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e03" <<'END'
label: gpt
label-id: 8290659D-74F0-5161-9219-AEE84477D395
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=A523BA7C-24EA-5E3E-96B7-598B12DA2140, name="wide"
END
await_node /dev/disk/by-partuuid/a523ba7c-24ea-5e3e-96b7-598b12da2140

# partition e04: e04.wide of 1.8 TiB
# layout line 22 (hardware.disks.e04); destroys everything on the disk e04
step 10/43 'partition e04: e04.wide of 1.8 TiB'
require_blank "$disk_e04"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e04" <<'END'
label: gpt
label-id: 5893F2B6-D2F7-502C-8AC5-01EAF7BB2D16
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0E99FA46-6325-5532-90A4-85844C07F846, name="wide"
END
await_node /dev/disk/by-partuuid/0e99fa46-6325-5532-90a4-85844c07f846

# partition e05: e05.wide of 1.8 TiB
# layout line 22 (hardware.disks.e05); destroys everything on the disk e05
step 11/43 'partition e05: e05.wide of 1.8 TiB'
require_blank "$disk_e05"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e05" <<'END'
label: gpt
label-id: CAE81BC0-1161-51B7-9ECB-84AB397FF1AD
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=606DE3B3-DAB6-5A73-8CAE-35287897D6C5, name="wide"
END
await_node /dev/disk/by-partuuid/606de3b3-dab6-5a73-8cae-35287897d6c5

# partition e06: e06.wide of 1.8 TiB
# layout line 22 (hardware.disks.e06); destroys everything on the disk e06
step 12/43 'partition e06: e06.wide of 1.8 TiB'
require_blank "$disk_e06"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e06" <<'END'
label: gpt
label-id: C21BE285-2257-53DE-AC5E-BB322F200ADE
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=406C0A49-9841-5F68-83DE-1C30E5F7925F, name="wide"
END
await_node /dev/disk/by-partuuid/406c0a49-9841-5f68-83de-1c30e5f7925f

# partition e07: e07.wide of 1.8 TiB
# layout line 22 (hardware.disks.e07); destroys everything on the disk e07
step 13/43 'partition e07: e07.wide of 1.8 TiB'
require_blank "$disk_e07"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e07" <<'END'
label: gpt
label-id: 5903E135-721A-5C05-AC6A-40E0804B31E4
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0DA4CCA7-1928-5012-98DB-E2AEA63CC886, name="wide"
END
await_node /dev/disk/by-partuuid/0da4cca7-1928-5012-98db-e2aea63cc886

# partition e08: e08.wide of 1.8 TiB
# layout line 22 (hardware.disks.e08); destroys everything on the disk e08
step 14/43 'partition e08: e08.wide of 1.8 TiB'
require_blank "$disk_e08"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e08" <<'END'
label: gpt
label-id: 06AAFA38-59A9-54CF-8DA2-DDA2A895D9C2
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=B299D901-26DC-5B97-B76B-103B9AC6C918, name="wide"
END
await_node /dev/disk/by-partuuid/b299d901-26dc-5b97-b76b-103b9ac6c918

# partition e09: e09.wide of 1.8 TiB
# layout line 22 (hardware.disks.e09); destroys everything on the disk e09
step 15/43 'partition e09: e09.wide of 1.8 TiB'
require_blank "$disk_e09"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e09" <<'END'
label: gpt
label-id: FE848B3A-9401-5FDD-8084-67FD8DA2E5AA
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=77CDAC7E-7FE2-572A-AD82-6DD1EC1E3128, name="wide"
END
await_node /dev/disk/by-partuuid/77cdac7e-7fe2-572a-ad82-6dd1ec1e3128

# partition e10: e10.wide of 1.8 TiB
# layout line 22 (hardware.disks.e10); destroys everything on the disk e10
step 16/43 'partition e10: e10.wide of 1.8 TiB'
require_blank "$disk_e10"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e10" <<'END'
label: gpt
label-id: 71B5FDA1-0DD4-52E0-84CC-F5B0E0241B4E
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=6FDA609D-0B1E-5EA8-804E-4EAC01E890EC, name="wide"
END
await_node /dev/disk/by-partuuid/6fda609d-0b1e-5ea8-804e-4eac01e890ec

# partition e11: e11.wide of 1.8 TiB
# layout line 22 (hardware.disks.e11); destroys everything on the disk e11
step 17/43 'partition e11: e11.wide of 1.8 TiB'
require_blank "$disk_e11"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e11" <<'END'
label: gpt
label-id: 0A7AC7A5-B1D8-5DE8-9C50-05B45EA66EC4
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7A06D98A-BF73-5D41-ADD1-CC55A8BED679, name="wide"
END
await_node /dev/disk/by-partuuid/7a06d98a-bf73-5d41-add1-cc55a8bed679

# partition e12: e12.wide of 1.8 TiB
# layout line 22 (hardware.disks.e12); destroys everything on the disk e12
step 18/43 'partition e12: e12.wide of 1.8 TiB'
require_blank "$disk_e12"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e12" <<'END'
label: gpt
label-id: 950BE9F2-F3C0-5E77-8CFE-D49A97DA7370
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=E3802C8C-36A7-590B-A59A-F570226F26C3, name="wide"
END
await_node /dev/disk/by-partuuid/e3802c8c-36a7-590b-a59a-f570226f26c3

# partition e13: e13.wide of 1.8 TiB
# layout line 22 (hardware.disks.e13); destroys everything on the disk e13
step 19/43 'partition e13: e13.wide of 1.8 TiB'
require_blank "$disk_e13"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e13" <<'END'
label: gpt
label-id: 7FA2B665-FC86-59E6-8189-5FC593EA07BF
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=D3A63F85-12BD-5648-98D7-A83045590EC4, name="wide"
END
await_node /dev/disk/by-partuuid/d3a63f85-12bd-5648-98d7-a83045590ec4

# partition e14: e14.wide of 1.8 TiB
# layout line 22 (hardware.disks.e14); destroys everything on the disk e14
step 20/43 'partition e14: e14.wide of 1.8 TiB'
require_blank "$disk_e14"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e14" <<'END'
label: gpt
label-id: 8AE9EEC4-0B50-5453-A951-2A2FD669440C
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=173B86D2-1CF5-5FCF-B254-5C65DA43BB12, name="wide"
END
await_node /dev/disk/by-partuuid/173b86d2-1cf5-5fcf-b254-5c65da43bb12

# partition e15: e15.wide of 1.8 TiB
# layout line 22 (hardware.disks.e15); destroys everything on the disk e15
step 21/43 'partition e15: e15.wide of 1.8 TiB'
require_blank "$disk_e15"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e15" <<'END'
label: gpt
label-id: FC16E100-4DE8-565A-B5A4-E52B181370E8
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7F5390C9-D6FD-5DF0-A35A-0285572449B8, name="wide"
END
await_node /dev/disk/by-partuuid/7f5390c9-d6fd-5df0-a35a-0285572449b8

# partition e16: e16.wide of 1.8 TiB
# layout line 22 (hardware.disks.e16); destroys everything on the disk e16
step 22/43 'partition e16: e16.wide of 1.8 TiB'
require_blank "$disk_e16"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e16" <<'END'
label: gpt
label-id: 4212444D-D79E-5E90-A67A-4909850088CA
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=5CBE9660-8566-5588-BB67-5DB4D036F785, name="wide"
END
await_node /dev/disk/by-partuuid/5cbe9660-8566-5588-bb67-5db4d036f785

# partition e17: e17.wide of 1.8 TiB
# layout line 22 (hardware.disks.e17); destroys everything on the disk e17
step 23/43 'partition e17: e17.wide of 1.8 TiB'
require_blank "$disk_e17"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e17" <<'END'
label: gpt
label-id: 033841EA-EC3A-5385-8667-522F0992E51B
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=B152B25F-3C01-5404-99E3-511162E654DD, name="wide"
END
await_node /dev/disk/by-partuuid/b152b25f-3c01-5404-99e3-511162e654dd

# partition e18: e18.wide of 1.8 TiB
# layout line 22 (hardware.disks.e18); destroys everything on the disk e18
step 24/43 'partition e18: e18.wide of 1.8 TiB'
require_blank "$disk_e18"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e18" <<'END'
label: gpt
label-id: BC09A722-70F5-500C-8CFB-6E91A8C4BECB
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=5EE6B3FA-13D3-5B31-9F80-FA76B277C112, name="wide"
END
await_node /dev/disk/by-partuuid/5ee6b3fa-13d3-5b31-9f80-fa76b277c112

# partition e19: e19.wide of 1.8 TiB
# layout line 22 (hardware.disks.e19); destroys everything on the disk e19
step 25/43 'partition e19: e19.wide of 1.8 TiB'
require_blank "$disk_e19"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e19" <<'END'
label: gpt
label-id: 12145ECA-FA7C-556C-BEF9-1AD464087357
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=9BD12F4F-429D-5AFE-AEAB-E8C85867B835, name="wide"
END
await_node /dev/disk/by-partuuid/9bd12f4f-429d-5afe-aeab-e8c85867b835

# partition e20: e20.wide of 1.8 TiB
# layout line 22 (hardware.disks.e20); destroys everything on the disk e20
step 26/43 'partition e20: e20.wide of 1.8 TiB'
require_blank "$disk_e20"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e20" <<'END'
label: gpt
label-id: 78F6D6EF-8679-51A9-B4EC-9B02FC4F00FC
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=E3FF4199-C64B-529F-8BF0-AE5BE58C7C7B, name="wide"
END
await_node /dev/disk/by-partuuid/e3ff4199-c64b-529f-8bf0-ae5be58c7c7b

# partition e21: e21.wide of 1.8 TiB
# layout line 22 (hardware.disks.e21); destroys everything on the disk e21
step 27/43 'partition e21: e21.wide of 1.8 TiB'
require_blank "$disk_e21"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e21" <<'END'
label: gpt
label-id: 62A967CB-7E1C-53E8-9E28-0628C50D3937
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=826A0136-5DA7-53FC-B8EE-939375B6E665, name="wide"
END
await_node /dev/disk/by-partuuid/826a0136-5da7-53fc-b8ee-939375b6e665

# partition e22: e22.wide of 1.8 TiB
# layout line 22 (hardware.disks.e22); destroys everything on the disk e22
step 28/43 'partition e22: e22.wide of 1.8 TiB'
require_blank "$disk_e22"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e22" <<'END'
label: gpt
label-id: C8D35E7F-927E-5A6A-AA80-736067DBABCD
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=09FB901B-FE07-5543-8CB8-E59107FA3CEA, name="wide"
END
await_node /dev/disk/by-partuuid/09fb901b-fe07-5543-8cb8-e59107fa3cea

# partition e23: e23.wide of 1.8 TiB
# layout line 22 (hardware.disks.e23); destroys everything on the disk e23
step 29/43 'partition e23: e23.wide of 1.8 TiB'
require_blank "$disk_e23"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_e23" <<'END'
label: gpt
label-id: 4C4F8DDD-E3C4-527D-B3B8-43EEE0AD0CEA
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=9F7FC5BD-97CE-50C1-B13C-DF8D0A996644, name="wide"
END
await_node /dev/disk/by-partuuid/9f7fc5bd-97ce-50c1-b13c-df8d0a996644

# create raid6 wide of 24 members (e00, e01, e02, e03, e04, e05, e06, e07, e08, e09, e10, e11, e12, e13, e14, e15, e16, e17, e18, e19, e20, e21, e22, e23), 40.0 TiB usable
# layout line 25 (arrays.wide); destroys everything on e00.wide, everything on e01.wide, everything on e02.wide, everything on e03.wide, everything on e04.wide, everything on e05.wide, everything on e06.wide, everything on e07.wide, everything on e08.wide, everything on e09.wide, everything on e10.wide, everything on e11.wide, everything on e12.wide, everything on e13.wide, everything on e14.wide, everything on e15.wide, everything on e16.wide, everything on e17.wide, everything on e18.wide, everything on e19.wide, everything on e20.wide, everything on e21.wide, everything on e22.wide, everything on e23.wide
step 30/43 'create raid6 wide of 24 members (e00, e01, e02, e03, e04, e05, e06, e07, e08, e09, e10, e11, e12, e13, e14, e15, e16, e17, e18, e19, e20, e21, e22, e23), 40.0 TiB usable'
require_blank /dev/disk/by-partuuid/c37d7096-00dd-50c4-9887-f30d6d46e591
require_blank /dev/disk/by-partuuid/f4905a7b-0496-5c9a-841c-16d95a86fbf7
require_blank /dev/disk/by-partuuid/f9dba6ff-2b83-5c3f-bc2d-169ac1a07456
require_blank /dev/disk/by-partuuid/a523ba7c-24ea-5e3e-96b7-598b12da2140
require_blank /dev/disk/by-partuuid/0e99fa46-6325-5532-90a4-85844c07f846
require_blank /dev/disk/by-partuuid/606de3b3-dab6-5a73-8cae-35287897d6c5
require_blank /dev/disk/by-partuuid/406c0a49-9841-5f68-83de-1c30e5f7925f
require_blank /dev/disk/by-partuuid/0da4cca7-1928-5012-98db-e2aea63cc886
require_blank /dev/disk/by-partuuid/b299d901-26dc-5b97-b76b-103b9ac6c918
require_blank /dev/disk/by-partuuid/77cdac7e-7fe2-572a-ad82-6dd1ec1e3128
require_blank /dev/disk/by-partuuid/6fda609d-0b1e-5ea8-804e-4eac01e890ec
require_blank /dev/disk/by-partuuid/7a06d98a-bf73-5d41-add1-cc55a8bed679
require_blank /dev/disk/by-partuuid/e3802c8c-36a7-590b-a59a-f570226f26c3
require_blank /dev/disk/by-partuuid/d3a63f85-12bd-5648-98d7-a83045590ec4
require_blank /dev/disk/by-partuuid/173b86d2-1cf5-5fcf-b254-5c65da43bb12
require_blank /dev/disk/by-partuuid/7f5390c9-d6fd-5df0-a35a-0285572449b8
require_blank /dev/disk/by-partuuid/5cbe9660-8566-5588-bb67-5db4d036f785
require_blank /dev/disk/by-partuuid/b152b25f-3c01-5404-99e3-511162e654dd
require_blank /dev/disk/by-partuuid/5ee6b3fa-13d3-5b31-9f80-fa76b277c112
require_blank /dev/disk/by-partuuid/9bd12f4f-429d-5afe-aeab-e8c85867b835
require_blank /dev/disk/by-partuuid/e3ff4199-c64b-529f-8bf0-ae5be58c7c7b
require_blank /dev/disk/by-partuuid/826a0136-5da7-53fc-b8ee-939375b6e665
require_blank /dev/disk/by-partuuid/09fb901b-fe07-5543-8cb8-e59107fa3cea
require_blank /dev/disk/by-partuuid/9f7fc5bd-97ce-50c1-b13c-df8d0a996644
mdadm --create /dev/md/wide --run --quiet --readonly --metadata=1.2 --homehost=expander --name=wide \
	--uuid=3eb3016c:b4d257a7:bded2c63:92affa2e --level=raid6 --raid-devices=24 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/c37d7096-00dd-50c4-9887-f30d6d46e591 \
	/dev/disk/by-partuuid/f4905a7b-0496-5c9a-841c-16d95a86fbf7 \
	/dev/disk/by-partuuid/f9dba6ff-2b83-5c3f-bc2d-169ac1a07456 \
	/dev/disk/by-partuuid/a523ba7c-24ea-5e3e-96b7-598b12da2140 \
	/dev/disk/by-partuuid/0e99fa46-6325-5532-90a4-85844c07f846 \
	/dev/disk/by-partuuid/606de3b3-dab6-5a73-8cae-35287897d6c5 \
	/dev/disk/by-partuuid/406c0a49-9841-5f68-83de-1c30e5f7925f \
	/dev/disk/by-partuuid/0da4cca7-1928-5012-98db-e2aea63cc886 \
	/dev/disk/by-partuuid/b299d901-26dc-5b97-b76b-103b9ac6c918 \
	/dev/disk/by-partuuid/77cdac7e-7fe2-572a-ad82-6dd1ec1e3128 \
	/dev/disk/by-partuuid/6fda609d-0b1e-5ea8-804e-4eac01e890ec \
	/dev/disk/by-partuuid/7a06d98a-bf73-5d41-add1-cc55a8bed679 \
	/dev/disk/by-partuuid/e3802c8c-36a7-590b-a59a-f570226f26c3 \
	/dev/disk/by-partuuid/d3a63f85-12bd-5648-98d7-a83045590ec4 \
	/dev/disk/by-partuuid/173b86d2-1cf5-5fcf-b254-5c65da43bb12 \
	/dev/disk/by-partuuid/7f5390c9-d6fd-5df0-a35a-0285572449b8 \
	/dev/disk/by-partuuid/5cbe9660-8566-5588-bb67-5db4d036f785 \
	/dev/disk/by-partuuid/b152b25f-3c01-5404-99e3-511162e654dd \
	/dev/disk/by-partuuid/5ee6b3fa-13d3-5b31-9f80-fa76b277c112 \
	/dev/disk/by-partuuid/9bd12f4f-429d-5afe-aeab-e8c85867b835 \
	/dev/disk/by-partuuid/e3ff4199-c64b-529f-8bf0-ae5be58c7c7b \
	/dev/disk/by-partuuid/826a0136-5da7-53fc-b8ee-939375b6e665 \
	/dev/disk/by-partuuid/09fb901b-fe07-5543-8cb8-e59107fa3cea \
	/dev/disk/by-partuuid/9f7fc5bd-97ce-50c1-b13c-df8d0a996644
await_node /dev/md/wide

# hold the initial sync of wide, so that it does not slow down what follows
# layout line 25 (arrays.wide)
step 31/43 'hold the initial sync of wide, so that it does not slow down what follows'
set_attribute /sys/block/md_wide/md/sync_action frozen

# open wide for writing
# layout line 25 (arrays.wide)
step 32/43 'open wide for writing'
set_attribute /sys/block/md_wide/md/array_state active

# let udev tune wide as it will at every boot: read_ahead_kb 22528
# layout line 25 (arrays.wide)
step 33/43 'let udev tune wide as it will at every boot: read_ahead_kb 22528'
udevadm trigger --settle --action=change --name-match=/dev/md/wide

# make xfs wide on wide, 40.0 TiB, su 512 KiB, sw 22
# layout line 28 (filesystems.wide); destroys everything on wide
step 34/43 'make xfs wide on wide, 40.0 TiB, su 512 KiB, sw 22'
require_blank /dev/md/wide
mkfs.xfs -q -K -m crc=1,uuid=c9b6b26d-a836-5c51-b981-a5c305af658b -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=1099511103488,su=524288,sw=22 -l size=2136997888,su=32768 -L wide /dev/md/wide
await_node /dev/disk/by-uuid/c9b6b26d-a836-5c51-b981-a5c305af658b /dev/md/wide

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 24 (arrays)
step 35/43 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot 3eb3016c:b4d257a7:bded2c63:92affa2e /etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 30 (monitoring.mail)
step 36/43 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 30 (monitoring.scrub)
step 37/43 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 30 (monitoring.scrub)
step 38/43 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm expander bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 1 line into /etc/fstab
# layout line 27 (filesystems)
step 39/43 'enter 1 line into /etc/fstab'
write_block /etc/fstab expander bottom 0644 <<'END'
UUID=c9b6b26d-a836-5c51-b981-a5c305af658b /data/wide xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 27 (filesystems)
step 40/43 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /data/wide
# layout line 28 (filesystems.wide)
step 41/43 'make the folder /data/wide'
mkdir --parents /data/wide

# mount wide at /data/wide
# layout line 28 (filesystems.wide)
step 42/43 'mount wide at /data/wide'
systemctl start /data/wide

# let the initial sync of wide run
# layout line 25 (arrays.wide)
step 43/43 'let the initial sync of wide run'
set_attribute /sys/block/md_wide/md/sync_action idle

complete=yes
echo 'done'
}
