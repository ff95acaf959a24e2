# What is destroyed: shown, confirmed, cleared.

# found_on NODE NUMBER: what libblkid finds on a device, a line each: NUMBER, offset, type, UUID; only letters,
# digits and : . _ - of what the disk itself says.
found_on() {
	found=$(wipefs --no-act --parsable --output=OFFSET,TYPE,UUID "$1") || refuse "$1 cannot be read"
	printf '%s\n' "$found" | sed -e '/^#/d' -e '/^$/d' -e 's/,/ /' -e 's/,/ /' -e "s/^/$2 /" |
		tr -cd 'A-Za-z0-9 :._\n-' | sed 's/ *$//'
}

# require_found NODE LINE...: nothing is on the device or on its partitions that was not there when the plan was
# made.
require_found() {
	device=$1
	shift
	[ -b "$device" ] || refuse "$device is not a block device"
	now=$(
		found_on "$device" 0
		partitions_of "$device" | while read -r part; do
			found_on "$part" "$(cat "$(sysfs_of "$part")/partition")"
		done
	)
	extra=$(printf '%s\n' "$now" | grep -vxF -e "$(printf '%s\n' "$@")") || extra=
	[ -z "$extra" ] || refuse "$device carries what it did not when the plan was made: $extra"
}

# consent HOST DIGEST own|listed ARGUMENT... <LIST: a person has seen the list of what is destroyed, and types the
# host's name, or has given the digest of exactly this plan.
consent() {
	printf 'this will be destroyed:\n' >&2
	cat >&2
	host=$1 digest=$2 kind=$3
	shift 3
	if [ "${1-}" = --destroy ]; then
		[ "${2-}" = "$digest" ] || refuse "--destroy is not the digest of this plan, $digest"
		return 0
	fi
	[ "$kind" = listed ] || refuse "this plan destroys what this layout created itself: confirm with --destroy $digest"
	printf 'Type the host name (%s) to destroy it: ' "$host" >&2
	typed=
	read -r typed </dev/tty || refuse "there is no terminal: give --destroy $digest"
	[ "$typed" = "$host" ] || refuse 'not confirmed'
}

# zero_ranges NODE START:SIZE...: writes zeroes and reads them back, in bytes; a negative START counts from the
# end, and what lies beyond the device is left out. Then the kernel reads the partition table again.
zero_ranges() {
	device=$1
	shift
	for part in "$device" $(partitions_of "$device"); do
		require_unused "$part"
	done
	total=$(blockdev --getsize64 "$device")
	for range in "$@"; do
		start=${range%:*} size=${range#*:}
		[ "$start" -ge 0 ] || start=$((start + total))
		end=$((start + size))
		[ "$start" -ge 0 ] || start=0
		[ "$end" -le "$total" ] || end=$total
		[ "$start" -lt "$end" ] || continue
		dd if=/dev/zero of="$device" bs=1M oflag=seek_bytes iflag=count_bytes seek="$start" \
			count="$((end - start))" conv=notrunc,fsync status=none
		blockdev --flushbufs "$device"
		dd if="$device" bs=1M iflag=skip_bytes,count_bytes skip="$start" count="$((end - start))" status=none |
			cmp -s -n "$((end - start))" - /dev/zero ||
			refuse "$device does not keep the zeroes that were written from byte $start on"
	done
	tries=0
	while [ -n "$(partitions_of "$device")" ]; do
		blockdev --rereadpt "$device" 2>/dev/null || :
		tries=$((tries + 1))
		[ "$tries" -le 300 ] || refuse "the kernel keeps the partitions $(partitions_of "$device")"
		[ -z "$(partitions_of "$device")" ] || sleep 0.2
	done
}
