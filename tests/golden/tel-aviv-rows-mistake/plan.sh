#!/bin/sh
# The plan for the host jbod, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:6d597e1607d4d8b3473c54f6136e14c47b6dab0ea9ec257397b8e2e13e5f8247
# note[network-slower-than-array] layout line 19: the network carries 118 MB/s, and r0 alone can read 149
# note[write-hole] layout line 31: a crash of r0 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 31: a crash of r1 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 31: a crash of r2 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 31: a crash of r3 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 31: a crash of r4 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 31: a crash of r5 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 31: a crash of r6 while a member is missing can spoil data that nobody was writing (the write hole)
# note[write-hole] layout line 31: a crash of r7 while a member is missing can spoil data that nobody was writing (the write hole)
# warning[array-behind-one-multiplier] layout line 32: all 5 members of r0 share the one uplink of pm0, 50 MB/s for each
# warning[array-behind-one-multiplier] layout line 32: all 5 members of r1 share the one uplink of pm1, 50 MB/s for each
# warning[array-behind-one-multiplier] layout line 32: all 5 members of r2 share the one uplink of pm2, 50 MB/s for each
# warning[array-behind-one-multiplier] layout line 32: all 5 members of r3 share the one uplink of pm3, 50 MB/s for each
# warning[array-behind-one-multiplier] layout line 32: all 5 members of r4 share the one uplink of pm4, 50 MB/s for each
# warning[array-behind-one-multiplier] layout line 32: all 5 members of r5 share the one uplink of pm5, 50 MB/s for each
# warning[array-behind-one-multiplier] layout line 32: all 5 members of r6 share the one uplink of pm6, 50 MB/s for each
# warning[array-behind-one-multiplier] layout line 32: all 5 members of r7 share the one uplink of pm7, 50 MB/s for each
# warning[component-loss-kills-array] layout line 32: r0 survives the loss of 2 disks, and the multiplier pm0 takes all 5 members with it
# warning[component-loss-kills-array] layout line 32: r1 survives the loss of 2 disks, and the multiplier pm1 takes all 5 members with it
# warning[component-loss-kills-array] layout line 32: r2 survives the loss of 2 disks, and the multiplier pm2 takes all 5 members with it
# warning[component-loss-kills-array] layout line 32: r3 survives the loss of 2 disks, and the multiplier pm3 takes all 5 members with it
# warning[component-loss-kills-array] layout line 32: r4 survives the loss of 2 disks, and the multiplier pm4 takes all 5 members with it
# warning[component-loss-kills-array] layout line 32: r5 survives the loss of 2 disks, and the multiplier pm5 takes all 5 members with it
# warning[component-loss-kills-array] layout line 32: r6 survives the loss of 2 disks, and the multiplier pm6 takes all 5 members with it
# warning[component-loss-kills-array] layout line 32: r7 survives the loss of 2 disks, and the multiplier pm7 takes all 5 members with it
# note[rebuild-window] layout line 32: a rebuild of r0 takes 17 h at best: 3.0 TB for each member at 50 MB/s, the pace of the uplink of pm0
# note[rebuild-window] layout line 32: a rebuild of r1 takes 17 h at best: 3.0 TB for each member at 50 MB/s, the pace of the uplink of pm1
# note[rebuild-window] layout line 32: a rebuild of r2 takes 17 h at best: 3.0 TB for each member at 50 MB/s, the pace of the uplink of pm2
# note[rebuild-window] layout line 32: a rebuild of r3 takes 17 h at best: 3.0 TB for each member at 50 MB/s, the pace of the uplink of pm3
# note[rebuild-window] layout line 32: a rebuild of r4 takes 17 h at best: 3.0 TB for each member at 50 MB/s, the pace of the uplink of pm4
# note[rebuild-window] layout line 32: a rebuild of r5 takes 17 h at best: 3.0 TB for each member at 50 MB/s, the pace of the uplink of pm5
# note[rebuild-window] layout line 32: a rebuild of r6 takes 17 h at best: 3.0 TB for each member at 50 MB/s, the pace of the uplink of pm6
# note[rebuild-window] layout line 32: a rebuild of r7 takes 17 h at best: 3.0 TB for each member at 50 MB/s, the pace of the uplink of pm7

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

# name 8 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 29 (arrays)
step 1/115 'name 8 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf jbod top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/r0 metadata=1.2 UUID=9d021578:51eb5ee3:a986ce83:2734d738
ARRAY /dev/md/r1 metadata=1.2 UUID=76eb8cd7:fbcc574d:9d287cb0:33c0745b
ARRAY /dev/md/r2 metadata=1.2 UUID=cb39db88:7c5f5f31:9445f326:effaf938
ARRAY /dev/md/r3 metadata=1.2 UUID=b925f59d:eb0451df:91678e09:58a22deb
ARRAY /dev/md/r4 metadata=1.2 UUID=b38c78bf:20ab5dab:a42dd178:88bf30c0
ARRAY /dev/md/r5 metadata=1.2 UUID=2d78f090:d57c5f65:a1738b9c:0117feb1
ARRAY /dev/md/r6 metadata=1.2 UUID=351944ad:d3a95a6a:b36a99b4:40edd764
ARRAY /dev/md/r7 metadata=1.2 UUID=10ba6240:b21c5e1b:83084584:902e85ab
END

# let udev tune 8 arrays and start 8 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-jbod.rules
# layout line 29 (arrays)
step 2/115 'let udev tune 8 arrays and start 8 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-jbod.rules'
write_file /etc/udev/rules.d/65-raidplan-jbod.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# r0
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="9d021578:51eb5ee3:a986ce83:2734d738", ATTR{queue/read_ahead_kb}="3072"
# r1
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="76eb8cd7:fbcc574d:9d287cb0:33c0745b", ATTR{queue/read_ahead_kb}="3072"
# r2
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="cb39db88:7c5f5f31:9445f326:effaf938", ATTR{queue/read_ahead_kb}="3072"
# r3
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="b925f59d:eb0451df:91678e09:58a22deb", ATTR{queue/read_ahead_kb}="3072"
# r4
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="b38c78bf:20ab5dab:a42dd178:88bf30c0", ATTR{queue/read_ahead_kb}="3072"
# r5
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="2d78f090:d57c5f65:a1738b9c:0117feb1", ATTR{queue/read_ahead_kb}="3072"
# r6
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="351944ad:d3a95a6a:b36a99b4:40edd764", ATTR{queue/read_ahead_kb}="3072"
# r7
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="10ba6240:b21c5e1b:83084584:902e85ab", ATTR{queue/read_ahead_kb}="3072"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="9d021578-51eb-5ee3-a986-ce832734d738", TEST=="holders/md_r0/md/array_state", TEST!="holders/md_r0/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_r0.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="76eb8cd7-fbcc-574d-9d28-7cb033c0745b", TEST=="holders/md_r1/md/array_state", TEST!="holders/md_r1/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_r1.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="cb39db88-7c5f-5f31-9445-f326effaf938", TEST=="holders/md_r2/md/array_state", TEST!="holders/md_r2/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_r2.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="b925f59d-eb04-51df-9167-8e0958a22deb", TEST=="holders/md_r3/md/array_state", TEST!="holders/md_r3/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_r3.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="b38c78bf-20ab-5dab-a42d-d17888bf30c0", TEST=="holders/md_r4/md/array_state", TEST!="holders/md_r4/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_r4.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="2d78f090-d57c-5f65-a173-8b9c0117feb1", TEST=="holders/md_r5/md/array_state", TEST!="holders/md_r5/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_r5.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="351944ad-d3a9-5a6a-b36a-99b440edd764", TEST=="holders/md_r6/md/array_state", TEST!="holders/md_r6/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_r6.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="10ba6240-b21c-5e1b-8308-4584902e85ab", TEST=="holders/md_r7/md/array_state", TEST!="holders/md_r7/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_r7.timer"
END

