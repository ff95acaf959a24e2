#!/bin/sh
# The plan for the host fileserver, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:3476e4de29747ba582f2eb068c2269a163eacca14b1fbce0ce1d9dd329a52957
# note[no-spare] layout line 33: pool has 8 members and no spare: after a failure it stays degraded until a disk is changed
# note[write-hole] layout line 34: a crash of pool while a member is missing can spoil data that nobody was writing (the write hole)
# note[component-loss-kills-array] layout line 36: pool survives the loss of 2 disks, and the controller z87 takes 6 of its 8 members with it

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
disk_fs0=$(find_disk fs0 2000398934016 512 FS13-Z4Z00 '' '' '')
disk_fs1=$(find_disk fs1 2000398934016 512 FS13-Z4Z01 '' '' '')
disk_fs2=$(find_disk fs2 2000398934016 512 FS13-Z4Z02 '' '' '')
disk_fs3=$(find_disk fs3 2000398934016 512 FS13-Z4Z03 '' '' '')
disk_fs4=$(find_disk fs4 2000398934016 512 FS13-Z4Z04 '' '' '')
disk_fs5=$(find_disk fs5 2000398934016 512 FS13-Z4Z05 '' '' '')
disk_fs6=$(find_disk fs6 2000398934016 512 FS13-Z4Z06 '' '' '')
disk_fs7=$(find_disk fs7 2000398934016 512 FS13-Z4Z07 '' '' '')
require_distinct "$disk_fs0" "$disk_fs1" "$disk_fs2" "$disk_fs3" "$disk_fs4" "$disk_fs5" "$disk_fs6" \
	"$disk_fs7"
require_all_blank "$disk_fs0" "$disk_fs1" "$disk_fs2" "$disk_fs3" "$disk_fs4" "$disk_fs5" "$disk_fs6" \
	"$disk_fs7"
require_blank_range "$disk_fs0" 1048576 2000263577600
require_blank_range "$disk_fs1" 1048576 2000263577600
require_blank_range "$disk_fs2" 1048576 2000263577600
require_blank_range "$disk_fs3" 1048576 2000263577600
require_blank_range "$disk_fs4" 1048576 2000263577600
require_blank_range "$disk_fs5" 1048576 2000263577600
require_blank_range "$disk_fs6" 1048576 2000263577600
require_blank_range "$disk_fs7" 1048576 2000263577600
require_room_for_initramfs /boot

# name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 32 (arrays)
step 1/27 'name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf fileserver top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/pool metadata=1.2 UUID=65bf43b4:a933504b:98f0ffda:a07f79c1
END

# let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-fileserver.rules
# layout line 32 (arrays)
step 2/27 'let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-fileserver.rules'
write_file /etc/udev/rules.d/65-raidplan-fileserver.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# pool
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="65bf43b4:a933504b:98f0ffda:a07f79c1", TEST=="md/stripe_cache_size", ATTR{md/stripe_cache_size}="4096", ATTR{md/group_thread_cnt}="2"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="65bf43b4-a933-504b-98f0-ffdaa07f79c1", TEST=="holders/md_pool/md/array_state", TEST!="holders/md_pool/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_pool.timer"
END

# let udev read its rules again
# layout line 32 (arrays)
step 3/27 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 32 (arrays)
step 4/27 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 32 (arrays)
step 5/27 'load the kernel module raid456'
modprobe raid456

# partition fs0: fs0.pool of 1.8 TiB
# layout line 28 (hardware.disks.fs0); destroys everything on the disk fs0
step 6/27 'partition fs0: fs0.pool of 1.8 TiB'
require_blank "$disk_fs0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fs0" <<'END'
label: gpt
label-id: F7555D04-67EE-5AD4-A11F-76B651B0E489
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=EDA4D495-1A78-57A4-B76D-A21A3DE19731, name="pool"
END
await_node /dev/disk/by-partuuid/eda4d495-1a78-57a4-b76d-a21a3de19731

# partition fs1: fs1.pool of 1.8 TiB
# layout line 28 (hardware.disks.fs1); destroys everything on the disk fs1
step 7/27 'partition fs1: fs1.pool of 1.8 TiB'
require_blank "$disk_fs1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fs1" <<'END'
label: gpt
label-id: 652306E0-8C2E-5E15-864E-3C1262EC9857
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F3AE2D4B-F18D-52AB-8366-F0F602F6778E, name="pool"
END
await_node /dev/disk/by-partuuid/f3ae2d4b-f18d-52ab-8366-f0f602f6778e

