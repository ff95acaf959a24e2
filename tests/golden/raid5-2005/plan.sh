#!/bin/sh
# The plan for the host beast, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:0b26c4fe5de40b18a03ca172bde19acbb6a9ea7911a4ee2278942a39e40f189a
# note[network-slower-than-array] layout line 18: the network carries 118 MB/s, and storage alone can read 166
# note[no-spare] layout line 33: storage has 8 members and no spare: after a failure it stays degraded until a disk is changed
# note[write-hole] layout line 33: a crash of storage while a member is missing can spoil data that nobody was writing (the write hole)
# warning[members-on-pci] layout line 33: 4 of 8 members of storage (be4, be5, be6, be7) share the PCI bus be_pci, which carries 95 MB/s, 24 for each
# warning[oversubscribed-link] layout line 33: be_pci carries 95 MB/s for 4 members of storage: 24 for each, which could read 63
# warning[slow-path-in-stripe] layout line 33: be4 and 3 other members of storage get 24 MB/s over be_pci, while be0 reads 63: every stripe waits for the slowest
# note[component-loss-kills-array] layout line 33: storage survives the loss of 1 disk, and the controller be_nforce4 takes 4 of its 8 members with it, be_sil3114 4

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
disk_be0=$(find_disk be0 300090728448 512 BEST-B610 '' '' '')
disk_be1=$(find_disk be1 300090728448 512 BEST-B611 '' '' '')
disk_be2=$(find_disk be2 300090728448 512 BEST-B612 '' '' '')
disk_be3=$(find_disk be3 300090728448 512 BEST-B613 '' '' '')
disk_be4=$(find_disk be4 300090728448 512 BEST-B614 '' '' '')
disk_be5=$(find_disk be5 300090728448 512 BEST-B615 '' '' '')
disk_be6=$(find_disk be6 300090728448 512 BEST-B616 '' '' '')
disk_be7=$(find_disk be7 300090728448 512 BEST-B617 '' '' '')
require_distinct "$disk_be0" "$disk_be1" "$disk_be2" "$disk_be3" "$disk_be4" "$disk_be5" "$disk_be6" \
	"$disk_be7"
require_all_blank "$disk_be0" "$disk_be1" "$disk_be2" "$disk_be3" "$disk_be4" "$disk_be5" "$disk_be6" \
	"$disk_be7"
require_blank_range "$disk_be0" 1048576 299954601984
require_blank_range "$disk_be1" 1048576 299954601984
require_blank_range "$disk_be2" 1048576 299954601984
require_blank_range "$disk_be3" 1048576 299954601984
require_blank_range "$disk_be4" 1048576 299954601984
require_blank_range "$disk_be5" 1048576 299954601984
require_blank_range "$disk_be6" 1048576 299954601984
require_blank_range "$disk_be7" 1048576 299954601984
require_room_for_initramfs /boot

# name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 32 (arrays)
step 1/28 'name 1 array in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf beast top 0644 <<'END'
create names=yes
MAILADDR root@example.org
ARRAY /dev/md/storage metadata=1.2 UUID=a864ad56:f6b35f54:8f84fad5:0f219218
END

# let udev tune 1 array at every boot, by /etc/udev/rules.d/65-raidplan-beast.rules
# layout line 32 (arrays)
step 2/28 'let udev tune 1 array at every boot, by /etc/udev/rules.d/65-raidplan-beast.rules'
write_file /etc/udev/rules.d/65-raidplan-beast.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
# storage
SUBSYSTEM=="block", KERNEL=="md*", ENV{DEVTYPE}=="disk", ACTION=="add|change", ENV{MD_UUID}=="a864ad56:f6b35f54:8f84fad5:0f219218", ATTR{queue/read_ahead_kb}="896"
END

# let udev read its rules again
# layout line 32 (arrays)
step 3/28 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 32 (arrays)
step 4/28 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid456
# layout line 32 (arrays)
step 5/28 'load the kernel module raid456'
modprobe raid456

# partition be0: be0.storage of 279.4 GiB
# layout line 27 (hardware.disks.be0); destroys everything on the disk be0
step 6/28 'partition be0: be0.storage of 279.4 GiB'
require_blank "$disk_be0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_be0" <<'END'
label: gpt
label-id: 29076E1B-67D5-52F4-860B-F4DA1FFD1BB0
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=D7D9D8AA-E344-5B59-9870-7720D5844392, name="storage"
END
await_node /dev/disk/by-partuuid/d7d9d8aa-e344-5b59-9870-7720d5844392