# let udev read its rules again
# layout line 29 (arrays)
step 3/115 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 29 (arrays)
step 4/115 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 29 (arrays)
step 5/115 'load the kernel module raid456'
modprobe raid456

# partition d00: d00.r0 of 2.7 TiB
# layout line 27 (hardware.disks.d00); destroys everything on the disk d00
step 6/115 'partition d00: d00.r0 of 2.7 TiB'
require_blank "$disk_d00"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d00" <<'END'
label: gpt
label-id: B5EDBFBC-8407-5516-8BE5-969F53C4A2D7
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0C9581F3-6AF5-58E4-B7A3-ED033C325EFE, name="r0"
END
await_node /dev/disk/by-partuuid/0c9581f3-6af5-58e4-b7a3-ed033c325efe

# partition d01: d01.r0 of 2.7 TiB
# layout line 27 (hardware.disks.d01); destroys everything on the disk d01
step 7/115 'partition d01: d01.r0 of 2.7 TiB'
require_blank "$disk_d01"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d01" <<'END'
label: gpt
label-id: 0A373E94-9216-5965-A5F4-B90BA7077415
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=9BFBEE66-30BA-5D51-A5B9-9DDB9C24ED8C, name="r0"
END
await_node /dev/disk/by-partuuid/9bfbee66-30ba-5d51-a5b9-9ddb9c24ed8c

# partition d02: d02.r0 of 2.7 TiB
# layout line 27 (hardware.disks.d02); destroys everything on the disk d02
step 8/115 'partition d02: d02.r0 of 2.7 TiB'
require_blank "$disk_d02"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d02" <<'END'
label: gpt
label-id: 29079A55-FD8F-5FD1-BE7B-C88DB1F90E6A
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=33FF8504-2755-5AF8-A1EC-1F409ADD9B93, name="r0"
END
await_node /dev/disk/by-partuuid/33ff8504-2755-5af8-a1ec-1f409add9b93

# partition d03: d03.r0 of 2.7 TiB
# layout line 27 (hardware.disks.d03); destroys everything on the disk d03
step 9/115 'partition d03: d03.r0 of 2.7 TiB'
require_blank "$disk_d03"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d03" <<'END'
label: gpt
label-id: BA79F0CA-BF2D-5650-8695-52B3A37C0938
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=05C103A4-A200-5264-98BA-D7142A3C812A, name="r0"
END
await_node /dev/disk/by-partuuid/05c103a4-a200-5264-98ba-d7142a3c812a

# partition d04: d04.r0 of 2.7 TiB
# layout line 27 (hardware.disks.d04); destroys everything on the disk d04
step 10/115 'partition d04: d04.r0 of 2.7 TiB'
require_blank "$disk_d04"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d04" <<'END'
label: gpt
label-id: 6AD94BC0-6AD7-5F43-8DE3-B24BCE6FFC41
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=D2F820DE-F01B-5829-9CB2-6DE9FC7F5ECD, name="r0"
END
await_node /dev/disk/by-partuuid/d2f820de-f01b-5829-9cb2-6de9fc7f5ecd

# partition d10: d10.r1 of 2.7 TiB
# layout line 27 (hardware.disks.d10); destroys everything on the disk d10
step 11/115 'partition d10: d10.r1 of 2.7 TiB'
require_blank "$disk_d10"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d10" <<'END'
label: gpt
label-id: E57739E6-17AD-505E-8565-3750B383F7BE
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=2C98FB3D-312B-535C-8D6A-45FA84012D7F, name="r1"
END
await_node /dev/disk/by-partuuid/2c98fb3d-312b-535c-8d6a-45fa84012d7f

# partition d11: d11.r1 of 2.7 TiB
# layout line 27 (hardware.disks.d11); destroys everything on the disk d11
step 12/115 'partition d11: d11.r1 of 2.7 TiB'
require_blank "$disk_d11"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d11" <<'END'
label: gpt
label-id: C9A9496E-EBF8-56DC-921F-B265CBBC5C85
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=AEDF7369-9DA9-59D2-84BB-DF0E13E20BC7, name="r1"
END
await_node /dev/disk/by-partuuid/aedf7369-9da9-59d2-84bb-df0e13e20bc7

# partition d12: d12.r1 of 2.7 TiB
# layout line 27 (hardware.disks.d12); destroys everything on the disk d12
step 13/115 'partition d12: d12.r1 of 2.7 TiB'
require_blank "$disk_d12"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d12" <<'END'
label: gpt
label-id: 9B0782E9-CBA0-5520-92A7-4D94D681AD5D
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=47FFC64E-6C87-533C-98B8-038EEBE2A558, name="r1"
END
await_node /dev/disk/by-partuuid/47ffc64e-6c87-533c-98b8-038eebe2a558

# partition d13: d13.r1 of 2.7 TiB
# layout line 27 (hardware.disks.d13); destroys everything on the disk d13
step 14/115 'partition d13: d13.r1 of 2.7 TiB'
require_blank "$disk_d13"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d13" <<'END'
label: gpt
label-id: F70F6AB6-AF73-510E-AFC4-FC67AEB90937
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=8759AB6B-4737-5B6E-80AE-0E5B96A67B39, name="r1"
END
await_node /dev/disk/by-partuuid/8759ab6b-4737-5b6e-80ae-0e5b96a67b39

# partition d14: d14.r1 of 2.7 TiB
# layout line 27 (hardware.disks.d14); destroys everything on the disk d14
step 15/115 'partition d14: d14.r1 of 2.7 TiB'
require_blank "$disk_d14"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d14" <<'END'
label: gpt
label-id: 7FC43E0D-7CED-5A2C-8BA0-30131F631EEA
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7F92CA5E-FB1C-5275-87F1-06D7849672FF, name="r1"
END
await_node /dev/disk/by-partuuid/7f92ca5e-fb1c-5275-87f1-06d7849672ff

# partition d20: d20.r2 of 2.7 TiB
# layout line 27 (hardware.disks.d20); destroys everything on the disk d20
step 16/115 'partition d20: d20.r2 of 2.7 TiB'
require_blank "$disk_d20"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d20" <<'END'
label: gpt
label-id: 679EFD7D-C3F0-5BB3-97B1-CB9487841991
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=8675ACA1-40A3-58E5-B282-FA17C7D5356B, name="r2"
END
await_node /dev/disk/by-partuuid/8675aca1-40a3-58e5-b282-fa17c7d5356b

# partition d21: d21.r2 of 2.7 TiB
# layout line 27 (hardware.disks.d21); destroys everything on the disk d21
step 17/115 'partition d21: d21.r2 of 2.7 TiB'
require_blank "$disk_d21"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d21" <<'END'
label: gpt
label-id: 15FBA7FC-9E65-5D2A-86A1-7DD98F99BE1E
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0ADA8403-A4C0-5916-A87C-5FCDCFB9E9FF, name="r2"
END
await_node /dev/disk/by-partuuid/0ada8403-a4c0-5916-a87c-5fcdcfb9e9ff

