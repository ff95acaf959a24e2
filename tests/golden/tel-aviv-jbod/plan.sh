#!/bin/sh
# The plan for the host jbod, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:19c33f094f7278125175654d9885f12cf2d58c79cb9b348a31ffb24ef284d4a9
# note[network-slower-than-array] layout line 21: the network carries 118 MB/s, and s0 alone can read 900
# note[arrays-share-links] layout line 32: s0, s1, s2, s3 and 1 more share pm0, pm1, pm2, pm3 and 4 more: alone each member has 150 MB/s, with all arrays busy 50
# note[no-spare] layout line 32: s0 has 8 members and no spare: after a failure it stays degraded until a disk is changed
# note[no-spare] layout line 32: s1 has 8 members and no spare: after a failure it stays degraded until a disk is changed
# note[no-spare] layout line 32: s2 has 8 members and no spare: after a failure it stays degraded until a disk is changed
# note[no-spare] layout line 32: s3 has 8 members and no spare: after a failure it stays degraded until a disk is changed
# note[no-spare] layout line 32: s4 has 8 members and no spare: after a failure it stays degraded until a disk is changed
# note[write-hole] layout line 33: a crash of s0 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 33: a crash of s1 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 33: a crash of s2 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 33: a crash of s3 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 33: a crash of s4 while a member is missing can spoil data that nobody was writing (the write hole)
# warning[stripe-cache-memory] layout line 37: the stripe caches of s0, s1, s2, s3 and 1 more take 5 GiB (32768 entries x 8 members x 4 KiB for s0): 31% of the 16 GiB of memory

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
disk_d00=$(find_disk d00 3000592982016 512 JBOD-00 '' '' '')
disk_d01=$(find_disk d01 3000592982016 512 JBOD-01 '' '' '')
disk_d02=$(find_disk d02 3000592982016 512 JBOD-02 '' '' '')
disk_d03=$(find_disk d03 3000592982016 512 JBOD-03 '' '' '')
disk_d04=$(find_disk d04 3000592982016 512 JBOD-04 '' '' '')
disk_d10=$(find_disk d10 3000592982016 512 JBOD-10 '' '' '')
disk_d11=$(find_disk d11 3000592982016 512 JBOD-11 '' '' '')
disk_d12=$(find_disk d12 3000592982016 512 JBOD-12 '' '' '')
disk_d13=$(find_disk d13 3000592982016 512 JBOD-13 '' '' '')
disk_d14=$(find_disk d14 3000592982016 512 JBOD-14 '' '' '')
disk_d20=$(find_disk d20 3000592982016 512 JBOD-20 '' '' '')
disk_d21=$(find_disk d21 3000592982016 512 JBOD-21 '' '' '')
disk_d22=$(find_disk d22 3000592982016 512 JBOD-22 '' '' '')
disk_d23=$(find_disk d23 3000592982016 512 JBOD-23 '' '' '')
disk_d24=$(find_disk d24 3000592982016 512 JBOD-24 '' '' '')
disk_d30=$(find_disk d30 3000592982016 512 JBOD-30 '' '' '')
disk_d31=$(find_disk d31 3000592982016 512 JBOD-31 '' '' '')
disk_d32=$(find_disk d32 3000592982016 512 JBOD-32 '' '' '')
disk_d33=$(find_disk d33 3000592982016 512 JBOD-33 '' '' '')
disk_d34=$(find_disk d34 3000592982016 512 JBOD-34 '' '' '')
disk_d40=$(find_disk d40 3000592982016 512 JBOD-40 '' '' '')
disk_d41=$(find_disk d41 3000592982016 512 JBOD-41 '' '' '')
disk_d42=$(find_disk d42 3000592982016 512 JBOD-42 '' '' '')
disk_d43=$(find_disk d43 3000592982016 512 JBOD-43 '' '' '')
disk_d44=$(find_disk d44 3000592982016 512 JBOD-44 '' '' '')
disk_d50=$(find_disk d50 3000592982016 512 JBOD-50 '' '' '')
disk_d51=$(find_disk d51 3000592982016 512 JBOD-51 '' '' '')
disk_d52=$(find_disk d52 3000592982016 512 JBOD-52 '' '' '')
disk_d53=$(find_disk d53 3000592982016 512 JBOD-53 '' '' '')
disk_d54=$(find_disk d54 3000592982016 512 JBOD-54 '' '' '')
disk_d60=$(find_disk d60 3000592982016 512 JBOD-60 '' '' '')
disk_d61=$(find_disk d61 3000592982016 512 JBOD-61 '' '' '')
disk_d62=$(find_disk d62 3000592982016 512 JBOD-62 '' '' '')
disk_d63=$(find_disk d63 3000592982016 512 JBOD-63 '' '' '')
disk_d64=$(find_disk d64 3000592982016 512 JBOD-64 '' '' '')
disk_d70=$(find_disk d70 3000592982016 512 JBOD-70 '' '' '')
disk_d71=$(find_disk d71 3000592982016 512 JBOD-71 '' '' '')
disk_d72=$(find_disk d72 3000592982016 512 JBOD-72 '' '' '')
disk_d73=$(find_disk d73 3000592982016 512 JBOD-73 '' '' '')
disk_d74=$(find_disk d74 3000592982016 512 JBOD-74 '' '' '')
require_distinct "$disk_d00" "$disk_d01" "$disk_d02" "$disk_d03" "$disk_d04" "$disk_d10" "$disk_d11" \
	"$disk_d12" "$disk_d13" "$disk_d14" "$disk_d20" "$disk_d21" "$disk_d22" "$disk_d23" "$disk_d24" "$disk_d30" \
	"$disk_d31" "$disk_d32" "$disk_d33" "$disk_d34" "$disk_d40" "$disk_d41" "$disk_d42" "$disk_d43" "$disk_d44" \
	"$disk_d50" "$disk_d51" "$disk_d52" "$disk_d53" "$disk_d54" "$disk_d60" "$disk_d61" "$disk_d62" "$disk_d63" \
	"$disk_d64" "$disk_d70" "$disk_d71" "$disk_d72" "$disk_d73" "$disk_d74"
require_all_blank "$disk_d00" "$disk_d01" "$disk_d02" "$disk_d03" "$disk_d04" "$disk_d10" "$disk_d11" \
	"$disk_d12" "$disk_d13" "$disk_d14" "$disk_d20" "$disk_d21" "$disk_d22" "$disk_d23" "$disk_d24" "$disk_d30" \
	"$disk_d31" "$disk_d32" "$disk_d33" "$disk_d34" "$disk_d40" "$disk_d41" "$disk_d42" "$disk_d43" "$disk_d44" \
	"$disk_d50" "$disk_d51" "$disk_d52" "$disk_d53" "$disk_d54" "$disk_d60" "$disk_d61" "$disk_d62" "$disk_d63" \
	"$disk_d64" "$disk_d70" "$disk_d71" "$disk_d72" "$disk_d73" "$disk_d74"