# partition be1: be1.storage of 279.4 GiB
# layout line 27 (hardware.disks.be1); destroys everything on the disk be1
step 7/28 'partition be1: be1.storage of 279.4 GiB'
require_blank "$disk_be1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_be1" <<'END'
label: gpt
label-id: 926E9BF1-0CF2-50CC-AD88-3F19299976B9
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=21FA2838-AD98-5B8D-9053-CEFF432D7AED, name="storage"
END
await_node /dev/disk/by-partuuid/21fa2838-ad98-5b8d-9053-ceff432d7aed

# partition be2: be2.storage of 279.4 GiB
# layout line 27 (hardware.disks.be2); destroys everything on the disk be2
step 8/28 'partition be2: be2.storage of 279.4 GiB'
require_blank "$disk_be2"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_be2" <<'END'
label: gpt
label-id: BF6F6609-A003-5795-AA00-C7289FCC26B6
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=D6CCFF30-5B30-5A25-AA76-1344DB69D883, name="storage"
END
await_node /dev/disk/by-partuuid/d6ccff30-5b30-5a25-aa76-1344db69d883

# partition be3: be3.storage of 279.4 GiB
# layout line 27 (hardware.disks.be3); destroys everything on the disk be3
step 9/28 'partition be3: be3.storage of 279.4 GiB'
require_blank "$disk_be3"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_be3" <<'END'
label: gpt
label-id: 129B6532-4E2E-5F21-BA3C-5A3ED686D282
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=EA33A0F7-1EC5-5758-9681-CC7EF101D45A, name="storage"
END
await_node /dev/disk/by-partuuid/ea33a0f7-1ec5-5758-9681-cc7ef101d45a

# partition be4: be4.storage of 279.4 GiB
# layout line 29 (hardware.disks.be4); destroys everything on the disk be4
step 10/28 'partition be4: be4.storage of 279.4 GiB'
require_blank "$disk_be4"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_be4" <<'END'
label: gpt
label-id: 70B27C9A-666D-5A50-A8BB-32262367B597
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=8809AE40-8E47-543A-B3AB-4F3872F1149F, name="storage"
END
await_node /dev/disk/by-partuuid/8809ae40-8e47-543a-b3ab-4f3872f1149f

# partition be5: be5.storage of 279.4 GiB
# layout line 29 (hardware.disks.be5); destroys everything on the disk be5
step 11/28 'partition be5: be5.storage of 279.4 GiB'
require_blank "$disk_be5"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_be5" <<'END'
label: gpt
label-id: 54F688A7-2FEF-53B5-B7D0-D9D8058CF402
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=7AFB8831-EDAC-507D-89A8-E4A5FAADA767, name="storage"
END
await_node /dev/disk/by-partuuid/7afb8831-edac-507d-89a8-e4a5faada767

# partition be6: be6.storage of 279.4 GiB
# layout line 29 (hardware.disks.be6); destroys everything on the disk be6
step 12/28 'partition be6: be6.storage of 279.4 GiB'
require_blank "$disk_be6"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_be6" <<'END'
label: gpt
label-id: A893BCD7-EFCA-54D6-9FF3-B70F0CDB7D26
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=012E9D94-CC81-5BC5-8CC1-5E71C343BF93, name="storage"
END
await_node /dev/disk/by-partuuid/012e9d94-cc81-5bc5-8cc1-5e71c343bf93

# partition be7: be7.storage of 279.4 GiB
# layout line 29 (hardware.disks.be7); destroys everything on the disk be7
step 13/28 'partition be7: be7.storage of 279.4 GiB'
require_blank "$disk_be7"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_be7" <<'END'
label: gpt
label-id: D07E46DB-FF0C-5942-B25D-80BA75104EB2
unit: sectors
sector-size: 512
start=2048, size=585848832, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=661F51D8-20B1-5EB1-94DD-694B75528F62, name="storage"
END
await_node /dev/disk/by-partuuid/661f51d8-20b1-5eb1-94dd-694b75528f62