# partition d22: d22.r2 of 2.7 TiB
# layout line 27 (hardware.disks.d22); destroys everything on the disk d22
step 18/115 'partition d22: d22.r2 of 2.7 TiB'
require_blank "$disk_d22"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d22" <<'END'
label: gpt
label-id: 5CD0996D-A394-5FE0-B1BC-7EDDEAAD0162
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=14C3CAC9-3050-5425-8EC4-62243C4B3FAD, name="r2"
END
await_node /dev/disk/by-partuuid/14c3cac9-3050-5425-8ec4-62243c4b3fad

# partition d23: d23.r2 of 2.7 TiB
# layout line 27 (hardware.disks.d23); destroys everything on the disk d23
step 19/115 'partition d23: d23.r2 of 2.7 TiB'
require_blank "$disk_d23"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d23" <<'END'
label: gpt
label-id: A53C0CED-73DB-5FAA-892C-DEED249F210D
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=1DE458AC-146C-5EE1-AD01-889FEB7992F3, name="r2"
END
await_node /dev/disk/by-partuuid/1de458ac-146c-5ee1-ad01-889feb7992f3

# partition d24: d24.r2 of 2.7 TiB
# layout line 27 (hardware.disks.d24); destroys everything on the disk d24
step 20/115 'partition d24: d24.r2 of 2.7 TiB'
require_blank "$disk_d24"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d24" <<'END'
label: gpt
label-id: FCD42FD0-F1E1-5BC5-8DD1-4E80E9230C6E
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=169C23E3-D4A7-5717-8B47-13DA27936504, name="r2"
END
await_node /dev/disk/by-partuuid/169c23e3-d4a7-5717-8b47-13da27936504

# partition d30: d30.r3 of 2.7 TiB
# layout line 27 (hardware.disks.d30); destroys everything on the disk d30
step 21/115 'partition d30: d30.r3 of 2.7 TiB'
require_blank "$disk_d30"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d30" <<'END'
label: gpt
label-id: 4537C434-8204-5F5E-BDA7-DA937BEB1760
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=FC4B29E6-8009-51E7-966F-23F0780BD1F2, name="r3"
END
await_node /dev/disk/by-partuuid/fc4b29e6-8009-51e7-966f-23f0780bd1f2

# partition d31: d31.r3 of 2.7 TiB
# layout line 27 (hardware.disks.d31); destroys everything on the disk d31
step 22/115 'partition d31: d31.r3 of 2.7 TiB'
require_blank "$disk_d31"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d31" <<'END'
label: gpt
label-id: 8E75A4FF-321B-5E82-960C-FDBC9E32F7A5
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=A2A038B5-1F5F-55E7-AA2E-B40571359DB9, name="r3"
END
await_node /dev/disk/by-partuuid/a2a038b5-1f5f-55e7-aa2e-b40571359db9

# partition d32: d32.r3 of 2.7 TiB
# layout line 27 (hardware.disks.d32); destroys everything on the disk d32
step 23/115 'partition d32: d32.r3 of 2.7 TiB'
require_blank "$disk_d32"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d32" <<'END'
label: gpt
label-id: 1D6BCA64-D3A0-5287-8752-EE278E3F6228
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=EA47C703-1ACA-53B2-8063-5083543C9ED9, name="r3"
END
await_node /dev/disk/by-partuuid/ea47c703-1aca-53b2-8063-5083543c9ed9

# partition d33: d33.r3 of 2.7 TiB
# layout line 27 (hardware.disks.d33); destroys everything on the disk d33
step 24/115 'partition d33: d33.r3 of 2.7 TiB'
require_blank "$disk_d33"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d33" <<'END'
label: gpt
label-id: 72792540-ADF7-5D79-AA10-1AC918C179E4
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=78452980-9310-5D53-81A6-86259BBFA78E, name="r3"
END
await_node /dev/disk/by-partuuid/78452980-9310-5d53-81a6-86259bbfa78e

# partition d34: d34.r3 of 2.7 TiB
# layout line 27 (hardware.disks.d34); destroys everything on the disk d34
step 25/115 'partition d34: d34.r3 of 2.7 TiB'
require_blank "$disk_d34"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d34" <<'END'
label: gpt
label-id: 9BB8102F-4B14-50E6-9A1A-0235D6E19EDD
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=FB0A955D-F0E2-59B9-9024-9A11CC4CE06A, name="r3"
END
await_node /dev/disk/by-partuuid/fb0a955d-f0e2-59b9-9024-9a11cc4ce06a

# partition d40: d40.r4 of 2.7 TiB
# layout line 27 (hardware.disks.d40); destroys everything on the disk d40
step 26/115 'partition d40: d40.r4 of 2.7 TiB'
require_blank "$disk_d40"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d40" <<'END'
label: gpt
label-id: ECCF6201-5BF4-520B-8FFD-A5EB39FC49F7
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=94D2818F-B1C5-51A4-A6EF-B7C70548FBAF, name="r4"
END
await_node /dev/disk/by-partuuid/94d2818f-b1c5-51a4-a6ef-b7c70548fbaf

# partition d41: d41.r4 of 2.7 TiB
# layout line 27 (hardware.disks.d41); destroys everything on the disk d41
step 27/115 'partition d41: d41.r4 of 2.7 TiB'
require_blank "$disk_d41"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d41" <<'END'
label: gpt
label-id: 841CC2A7-C32F-5A69-8294-2CB50C59E58E
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=A80876B2-0F04-595E-B4B0-570B23D0E766, name="r4"
END
await_node /dev/disk/by-partuuid/a80876b2-0f04-595e-b4b0-570b23d0e766

# partition d42: d42.r4 of 2.7 TiB
# layout line 27 (hardware.disks.d42); destroys everything on the disk d42
step 28/115 'partition d42: d42.r4 of 2.7 TiB'
require_blank "$disk_d42"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d42" <<'END'
label: gpt
label-id: 3D95A4F2-151B-5B53-9C46-3E4A2DF02811
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=3C0D7925-FC40-5ADF-A7AF-C4B95D603A97, name="r4"
END
await_node /dev/disk/by-partuuid/3c0d7925-fc40-5adf-a7af-c4b95d603a97

# partition d43: d43.r4 of 2.7 TiB
# layout line 27 (hardware.disks.d43); destroys everything on the disk d43
step 29/115 'partition d43: d43.r4 of 2.7 TiB'
require_blank "$disk_d43"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d43" <<'END'
label: gpt
label-id: 65A0B8C9-4D47-5A8F-A5F5-1845A72805E9
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=62E06A72-739B-5EBD-B9C0-8F545144C47E, name="r4"
END
await_node /dev/disk/by-partuuid/62e06a72-739b-5ebd-b9c0-8f545144c47e

# partition d44: d44.r4 of 2.7 TiB
# layout line 27 (hardware.disks.d44); destroys everything on the disk d44
step 30/115 'partition d44: d44.r4 of 2.7 TiB'
require_blank "$disk_d44"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d44" <<'END'
label: gpt
label-id: 4FE4EF16-C347-58B2-8AAA-CE7179821BF3
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=C4ABFD7A-4E2C-5686-8F38-69E8C49E8080, name="r4"
END
await_node /dev/disk/by-partuuid/c4abfd7a-4e2c-5686-8f38-69e8c49e8080

# partition d50: d50.r5 of 2.7 TiB
# layout line 27 (hardware.disks.d50); destroys everything on the disk d50
step 31/115 'partition d50: d50.r5 of 2.7 TiB'
require_blank "$disk_d50"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d50" <<'END'
label: gpt
label-id: 5922A31C-8C6A-53B3-B350-AE3F77F92E17
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=CA38F70D-C03D-5CE6-BEB4-B3894A04B970, name="r5"
END
await_node /dev/disk/by-partuuid/ca38f70d-c03d-5ce6-beb4-b3894a04b970

