# The system that an installer leaves below the target between the two runs.

# require_mounted NODE FOLDER: exactly this is mounted there.
require_mounted() {
	source=$(findmnt --noheadings --first-only --output SOURCE --mountpoint "$2") ||
		refuse "nothing is mounted at $2: raidplan mount LAYOUT --target $below"
	[ "$(readlink -f "$source")" = "$(readlink -f "$1")" ] || refuse "$source is mounted at $2, and not $1"
}

# require_empty_target: what is made is to be mounted there, and would hide what is there.
require_empty_target() {
	[ "$(readlink -m "$below")" = "$below" ] || refuse "$below leads through a symbolic link"
	[ ! -e "$below" ] || [ -d "$below" ] || refuse "$below is no folder"
	! findmnt --mountpoint "$below" >/dev/null || refuse "something is mounted at $below: umount $below"
	[ -z "$(ls -A "$below" 2>/dev/null)" ] || refuse "$below is not empty: a mount would hide what is there"
}

# require_target: the system's root is described only, so it is mounted there already.
require_target() {
	findmnt --mountpoint "$below" >/dev/null || refuse "nothing is mounted at $below, so files would be this system's own"
}

# require_copy KEY COPY: no link leads from there into this system, and no other key would be written over.
require_copy() {
	there=$(readlink -m "$2")
	case $there in
	"$(readlink -f "$below")"/*) ;;
	*) refuse "$2 leads to $there, out of $below" ;;
	esac
	[ ! -e "$1" ] || [ ! -e "$2" ] || cmp -s "$1" "$2" || refuse "the key file $2 holds another key than $1 of this system: move it away"
}

# require_inside TOOL...: programs of that system. A link of its own leads nowhere from here, and counts.
require_inside() {
	for tool in "$@"; do
		there=no
		for folder in usr/local/sbin usr/local/bin usr/sbin usr/bin sbin bin; do
			if [ -x "$below/$folder/$tool" ] || [ -L "$below/$folder/$tool" ]; then
				there=yes
			fi
		done
		[ "$there" = yes ] || refuse "the program $tool is missing below $below: install it there"
	done
}