# create raid5 storage of 8 members (be0, be1, be2, be3, be4, be5, be6, be7), 1.9 TiB usable
# layout line 33 (arrays.storage); destroys everything on be0.storage, everything on be1.storage, everything on be2.storage, everything on be3.storage, everything on be4.storage, everything on be5.storage, everything on be6.storage, everything on be7.storage
step 14/28 'create raid5 storage of 8 members (be0, be1, be2, be3, be4, be5, be6, be7), 1.9 TiB usable'
require_blank /dev/disk/by-partuuid/d7d9d8aa-e344-5b59-9870-7720d5844392
require_blank /dev/disk/by-partuuid/21fa2838-ad98-5b8d-9053-ceff432d7aed
require_blank /dev/disk/by-partuuid/d6ccff30-5b30-5a25-aa76-1344db69d883
require_blank /dev/disk/by-partuuid/ea33a0f7-1ec5-5758-9681-cc7ef101d45a
require_blank /dev/disk/by-partuuid/8809ae40-8e47-543a-b3ab-4f3872f1149f
require_blank /dev/disk/by-partuuid/7afb8831-edac-507d-89a8-e4a5faada767
require_blank /dev/disk/by-partuuid/012e9d94-cc81-5bc5-8cc1-5e71c343bf93
require_blank /dev/disk/by-partuuid/661f51d8-20b1-5eb1-94dd-694b75528f62
mdadm --create /dev/md/storage --run --quiet --readonly --metadata=1.2 --homehost=beast --name=storage \
	--uuid=a864ad56:f6b35f54:8f84fad5:0f219218 --level=raid5 --raid-devices=8 --chunk=64K \
	--layout=left-symmetric --bitmap=internal --consistency-policy=bitmap --force \
	/dev/disk/by-partuuid/d7d9d8aa-e344-5b59-9870-7720d5844392 \
	/dev/disk/by-partuuid/21fa2838-ad98-5b8d-9053-ceff432d7aed \
	/dev/disk/by-partuuid/d6ccff30-5b30-5a25-aa76-1344db69d883 \
	/dev/disk/by-partuuid/ea33a0f7-1ec5-5758-9681-cc7ef101d45a \
	/dev/disk/by-partuuid/8809ae40-8e47-543a-b3ab-4f3872f1149f \
	/dev/disk/by-partuuid/7afb8831-edac-507d-89a8-e4a5faada767 \
	/dev/disk/by-partuuid/012e9d94-cc81-5bc5-8cc1-5e71c343bf93 \
	/dev/disk/by-partuuid/661f51d8-20b1-5eb1-94dd-694b75528f62
await_node /dev/md/storage

# hold the initial sync of storage, so that it does not slow down what follows
# layout line 33 (arrays.storage)
step 15/28 'hold the initial sync of storage, so that it does not slow down what follows'
set_attribute /sys/block/md_storage/md/sync_action frozen

# open storage for writing
# layout line 33 (arrays.storage)
step 16/28 'open storage for writing'
set_attribute /sys/block/md_storage/md/array_state active

# let udev tune storage as it will at every boot: read_ahead_kb 896
# layout line 33 (arrays.storage)
step 17/28 'let udev tune storage as it will at every boot: read_ahead_kb 896'
udevadm trigger --settle --action=change --name-match=/dev/md/storage

# make ext3 storage on storage, 1.9 TiB, 500,384 inodes, stride 16, stripe width 112
# layout line 36 (filesystems.storage); destroys everything on storage
step 18/28 'make ext3 storage on storage, 1.9 TiB, 500,384 inodes, stride 16, stripe width 112'
require_blank /dev/md/storage
mke2fs -q -t ext3 -O none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal -b \
	4096 -I 256 -N 500377 -m 1 -E stride=16,stripe_width=112,nodiscard,lazy_itable_init=1,lazy_journal_init=1 \
	-U 607b76e2-d665-5ea5-8fcf-a29a601ba075 -L storage /dev/md/storage 512386560
await_node /dev/disk/by-uuid/607b76e2-d665-5ea5-8fcf-a29a601ba075 /dev/md/storage

# put the new configuration into the initramfs, so that arrays keep their names at boot
# layout line 32 (arrays)
step 19/28 'put the new configuration into the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot a864ad56:f6b35f54:8f84fad5:0f219218 /etc/initramfs/post-update.d

# do not start degraded arrays at boot by themselves: all arrays of this machine, also those that no layout names
# layout line 38 (boot.degraded)
step 20/28 'do not start degraded arrays at boot by themselves: all arrays of this machine, also those that no layout names'
systemctl mask mdadm-last-resort@.timer

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 39 (monitoring.mail)
step 21/28 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 39 (monitoring.scrub)
step 22/28 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 39 (monitoring.scrub)
step 23/28 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm beast bottom 0644 <<'END'
AUTOCHECK=false
END

# enter 1 line into /etc/fstab
# layout line 35 (filesystems)
step 24/28 'enter 1 line into /etc/fstab'
write_block /etc/fstab beast bottom 0644 <<'END'
UUID=607b76e2-d665-5ea5-8fcf-a29a601ba075 /storage ext3 defaults,nofail,x-systemd.device-timeout=120s 0 2
END

# let systemd read fstab again
# layout line 35 (filesystems)
step 25/28 'let systemd read fstab again'
systemctl daemon-reload

# make the folder /storage
# layout line 36 (filesystems.storage)
step 26/28 'make the folder /storage'
mkdir --parents /storage

# mount storage at /storage
# layout line 36 (filesystems.storage)
step 27/28 'mount storage at /storage'
systemctl start /storage

# let the initial sync of storage run
# layout line 33 (arrays.storage)
step 28/28 'let the initial sync of storage run'
set_attribute /sys/block/md_storage/md/sync_action idle

complete=yes
echo 'done'
}