# partition d51: d51.r5 of 2.7 TiB
# layout line 27 (hardware.disks.d51); destroys everything on the disk d51
step 32/115 'partition d51: d51.r5 of 2.7 TiB'
require_blank "$disk_d51"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d51" <<'END'
label: gpt
label-id: FEB9306F-3CD7-553A-A66A-E2BD7F0065F7
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=BBD3696A-675C-5E66-952E-BE781C20E25E, name="r5"
END
await_node /dev/disk/by-partuuid/bbd3696a-675c-5e66-952e-be781c20e25e

# partition d52: d52.r5 of 2.7 TiB
# layout line 27 (hardware.disks.d52); destroys everything on the disk d52
step 33/115 'partition d52: d52.r5 of 2.7 TiB'
require_blank "$disk_d52"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d52" <<'END'
label: gpt
label-id: 9565D404-6F45-56A1-94BA-AE7FD519AFF5
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=0E3FA58C-21F5-5113-ACC1-266A45B83D41, name="r5"
END
await_node /dev/disk/by-partuuid/0e3fa58c-21f5-5113-acc1-266a45b83d41

# partition d53: d53.r5 of 2.7 TiB
# layout line 27 (hardware.disks.d53); destroys everything on the disk d53
step 34/115 'partition d53: d53.r5 of 2.7 TiB'
require_blank "$disk_d53"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d53" <<'END'
label: gpt
label-id: BFBFC709-761E-5432-A05E-F17A3D26C761
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=AB267ADC-1432-51DE-92D7-2D2C8FDF57B2, name="r5"
END
await_node /dev/disk/by-partuuid/ab267adc-1432-51de-92d7-2d2c8fdf57b2

# partition d54: d54.r5 of 2.7 TiB
# layout line 27 (hardware.disks.d54); destroys everything on the disk d54
step 35/115 'partition d54: d54.r5 of 2.7 TiB'
require_blank "$disk_d54"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d54" <<'END'
label: gpt
label-id: 22046DDB-589F-5D66-86E5-E8CE4CEFEF33
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=69E2D804-C8AD-5906-B5CC-D38763C70227, name="r5"
END
await_node /dev/disk/by-partuuid/69e2d804-c8ad-5906-b5cc-d38763c70227

# partition d60: d60.r6 of 2.7 TiB
# layout line 27 (hardware.disks.d60); destroys everything on the disk d60
step 36/115 'partition d60: d60.r6 of 2.7 TiB'
require_blank "$disk_d60"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d60" <<'END'
label: gpt
label-id: 2F1FEE52-5735-5682-B170-FEB45EC4241B
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=AE745804-141F-5920-84EA-6C8619FC0B1A, name="r6"
END
await_node /dev/disk/by-partuuid/ae745804-141f-5920-84ea-6c8619fc0b1a

# partition d61: d61.r6 of 2.7 TiB
# layout line 27 (hardware.disks.d61); destroys everything on the disk d61
step 37/115 'partition d61: d61.r6 of 2.7 TiB'
require_blank "$disk_d61"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d61" <<'END'
label: gpt
label-id: 107717F7-A8AC-5A26-8349-909847B505DA
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7C304632-96A2-5EFC-AA68-5EE090A516CB, name="r6"
END
await_node /dev/disk/by-partuuid/7c304632-96a2-5efc-aa68-5ee090a516cb

# partition d62: d62.r6 of 2.7 TiB
# layout line 27 (hardware.disks.d62); destroys everything on the disk d62
step 38/115 'partition d62: d62.r6 of 2.7 TiB'
require_blank "$disk_d62"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d62" <<'END'
label: gpt
label-id: A329E4F4-C5AF-5BFC-B642-FEBA9596844F
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7A33F5D5-62B8-52C8-B92B-C154175CA91D, name="r6"
END
await_node /dev/disk/by-partuuid/7a33f5d5-62b8-52c8-b92b-c154175ca91d

# partition d63: d63.r6 of 2.7 TiB
# layout line 27 (hardware.disks.d63); destroys everything on the disk d63
step 39/115 'partition d63: d63.r6 of 2.7 TiB'
require_blank "$disk_d63"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d63" <<'END'
label: gpt
label-id: 2EC5FA8C-AEBB-5D89-A4F5-47BCCEE110DD
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=FB163F39-2D13-5F79-9FCD-DAE7130A3385, name="r6"
END
await_node /dev/disk/by-partuuid/fb163f39-2d13-5f79-9fcd-dae7130a3385

# partition d64: d64.r6 of 2.7 TiB
# layout line 27 (hardware.disks.d64); destroys everything on the disk d64
step 40/115 'partition d64: d64.r6 of 2.7 TiB'
require_blank "$disk_d64"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d64" <<'END'
label: gpt
label-id: AE9E44EC-8D54-5004-B7BF-D5F0D7BEF9EC
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=89444BED-0036-5CD5-9C3C-700172950104, name="r6"
END
await_node /dev/disk/by-partuuid/89444bed-0036-5cd5-9c3c-700172950104

# partition d70: d70.r7 of 2.7 TiB
# layout line 27 (hardware.disks.d70); destroys everything on the disk d70
step 41/115 'partition d70: d70.r7 of 2.7 TiB'
require_blank "$disk_d70"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d70" <<'END'
label: gpt
label-id: F5D67C87-4F98-5BAA-89D9-FEA488BFDD17
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=48E6C294-CF8F-5289-A613-C7DCE233C340, name="r7"
END
await_node /dev/disk/by-partuuid/48e6c294-cf8f-5289-a613-c7dce233c340

# partition d71: d71.r7 of 2.7 TiB
# layout line 27 (hardware.disks.d71); destroys everything on the disk d71
step 42/115 'partition d71: d71.r7 of 2.7 TiB'
require_blank "$disk_d71"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d71" <<'END'
label: gpt
label-id: 376F4D26-2AC3-5371-8D17-A2F69244B8AB
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=2E4B511C-C696-5BB1-8DF9-86927B1C1239, name="r7"
END
await_node /dev/disk/by-partuuid/2e4b511c-c696-5bb1-8df9-86927b1c1239

# partition d72: d72.r7 of 2.7 TiB
# layout line 27 (hardware.disks.d72); destroys everything on the disk d72
step 43/115 'partition d72: d72.r7 of 2.7 TiB'
require_blank "$disk_d72"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d72" <<'END'
label: gpt
label-id: C0948268-B818-53DE-8F2F-80E9464C85D1
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=2E5E4647-09B6-588F-9AF1-D4D310E01E36, name="r7"
END
await_node /dev/disk/by-partuuid/2e5e4647-09b6-588f-9af1-d4d310e01e36

# partition d73: d73.r7 of 2.7 TiB
# layout line 27 (hardware.disks.d73); destroys everything on the disk d73
step 44/115 'partition d73: d73.r7 of 2.7 TiB'
require_blank "$disk_d73"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d73" <<'END'
label: gpt
label-id: 8CE919FB-EE3A-56A4-B467-3836AD8C9165
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=B1DFACB2-871B-5E74-B33D-369AB547EF9E, name="r7"
END
await_node /dev/disk/by-partuuid/b1dfacb2-871b-5e74-b33d-369ab547ef9e

