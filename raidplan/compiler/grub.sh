#!/bin/sh
# Written by raidplan for the host @HOST@: each of its disks has the boot loader of the installed packages.
# dpkg runs it after every update. By hand: raidplan-boot-loaders, or raidplan-boot-loaders --always.
# shellcheck disable=SC2317  # a machine uses boot_sector or esp, and mounted only for a /boot of its own
set -u
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
core=@CORE@
made=@EFI_CORE@
signed=@SIGNED@
shim=@SHIM@
done_for=/var/lib/raidplan/boot-loaders
failed=0
absent=0
waits=0
# A hook that fails stops dpkg, and whatever apt has still to do: where nothing is changed it only says so.
unchanged=1
[ -z "${DPKG_HOOK_ACTION-}${DPKG_MAINTSCRIPT_NAME-}" ] || unchanged=0

# Lines "state package version" of the packages that a boot loader is made of.
packages() {
    dpkg-query --show --showformat='${db:Status-Abbrev} ${Package} ${Version}\n' 'grub*' 'shim*' 2>/dev/null |
        grep -v '^.[nc] ' | sort
}

say() {
    echo "raidplan-boot-loaders: $*" >&2
}

# mounted FOLDER: without its file system it is empty, and nothing that the machine starts from.
mounted() {
    if ! mountpoint -q "$1"; then
        say "$1 is not mounted, so nothing was changed: mount it, and run raidplan-boot-loaders"
        exit "$unchanged"
    fi
}

# rebuilt FOLDER: md still rebuilds a member below it. GRUB reads each that has a slot, also what is not written there yet.
rebuilt() {
    for device in $(lsblk -nsro KNAME "$(findmnt -nvro SOURCE -T "$1")" 2>/dev/null); do
        if [ "$(cat "/sys/block/$device/md/sync_action" 2>/dev/null)" = recover ]; then
            return 0
        fi
    done
    return 1
}

# install WHERE COMMAND...
install() {
    where=$1
    shift
    if rebuilt /boot; then
        say "$where keeps its boot loader while a member of the array below /boot is rebuilt: run raidplan-boot-loaders afterwards"
        waits=1
        return
    fi
    if "$@" >/dev/null 2>"$words"; then
        say "installed GRUB on $where"
    else
        say "GRUB was not installed on $where, which may not boot any more:"
        cat "$words" >&2
        failed=1
    fi
}

# boot_sector UUID of a BIOS boot partition: its core image is the present one, but for what is each disk's own.
boot_sector() {
    part=/dev/disk/by-partuuid/$1
    if ! [ -e "$part" ]; then
        absent=1
    elif [ -n "$always" ] || ! cmp -s -i @OWN@ -n "$(($(stat -c %s "$core") - @OWN@))" "$core" "$part"; then
        disk=/dev/$(lsblk -ndo PKNAME "$part") && install "$disk" @BIOS@
    fi
}

# esp UUID MOUNT: what the firmware loads there is the signed loader of the packages, or else the one that was made last.
esp() {
    if ! [ -e "/dev/disk/by-partuuid/$1" ] || ! { mountpoint -q "$2" || mount "$2"; }; then
        absent=1
        return
    fi
    first=$made
    if [ -e "$signed" ]; then
        first=$signed
        [ ! -e "$shim" ] || first=$shim
    fi
    if [ -n "$always" ] || ! cmp -s "$first" "$2/@REMOVABLE@" ||
        { [ "$first" = "$shim" ] && ! cmp -s "$signed" "$2/@BEHIND_SHIM@"; }; then
        install "$2" @UEFI@
    fi
}

now=$(packages)
# Between unpacking and configuring dpkg is not done yet, and comes back.
if ! [ -d @MODULES@ ] || echo "$now" | grep -qv '^.i '; then
    exit 0
fi
@MOUNTED@
always=${1:-}
[ "$now" = "$(cat "$done_for" 2>/dev/null)" ] || always=yes
words=$(mktemp) || exit 1
trap 'rm -f "$words"' EXIT
@PLACES@
if [ "$failed$waits" = 00 ]; then
    mkdir -p "${done_for%/*}" && echo "$now" >"$done_for.new" && mv "$done_for.new" "$done_for" || failed=1
fi
[ "$absent" = 0 ] || [ -z "$always" ] || say "not every disk is there: run it again when it is"
[ "$failed$waits" != 01 ] || failed=$unchanged
exit "$failed"
