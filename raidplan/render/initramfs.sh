# The initramfs: made anew aside, proven, and only then put in place of the present one.

opens=
volumes=

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

# initramfs_names IMAGE UUID...: the image can be unpacked, its mdadm.conf names the arrays, it opens each encryption of $opens
# and, if $volumes is yes, activates LVM volumes.
initramfs_names() {
	image=$1
	shift
	unpacked=$(mktemp -d "$below${TMPDIR:-/var/tmp}/raidplan-initramfs.XXXXXX")
	damaged=no
	inside unmkinitramfs "${image#"$below"}" "${unpacked#"$below"}" >/dev/null || damaged=yes
	named=$(find "$unpacked" -path '*/etc/mdadm/mdadm.conf' -type f -exec sed -n '/^ARRAY /p' '{}' +)
	opened=$(find "$unpacked" -path '*/cryptroot/crypttab' -type f -exec cat '{}' +)
	lvm=$(find "$unpacked" -path '*/sbin/lvm' -type f)
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
	for uuid in $opens; do
		case "$opened" in
		*UUID="$uuid"*) ;;
		*)
			printf 'raidplan: %s does not open the encryption %s\n' "$image" "$uuid" >&2
			return 1
			;;
		esac
	done
	if [ "$volumes" = yes ] && [ -z "$lvm" ]; then
		printf 'raidplan: %s activates no LVM volume\n' "$image" >&2
		return 1
	fi
}

# renew_initramfs FOLDER 'UUID...' HOOKS ['UUID...' of encryptions [yes: volumes]]
renew_initramfs() {
	boot=$1 arrays=$2 hooks=$3 opens=${4-} volumes=${5-} aside=$1/raidplan.new goes_on=no
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
		if ! inside mkinitramfs -o "${new#"$below"}" "${new##*/initrd.img-}" || ! initramfs_names "$new" $arrays; then
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
		[ ! -d "$below$hooks" ] ||
			inside run-parts --arg="${present##*/initrd.img-}" --arg="${present#"$below"}" "$hooks"
	done
	rmdir "$aside"
	sync
}