# partition fs2: fs2.pool of 1.8 TiB
# layout line 28 (hardware.disks.fs2); destroys everything on the disk fs2
step 8/27 'partition fs2: fs2.pool of 1.8 TiB'
require_blank "$disk_fs2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fs2" <<'END'
label: gpt
label-id: DA734289-9037-5729-92FE-22A8037DF171
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=DB8474F7-385D-5865-906C-86C7428538FA, name="pool"
END
await_node /dev/disk/by-partuuid/db8474f7-385d-5865-906c-86c7428538fa

# partition fs3: fs3.pool of 1.8 TiB
# layout line 28 (hardware.disks.fs3); destroys everything on the disk fs3
step 9/27 'partition fs3: fs3.pool of 1.8 TiB'
require_blank "$disk_fs3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fs3" <<'END'
label: gpt
label-id: 654A596F-FDDF-5AF8-A313-4CA60BDABEDF
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=4F5C9F3E-842D-5C03-A4C9-7BFA3C6E88BD, name="pool"
END
await_node /dev/disk/by-partuuid/4f5c9f3e-842d-5c03-a4c9-7bfa3c6e88bd

# partition fs4: fs4.pool of 1.8 TiB
# layout line 28 (hardware.disks.fs4); destroys everything on the disk fs4
step 10/27 'partition fs4: fs4.pool of 1.8 TiB'
require_blank "$disk_fs4"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fs4" <<'END'
label: gpt
label-id: 59B1C682-5F4B-5C80-868D-B7204F0E6630
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=374A3FEF-AAE8-5842-85B1-F72AF99F9204, name="pool"
END
await_node /dev/disk/by-partuuid/374a3fef-aae8-5842-85b1-f72af99f9204

# partition fs5: fs5.pool of 1.8 TiB
# layout line 28 (hardware.disks.fs5); destroys everything on the disk fs5
step 11/27 'partition fs5: fs5.pool of 1.8 TiB'
require_blank "$disk_fs5"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fs5" <<'END'
label: gpt
label-id: C9455D8F-A068-5AAB-A98F-06E058ED96B9
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F9CF27D2-EFEB-51BA-9643-A465D4B10880, name="pool"
END
await_node /dev/disk/by-partuuid/f9cf27d2-efeb-51ba-9643-a465d4b10880

# partition fs6: fs6.pool of 1.8 TiB
# layout line 29 (hardware.disks.fs6); destroys everything on the disk fs6
step 12/27 'partition fs6: fs6.pool of 1.8 TiB'
require_blank "$disk_fs6"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fs6" <<'END'
label: gpt
label-id: 19982D0F-E7A4-5BA6-812B-4C8B3ADB4A8A
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=03F0FDCB-CC30-5A7B-A076-555D9CF014C3, name="pool"
END
await_node /dev/disk/by-partuuid/03f0fdcb-cc30-5a7b-a076-555d9cf014c3

# partition fs7: fs7.pool of 1.8 TiB
# layout line 29 (hardware.disks.fs7); destroys everything on the disk fs7
step 13/27 'partition fs7: fs7.pool of 1.8 TiB'
require_blank "$disk_fs7"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_fs7" <<'END'
label: gpt
label-id: 09BD43D7-83C2-5F7A-B0F8-EBBC4E0FF548
unit: sectors
sector-size: 512
start=2048, size=3906764800, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=5C0C611C-BEAC-595A-8657-8F4E8C8ACAC2, name="pool"
END
await_node /dev/disk/by-partuuid/5c0c611c-beac-595a-8657-8f4e8c8acac2

