# The initramfs: the earlier image of each kernel stays beside until the new one is proven.

# initramfs_images FOLDER: the image of each kernel that is in the folder, or with a second word what is kept of it.
initramfs_images() {
	for kernel in "$1"/vmlinu[xz]-*; do
		image=$1/initrd.img-${kernel#"$1"/vmlinu?-}
		[ ! -f "$image$2" ] || printf '%s\n' "$image"
	done
}

# require_room_for_initramfs FOLDER: for a copy of each image, for each to grow by a fifth, and one while it is made.
require_room_for_initramfs() {
	[ -n "$(initramfs_images "$1" '')" ] || refuse "there is no initramfs in $1: mount $1, or make one"
	needed=$(initramfs_images "$1" '' | while read -r image; do
		wc -c <"$image"
	done | awk '{ all += $1; if ($1 > most) most = $1 } END { printf "%d", (all + most) * 1.2 / 1024 + 1 }')
	free=$(df -P -k "$1" | awk 'END { print $4 }')
	[ "$free" -ge "$needed" ] ||
		refuse "$1 has $free KiB free, and an initramfs made anew beside each present one takes $needed KiB"
}

# initramfs_names IMAGE UUID...: the image can be unpacked, and its mdadm.conf names the arrays.
initramfs_names() {
	image=$1
	shift
	unpacked=$(mktemp -d "${TMPDIR:-/var/tmp}/raidplan-initramfs.XXXXXX")
	named=
	if unmkinitramfs "$image" "$unpacked" >/dev/null; then
		named=$(find "$unpacked" -path '*/etc/mdadm/mdadm.conf' -type f -exec sed -n '/^ARRAY /p' '{}' +)
	fi
	rm -rf "$unpacked"
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

# renew_initramfs FOLDER 'UUID...' COMMAND...
renew_initramfs() {
	boot=$1 arrays=$2
	shift 2
	for image in $(initramfs_images "$boot" ''); do
		if [ ! -e "$image.raidplan-before" ]; then
			cp -p "$image" "$image.raidplan-before.new"
			sync
			mv -f "$image.raidplan-before.new" "$image.raidplan-before"
		fi
	done
	proven=yes
	"$@" || proven=no
	for image in $(initramfs_images "$boot" ''); do
		# shellcheck disable=SC2086  # a word for each array
		[ "$proven" = no ] || initramfs_names "$image" $arrays || proven=no
	done
	sync
	for image in $(initramfs_images "$boot" .raidplan-before); do
		if [ "$proven" = yes ]; then
			rm -f "$image.raidplan-before"
		else
			mv -f "$image.raidplan-before" "$image"
		fi
	done
	sync
	[ "$proven" = yes ] || refuse "the initramfs does not hold the new configuration: the earlier one is back in $boot"
}