# partition d74: d74.r7 of 2.7 TiB
# layout line 27 (hardware.disks.d74); destroys everything on the disk d74
step 45/115 'partition d74: d74.r7 of 2.7 TiB'
require_blank "$disk_d74"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_d74" <<'END'
label: gpt
label-id: 5347B298-0033-5415-B060-9BCCB6F4F511
unit: sectors
sector-size: 512
start=2048, size=5860268032, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=23B8DAB6-D4FA-5863-975F-0D4C3198DC83, name="r7"
END
await_node /dev/disk/by-partuuid/23b8dab6-d4fa-5863-975f-0d4c3198dc83

# create raid6 r0 of 5 members (d00, d01, d02, d03, d04), 8.2 TiB usable
# layout line 30 (arrays.r0); destroys everything on d00.r0, everything on d01.r0, everything on d02.r0, everything on d03.r0, everything on d04.r0
step 46/115 'create raid6 r0 of 5 members (d00, d01, d02, d03, d04), 8.2 TiB usable'
require_blank /dev/disk/by-partuuid/0c9581f3-6af5-58e4-b7a3-ed033c325efe
require_blank /dev/disk/by-partuuid/9bfbee66-30ba-5d51-a5b9-9ddb9c24ed8c
require_blank /dev/disk/by-partuuid/33ff8504-2755-5af8-a1ec-1f409add9b93
require_blank /dev/disk/by-partuuid/05c103a4-a200-5264-98ba-d7142a3c812a
require_blank /dev/disk/by-partuuid/d2f820de-f01b-5829-9cb2-6de9fc7f5ecd
mdadm --create /dev/md/r0 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=r0 \
	--uuid=9d021578:51eb5ee3:a986ce83:2734d738 --level=raid6 --raid-devices=5 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/0c9581f3-6af5-58e4-b7a3-ed033c325efe \
	/dev/disk/by-partuuid/9bfbee66-30ba-5d51-a5b9-9ddb9c24ed8c \
	/dev/disk/by-partuuid/33ff8504-2755-5af8-a1ec-1f409add9b93 \
	/dev/disk/by-partuuid/05c103a4-a200-5264-98ba-d7142a3c812a \
	/dev/disk/by-partuuid/d2f820de-f01b-5829-9cb2-6de9fc7f5ecd
await_node /dev/md/r0

# hold the initial sync of r0, so that it does not slow down what follows
# layout line 30 (arrays.r0)
step 47/115 'hold the initial sync of r0, so that it does not slow down what follows'
set_attribute /sys/block/md_r0/md/sync_action frozen

# open r0 for writing
# layout line 30 (arrays.r0)
step 48/115 'open r0 for writing'
set_attribute /sys/block/md_r0/md/array_state active

# let udev tune r0 as it will at every boot: read_ahead_kb 3072
# layout line 30 (arrays.r0)
step 49/115 'let udev tune r0 as it will at every boot: read_ahead_kb 3072'
udevadm trigger --settle --action=change --name-match=/dev/md/r0

# create raid6 r1 of 5 members (d10, d11, d12, d13, d14), 8.2 TiB usable
# layout line 30 (arrays.r1); destroys everything on d10.r1, everything on d11.r1, everything on d12.r1, everything on d13.r1, everything on d14.r1
step 50/115 'create raid6 r1 of 5 members (d10, d11, d12, d13, d14), 8.2 TiB usable'
require_blank /dev/disk/by-partuuid/2c98fb3d-312b-535c-8d6a-45fa84012d7f
require_blank /dev/disk/by-partuuid/aedf7369-9da9-59d2-84bb-df0e13e20bc7
require_blank /dev/disk/by-partuuid/47ffc64e-6c87-533c-98b8-038eebe2a558
require_blank /dev/disk/by-partuuid/8759ab6b-4737-5b6e-80ae-0e5b96a67b39
require_blank /dev/disk/by-partuuid/7f92ca5e-fb1c-5275-87f1-06d7849672ff
mdadm --create /dev/md/r1 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=r1 \
	--uuid=76eb8cd7:fbcc574d:9d287cb0:33c0745b --level=raid6 --raid-devices=5 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/2c98fb3d-312b-535c-8d6a-45fa84012d7f \
	/dev/disk/by-partuuid/aedf7369-9da9-59d2-84bb-df0e13e20bc7 \
	/dev/disk/by-partuuid/47ffc64e-6c87-533c-98b8-038eebe2a558 \
	/dev/disk/by-partuuid/8759ab6b-4737-5b6e-80ae-0e5b96a67b39 \
	/dev/disk/by-partuuid/7f92ca5e-fb1c-5275-87f1-06d7849672ff
await_node /dev/md/r1

# hold the initial sync of r1, so that it does not slow down what follows
# layout line 30 (arrays.r1)
step 51/115 'hold the initial sync of r1, so that it does not slow down what follows'
set_attribute /sys/block/md_r1/md/sync_action frozen

# open r1 for writing
# layout line 30 (arrays.r1)
step 52/115 'open r1 for writing'
set_attribute /sys/block/md_r1/md/array_state active

# let udev tune r1 as it will at every boot: read_ahead_kb 3072
# layout line 30 (arrays.r1)
step 53/115 'let udev tune r1 as it will at every boot: read_ahead_kb 3072'
udevadm trigger --settle --action=change --name-match=/dev/md/r1

# create raid6 r2 of 5 members (d20, d21, d22, d23, d24), 8.2 TiB usable
# layout line 30 (arrays.r2); destroys everything on d20.r2, everything on d21.r2, everything on d22.r2, everything on d23.r2, everything on d24.r2
step 54/115 'create raid6 r2 of 5 members (d20, d21, d22, d23, d24), 8.2 TiB usable'
require_blank /dev/disk/by-partuuid/8675aca1-40a3-58e5-b282-fa17c7d5356b
require_blank /dev/disk/by-partuuid/0ada8403-a4c0-5916-a87c-5fcdcfb9e9ff
require_blank /dev/disk/by-partuuid/14c3cac9-3050-5425-8ec4-62243c4b3fad
require_blank /dev/disk/by-partuuid/1de458ac-146c-5ee1-ad01-889feb7992f3
require_blank /dev/disk/by-partuuid/169c23e3-d4a7-5717-8b47-13da27936504
mdadm --create /dev/md/r2 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=r2 \
	--uuid=cb39db88:7c5f5f31:9445f326:effaf938 --level=raid6 --raid-devices=5 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/8675aca1-40a3-58e5-b282-fa17c7d5356b \
	/dev/disk/by-partuuid/0ada8403-a4c0-5916-a87c-5fcdcfb9e9ff \
	/dev/disk/by-partuuid/14c3cac9-3050-5425-8ec4-62243c4b3fad \
	/dev/disk/by-partuuid/1de458ac-146c-5ee1-ad01-889feb7992f3 \
	/dev/disk/by-partuuid/169c23e3-d4a7-5717-8b47-13da27936504
await_node /dev/md/r2

# hold the initial sync of r2, so that it does not slow down what follows
# layout line 30 (arrays.r2)
step 55/115 'hold the initial sync of r2, so that it does not slow down what follows'
set_attribute /sys/block/md_r2/md/sync_action frozen

# open r2 for writing
# layout line 30 (arrays.r2)
step 56/115 'open r2 for writing'
set_attribute /sys/block/md_r2/md/array_state active

# let udev tune r2 as it will at every boot: read_ahead_kb 3072
# layout line 30 (arrays.r2)
step 57/115 'let udev tune r2 as it will at every boot: read_ahead_kb 3072'
udevadm trigger --settle --action=change --name-match=/dev/md/r2

