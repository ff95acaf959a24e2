#!/bin/sh
# The plan for the host cluster1, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:186bea976503ad341faa589ee8e781166bd2869993f3e9ce86f9444ef87e3ba9
# note[no-spare] layout line 33: box1 has 10 members and no spare: after a failure it stays degraded until a disk is changed
# note[write-hole] layout line 33: a crash of box1 while a member is missing can spoil data that nobody was writing (the write hole)
# note[component-loss-kills-array] layout line 33: box1 survives the loss of 1 disk, and the controller jmicron takes 2 of its 10 members with it, sil3132 2, ich10 6
# note[read-error-in-rebuild] layout line 33: a rebuild of box1 reads 9.0 TB from 9 disks; their specification bounds the chance of an unreadable sector by 51% at 1 bit in 10^14, 7% at 10^15
# note[wide-parity-array] layout line 33: box1 is raid5 of 10 members with 1 disk of parity; a rebuild reads 9 disks

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
disk_c0=$(find_disk c0 1000204886016 512 CLU1-WCAS70 '' '' '')
disk_c1=$(find_disk c1 1000204886016 512 CLU1-WCAS71 '' '' '')
disk_c2=$(find_disk c2 1000204886016 512 CLU1-WCAS72 '' '' '')
disk_c3=$(find_disk c3 1000204886016 512 CLU1-WCAS73 '' '' '')
disk_c4=$(find_disk c4 1000204886016 512 CLU1-WCAS74 '' '' '')
disk_c5=$(find_disk c5 1000204886016 512 CLU1-WCAS75 '' '' '')
disk_c6=$(find_disk c6 1000204886016 512 CLU1-WCAS76 '' '' '')
disk_c7=$(find_disk c7 1000204886016 512 CLU1-WCAS77 '' '' '')
disk_c8=$(find_disk c8 1000204886016 512 CLU1-WCAS78 '' '' '')
disk_c9=$(find_disk c9 1000204886016 512 CLU1-WCAS79 '' '' '')
require_distinct "$disk_c0" "$disk_c1" "$disk_c2" "$disk_c3" "$disk_c4" "$disk_c5" "$disk_c6" "$disk_c7" \
	"$disk_c8" "$disk_c9"
require_all_blank "$disk_c0" "$disk_c1" "$disk_c2" "$disk_c3" "$disk_c4" "$disk_c5" "$disk_c6" "$disk_c7" \
	"$disk_c8" "$disk_c9"
require_blank_range "$disk_c0" 1048576 1000068874240
require_blank_range "$disk_c1" 1048576 1000068874240
require_blank_range "$disk_c2" 1048576 1000068874240
require_blank_range "$disk_c3" 1048576 1000068874240
require_blank_range "$disk_c4" 1048576 1000068874240
require_blank_range "$disk_c5" 1048576 1000068874240
require_blank_range "$disk_c6" 1048576 1000068874240
require_blank_range "$disk_c7" 1048576 1000068874240
require_blank_range "$disk_c8" 1048576 1000068874240
require_blank_range "$disk_c9" 1048576 1000068874240
require_room_for_initramfs /boot

# name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 32 (arrays)
step 1/29 'name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf cluster1 top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/box1 metadata=1.2 UUID=30f258ba:19065e8f:a29fd601:0e17a080
END

# let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-cluster1.rules
# layout line 32 (arrays)
step 2/29 'let udev tune 1 array and start 1 array that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-cluster1.rules'
write_file /etc/udev/rules.d/65-raidplan-cluster1.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# box1
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="30f258ba:19065e8f:a29fd601:0e17a080", ATTR{queue/read_ahead_kb}="4608"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="30f258ba-1906-5e8f-a29f-d6010e17a080", TEST=="holders/md_box1/md/array_state", TEST!="holders/md_box1/md/sync_action", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@md_box1.timer"
END