require_blank_range "$disk_d00" 1048576 3000457232384
require_blank_range "$disk_d01" 1048576 3000457232384
require_blank_range "$disk_d02" 1048576 3000457232384
require_blank_range "$disk_d03" 1048576 3000457232384
require_blank_range "$disk_d04" 1048576 3000457232384
require_blank_range "$disk_d10" 1048576 3000457232384
require_blank_range "$disk_d11" 1048576 3000457232384
require_blank_range "$disk_d12" 1048576 3000457232384
require_blank_range "$disk_d13" 1048576 3000457232384
require_blank_range "$disk_d14" 1048576 3000457232384
require_blank_range "$disk_d20" 1048576 3000457232384
require_blank_range "$disk_d21" 1048576 3000457232384
require_blank_range "$disk_d22" 1048576 3000457232384
require_blank_range "$disk_d23" 1048576 3000457232384
require_blank_range "$disk_d24" 1048576 3000457232384
require_blank_range "$disk_d30" 1048576 3000457232384
require_blank_range "$disk_d31" 1048576 3000457232384
require_blank_range "$disk_d32" 1048576 3000457232384
require_blank_range "$disk_d33" 1048576 3000457232384
require_blank_range "$disk_d34" 1048576 3000457232384
require_blank_range "$disk_d40" 1048576 3000457232384
require_blank_range "$disk_d41" 1048576 3000457232384
require_blank_range "$disk_d42" 1048576 3000457232384
require_blank_range "$disk_d43" 1048576 3000457232384
require_blank_range "$disk_d44" 1048576 3000457232384
require_blank_range "$disk_d50" 1048576 3000457232384
require_blank_range "$disk_d51" 1048576 3000457232384
require_blank_range "$disk_d52" 1048576 3000457232384
require_blank_range "$disk_d53" 1048576 3000457232384
require_blank_range "$disk_d54" 1048576 3000457232384
require_blank_range "$disk_d60" 1048576 3000457232384
require_blank_range "$disk_d61" 1048576 3000457232384
require_blank_range "$disk_d62" 1048576 3000457232384
require_blank_range "$disk_d63" 1048576 3000457232384
require_blank_range "$disk_d64" 1048576 3000457232384
require_blank_range "$disk_d70" 1048576 3000457232384
require_blank_range "$disk_d71" 1048576 3000457232384
require_blank_range "$disk_d72" 1048576 3000457232384
require_blank_range "$disk_d73" 1048576 3000457232384
require_blank_range "$disk_d74" 1048576 3000457232384
require_room_for_initramfs /boot

# name 5 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 31 (arrays)
step 1/91 'name 5 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf jbod top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/s0 metadata=1.2 UUID=0c4f1d20:dd375ca9:863af423:c510e24e
ARRAY /dev/md/s1 metadata=1.2 UUID=f6e50b11:6c775b49:bcdc2c4e:c436e023
ARRAY /dev/md/s2 metadata=1.2 UUID=5720d206:81f55385:bfaed082:2b9d306f
ARRAY /dev/md/s3 metadata=1.2 UUID=4fcf88d0:52245a99:8a192c03:ffae3856
ARRAY /dev/md/s4 metadata=1.2 UUID=a783c566:00915236:8eafe7b3:53f0de3c
END

# let udev tune 5 arrays and start 5 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-jbod.rules
# layout line 31 (arrays)
step 2/91 'let udev tune 5 arrays and start 5 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-jbod.rules'
write_file /etc/udev/rules.d/65-raidplan-jbod.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# s0
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="0c4f1d20:dd375ca9:863af423:c510e24e", TEST=="md/stripe_cache_size", ATTR{md/stripe_cache_size}="32768", ATTR{queue/read_ahead_kb}="6144"
# s1
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="f6e50b11:6c775b49:bcdc2c4e:c436e023", TEST=="md/stripe_cache_size", ATTR{md/stripe_cache_size}="32768", ATTR{queue/read_ahead_kb}="6144"
# s2
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="5720d206:81f55385:bfaed082:2b9d306f", TEST=="md/stripe_cache_size", ATTR{md/stripe_cache_size}="32768", ATTR{queue/read_ahead_kb}="6144"
# s3
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="4fcf88d0:52245a99:8a192c03:ffae3856", TEST=="md/stripe_cache_size", ATTR{md/stripe_cache_size}="32768", ATTR{queue/read_ahead_kb}="6144"
# s4
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="a783c566:00915236:8eafe7b3:53f0de3c", TEST=="md/stripe_cache_size", ATTR{md/stripe_cache_size}="32768", ATTR{queue/read_ahead_kb}="6144"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="0c4f1d20-dd37-5ca9-863a-f423c510e24e", TEST=="holders/md_s0/md/array_state", TEST!="holders/md_s0/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_s0.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="f6e50b11-6c77-5b49-bcdc-2c4ec436e023", TEST=="holders/md_s1/md/array_state", TEST!="holders/md_s1/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_s1.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="5720d206-81f5-5385-bfae-d0822b9d306f", TEST=="holders/md_s2/md/array_state", TEST!="holders/md_s2/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_s2.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="4fcf88d0-5224-5a99-8a19-2c03ffae3856", TEST=="holders/md_s3/md/array_state", TEST!="holders/md_s3/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_s3.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="a783c566-0091-5236-8eaf-e7b353f0de3c", TEST=="holders/md_s4/md/array_state", TEST!="holders/md_s4/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_s4.timer"
END

# let udev read its rules again
# layout line 31 (arrays)
step 3/91 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 31 (arrays)
step 4/91 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 31 (arrays)
step 5/91 'load the kernel module raid456'
modprobe raid456

# partition d00: d00.s0 of 2.7 TiB
# layout line 29 (hardware.disks.d00); destroys everything on the disk d00
step 6/91 'partition d00: d00.s0 of 2.7 TiB'
require_blank "$disk_d00"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d00" <<'END'
label: gpt
label-id: B5EDBFBC-8407-5516-8BE5-969F53C4A2D7
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0EA2B6D3-FB54-5596-9507-BD836262A4B4, name="s0"
END
await_node /dev/disk/by-partuuid/0ea2b6d3-fb54-5596-9507-bd836262a4b4

# partition d01: d01.s1 of 2.7 TiB
# layout line 29 (hardware.disks.d01); destroys everything on the disk d01
step 7/91 'partition d01: d01.s1 of 2.7 TiB'
require_blank "$disk_d01"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d01" <<'END'
label: gpt
label-id: 0A373E94-9216-5965-A5F4-B90BA7077415
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=EB841E58-3D22-51F3-A408-056D909938EB, name="s1"
END
await_node /dev/disk/by-partuuid/eb841e58-3d22-51f3-a408-056d909938eb

# partition d02: d02.s2 of 2.7 TiB
# layout line 29 (hardware.disks.d02); destroys everything on the disk d02
step 8/91 'partition d02: d02.s2 of 2.7 TiB'
require_blank "$disk_d02"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d02" <<'END'
label: gpt
label-id: 29079A55-FD8F-5FD1-BE7B-C88DB1F90E6A
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=4556448A-A235-5B29-8F6A-7D1CDB7B9F70, name="s2"
END
await_node /dev/disk/by-partuuid/4556448a-a235-5b29-8f6a-7d1cdb7b9f70