# create raid6 r3 of 5 members (d30, d31, d32, d33, d34), 8.2 TiB usable
# layout line 30 (arrays.r3); destroys everything on d30.r3, everything on d31.r3, everything on d32.r3, everything on d33.r3, everything on d34.r3
step 58/115 'create raid6 r3 of 5 members (d30, d31, d32, d33, d34), 8.2 TiB usable'
require_blank /dev/disk/by-partuuid/fc4b29e6-8009-51e7-966f-23f0780bd1f2
require_blank /dev/disk/by-partuuid/a2a038b5-1f5f-55e7-aa2e-b40571359db9
require_blank /dev/disk/by-partuuid/ea47c703-1aca-53b2-8063-5083543c9ed9
require_blank /dev/disk/by-partuuid/78452980-9310-5d53-81a6-86259bbfa78e
require_blank /dev/disk/by-partuuid/fb0a955d-f0e2-59b9-9024-9a11cc4ce06a
mdadm --create /dev/md/r3 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=r3 \
	--uuid=b925f59d:eb0451df:91678e09:58a22deb --level=raid6 --raid-devices=5 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/fc4b29e6-8009-51e7-966f-23f0780bd1f2 \
	/dev/disk/by-partuuid/a2a038b5-1f5f-55e7-aa2e-b40571359db9 \
	/dev/disk/by-partuuid/ea47c703-1aca-53b2-8063-5083543c9ed9 \
	/dev/disk/by-partuuid/78452980-9310-5d53-81a6-86259bbfa78e \
	/dev/disk/by-partuuid/fb0a955d-f0e2-59b9-9024-9a11cc4ce06a
await_node /dev/md/r3

# hold the initial sync of r3, so that it does not slow down what follows
# layout line 30 (arrays.r3)
step 59/115 'hold the initial sync of r3, so that it does not slow down what follows'
set_attribute /sys/block/md_r3/md/sync_action frozen

# open r3 for writing
# layout line 30 (arrays.r3)
step 60/115 'open r3 for writing'
set_attribute /sys/block/md_r3/md/array_state active

# let udev tune r3 as it will at every boot: read_ahead_kb 3072
# layout line 30 (arrays.r3)
step 61/115 'let udev tune r3 as it will at every boot: read_ahead_kb 3072'
udevadm trigger --settle --action=change --name-match=/dev/md/r3

# create raid6 r4 of 5 members (d40, d41, d42, d43, d44), 8.2 TiB usable
# layout line 30 (arrays.r4); destroys everything on d40.r4, everything on d41.r4, everything on d42.r4, everything on d43.r4, everything on d44.r4
step 62/115 'create raid6 r4 of 5 members (d40, d41, d42, d43, d44), 8.2 TiB usable'
require_blank /dev/disk/by-partuuid/94d2818f-b1c5-51a4-a6ef-b7c70548fbaf
require_blank /dev/disk/by-partuuid/a80876b2-0f04-595e-b4b0-570b23d0e766
require_blank /dev/disk/by-partuuid/3c0d7925-fc40-5adf-a7af-c4b95d603a97
require_blank /dev/disk/by-partuuid/62e06a72-739b-5ebd-b9c0-8f545144c47e
require_blank /dev/disk/by-partuuid/c4abfd7a-4e2c-5686-8f38-69e8c49e8080
mdadm --create /dev/md/r4 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=r4 \
	--uuid=b38c78bf:20ab5dab:a42dd178:88bf30c0 --level=raid6 --raid-devices=5 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/94d2818f-b1c5-51a4-a6ef-b7c70548fbaf \
	/dev/disk/by-partuuid/a80876b2-0f04-595e-b4b0-570b23d0e766 \
	/dev/disk/by-partuuid/3c0d7925-fc40-5adf-a7af-c4b95d603a97 \
	/dev/disk/by-partuuid/62e06a72-739b-5ebd-b9c0-8f545144c47e \
	/dev/disk/by-partuuid/c4abfd7a-4e2c-5686-8f38-69e8c49e8080
await_node /dev/md/r4

# hold the initial sync of r4, so that it does not slow down what follows
# layout line 30 (arrays.r4)
step 63/115 'hold the initial sync of r4, so that it does not slow down what follows'
set_attribute /sys/block/md_r4/md/sync_action frozen

# open r4 for writing
# layout line 30 (arrays.r4)
step 64/115 'open r4 for writing'
set_attribute /sys/block/md_r4/md/array_state active

# let udev tune r4 as it will at every boot: read_ahead_kb 3072
# layout line 30 (arrays.r4)
step 65/115 'let udev tune r4 as it will at every boot: read_ahead_kb 3072'
udevadm trigger --settle --action=change --name-match=/dev/md/r4

# create raid6 r5 of 5 members (d50, d51, d52, d53, d54), 8.2 TiB usable
# layout line 30 (arrays.r5); destroys everything on d50.r5, everything on d51.r5, everything on d52.r5, everything on d53.r5, everything on d54.r5
step 66/115 'create raid6 r5 of 5 members (d50, d51, d52, d53, d54), 8.2 TiB usable'
require_blank /dev/disk/by-partuuid/ca38f70d-c03d-5ce6-beb4-b3894a04b970
require_blank /dev/disk/by-partuuid/bbd3696a-675c-5e66-952e-be781c20e25e
require_blank /dev/disk/by-partuuid/0e3fa58c-21f5-5113-acc1-266a45b83d41
require_blank /dev/disk/by-partuuid/ab267adc-1432-51de-92d7-2d2c8fdf57b2
require_blank /dev/disk/by-partuuid/69e2d804-c8ad-5906-b5cc-d38763c70227
mdadm --create /dev/md/r5 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=r5 \
	--uuid=2d78f090:d57c5f65:a1738b9c:0117feb1 --level=raid6 --raid-devices=5 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/ca38f70d-c03d-5ce6-beb4-b3894a04b970 \
	/dev/disk/by-partuuid/bbd3696a-675c-5e66-952e-be781c20e25e \
	/dev/disk/by-partuuid/0e3fa58c-21f5-5113-acc1-266a45b83d41 \
	/dev/disk/by-partuuid/ab267adc-1432-51de-92d7-2d2c8fdf57b2 \
	/dev/disk/by-partuuid/69e2d804-c8ad-5906-b5cc-d38763c70227
await_node /dev/md/r5

# hold the initial sync of r5, so that it does not slow down what follows
# layout line 30 (arrays.r5)
step 67/115 'hold the initial sync of r5, so that it does not slow down what follows'
set_attribute /sys/block/md_r5/md/sync_action frozen

# open r5 for writing
# layout line 30 (arrays.r5)
step 68/115 'open r5 for writing'
set_attribute /sys/block/md_r5/md/array_state active

# let udev tune r5 as it will at every boot: read_ahead_kb 3072
# layout line 30 (arrays.r5)
step 69/115 'let udev tune r5 as it will at every boot: read_ahead_kb 3072'
udevadm trigger --settle --action=change --name-match=/dev/md/r5