# let udev read its rules again
# layout line 32 (arrays)
step 3/29 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 32 (arrays)
step 4/29 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 32 (arrays)
step 5/29 'load the kernel module raid456'
modprobe raid456

# partition c0: c0.box1 of 931.4 GiB
# layout line 26 (hardware.disks.c0); destroys everything on the disk c0
step 6/29 'partition c0: c0.box1 of 931.4 GiB'
require_blank "$disk_c0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_c0" <<'END'
label: gpt
label-id: D528B1A1-9069-5FB6-AA18-649A962E3A76
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=863C357F-531F-5FCA-A668-8D571CBD9CD7, name="box1"
END
await_node /dev/disk/by-partuuid/863c357f-531f-5fca-a668-8d571cbd9cd7

# partition c1: c1.box1 of 931.4 GiB
# layout line 26 (hardware.disks.c1); destroys everything on the disk c1
step 7/29 'partition c1: c1.box1 of 931.4 GiB'
require_blank "$disk_c1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_c1" <<'END'
label: gpt
label-id: 5DDBABD0-A481-58D8-AEAD-B7C0401CF4B8
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=E682CD6A-C278-5CB5-9C0D-B43EBFFE4215, name="box1"
END
await_node /dev/disk/by-partuuid/e682cd6a-c278-5cb5-9c0d-b43ebffe4215

# partition c2: c2.box1 of 931.4 GiB
# layout line 26 (hardware.disks.c2); destroys everything on the disk c2
step 8/29 'partition c2: c2.box1 of 931.4 GiB'
require_blank "$disk_c2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_c2" <<'END'
label: gpt
label-id: FD0E3D33-0A8F-598F-9C3E-BDCB2E0DD45F
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=93FA1E4F-FB49-5E61-AFF8-E8105B47E824, name="box1"
END
await_node /dev/disk/by-partuuid/93fa1e4f-fb49-5e61-aff8-e8105b47e824

# partition c3: c3.box1 of 931.4 GiB
# layout line 26 (hardware.disks.c3); destroys everything on the disk c3
step 9/29 'partition c3: c3.box1 of 931.4 GiB'
require_blank "$disk_c3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_c3" <<'END'
label: gpt
label-id: FABF1BD9-5957-5920-A0C3-1535B06C2A4C
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=F52450C5-8F37-5356-B1E5-6CD3C884BA0E, name="box1"
END
await_node /dev/disk/by-partuuid/f52450c5-8f37-5356-b1e5-6cd3c884ba0e

# partition c4: c4.box1 of 931.4 GiB
# layout line 26 (hardware.disks.c4); destroys everything on the disk c4
step 10/29 'partition c4: c4.box1 of 931.4 GiB'
require_blank "$disk_c4"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_c4" <<'END'
label: gpt
label-id: 183F0191-9FD3-515E-A9BF-B8877B8CF10D
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=D5061582-BFC5-5475-A1D4-384E015E97E0, name="box1"
END
await_node /dev/disk/by-partuuid/d5061582-bfc5-5475-a1d4-384e015e97e0

# partition c5: c5.box1 of 931.4 GiB
# layout line 26 (hardware.disks.c5); destroys everything on the disk c5
step 11/29 'partition c5: c5.box1 of 931.4 GiB'
require_blank "$disk_c5"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_c5" <<'END'
label: gpt
label-id: 9C3A2112-93C4-512E-8BDD-D1DAB826D54B
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=08798088-5578-50D9-BA3F-3135F2049E27, name="box1"
END
await_node /dev/disk/by-partuuid/08798088-5578-50d9-ba3f-3135f2049e27

# partition c6: c6.box1 of 931.4 GiB
# layout line 27 (hardware.disks.c6); destroys everything on the disk c6
step 12/29 'partition c6: c6.box1 of 931.4 GiB'
require_blank "$disk_c6"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_c6" <<'END'
label: gpt
label-id: 1CEEDA9D-B4C4-54D3-AC40-D91FD704838F
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=160307B2-5C23-5712-95E6-6D6402BDBAF7, name="box1"
END
await_node /dev/disk/by-partuuid/160307b2-5c23-5712-95e6-6d6402bdbaf7