# partition d03: d03.s3 of 2.7 TiB
# layout line 29 (hardware.disks.d03); destroys everything on the disk d03
step 9/91 'partition d03: d03.s3 of 2.7 TiB'
require_blank "$disk_d03"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d03" <<'END'
label: gpt
label-id: BA79F0CA-BF2D-5650-8695-52B3A37C0938
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=B9DD0B83-5E70-5EDD-AAA0-E57E02D548F7, name="s3"
END
await_node /dev/disk/by-partuuid/b9dd0b83-5e70-5edd-aaa0-e57e02d548f7

# partition d04: d04.s4 of 2.7 TiB
# layout line 29 (hardware.disks.d04); destroys everything on the disk d04
step 10/91 'partition d04: d04.s4 of 2.7 TiB'
require_blank "$disk_d04"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d04" <<'END'
label: gpt
label-id: 6AD94BC0-6AD7-5F43-8DE3-B24BCE6FFC41
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=CC7E2CBD-4922-52EE-B249-1C6C5272872C, name="s4"
END
await_node /dev/disk/by-partuuid/cc7e2cbd-4922-52ee-b249-1c6c5272872c

# partition d10: d10.s0 of 2.7 TiB
# layout line 29 (hardware.disks.d10); destroys everything on the disk d10
step 11/91 'partition d10: d10.s0 of 2.7 TiB'
require_blank "$disk_d10"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d10" <<'END'
label: gpt
label-id: E57739E6-17AD-505E-8565-3750B383F7BE
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=3C024964-EEDD-533B-9E8F-E94A6F7BF1CC, name="s0"
END
await_node /dev/disk/by-partuuid/3c024964-eedd-533b-9e8f-e94a6f7bf1cc

# partition d11: d11.s1 of 2.7 TiB
# layout line 29 (hardware.disks.d11); destroys everything on the disk d11
step 12/91 'partition d11: d11.s1 of 2.7 TiB'
require_blank "$disk_d11"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d11" <<'END'
label: gpt
label-id: C9A9496E-EBF8-56DC-921F-B265CBBC5C85
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=81E20892-5362-5381-98BF-D4DE672DC739, name="s1"
END
await_node /dev/disk/by-partuuid/81e20892-5362-5381-98bf-d4de672dc739

# partition d12: d12.s2 of 2.7 TiB
# layout line 29 (hardware.disks.d12); destroys everything on the disk d12
step 13/91 'partition d12: d12.s2 of 2.7 TiB'
require_blank "$disk_d12"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d12" <<'END'
label: gpt
label-id: 9B0782E9-CBA0-5520-92A7-4D94D681AD5D
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7E14E157-BDDC-5669-B073-C3457BF458CA, name="s2"
END
await_node /dev/disk/by-partuuid/7e14e157-bddc-5669-b073-c3457bf458ca

# partition d13: d13.s3 of 2.7 TiB
# layout line 29 (hardware.disks.d13); destroys everything on the disk d13
step 14/91 'partition d13: d13.s3 of 2.7 TiB'
require_blank "$disk_d13"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d13" <<'END'
label: gpt
label-id: F70F6AB6-AF73-510E-AFC4-FC67AEB90937
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=9F71997C-0728-5A44-9232-4A5A75D8CEAA, name="s3"
END
await_node /dev/disk/by-partuuid/9f71997c-0728-5a44-9232-4a5a75d8ceaa

# partition d14: d14.s4 of 2.7 TiB
# layout line 29 (hardware.disks.d14); destroys everything on the disk d14
step 15/91 'partition d14: d14.s4 of 2.7 TiB'
require_blank "$disk_d14"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d14" <<'END'
label: gpt
label-id: 7FC43E0D-7CED-5A2C-8BA0-30131F631EEA
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=2CD4A62A-0BE8-58C5-B84B-FC1E5C31C292, name="s4"
END
await_node /dev/disk/by-partuuid/2cd4a62a-0be8-58c5-b84b-fc1e5c31c292

# partition d20: d20.s0 of 2.7 TiB
# layout line 29 (hardware.disks.d20); destroys everything on the disk d20
step 16/91 'partition d20: d20.s0 of 2.7 TiB'
require_blank "$disk_d20"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d20" <<'END'
label: gpt
label-id: 679EFD7D-C3F0-5BB3-97B1-CB9487841991
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=A576D4B7-FC08-592E-803A-6DFB1E588BCD, name="s0"
END
await_node /dev/disk/by-partuuid/a576d4b7-fc08-592e-803a-6dfb1e588bcd

# partition d21: d21.s1 of 2.7 TiB
# layout line 29 (hardware.disks.d21); destroys everything on the disk d21
step 17/91 'partition d21: d21.s1 of 2.7 TiB'
require_blank "$disk_d21"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d21" <<'END'
label: gpt
label-id: 15FBA7FC-9E65-5D2A-86A1-7DD98F99BE1E
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0300FE84-B756-5E29-A5E5-FCE4AD1C947C, name="s1"
END
await_node /dev/disk/by-partuuid/0300fe84-b756-5e29-a5e5-fce4ad1c947c

# partition d22: d22.s2 of 2.7 TiB
# layout line 29 (hardware.disks.d22); destroys everything on the disk d22
step 18/91 'partition d22: d22.s2 of 2.7 TiB'
require_blank "$disk_d22"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d22" <<'END'
label: gpt
label-id: 5CD0996D-A394-5FE0-B1BC-7EDDEAAD0162
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F53F1298-75DC-5563-B7A1-9FD22408F6C4, name="s2"
END
await_node /dev/disk/by-partuuid/f53f1298-75dc-5563-b7a1-9fd22408f6c4

# partition d23: d23.s3 of 2.7 TiB
# layout line 29 (hardware.disks.d23); destroys everything on the disk d23
step 19/91 'partition d23: d23.s3 of 2.7 TiB'
require_blank "$disk_d23"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d23" <<'END'
label: gpt
label-id: A53C0CED-73DB-5FAA-892C-DEED249F210D
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=E3C8E359-7FB1-54EF-9289-922363AE01BA, name="s3"
END
await_node /dev/disk/by-partuuid/e3c8e359-7fb1-54ef-9289-922363ae01ba

# partition d24: d24.s4 of 2.7 TiB
# layout line 29 (hardware.disks.d24); destroys everything on the disk d24
step 20/91 'partition d24: d24.s4 of 2.7 TiB'
require_blank "$disk_d24"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d24" <<'END'
label: gpt
label-id: FCD42FD0-F1E1-5BC5-8DD1-4E80E9230C6E
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=FC7D2AE3-551A-55A0-B7E4-D6A90170342C, name="s4"
END
await_node /dev/disk/by-partuuid/fc7d2ae3-551a-55a0-b7e4-d6a90170342c

# partition d30: d30.s0 of 2.7 TiB
# layout line 29 (hardware.disks.d30); destroys everything on the disk d30
step 21/91 'partition d30: d30.s0 of 2.7 TiB'
require_blank "$disk_d30"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d30" <<'END'
label: gpt
label-id: 4537C434-8204-5F5E-BDA7-DA937BEB1760
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=A4E3C613-914B-50AE-8D8C-B11FAD0760CC, name="s0"
END
await_node /dev/disk/by-partuuid/a4e3c613-914b-50ae-8d8c-b11fad0760cc

