#!/bin/sh
# The plan for the host ppl, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:37a40f470bb11f72aceb012ff12ec0e5d6f372118cb2f05643e85b1587086ee6

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
require_tools awk blkid cpio df find grep lsblk mdadm mkdir mke2fs mkinitramfs mktemp modprobe readlink \
	run-parts sed sfdisk sort systemctl udevadm unmkinitramfs update-initramfs wipefs
disks=$(list_disks)
disk_pp0=$(find_disk pp0 3221225472 512 PPLG-C400 '' '' '')
disk_pp1=$(find_disk pp1 3221225472 512 PPLG-C401 '' '' '')
disk_pp2=$(find_disk pp2 3221225472 512 PPLG-C402 '' '' '')
require_distinct "$disk_pp0" "$disk_pp1" "$disk_pp2"
require_all_blank "$disk_pp0" "$disk_pp1" "$disk_pp2"
require_blank_range "$disk_pp0" 1048576 3215982592
require_blank_range "$disk_pp1" 1048576 3215982592
require_blank_range "$disk_pp2" 1048576 3215982592
require_room_for_initramfs /boot

# name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 16 (arrays)
step 1/22 'name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf ppl top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/logged metadata=1.2 UUID=2bf4f62f:4dd4548c:8a29acbb:787145fd
END

# let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-ppl.rules
# layout line 16 (arrays)
step 2/22 'let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-ppl.rules'
write_file /etc/udev/rules.d/65-raidplan-ppl.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# logged
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="2bf4f62f:4dd4548c:8a29acbb:787145fd", ATTR{queue/read_ahead_kb}="512"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="2bf4f62f-4dd4-548c-8a29-acbb787145fd", TEST=="holders/md_logged/md/array_state", TEST!="holders/md_logged/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_logged.timer"
END

# let udev read its rules again
# layout line 16 (arrays)
step 3/22 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 16 (arrays)
step 4/22 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 16 (arrays)
step 5/22 'load the kernel module raid456'
modprobe raid456

# partition pp0: pp0.logged of 3.0 GiB
# layout line 14 (hardware.disks.pp0); destroys everything on the disk pp0
step 6/22 'partition pp0: pp0.logged of 3.0 GiB'
require_blank "$disk_pp0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_pp0" <<'END'
label: gpt
label-id: 332C26C2-AAE2-5CB7-88C2-0830E282708F
unit: sectors
sector-size: 512
start=2048, size=6281216, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=44607CCC-A18C-5A0F-B204-2E716E72EC3C, name="logged"
END
await_node /dev/disk/by-partuuid/44607ccc-a18c-5a0f-b204-2e716e72ec3c

# partition pp1: pp1.logged of 3.0 GiB
# layout line 14 (hardware.disks.pp1); destroys everything on the disk pp1
step 7/22 'partition pp1: pp1.logged of 3.0 GiB'
require_blank "$disk_pp1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_pp1" <<'END'
label: gpt
label-id: 329EFE17-56AD-5DF8-9216-279CA938644E
unit: sectors
sector-size: 512
start=2048, size=6281216, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=003663FC-308C-55AE-A663-0B3344F5104F, name="logged"
END
await_node /dev/disk/by-partuuid/003663fc-308c-55ae-a663-0b3344f5104f

# partition pp2: pp2.logged of 3.0 GiB
# layout line 14 (hardware.disks.pp2); destroys everything on the disk pp2
step 8/22 'partition pp2: pp2.logged of 3.0 GiB'
require_blank "$disk_pp2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_pp2" <<'END'
label: gpt
label-id: 05219E07-F27D-5A1A-A07A-D9EB47BBA2D3
unit: sectors
sector-size: 512
start=2048, size=6281216, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=D9448486-ED6C-57E1-BA24-A39E363FEF5B, name="logged"
END
await_node /dev/disk/by-partuuid/d9448486-ed6c-57e1-ba24-a39e363fef5b