# create raid6 r6 of 5 members (d60, d61, d62, d63, d64), 8.2 TiB usable
# layout line 30 (arrays.r6); destroys everything on d60.r6, everything on d61.r6, everything on d62.r6, everything on d63.r6, everything on d64.r6
step 70/115 'create raid6 r6 of 5 members (d60, d61, d62, d63, d64), 8.2 TiB usable'
require_blank /dev/disk/by-partuuid/ae745804-141f-5920-84ea-6c8619fc0b1a
require_blank /dev/disk/by-partuuid/7c304632-96a2-5efc-aa68-5ee090a516cb
require_blank /dev/disk/by-partuuid/7a33f5d5-62b8-52c8-b92b-c154175ca91d
require_blank /dev/disk/by-partuuid/fb163f39-2d13-5f79-9fcd-dae7130a3385
require_blank /dev/disk/by-partuuid/89444bed-0036-5cd5-9c3c-700172950104
mdadm --create /dev/md/r6 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=r6 \
	--uuid=351944ad:d3a95a6a:b36a99b4:40edd764 --level=raid6 --raid-devices=5 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/ae745804-141f-5920-84ea-6c8619fc0b1a \
	/dev/disk/by-partuuid/7c304632-96a2-5efc-aa68-5ee090a516cb \
	/dev/disk/by-partuuid/7a33f5d5-62b8-52c8-b92b-c154175ca91d \
	/dev/disk/by-partuuid/fb163f39-2d13-5f79-9fcd-dae7130a3385 \
	/dev/disk/by-partuuid/89444bed-0036-5cd5-9c3c-700172950104
await_node /dev/md/r6

# hold the initial sync of r6, so that it does not slow down what follows
# layout line 30 (arrays.r6)
step 71/115 'hold the initial sync of r6, so that it does not slow down what follows'
set_attribute /sys/block/md_r6/md/sync_action frozen

# open r6 for writing
# layout line 30 (arrays.r6)
step 72/115 'open r6 for writing'
set_attribute /sys/block/md_r6/md/array_state active

# let udev tune r6 as it will at every boot: read_ahead_kb 3072
# layout line 30 (arrays.r6)
step 73/115 'let udev tune r6 as it will at every boot: read_ahead_kb 3072'
udevadm trigger --settle --action=change --name-match=/dev/md/r6

# create raid6 r7 of 5 members (d70, d71, d72, d73, d74), 8.2 TiB usable
# layout line 30 (arrays.r7); destroys everything on d70.r7, everything on d71.r7, everything on d72.r7, everything on d73.r7, everything on d74.r7
step 74/115 'create raid6 r7 of 5 members (d70, d71, d72, d73, d74), 8.2 TiB usable'
require_blank /dev/disk/by-partuuid/48e6c294-cf8f-5289-a613-c7dce233c340
require_blank /dev/disk/by-partuuid/2e4b511c-c696-5bb1-8df9-86927b1c1239
require_blank /dev/disk/by-partuuid/2e5e4647-09b6-588f-9af1-d4d310e01e36
require_blank /dev/disk/by-partuuid/b1dfacb2-871b-5e74-b33d-369ab547ef9e
require_blank /dev/disk/by-partuuid/23b8dab6-d4fa-5863-975f-0d4c3198dc83
mdadm --create /dev/md/r7 --run --quiet --readonly --metadata=1.2 --homehost=jbod --name=r7 \
	--uuid=10ba6240:b21c5e1b:83084584:902e85ab --level=raid6 --raid-devices=5 --chunk=512K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/48e6c294-cf8f-5289-a613-c7dce233c340 \
	/dev/disk/by-partuuid/2e4b511c-c696-5bb1-8df9-86927b1c1239 \
	/dev/disk/by-partuuid/2e5e4647-09b6-588f-9af1-d4d310e01e36 \
	/dev/disk/by-partuuid/b1dfacb2-871b-5e74-b33d-369ab547ef9e \
	/dev/disk/by-partuuid/23b8dab6-d4fa-5863-975f-0d4c3198dc83
await_node /dev/md/r7

# hold the initial sync of r7, so that it does not slow down what follows
# layout line 30 (arrays.r7)
step 75/115 'hold the initial sync of r7, so that it does not slow down what follows'
set_attribute /sys/block/md_r7/md/sync_action frozen

# open r7 for writing
# layout line 30 (arrays.r7)
step 76/115 'open r7 for writing'
set_attribute /sys/block/md_r7/md/array_state active

# let udev tune r7 as it will at every boot: read_ahead_kb 3072
# layout line 30 (arrays.r7)
step 77/115 'let udev tune r7 as it will at every boot: read_ahead_kb 3072'
udevadm trigger --settle --action=change --name-match=/dev/md/r7

# make xfs row0 on r0, 8.2 TiB, su 512 KiB, sw 3
# layout line 38 (filesystems.row0); destroys everything on r0
step 78/115 'make xfs row0 on r0, 8.2 TiB, su 512 KiB, sw 3'
require_blank /dev/md/r0
mkfs.xfs -q -K -m crc=1,uuid=6967fab6-3024-57fe-8fd9-012533231529 -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=281280512000,su=524288,sw=3 -l size=2136997888,su=32768 -L row0 /dev/md/r0
await_node /dev/disk/by-uuid/6967fab6-3024-57fe-8fd9-012533231529 /dev/md/r0

# make xfs row1 on r1, 8.2 TiB, su 512 KiB, sw 3
# layout line 38 (filesystems.row1); destroys everything on r1
step 79/115 'make xfs row1 on r1, 8.2 TiB, su 512 KiB, sw 3'
require_blank /dev/md/r1
mkfs.xfs -q -K -m crc=1,uuid=a9f88a5a-0be9-5099-b493-ebb2d41e3308 -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=281280512000,su=524288,sw=3 -l size=2136997888,su=32768 -L row1 /dev/md/r1
await_node /dev/disk/by-uuid/a9f88a5a-0be9-5099-b493-ebb2d41e3308 /dev/md/r1

# make xfs row2 on r2, 8.2 TiB, su 512 KiB, sw 3
# layout line 38 (filesystems.row2); destroys everything on r2
step 80/115 'make xfs row2 on r2, 8.2 TiB, su 512 KiB, sw 3'
require_blank /dev/md/r2
mkfs.xfs -q -K -m crc=1,uuid=0bfe5fb2-cdaf-5b2f-a5d1-28d108d7ab2a -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=281280512000,su=524288,sw=3 -l size=2136997888,su=32768 -L row2 /dev/md/r2
await_node /dev/disk/by-uuid/0bfe5fb2-cdaf-5b2f-a5d1-28d108d7ab2a /dev/md/r2

# make xfs row3 on r3, 8.2 TiB, su 512 KiB, sw 3
# layout line 38 (filesystems.row3); destroys everything on r3
step 81/115 'make xfs row3 on r3, 8.2 TiB, su 512 KiB, sw 3'
require_blank /dev/md/r3
mkfs.xfs -q -K -m crc=1,uuid=b4ed644b-f604-5339-8cf5-81032ef6286c -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=281280512000,su=524288,sw=3 -l size=2136997888,su=32768 -L row3 /dev/md/r3
await_node /dev/disk/by-uuid/b4ed644b-f604-5339-8cf5-81032ef6286c /dev/md/r3

# make xfs row4 on r4, 8.2 TiB, su 512 KiB, sw 3
# layout line 38 (filesystems.row4); destroys everything on r4
step 82/115 'make xfs row4 on r4, 8.2 TiB, su 512 KiB, sw 3'
require_blank /dev/md/r4
mkfs.xfs -q -K -m crc=1,uuid=ce94e9cb-8117-5cb9-8127-58258eb17f2c -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=281280512000,su=524288,sw=3 -l size=2136997888,su=32768 -L row4 /dev/md/r4
await_node /dev/disk/by-uuid/ce94e9cb-8117-5cb9-8127-58258eb17f2c /dev/md/r4