# partition d31: d31.s1 of 2.7 TiB
# layout line 29 (hardware.disks.d31); destroys everything on the disk d31
step 22/91 'partition d31: d31.s1 of 2.7 TiB'
require_blank "$disk_d31"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d31" <<'END'
label: gpt
label-id: 8E75A4FF-321B-5E82-960C-FDBC9E32F7A5
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=1615296F-53A1-5A13-9D86-8AF7089AFB08, name="s1"
END
await_node /dev/disk/by-partuuid/1615296f-53a1-5a13-9d86-8af7089afb08

# partition d32: d32.s2 of 2.7 TiB
# layout line 29 (hardware.disks.d32); destroys everything on the disk d32
step 23/91 'partition d32: d32.s2 of 2.7 TiB'
require_blank "$disk_d32"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d32" <<'END'
label: gpt
label-id: 1D6BCA64-D3A0-5287-8752-EE278E3F6228
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=A0F39405-B059-5195-A650-1364E3CA1798, name="s2"
END
await_node /dev/disk/by-partuuid/a0f39405-b059-5195-a650-1364e3ca1798

# partition d33: d33.s3 of 2.7 TiB
# layout line 29 (hardware.disks.d33); destroys everything on the disk d33
step 24/91 'partition d33: d33.s3 of 2.7 TiB'
require_blank "$disk_d33"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d33" <<'END'
label: gpt
label-id: 72792540-ADF7-5D79-AA10-1AC918C179E4
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=200A56ED-60FF-5AC6-AA3E-61A1FF9B0E24, name="s3"
END
await_node /dev/disk/by-partuuid/200a56ed-60ff-5ac6-aa3e-61a1ff9b0e24

# partition d34: d34.s4 of 2.7 TiB
# layout line 29 (hardware.disks.d34); destroys everything on the disk d34
step 25/91 'partition d34: d34.s4 of 2.7 TiB'
require_blank "$disk_d34"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d34" <<'END'
label: gpt
label-id: 9BB8102F-4B14-50E6-9A1A-0235D6E19EDD
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=EB4499D3-904A-51E5-8604-FEEDF2258E20, name="s4"
END
await_node /dev/disk/by-partuuid/eb4499d3-904a-51e5-8604-feedf2258e20

# partition d40: d40.s0 of 2.7 TiB
# layout line 29 (hardware.disks.d40); destroys everything on the disk d40
step 26/91 'partition d40: d40.s0 of 2.7 TiB'
require_blank "$disk_d40"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d40" <<'END'
label: gpt
label-id: ECCF6201-5BF4-520B-8FFD-A5EB39FC49F7
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=A033C03E-6A92-5666-A679-2DE2CD984396, name="s0"
END
await_node /dev/disk/by-partuuid/a033c03e-6a92-5666-a679-2de2cd984396

# partition d41: d41.s1 of 2.7 TiB
# layout line 29 (hardware.disks.d41); destroys everything on the disk d41
step 27/91 'partition d41: d41.s1 of 2.7 TiB'
require_blank "$disk_d41"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d41" <<'END'
label: gpt
label-id: 841CC2A7-C32F-5A69-8294-2CB50C59E58E
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=420CE3ED-A703-50C7-AEEC-0716634B400D, name="s1"
END
await_node /dev/disk/by-partuuid/420ce3ed-a703-50c7-aeec-0716634b400d

# partition d42: d42.s2 of 2.7 TiB
# layout line 29 (hardware.disks.d42); destroys everything on the disk d42
step 28/91 'partition d42: d42.s2 of 2.7 TiB'
require_blank "$disk_d42"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d42" <<'END'
label: gpt
label-id: 3D95A4F2-151B-5B53-9C46-3E4A2DF02811
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=653A4DF1-C4F0-5257-8E65-10A54B37733D, name="s2"
END
await_node /dev/disk/by-partuuid/653a4df1-c4f0-5257-8e65-10a54b37733d

# partition d43: d43.s3 of 2.7 TiB
# layout line 29 (hardware.disks.d43); destroys everything on the disk d43
step 29/91 'partition d43: d43.s3 of 2.7 TiB'
require_blank "$disk_d43"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d43" <<'END'
label: gpt
label-id: 65A0B8C9-4D47-5A8F-A5F5-1845A72805E9
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=EEC8A74B-37F2-58A2-B9A7-40BBE788653A, name="s3"
END
await_node /dev/disk/by-partuuid/eec8a74b-37f2-58a2-b9a7-40bbe788653a

# partition d44: d44.s4 of 2.7 TiB
# layout line 29 (hardware.disks.d44); destroys everything on the disk d44
step 30/91 'partition d44: d44.s4 of 2.7 TiB'
require_blank "$disk_d44"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d44" <<'END'
label: gpt
label-id: 4FE4EF16-C347-58B2-8AAA-CE7179821BF3
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=A49DDA0B-84D9-57AB-840C-105E87B78F38, name="s4"
END
await_node /dev/disk/by-partuuid/a49dda0b-84d9-57ab-840c-105e87b78f38

# partition d50: d50.s0 of 2.7 TiB
# layout line 29 (hardware.disks.d50); destroys everything on the disk d50
step 31/91 'partition d50: d50.s0 of 2.7 TiB'
require_blank "$disk_d50"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d50" <<'END'
label: gpt
label-id: 5922A31C-8C6A-53B3-B350-AE3F77F92E17
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=3DE531D2-C95E-5FCA-9CC6-8D4474055A51, name="s0"
END
await_node /dev/disk/by-partuuid/3de531d2-c95e-5fca-9cc6-8d4474055a51

# partition d51: d51.s1 of 2.7 TiB
# layout line 29 (hardware.disks.d51); destroys everything on the disk d51
step 32/91 'partition d51: d51.s1 of 2.7 TiB'
require_blank "$disk_d51"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d51" <<'END'
label: gpt
label-id: FEB9306F-3CD7-553A-A66A-E2BD7F0065F7
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=D5EAD61E-8C5B-558E-9FF0-536C2E16BF32, name="s1"
END
await_node /dev/disk/by-partuuid/d5ead61e-8c5b-558e-9ff0-536c2e16bf32

# partition d52: d52.s2 of 2.7 TiB
# layout line 29 (hardware.disks.d52); destroys everything on the disk d52
step 33/91 'partition d52: d52.s2 of 2.7 TiB'
require_blank "$disk_d52"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d52" <<'END'
label: gpt
label-id: 9565D404-6F45-56A1-94BA-AE7FD519AFF5
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0F90C21D-B670-53F3-9610-73EC59B668A1, name="s2"
END
await_node /dev/disk/by-partuuid/0f90c21d-b670-53f3-9610-73ec59b668a1

# partition d53: d53.s3 of 2.7 TiB
# layout line 29 (hardware.disks.d53); destroys everything on the disk d53
step 34/91 'partition d53: d53.s3 of 2.7 TiB'
require_blank "$disk_d53"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d53" <<'END'
label: gpt
label-id: BFBFC709-761E-5432-A05E-F17A3D26C761
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=C0363942-F468-5B85-BF0A-DAC8195F68BE, name="s3"
END
await_node /dev/disk/by-partuuid/c0363942-f468-5b85-bf0a-dac8195f68be