# create raid5 logged of 3 members (pp0, pp1, pp2), 6.0 GiB usable
# layout line 17 (arrays.logged); destroys everything on pp0.logged, everything on pp1.logged, everything on pp2.logged
step 9/22 'create raid5 logged of 3 members (pp0, pp1, pp2), 6.0 GiB usable'
require_blank /dev/disk/by-partuuid/44607ccc-a18c-5a0f-b204-2e716e72ec3c
require_blank /dev/disk/by-partuuid/003663fc-308c-55ae-a663-0b3344f5104f
require_blank /dev/disk/by-partuuid/d9448486-ed6c-57e1-ba24-a39e363fef5b
mdadm --create /dev/md/logged --run --quiet --readonly --metadata=1.2 --homehost=ppl --name=logged \
	--uuid=2bf4f62f:4dd4548c:8a29acbb:787145fd --level=raid5 --raid-devices=3 --chunk=128K \
	--layout=left-symmetric --bitmap=none --consistency-policy=ppl --force \
	/dev/disk/by-partuuid/44607ccc-a18c-5a0f-b204-2e716e72ec3c \
	/dev/disk/by-partuuid/003663fc-308c-55ae-a663-0b3344f5104f \
	/dev/disk/by-partuuid/d9448486-ed6c-57e1-ba24-a39e363fef5b
await_node /dev/md/logged

# hold the initial sync of logged, so that it does not slow down what follows
# layout line 17 (arrays.logged)
step 10/22 'hold the initial sync of logged, so that it does not slow down what follows'
set_attribute /sys/block/md_logged/md/sync_action frozen

# open logged for writing
# layout line 17 (arrays.logged)
step 11/22 'open logged for writing'
set_attribute /sys/block/md_logged/md/array_state active

# let udev tune logged as it will at every boot: read_ahead_kb 512
# layout line 17 (arrays.logged)
step 12/22 'let udev tune logged as it will at every boot: read_ahead_kb 512'
udevadm trigger --settle --action=change --name-match=/dev/md/logged

# make ext4 logged on logged, 6.0 GiB, 392,448 inodes, stride 32, stripe width 64
# layout line 20 (filesystems.logged); destroys everything on logged
step 13/22 'make ext4 logged on logged, 6.0 GiB, 392,448 inodes, stride 32, stripe width 64'
require_blank /dev/md/logged
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 4096 -I 256 -N 392064 -m 1 -G 16 -E \
	stride=32,stripe_width=64,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	e99e4cee-3ef7-599b-baaf-a80bc360178f -L logged /dev/md/logged 1568256
await_node /dev/disk/by-uuid/e99e4cee-3ef7-599b-baaf-a80bc360178f /dev/md/logged

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 16 (arrays)
step 14/22 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot 2bf4f62f:4dd4548c:8a29acbb:787145fd /etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 22 (monitoring.mail)
step 15/22 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 22 (monitoring.scrub)
step 16/22 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 22 (monitoring.scrub)
step 17/22 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm ppl bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 1 line into /etc/fstab
# layout line 19 (filesystems)
step 18/22 'enter 1 line into /etc/fstab'
write_block /etc/fstab ppl bottom 0644 <<'END'
UUID=e99e4cee-3ef7-599b-baaf-a80bc360178f /srv/logged ext4 defaults,nofail,x-systemd.device-timeout=120s 0 2
END

# let systemd read fstab again
# layout line 19 (filesystems)
step 19/22 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /srv/logged
# layout line 20 (filesystems.logged)
step 20/22 'make the folder /srv/logged'
mkdir --parents /srv/logged

# mount logged at /srv/logged
# layout line 20 (filesystems.logged)
step 21/22 'mount logged at /srv/logged'
systemctl start /srv/logged

# let the initial sync of logged run
# layout line 17 (arrays.logged)
step 22/22 'let the initial sync of logged run'
set_attribute /sys/block/md_logged/md/sync_action idle

complete=yes
echo 'done'
}
