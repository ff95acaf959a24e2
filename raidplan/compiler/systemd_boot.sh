#!/bin/sh
# Written by raidplan for the host @HOST@: each of its EFI system partitions has systemd-boot, every kernel and its initramfs.
# dpkg and update-initramfs run it. By hand: raidplan-boot-loaders, or raidplan-boot-loaders MOUNT for one of them.
# shellcheck disable=SC2317  # mounted is for a /boot of its own
set -u
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
plain=@PLAIN@
signed=@SIGNED@
shim=@SHIM@
words=@COMMAND_LINE@
failed=0
absent=0
# A hook that fails stops dpkg, and whatever apt has still to do: where nothing is changed it only says so.
unchanged=1
[ -z "${DPKG_HOOK_ACTION-}${DPKG_MAINTSCRIPT_NAME-}" ] || unchanged=0

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

# put FILE PLACE: the whole copy, or what was there before.
put() {
    if cmp -s "$1" "$2"; then
        return 0
    fi
    if mkdir -p "${2%/*}" && cp "$1" "$2.new" && sync "$2.new" && mv -f "$2.new" "$2"; then
        changed=1
    else
        rm -f "$2.new"
        say "$2 could not be written, so the machine may start an earlier kernel from there, or none"
        failed=1
        return 1
    fi
}

# entry VERSION: the kernel in the menu.
entry() {
    name=$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release | tr -d '"')
    more=$(tr '\n' ' ' 2>/dev/null <"$words" | sed 's/\(^\| \)root=[^ ]*//g; s/ *$//; s/^ *//')
    printf 'title %s\nversion %s\nlinux /@KERNELS@/%s/linux\ninitrd /@KERNELS@/%s/initrd.img\noptions root=%s ro%s\n' \
        "${name:-Linux}" "$1" "$1" "$1" '@ROOT@' "${more:+ $more}"
}

# esp UUID MOUNT
esp() {
    if [ -n "$only" ] && [ "$only" != "$2" ]; then
        return
    fi
    if ! [ -e "/dev/disk/by-partuuid/$1" ] || ! { mountpoint -q "$2" || mount "$2"; }; then
        absent=1
        return
    fi
    changed=
    # Kernels that are not installed any more go first: there is little room.
    for place in "$2/@KERNELS@"/*; do
        version=${place##*/}
        if [ -e "$place" ] && ! [ -e "/boot/vmlinuz-$version" ]; then
            rm -rf "$2/loader/entries/raidplan-$version.conf" "$place" && changed=1
        fi
    done
    for kernel in /boot/vmlinuz-*; do
        version=${kernel#/boot/vmlinuz-}
        initrd=/boot/initrd.img-$version
        # dpkg makes the initramfs after the kernel, and comes back.
        if [ -e "$kernel" ] && [ -e "$initrd" ]; then
            entry "$version" >"$made"
            put "$kernel" "$2/@KERNELS@/$version/linux" && put "$initrd" "$2/@KERNELS@/$version/initrd.img" &&
                put "$made" "$2/loader/entries/raidplan-$version.conf"
        fi
    done
    if ! [ -e "$2/loader/loader.conf" ]; then
        echo 'timeout 3' >"$made"
        put "$made" "$2/loader/loader.conf"
    fi
    first=$plain
    if [ -e "$signed" ]; then
        first=$signed
    fi
    put "$first" "$2/@OWN@"
    if [ -e "$signed" ] && [ -e "$shim" ]; then
        put "$signed" "$2/@BEHIND_SHIM@"
        first=$shim
    fi
    put "$first" "$2/@REMOVABLE@"
    if [ -n "$changed" ]; then
        sync -f "$2"
        say "systemd-boot and the kernels are on $2"
    fi
}

if ! [ -e "$plain" ]; then
    exit 0
fi
@MOUNTED@
if ! ls /boot/vmlinuz-* >/dev/null 2>&1; then
    say "no kernel is in /boot, so nothing was changed: install one"
    exit "$unchanged"
fi
only=${1:-}
made=$(mktemp) || exit 1
trap 'rm -f "$made"' EXIT
@PLACES@
[ "$absent" = 0 ] || say "not every disk is there: run it again when it is"
exit "$failed"