# partition d54: d54.s4 of 2.7 TiB
# layout line 29 (hardware.disks.d54); destroys everything on the disk d54
step 35/91 'partition d54: d54.s4 of 2.7 TiB'
require_blank "$disk_d54"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d54" <<'END'
label: gpt
label-id: 22046DDB-589F-5D66-86E5-E8CE4CEFEF33
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=C4F50A6E-0874-5CE4-ADBF-1CF85150D116, name="s4"
END
await_node /dev/disk/by-partuuid/c4f50a6e-0874-5ce4-adbf-1cf85150d116

# partition d60: d60.s0 of 2.7 TiB
# layout line 29 (hardware.disks.d60); destroys everything on the disk d60
step 36/91 'partition d60: d60.s0 of 2.7 TiB'
require_blank "$disk_d60"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d60" <<'END'
label: gpt
label-id: 2F1FEE52-5735-5682-B170-FEB45EC4241B
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=28080333-1B81-52C3-B7A9-CA5C12B671FA, name="s0"
END
await_node /dev/disk/by-partuuid/28080333-1b81-52c3-b7a9-ca5c12b671fa

# partition d61: d61.s1 of 2.7 TiB
# layout line 29 (hardware.disks.d61); destroys everything on the disk d61
step 37/91 'partition d61: d61.s1 of 2.7 TiB'
require_blank "$disk_d61"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d61" <<'END'
label: gpt
label-id: 107717F7-A8AC-5A26-8349-909847B505DA
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=3E3BF61A-08E2-50E0-8E14-87618A334F0A, name="s1"
END
await_node /dev/disk/by-partuuid/3e3bf61a-08e2-50e0-8e14-87618a334f0a

# partition d62: d62.s2 of 2.7 TiB
# layout line 29 (hardware.disks.d62); destroys everything on the disk d62
step 38/91 'partition d62: d62.s2 of 2.7 TiB'
require_blank "$disk_d62"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d62" <<'END'
label: gpt
label-id: A329E4F4-C5AF-5BFC-B642-FEBA9596844F
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=526F7F5E-B5C2-5052-B95B-8D3BA97465A9, name="s2"
END
await_node /dev/disk/by-partuuid/526f7f5e-b5c2-5052-b95b-8d3ba97465a9

# partition d63: d63.s3 of 2.7 TiB
# layout line 29 (hardware.disks.d63); destroys everything on the disk d63
step 39/91 'partition d63: d63.s3 of 2.7 TiB'
require_blank "$disk_d63"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d63" <<'END'
label: gpt
label-id: 2EC5FA8C-AEBB-5D89-A4F5-47BCCEE110DD
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=FB06F670-6365-570B-B578-D0BF88E97125, name="s3"
END
await_node /dev/disk/by-partuuid/fb06f670-6365-570b-b578-d0bf88e97125

# partition d64: d64.s4 of 2.7 TiB
# layout line 29 (hardware.disks.d64); destroys everything on the disk d64
step 40/91 'partition d64: d64.s4 of 2.7 TiB'
require_blank "$disk_d64"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d64" <<'END'
label: gpt
label-id: AE9E44EC-8D54-5004-B7BF-D5F0D7BEF9EC
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0572FBD9-A82A-5053-A64E-95E979989C46, name="s4"
END
await_node /dev/disk/by-partuuid/0572fbd9-a82a-5053-a64e-95e979989c46

# partition d70: d70.s0 of 2.7 TiB
# layout line 29 (hardware.disks.d70); destroys everything on the disk d70
step 41/91 'partition d70: d70.s0 of 2.7 TiB'
require_blank "$disk_d70"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d70" <<'END'
label: gpt
label-id: F5D67C87-4F98-5BAA-89D9-FEA488BFDD17
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0A1FDD20-CA5A-5AB6-952E-9AEC0A05C066, name="s0"
END
await_node /dev/disk/by-partuuid/0a1fdd20-ca5a-5ab6-952e-9aec0a05c066

# partition d71: d71.s1 of 2.7 TiB
# layout line 29 (hardware.disks.d71); destroys everything on the disk d71
step 42/91 'partition d71: d71.s1 of 2.7 TiB'
require_blank "$disk_d71"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d71" <<'END'
label: gpt
label-id: 376F4D26-2AC3-5371-8D17-A2F69244B8AB
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=74251C0A-BFBF-59CC-8BEA-A603F039A1AA, name="s1"
END
await_node /dev/disk/by-partuuid/74251c0a-bfbf-59cc-8bea-a603f039a1aa

# partition d72: d72.s2 of 2.7 TiB
# layout line 29 (hardware.disks.d72); destroys everything on the disk d72
step 43/91 'partition d72: d72.s2 of 2.7 TiB'
require_blank "$disk_d72"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d72" <<'END'
label: gpt
label-id: C0948268-B818-53DE-8F2F-80E9464C85D1
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=627E4BE0-7D48-5CB8-A381-E569ED36230D, name="s2"
END
await_node /dev/disk/by-partuuid/627e4be0-7d48-5cb8-a381-e569ed36230d

# partition d73: d73.s3 of 2.7 TiB
# layout line 29 (hardware.disks.d73); destroys everything on the disk d73
step 44/91 'partition d73: d73.s3 of 2.7 TiB'
require_blank "$disk_d73"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d73" <<'END'
label: gpt
label-id: 8CE919FB-EE3A-56A4-B467-3836AD8C9165
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F776389D-E5C5-5284-A7A6-ED6257DBFFB6, name="s3"
END
await_node /dev/disk/by-partuuid/f776389d-e5c5-5284-a7a6-ed6257dbffb6

# partition d74: d74.s4 of 2.7 TiB
# layout line 29 (hardware.disks.d74); destroys everything on the disk d74
step 45/91 'partition d74: d74.s4 of 2.7 TiB'
require_blank "$disk_d74"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d74" <<'END'
label: gpt
label-id: 5347B298-0033-5415-B060-9BCCB6F4F511
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=DC88B25C-396D-5F45-911A-47BD761724E7, name="s4"
END
await_node /dev/disk/by-partuuid/dc88b25c-396d-5f45-911a-47bd761724e7