# partition c7: c7.box1 of 931.4 GiB
# layout line 27 (hardware.disks.c7); destroys everything on the disk c7
step 13/29 'partition c7: c7.box1 of 931.4 GiB'
require_blank "$disk_c7"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_c7" <<'END'
label: gpt
label-id: 46E204B9-97B4-5E21-B17D-A44E38929EF2
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=94612132-4FDA-5139-937E-3C609C60C066, name="box1"
END
await_node /dev/disk/by-partuuid/94612132-4fda-5139-937e-3c609c60c066

# partition c8: c8.box1 of 931.4 GiB
# layout line 29 (hardware.disks.c8); destroys everything on the disk c8
step 14/29 'partition c8: c8.box1 of 931.4 GiB'
require_blank "$disk_c8"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_c8" <<'END'
label: gpt
label-id: 2702A087-2939-516F-9EE8-3AFBE66B6C0B
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=B5A99AE1-34D2-559C-829F-470960D31993, name="box1"
END
await_node /dev/disk/by-partuuid/b5a99ae1-34d2-559c-829f-470960d31993

# partition c9: c9.box1 of 931.4 GiB
# layout line 29 (hardware.disks.c9); destroys everything on the disk c9
step 15/29 'partition c9: c9.box1 of 931.4 GiB'
require_blank "$disk_c9"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_c9" <<'END'
label: gpt
label-id: 25A9A5FF-D665-598D-9A6B-1DCC653CBC2E
unit: sectors
sector-size: 512
start=2048, size=1953259520, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=C70837CA-1286-5354-8B89-7FD78B242B5E, name="box1"
END
await_node /dev/disk/by-partuuid/c70837ca-1286-5354-8b89-7fd78b242b5e

# create raid5 box1 of 10 members (c0, c1, c2, c3, c4, c5, c6, c7, c8, c9), 8.2 TiB usable
# layout line 33 (arrays.box1); destroys everything on c0.box1, everything on c1.box1, everything on c2.box1, everything on c3.box1, everything on c4.box1, everything on c5.box1, everything on c6.box1, everything on c7.box1, everything on c8.box1, everything on c9.box1
step 16/29 'create raid5 box1 of 10 members (c0, c1, c2, c3, c4, c5, c6, c7, c8, c9), 8.2 TiB usable'
require_blank /dev/disk/by-partuuid/863c357f-531f-5fca-a668-8d571cbd9cd7
require_blank /dev/disk/by-partuuid/e682cd6a-c278-5cb5-9c0d-b43ebffe4215
require_blank /dev/disk/by-partuuid/93fa1e4f-fb49-5e61-aff8-e8105b47e824
require_blank /dev/disk/by-partuuid/f52450c5-8f37-5356-b1e5-6cd3c884ba0e
require_blank /dev/disk/by-partuuid/d5061582-bfc5-5475-a1d4-384e015e97e0
require_blank /dev/disk/by-partuuid/08798088-5578-50d9-ba3f-3135f2049e27
require_blank /dev/disk/by-partuuid/160307b2-5c23-5712-95e6-6d6402bdbaf7
require_blank /dev/disk/by-partuuid/94612132-4fda-5139-937e-3c609c60c066
require_blank /dev/disk/by-partuuid/b5a99ae1-34d2-559c-829f-470960d31993
require_blank /dev/disk/by-partuuid/c70837ca-1286-5354-8b89-7fd78b242b5e
mdadm --create /dev/md/box1 --run --quiet --readonly --metadata=1.2 --homehost=cluster1 --name=box1 \
	--uuid=30f258ba:19065e8f:a29fd601:0e17a080 --level=raid5 --raid-devices=10 --chunk=256K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap --force \
	/dev/disk/by-partuuid/863c357f-531f-5fca-a668-8d571cbd9cd7 \
	/dev/disk/by-partuuid/e682cd6a-c278-5cb5-9c0d-b43ebffe4215 \
	/dev/disk/by-partuuid/93fa1e4f-fb49-5e61-aff8-e8105b47e824 \
	/dev/disk/by-partuuid/f52450c5-8f37-5356-b1e5-6cd3c884ba0e \
	/dev/disk/by-partuuid/d5061582-bfc5-5475-a1d4-384e015e97e0 \
	/dev/disk/by-partuuid/08798088-5578-50d9-ba3f-3135f2049e27 \
	/dev/disk/by-partuuid/160307b2-5c23-5712-95e6-6d6402bdbaf7 \
	/dev/disk/by-partuuid/94612132-4fda-5139-937e-3c609c60c066 \
	/dev/disk/by-partuuid/b5a99ae1-34d2-559c-829f-470960d31993 \
	/dev/disk/by-partuuid/c70837ca-1286-5354-8b89-7fd78b242b5e