# make xfs row5 on r5, 8.2 TiB, su 512 KiB, sw 3
# layout line 38 (filesystems.row5); destroys everything on r5
step 83/115 'make xfs row5 on r5, 8.2 TiB, su 512 KiB, sw 3'
require_blank /dev/md/r5
mkfs.xfs -q -K -m crc=1,uuid=227123bc-bce6-5dd7-9289-d070dd47f5c1 -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=281280512000,su=524288,sw=3 -l size=2136997888,su=32768 -L row5 /dev/md/r5
await_node /dev/disk/by-uuid/227123bc-bce6-5dd7-9289-d070dd47f5c1 /dev/md/r5

# make xfs row6 on r6, 8.2 TiB, su 512 KiB, sw 3
# layout line 38 (filesystems.row6); destroys everything on r6
step 84/115 'make xfs row6 on r6, 8.2 TiB, su 512 KiB, sw 3'
require_blank /dev/md/r6
mkfs.xfs -q -K -m crc=1,uuid=34bd96fb-1fb0-5153-9eb0-1fe975afcc21 -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=281280512000,su=524288,sw=3 -l size=2136997888,su=32768 -L row6 /dev/md/r6
await_node /dev/disk/by-uuid/34bd96fb-1fb0-5153-9eb0-1fe975afcc21 /dev/md/r6

# make xfs row7 on r7, 8.2 TiB, su 512 KiB, sw 3
# layout line 38 (filesystems.row7); destroys everything on r7
step 85/115 'make xfs row7 on r7, 8.2 TiB, su 512 KiB, sw 3'
require_blank /dev/md/r7
mkfs.xfs -q -K -m crc=1,uuid=f14710a0-569e-5250-a0a7-4f1f59a3485f -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=281280512000,su=524288,sw=3 -l size=2136997888,su=32768 -L row7 /dev/md/r7
await_node /dev/disk/by-uuid/f14710a0-569e-5250-a0a7-4f1f59a3485f /dev/md/r7

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 29 (arrays)
step 86/115 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot \
	'9d021578:51eb5ee3:a986ce83:2734d738 76eb8cd7:fbcc574d:9d287cb0:33c0745b cb39db88:7c5f5f31:9445f326:effaf938 b925f59d:eb0451df:91678e09:58a22deb b38c78bf:20ab5dab:a42dd178:88bf30c0 2d78f090:d57c5f65:a1738b9c:0117feb1 351944ad:d3a95a6a:b36a99b4:40edd764 10ba6240:b21c5e1b:83084584:902e85ab' \
	/etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 40 (monitoring.mail)
step 87/115 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 40 (monitoring.scrub)
step 88/115 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 40 (monitoring.scrub)
step 89/115 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm jbod bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 8 lines into /etc/fstab
# layout line 37 (filesystems)
step 90/115 'enter 8 lines into /etc/fstab'
write_block /etc/fstab jbod bottom 0644 <<'END'
UUID=6967fab6-3024-57fe-8fd9-012533231529 /data/row0 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
UUID=a9f88a5a-0be9-5099-b493-ebb2d41e3308 /data/row1 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
UUID=0bfe5fb2-cdaf-5b2f-a5d1-28d108d7ab2a /data/row2 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
UUID=b4ed644b-f604-5339-8cf5-81032ef6286c /data/row3 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
UUID=ce94e9cb-8117-5cb9-8127-58258eb17f2c /data/row4 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
UUID=227123bc-bce6-5dd7-9289-d070dd47f5c1 /data/row5 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
UUID=34bd96fb-1fb0-5153-9eb0-1fe975afcc21 /data/row6 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
UUID=f14710a0-569e-5250-a0a7-4f1f59a3485f /data/row7 xfs noatime,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 37 (filesystems)
step 91/115 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /data/row0
# layout line 38 (filesystems.row0)
step 92/115 'make the folder /data/row0'
mkdir --parents /data/row0

# mount row0 at /data/row0
# layout line 38 (filesystems.row0)
step 93/115 'mount row0 at /data/row0'
systemctl start /data/row0

# make the folder /data/row1
# layout line 38 (filesystems.row1)
step 94/115 'make the folder /data/row1'
mkdir --parents /data/row1

# mount row1 at /data/row1
# layout line 38 (filesystems.row1)
step 95/115 'mount row1 at /data/row1'
systemctl start /data/row1

# make the folder /data/row2
# layout line 38 (filesystems.row2)
step 96/115 'make the folder /data/row2'
mkdir --parents /data/row2

# mount row2 at /data/row2
# layout line 38 (filesystems.row2)
step 97/115 'mount row2 at /data/row2'
systemctl start /data/row2

# make the folder /data/row3
# layout line 38 (filesystems.row3)
step 98/115 'make the folder /data/row3'
mkdir --parents /data/row3

# mount row3 at /data/row3
# layout line 38 (filesystems.row3)
step 99/115 'mount row3 at /data/row3'
systemctl start /data/row3

# make the folder /data/row4
# layout line 38 (filesystems.row4)
step 100/115 'make the folder /data/row4'
mkdir --parents /data/row4

# mount row4 at /data/row4
# layout line 38 (filesystems.row4)
step 101/115 'mount row4 at /data/row4'
systemctl start /data/row4

# make the folder /data/row5
# layout line 38 (filesystems.row5)
step 102/115 'make the folder /data/row5'
mkdir --parents /data/row5

# mount row5 at /data/row5
# layout line 38 (filesystems.row5)
step 103/115 'mount row5 at /data/row5'
systemctl start /data/row5

# make the folder /data/row6
# layout line 38 (filesystems.row6)
step 104/115 'make the folder /data/row6'
mkdir --parents /data/row6

# mount row6 at /data/row6
# layout line 38 (filesystems.row6)
step 105/115 'mount row6 at /data/row6'
systemctl start /data/row6

# make the folder /data/row7
# layout line 38 (filesystems.row7)
step 106/115 'make the folder /data/row7'
mkdir --parents /data/row7

# mount row7 at /data/row7
# layout line 38 (filesystems.row7)
step 107/115 'mount row7 at /data/row7'
systemctl start /data/row7

# let the initial sync of r0 run
# layout line 30 (arrays.r0)
step 108/115 'let the initial sync of r0 run'
set_attribute /sys/block/md_r0/md/sync_action idle

# let the initial sync of r1 run
# layout line 30 (arrays.r1)
step 109/115 'let the initial sync of r1 run'
set_attribute /sys/block/md_r1/md/sync_action idle

# let the initial sync of r2 run
# layout line 30 (arrays.r2)
step 110/115 'let the initial sync of r2 run'
set_attribute /sys/block/md_r2/md/sync_action idle

# let the initial sync of r3 run
# layout line 30 (arrays.r3)
step 111/115 'let the initial sync of r3 run'
set_attribute /sys/block/md_r3/md/sync_action idle

# let the initial sync of r4 run
# layout line 30 (arrays.r4)
step 112/115 'let the initial sync of r4 run'
set_attribute /sys/block/md_r4/md/sync_action idle

# let the initial sync of r5 run
# layout line 30 (arrays.r5)
step 113/115 'let the initial sync of r5 run'
set_attribute /sys/block/md_r5/md/sync_action idle

# let the initial sync of r6 run
# layout line 30 (arrays.r6)
step 114/115 'let the initial sync of r6 run'
set_attribute /sys/block/md_r6/md/sync_action idle

# let the initial sync of r7 run
# layout line 30 (arrays.r7)
step 115/115 'let the initial sync of r7 run'
set_attribute /sys/block/md_r7/md/sync_action idle

complete=yes
echo 'done'
}