# create raid6 s0 of 8 members (d00, d10, d20, d30, d40, d50, d60, d70), 16.4 TiB usable
# layout line 32 (arrays.s0); destroys everything on d00.s0, everything on d10.s0, everything on d20.s0, everything on d30.s0, everything on d40.s0, everything on d50.s0, everything on d60.s0, everything on d70.s0
step 46/91 'create raid6 s0 of 8 members (d00, d10, d20, d30, d40, d50, d60, d70), 16.4 TiB usable'
require_blank /dev/disk/by-partuuid/0ea2b6d3-fb54-5596-9507-bd836262a4b4
require_blank /dev/disk/by-partuuid/3c024964-eedd-533b-9e8f-e94a6f7bf1cc
require_blank /dev/disk/by-partuuid/a576d4b7-fc08-592e-803a-6dfb1e588bcd
require_blank /dev/disk/by-partuuid/a4e3c613-914b-50ae-8d8c-b11fad0760cc
require_blank /dev/disk/by-partuuid/a033c03e-6a92-5666-a679-2de2cd984396
require_blank /dev/disk/by-partuuid/3de531d2-c95e-5fca-9cc6-8d4474055a51
require_blank /dev/disk/by-partuuid/28080333-1b81-52c3-b7a9-ca5c12b671fa
require_blank /dev/disk/by-partuuid/0a1fdd20-ca5a-5ab6-952e-9aec0a05c066
mdadm --create /dev/md/s0 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=s0 \
	--uuid=0c4f1d20:dd375ca9:863af423:c510e24e --level=raid6 --raid-devices=8 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/0ea2b6d3-fb54-5596-9507-bd836262a4b4 \
	/dev/disk/by-partuuid/3c024964-eedd-533b-9e8f-e94a6f7bf1cc \
	/dev/disk/by-partuuid/a576d4b7-fc08-592e-803a-6dfb1e588bcd \
	/dev/disk/by-partuuid/a4e3c613-914b-50ae-8d8c-b11fad0760cc \
	/dev/disk/by-partuuid/a033c03e-6a92-5666-a679-2de2cd984396 \
	/dev/disk/by-partuuid/3de531d2-c95e-5fca-9cc6-8d4474055a51 \
	/dev/disk/by-partuuid/28080333-1b81-52c3-b7a9-ca5c12b671fa \
	/dev/disk/by-partuuid/0a1fdd20-ca5a-5ab6-952e-9aec0a05c066
await_node /dev/md/s0

# hold the initial sync of s0, so that it does not slow down what follows
# layout line 32 (arrays.s0)
step 47/91 'hold the initial sync of s0, so that it does not slow down what follows'
set_attribute /sys/block/md_s0/md/sync_action frozen

# open s0 for writing
# layout line 32 (arrays.s0)
step 48/91 'open s0 for writing'
set_attribute /sys/block/md_s0/md/array_state active

# let udev tune s0 as it will at every boot: stripe_cache_size 32768, read_ahead_kb 6144
# layout line 32 (arrays.s0)
step 49/91 'let udev tune s0 as it will at every boot: stripe_cache_size 32768, read_ahead_kb 6144'
udevadm trigger --settle --action=change --name-match=/dev/md/s0

# create raid6 s1 of 8 members (d01, d11, d21, d31, d41, d51, d61, d71), 16.4 TiB usable
# layout line 32 (arrays.s1); destroys everything on d01.s1, everything on d11.s1, everything on d21.s1, everything on d31.s1, everything on d41.s1, everything on d51.s1, everything on d61.s1, everything on d71.s1
step 50/91 'create raid6 s1 of 8 members (d01, d11, d21, d31, d41, d51, d61, d71), 16.4 TiB usable'
require_blank /dev/disk/by-partuuid/eb841e58-3d22-51f3-a408-056d909938eb
require_blank /dev/disk/by-partuuid/81e20892-5362-5381-98bf-d4de672dc739
require_blank /dev/disk/by-partuuid/0300fe84-b756-5e29-a5e5-fce4ad1c947c
require_blank /dev/disk/by-partuuid/1615296f-53a1-5a13-9d86-8af7089afb08
require_blank /dev/disk/by-partuuid/420ce3ed-a703-50c7-aeec-0716634b400d
require_blank /dev/disk/by-partuuid/d5ead61e-8c5b-558e-9ff0-536c2e16bf32
require_blank /dev/disk/by-partuuid/3e3bf61a-08e2-50e0-8e14-87618a334f0a
require_blank /dev/disk/by-partuuid/74251c0a-bfbf-59cc-8bea-a603f039a1aa
mdadm --create /dev/md/s1 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=s1 \
	--uuid=f6e50b11:6c775b49:bcdc2c4e:c436e023 --level=raid6 --raid-devices=8 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/eb841e58-3d22-51f3-a408-056d909938eb \
	/dev/disk/by-partuuid/81e20892-5362-5381-98bf-d4de672dc739 \
	/dev/disk/by-partuuid/0300fe84-b756-5e29-a5e5-fce4ad1c947c \
	/dev/disk/by-partuuid/1615296f-53a1-5a13-9d86-8af7089afb08 \
	/dev/disk/by-partuuid/420ce3ed-a703-50c7-aeec-0716634b400d \
	/dev/disk/by-partuuid/d5ead61e-8c5b-558e-9ff0-536c2e16bf32 \
	/dev/disk/by-partuuid/3e3bf61a-08e2-50e0-8e14-87618a334f0a \
	/dev/disk/by-partuuid/74251c0a-bfbf-59cc-8bea-a603f039a1aa
await_node /dev/md/s1

# hold the initial sync of s1, so that it does not slow down what follows
# layout line 32 (arrays.s1)
step 51/91 'hold the initial sync of s1, so that it does not slow down what follows'
set_attribute /sys/block/md_s1/md/sync_action frozen

# open s1 for writing
# layout line 32 (arrays.s1)
step 52/91 'open s1 for writing'
set_attribute /sys/block/md_s1/md/array_state active

# let udev tune s1 as it will at every boot: stripe_cache_size 32768, read_ahead_kb 6144
# layout line 32 (arrays.s1)
step 53/91 'let udev tune s1 as it will at every boot: stripe_cache_size 32768, read_ahead_kb 6144'
udevadm trigger --settle --action=change --name-match=/dev/md/s1

# create raid6 s2 of 8 members (d02, d12, d22, d32, d42, d52, d62, d72), 16.4 TiB usable
# layout line 32 (arrays.s2); destroys everything on d02.s2, everything on d12.s2, everything on d22.s2, everything on d32.s2, everything on d42.s2, everything on d52.s2, everything on d62.s2, everything on d72.s2
step 54/91 'create raid6 s2 of 8 members (d02, d12, d22, d32, d42, d52, d62, d72), 16.4 TiB usable'
require_blank /dev/disk/by-partuuid/4556448a-a235-5b29-8f6a-7d1cdb7b9f70
require_blank /dev/disk/by-partuuid/7e14e157-bddc-5669-b073-c3457bf458ca
require_blank /dev/disk/by-partuuid/f53f1298-75dc-5563-b7a1-9fd22408f6c4
require_blank /dev/disk/by-partuuid/a0f39405-b059-5195-a650-1364e3ca1798
require_blank /dev/disk/by-partuuid/653a4df1-c4f0-5257-8e65-10a54b37733d
require_blank /dev/disk/by-partuuid/0f90c21d-b670-53f3-9610-73ec59b668a1
require_blank /dev/disk/by-partuuid/526f7f5e-b5c2-5052-b95b-8d3ba97465a9
require_blank /dev/disk/by-partuuid/627e4be0-7d48-5cb8-a381-e569ed36230d
mdadm --create /dev/md/s2 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=s2 \
	--uuid=5720d206:81f55385:bfaed082:2b9d306f --level=raid6 --raid-devices=8 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/4556448a-a235-5b29-8f6a-7d1cdb7b9f70 \
	/dev/disk/by-partuuid/7e14e157-bddc-5669-b073-c3457bf458ca \
	/dev/disk/by-partuuid/f53f1298-75dc-5563-b7a1-9fd22408f6c4 \
	/dev/disk/by-partuuid/a0f39405-b059-5195-a650-1364e3ca1798 \
	/dev/disk/by-partuuid/653a4df1-c4f0-5257-8e65-10a54b37733d \
	/dev/disk/by-partuuid/0f90c21d-b670-53f3-9610-73ec59b668a1 \
	/dev/disk/by-partuuid/526f7f5e-b5c2-5052-b95b-8d3ba97465a9 \
	/dev/disk/by-partuuid/627e4be0-7d48-5cb8-a381-e569ed36230d