# create raid6 pool of 8 members (fs0, fs1, fs2, fs3, fs4, fs5, fs6, fs7), 10.9 TiB usable
# layout line 33 (arrays.pool); destroys everything on fs0.pool, everything on fs1.pool, everything on fs2.pool, everything on fs3.pool, everything on fs4.pool, everything on fs5.pool, everything on fs6.pool, everything on fs7.pool
step 14/27 'create raid6 pool of 8 members (fs0, fs1, fs2, fs3, fs4, fs5, fs6, fs7), 10.9 TiB usable'
require_blank /dev/disk/by-partuuid/eda4d495-1a78-57a4-b76d-a21a3de19731
require_blank /dev/disk/by-partuuid/f3ae2d4b-f18d-52ab-8366-f0f602f6778e
require_blank /dev/disk/by-partuuid/db8474f7-385d-5865-906c-86c7428538fa
require_blank /dev/disk/by-partuuid/4f5c9f3e-842d-5c03-a4c9-7bfa3c6e88bd
require_blank /dev/disk/by-partuuid/374a3fef-aae8-5842-85b1-f72af99f9204
require_blank /dev/disk/by-partuuid/f9cf27d2-efeb-51ba-9643-a465d4b10880
require_blank /dev/disk/by-partuuid/03f0fdcb-cc30-5a7b-a076-555d9cf014c3
require_blank /dev/disk/by-partuuid/5c0c611c-beac-595a-8657-8f4e8c8acac2
mdadm --create /dev/md/pool --run --quiet --readonly --metadata=1.2 --homehost=fileserver --name=pool \
	--uuid=65bf43b4:a933504b:98f0ffda:a07f79c1 --level=raid6 --raid-devices=8 --chunk=256K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap \
	/dev/disk/by-partuuid/eda4d495-1a78-57a4-b76d-a21a3de19731 \
	/dev/disk/by-partuuid/f3ae2d4b-f18d-52ab-8366-f0f602f6778e \
	/dev/disk/by-partuuid/db8474f7-385d-5865-906c-86c7428538fa \
	/dev/disk/by-partuuid/4f5c9f3e-842d-5c03-a4c9-7bfa3c6e88bd \
	/dev/disk/by-partuuid/374a3fef-aae8-5842-85b1-f72af99f9204 \
	/dev/disk/by-partuuid/f9cf27d2-efeb-51ba-9643-a465d4b10880 \
	/dev/disk/by-partuuid/03f0fdcb-cc30-5a7b-a076-555d9cf014c3 \
	/dev/disk/by-partuuid/5c0c611c-beac-595a-8657-8f4e8c8acac2
await_node /dev/md/pool

# hold the initial sync of pool, so that it does not slow down what follows
# layout line 33 (arrays.pool)
step 15/27 'hold the initial sync of pool, so that it does not slow down what follows'
set_attribute /sys/block/md_pool/md/sync_action frozen

# open pool for writing
# layout line 33 (arrays.pool)
step 16/27 'open pool for writing'
set_attribute /sys/block/md_pool/md/array_state active

# let udev tune pool as it will at every boot: stripe_cache_size 4096, group_thread_cnt 2
# layout line 33 (arrays.pool)
step 17/27 'let udev tune pool as it will at every boot: stripe_cache_size 4096, group_thread_cnt 2'
udevadm trigger --settle --action=change --name-match=/dev/md/pool

# make xfs pool on pool, 10.9 TiB, su 256 KiB, sw 6
# layout line 42 (filesystems.pool); destroys everything on pool
step 18/27 'make xfs pool on pool, 10.9 TiB, su 256 KiB, sw 6'
require_blank /dev/md/pool
mkfs.xfs -q -K -m crc=1,uuid=26b91652-f0fc-50ef-aae8-28df52ef86ca -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=375023992832,su=262144,sw=6 -l size=2136997888,su=262144 -L pool /dev/md/pool
await_node /dev/disk/by-uuid/26b91652-f0fc-50ef-aae8-28df52ef86ca /dev/md/pool

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 32 (arrays)
step 19/27 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot 65bf43b4:a933504b:98f0ffda:a07f79c1 /etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 44 (monitoring.mail)
step 20/27 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 44 (monitoring.scrub)
step 21/27 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 44 (monitoring.scrub)
step 22/27 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm fileserver bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 1 line into /etc/fstab
# layout line 41 (filesystems)
step 23/27 'enter 1 line into /etc/fstab'
write_block /etc/fstab fileserver bottom 0644 <<'END'
UUID=26b91652-f0fc-50ef-aae8-28df52ef86ca /srv/pool xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 41 (filesystems)
step 24/27 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /srv/pool
# layout line 42 (filesystems.pool)
step 25/27 'make the folder /srv/pool'
mkdir --parents /srv/pool

# mount pool at /srv/pool
# layout line 42 (filesystems.pool)
step 26/27 'mount pool at /srv/pool'
systemctl start /srv/pool

# let the initial sync of pool run
# layout line 33 (arrays.pool)
step 27/27 'let the initial sync of pool run'
set_attribute /sys/block/md_pool/md/sync_action idle

complete=yes
echo 'done'
}