await_node /dev/md/box1

# hold the initial sync of box1, so that it does not slow down what follows
# layout line 33 (arrays.box1)
step 17/29 'hold the initial sync of box1, so that it does not slow down what follows'
set_attribute /sys/block/md_box1/md/sync_action frozen

# open box1 for writing
# layout line 33 (arrays.box1)
step 18/29 'open box1 for writing'
set_attribute /sys/block/md_box1/md/array_state active

# let udev tune box1 as it will at every boot: read_ahead_kb 4608
# layout line 33 (arrays.box1)
step 19/29 'let udev tune box1 as it will at every boot: read_ahead_kb 4608'
udevadm trigger --settle --action=change --name-match=/dev/md/box1

# make xfs box1 on box1, 8.2 TiB, su 256 KiB, sw 9
# layout line 36 (filesystems.box1); destroys everything on box1
step 20/29 'make xfs box1 on box1, 8.2 TiB, su 256 KiB, sw 9'
require_blank /dev/md/box1
mkfs.xfs -q -K -m crc=1,uuid=f63f04a7-777b-5a6c-a493-c65c82713e07 -b size=4096 -s size=512 -i \
	size=512,maxpct=5 -d agsize=281231491072,su=262144,sw=9 -l size=2136997888,su=262144 -L box1 /dev/md/box1
await_node /dev/disk/by-uuid/f63f04a7-777b-5a6c-a493-c65c82713e07 /dev/md/box1

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 32 (arrays)
step 21/29 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot 30f258ba:19065e8f:a29fd601:0e17a080 /etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 38 (monitoring.mail)
step 22/29 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 38 (monitoring.scrub)
step 23/29 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 38 (monitoring.scrub)
step 24/29 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm cluster1 bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 1 line into /etc/fstab
# layout line 35 (filesystems)
step 25/29 'enter 1 line into /etc/fstab'
write_block /etc/fstab cluster1 bottom 0644 <<'END'
UUID=f63f04a7-777b-5a6c-a493-c65c82713e07 /storage/box1 xfs defaults,nofail,x-systemd.device-timeout=120s 0 0
END

# let systemd read fstab again
# layout line 35 (filesystems)
step 26/29 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /storage/box1
# layout line 36 (filesystems.box1)
step 27/29 'make the folder /storage/box1'
mkdir --parents /storage/box1

# mount box1 at /storage/box1
# layout line 36 (filesystems.box1)
step 28/29 'mount box1 at /storage/box1'
systemctl start /storage/box1

# let the initial sync of box1 run
# layout line 33 (arrays.box1)
step 29/29 'let the initial sync of box1 run'
set_attribute /sys/block/md_box1/md/sync_action idle

complete=yes
echo 'done'
}