await_node /dev/md/s2

# hold the initial sync of s2, so that it does not slow down what follows
# layout line 32 (arrays.s2)
step 55/91 'hold the initial sync of s2, so that it does not slow down what follows'
set_attribute /sys/block/md_s2/md/sync_action frozen

# open s2 for writing
# layout line 32 (arrays.s2)
step 56/91 'open s2 for writing'
set_attribute /sys/block/md_s2/md/array_state active

# let udev tune s2 as it will at every boot: stripe_cache_size 32768, read_ahead_kb 6144
# layout line 32 (arrays.s2)
step 57/91 'let udev tune s2 as it will at every boot: stripe_cache_size 32768, read_ahead_kb 6144'
udevadm trigger --settle --action=change --name-match=/dev/md/s2

# create raid6 s3 of 8 members (d03, d13, d23, d33, d43, d53, d63, d73), 16.4 TiB usable
# layout line 32 (arrays.s3); destroys everything on d03.s3, everything on d13.s3, everything on d23.s3, everything on d33.s3, everything on d43.s3, everything on d53.s3, everything on d63.s3, everything on d73.s3
step 58/91 'create raid6 s3 of 8 members (d03, d13, d23, d33, d43, d53, d63, d73), 16.4 TiB usable'
require_blank /dev/disk/by-partuuid/b9dd0b83-5e70-5edd-aaa0-e57e02d548f7
require_blank /dev/disk/by-partuuid/9f71997c-0728-5a44-9232-4a5a75d8ceaa
require_blank /dev/disk/by-partuuid/e3c8e359-7fb1-54ef-9289-922363ae01ba
require_blank /dev/disk/by-partuuid/200a56ed-60ff-5ac6-aa3e-61a1ff9b0e24
require_blank /dev/disk/by-partuuid/eec8a74b-37f2-58a2-b9a7-40bbe788653a
require_blank /dev/disk/by-partuuid/c0363942-f468-5b85-bf0a-dac8195f68be
require_blank /dev/disk/by-partuuid/fb06f670-6365-570b-b578-d0bf88e97125
require_blank /dev/disk/by-partuuid/f776389d-e5c5-5284-a7a6-ed6257dbffb6
mdadm --create /dev/md/s3 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=s3 \
	--uuid=4fcf88d0:52245a99:8a192c03:ffae3856 --level=raid6 --raid-devices=8 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/b9dd0b83-5e70-5edd-aaa0-e57e02d548f7 \
	/dev/disk/by-partuuid/9f71997c-0728-5a44-9232-4a5a75d8ceaa \
	/dev/disk/by-partuuid/e3c8e359-7fb1-54ef-9289-922363ae01ba \
	/dev/disk/by-partuuid/200a56ed-60ff-5ac6-aa3e-61a1ff9b0e24 \
	/dev/disk/by-partuuid/eec8a74b-37f2-58a2-b9a7-40bbe788653a \
	/dev/disk/by-partuuid/c0363942-f468-5b85-bf0a-dac8195f68be \
	/dev/disk/by-partuuid/fb06f670-6365-570b-b578-d0bf88e97125 \
	/dev/disk/by-partuuid/f776389d-e5c5-5284-a7a6-ed6257dbffb6
await_node /dev/md/s3

# hold the initial sync of s3, so that it does not slow down what follows
# layout line 32 (arrays.s3)
step 59/91 'hold the initial sync of s3, so that it does not slow down what follows'
set_attribute /sys/block/md_s3/md/sync_action frozen

# open s3 for writing
# layout line 32 (arrays.s3)
step 60/91 'open s3 for writing'
set_attribute /sys/block/md_s3/md/array_state active

# let udev tune s3 as it will at every boot: stripe_cache_size 32768, read_ahead_kb 6144
# layout line 32 (arrays.s3)
step 61/91 'let udev tune s3 as it will at every boot: stripe_cache_size 32768, read_ahead_kb 6144'
udevadm trigger --settle --action=change --name-match=/dev/md/s3

# create raid6 s4 of 8 members (d04, d14, d24, d34, d44, d54, d64, d74), 16.4 TiB usable
# layout line 32 (arrays.s4); destroys everything on d04.s4, everything on d14.s4, everything on d24.s4, everything on d34.s4, everything on d44.s4, everything on d54.s4, everything on d64.s4, everything on d74.s4
step 62/91 'create raid6 s4 of 8 members (d04, d14, d24, d34, d44, d54, d64, d74), 16.4 TiB usable'
require_blank /dev/disk/by-partuuid/cc7e2cbd-4922-52ee-b249-1c6c5272872c
require_blank /dev/disk/by-partuuid/2cd4a62a-0be8-58c5-b84b-fc1e5c31c292
require_blank /dev/disk/by-partuuid/fc7d2ae3-551a-55a0-b7e4-d6a90170342c
require_blank /dev/disk/by-partuuid/eb4499d3-904a-51e5-8604-feedf2258e20
require_blank /dev/disk/by-partuuid/a49dda0b-84d9-57ab-840c-105e87b78f38
require_blank /dev/disk/by-partuuid/c4f50a6e-0874-5ce4-adbf-1cf85150d116
require_blank /dev/disk/by-partuuid/0572fbd9-a82a-5053-a64e-95e979989c46
require_blank /dev/disk/by-partuuid/dc88b25c-396d-5f45-911a-47bd761724e7
mdadm --create /dev/md/s4 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=s4 \
	--uuid=a783c566:00915236:8eafe7b3:53f0de3c --level=raid6 --raid-devices=8 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/cc7e2cbd-4922-52ee-b249-1c6c5272872c \
	/dev/disk/by-partuuid/2cd4a62a-0be8-58c5-b84b-fc1e5c31c292 \
	/dev/disk/by-partuuid/fc7d2ae3-551a-55a0-b7e4-d6a90170342c \
	/dev/disk/by-partuuid/eb4499d3-904a-51e5-8604-feedf2258e20 \
	/dev/disk/by-partuuid/a49dda0b-84d9-57ab-840c-105e87b78f38 \
	/dev/disk/by-partuuid/c4f50a6e-0874-5ce4-adbf-1cf85150d116 \
	/dev/disk/by-partuuid/0572fbd9-a82a-5053-a64e-95e979989c46 \
	/dev/disk/by-partuuid/dc88b25c-396d-5f45-911a-47bd761724e7
await_node /dev/md/s4

# hold the initial sync of s4, so that it does not slow down what follows
# layout line 32 (arrays.s4)
step 63/91 'hold the initial sync of s4, so that it does not slow down what follows'
set_attribute /sys/block/md_s4/md/sync_action frozen

# open s4 for writing
# layout line 32 (arrays.s4)
step 64/91 'open s4 for writing'
set_attribute /sys/block/md_s4/md/array_state active

# let udev tune s4 as it will at every boot: stripe_cache_size 32768, read_ahead_kb 6144
# layout line 32 (arrays.s4)
step 65/91 'let udev tune s4 as it will at every boot: stripe_cache_size 32768, read_ahead_kb 6144'
udevadm trigger --settle --action=change --name-match=/dev/md/s4

# make xfs data0 on s0, 16.4 TiB, su 512 KiB, sw 6
# layout line 41 (filesystems.data0); destroys everything on s0
step 66/91 'make xfs data0 on s0, 16.4 TiB, su 512 KiB, sw 6'
require_blank /dev/md/s0
mkfs.xfs -q -K -m crc=1,uuid=71cd3196-dea9-5823-aa04-bf662386de29 -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=562560499712,su=524288,sw=6 -l size=2136997888,su=32768 -L data0 /dev/md/s0
await_node /dev/disk/by-uuid/71cd3196-dea9-5823-aa04-bf662386de29 /dev/md/s0

# make xfs data1 on s1, 16.4 TiB, su 512 KiB, sw 6
# layout line 41 (filesystems.data1); destroys everything on s1
step 67/91 'make xfs data1 on s1, 16.4 TiB, su 512 KiB, sw 6'
require_blank /dev/md/s1
mkfs.xfs -q -K -m crc=1,uuid=6a5a9a9a-81df-590d-916c-a3ea7c7fe438 -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=562560499712,su=524288,sw=6 -l size=2136997888,su=32768 -L data1 /dev/md/s1
await_node /dev/disk/by-uuid/6a5a9a9a-81df-590d-916c-a3ea7c7fe438 /dev/md/s1

# make xfs data2 on s2, 16.4 TiB, su 512 KiB, sw 6
# layout line 41 (filesystems.data2); destroys everything on s2
step 68/91 'make xfs data2 on s2, 16.4 TiB, su 512 KiB, sw 6'
require_blank /dev/md/s2
mkfs.xfs -q -K -m crc=1,uuid=dda40d2a-2306-51ac-8dd7-6e7e3ead06fc -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=562560499712,su=524288,sw=6 -l size=2136997888,su=32768 -L data2 /dev/md/s2
await_node /dev/disk/by-uuid/dda40d2a-2306-51ac-8dd7-6e7e3ead06fc /dev/md/s2

# make xfs data3 on s3, 16.4 TiB, su 512 KiB, sw 6
# layout line 41 (filesystems.data3); destroys everything on s3
step 69/91 'make xfs data3 on s3, 16.4 TiB, su 512 KiB, sw 6'
require_blank /dev/md/s3
mkfs.xfs -q -K -m crc=1,uuid=e0ed43ec-6f5e-5cab-bd60-fd4d6b8e3e0f -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=562560499712,su=524288,sw=6 -l size=2136997888,su=32768 -L data3 /dev/md/s3
await_node /dev/disk/by-uuid/e0ed43ec-6f5e-5cab-bd60-fd4d6b8e3e0f /dev/md/s3

# make xfs data4 on s4, 16.4 TiB, su 512 KiB, sw 6
# layout line 41 (filesystems.data4); destroys everything on s4
step 70/91 'make xfs data4 on s4, 16.4 TiB, su 512 KiB, sw 6'
require_blank /dev/md/s4
mkfs.xfs -q -K -m crc=1,uuid=e17b67a1-8344-55be-9695-fa44f662f26d -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=562560499712,su=524288,sw=6 -l size=2136997888,su=32768 -L data4 /dev/md/s4
await_node /dev/disk/by-uuid/e17b67a1-8344-55be-9695-fa44f662f26d /dev/md/s4

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 31 (arrays)
step 71/91 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot \
	'0c4f1d20:dd375ca9:863af423:c510e24e f6e50b11:6c775b49:bcdc2c4e:c436e023 5720d206:81f55385:bfaed082:2b9d306f 4fcf88d0:52245a99:8a192c03:ffae3856 a783c566:00915236:8eafe7b3:53f0de3c' \
	/etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 43 (monitoring.mail)
step 72/91 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 43 (monitoring.scrub)
step 73/91 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 43 (monitoring.scrub)
step 74/91 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm jbod bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 5 lines into /etc/fstab
# layout line 40 (filesystems)
step 75/91 'enter 5 lines into /etc/fstab'
write_block /etc/fstab jbod bottom 0644 <<'END'
UUID=71cd3196-dea9-5823-aa04-bf662386de29 /data/0 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
UUID=6a5a9a9a-81df-590d-916c-a3ea7c7fe438 /data/1 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
UUID=dda40d2a-2306-51ac-8dd7-6e7e3ead06fc /data/2 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
UUID=e0ed43ec-6f5e-5cab-bd60-fd4d6b8e3e0f /data/3 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
UUID=e17b67a1-8344-55be-9695-fa44f662f26d /data/4 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 40 (filesystems)
step 76/91 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /data/0
# layout line 41 (filesystems.data0)
step 77/91 'make the folder /data/0'
mkdir --parents /data/0

# mount data0 at /data/0
# layout line 41 (filesystems.data0)
step 78/91 'mount data0 at /data/0'
systemctl start /data/0

# make the folder /data/1
# layout line 41 (filesystems.data1)
step 79/91 'make the folder /data/1'
mkdir --parents /data/1

# mount data1 at /data/1
# layout line 41 (filesystems.data1)
step 80/91 'mount data1 at /data/1'
systemctl start /data/1

# make the folder /data/2
# layout line 41 (filesystems.data2)
step 81/91 'make the folder /data/2'
mkdir --parents /data/2

# mount data2 at /data/2
# layout line 41 (filesystems.data2)
step 82/91 'mount data2 at /data/2'
systemctl start /data/2

# make the folder /data/3
# layout line 41 (filesystems.data3)
step 83/91 'make the folder /data/3'
mkdir --parents /data/3

# mount data3 at /data/3
# layout line 41 (filesystems.data3)
step 84/91 'mount data3 at /data/3'
systemctl start /data/3

# make the folder /data/4
# layout line 41 (filesystems.data4)
step 85/91 'make the folder /data/4'
mkdir --parents /data/4

# mount data4 at /data/4
# layout line 41 (filesystems.data4)
step 86/91 'mount data4 at /data/4'
systemctl start /data/4

# let the initial sync of s0 run
# layout line 32 (arrays.s0)
step 87/91 'let the initial sync of s0 run'
set_attribute /sys/block/md_s0/md/sync_action idle

# let the initial sync of s1 run
# layout line 32 (arrays.s1)
step 88/91 'let the initial sync of s1 run'
set_attribute /sys/block/md_s1/md/sync_action idle

# let the initial sync of s2 run
# layout line 32 (arrays.s2)
step 89/91 'let the initial sync of s2 run'
set_attribute /sys/block/md_s2/md/sync_action idle

# let the initial sync of s3 run
# layout line 32 (arrays.s3)
step 90/91 'let the initial sync of s3 run'
set_attribute /sys/block/md_s3/md/sync_action idle

# let the initial sync of s4 run
# layout line 32 (arrays.s4)
step 91/91 'let the initial sync of s4 run'
set_attribute /sys/block/md_s4/md/sync_action idle

complete=yes
echo 'done'
}
