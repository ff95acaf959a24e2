#!/bin/sh
# The plan for the host ledger, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:aabe373bed45b08203ae21ba4d6401c2c6c2f6af9da0e281c5ab032b66d243c4

# Nothing in a quoted word is meant to be expanded.
# shellcheck disable=SC1003,SC2016
set -eu
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
umask 022

# functions.sh

# initramfs.sh

# In braces, so that nothing runs before all of this has been read.
{
exec </dev/null

# Before anything is written: every disk is found, and everything that is written over is blank.

[ "$(id -u)" -eq 0 ] || refuse 'not root: run it with sudo'
[ -n "$below" ] || refuse 'this script makes /, and no system runs from that yet: in a rescue system, make it by raidplan plan --target /mnt --format shell'
require_tools awk blkid cpio df efibootmgr find grep grub-install lsblk mdadm mkdir mke2fs mkfs.vfat \
	mkinitramfs mkswap mktemp modprobe readlink run-parts sed sfdisk sort swapon systemctl udevadm \
	unmkinitramfs update-grub update-initramfs wipefs
disks=$(list_disks)
disk_le0=$(find_disk le0 480000000000 512 LEDG-5C100 '' '' '')
disk_le1=$(find_disk le1 480000000000 512 LEDG-5C101 '' '' '')
require_distinct "$disk_le0" "$disk_le1"
require_firmware uefi
require_signed /usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed grub-efi-amd64-signed
require_signed /usr/lib/shim/shimx64.efi.signed shim-signed
require_all_blank "$disk_le0" "$disk_le1"
require_blank_range "$disk_le0" 1048576 536870912
require_blank_range "$disk_le0" 537919488 4294967296
require_blank_range "$disk_le0" 4832886784 475032190976
require_blank_range "$disk_le1" 1048576 536870912
require_blank_range "$disk_le1" 537919488 4294967296
require_blank_range "$disk_le1" 4832886784 475032190976
require_room_for_initramfs /boot

# name 2 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 26 (arrays)
step 1/38 'name 2 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf ledger top 0644 <<'END'
MAILADDR root@example.org
ARRAY /dev/md/root metadata=1.2 UUID=2204bf37:b2e85644:9c5ccf2d:b7d8bc8e
ARRAY /dev/md/swap metadata=1.2 UUID=5bdc4778:cb245feb:9bf1f0e2:c4d6b572
END

# let udev, at every boot, start 2 arrays that may be degraded, by /etc/udev/rules.d/65-raidplan-ledger.rules
# layout line 26 (arrays)
step 2/38 'let udev, at every boot, start 2 arrays that may be degraded, by /etc/udev/rules.d/65-raidplan-ledger.rules'
write_file /etc/udev/rules.d/65-raidplan-ledger.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="2204bf37-b2e8-5644-9c5c-cf2db7d8bc8e", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="5bdc4778-cb24-5feb-9bf1-f0e2c4d6b572", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
END

# let udev read its rules again
# layout line 26 (arrays)
step 3/38 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 26 (arrays)
step 4/38 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid1
# layout line 26 (arrays)
step 5/38 'load the kernel module raid1'
modprobe raid1

# partition le0: le0.esp of 512 MiB, le0.swap of 4 GiB, le0.root of 442.4 GiB
# layout line 15 (hardware.disks.le0); destroys everything on the disk le0
step 6/38 'partition le0: le0.esp of 512 MiB, le0.swap of 4 GiB, le0.root of 442.4 GiB'
require_blank "$disk_le0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_le0" <<'END'
label: gpt
label-id: 44273424-DBA1-50DA-A911-B9780AB84696
unit: sectors
sector-size: 512
start=2048, size=1048576, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, uuid=40696C87-2C28-574E-BEEF-7D7FB7352EE3, name="esp"
start=1050624, size=8388608, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=091B4CD8-6515-565E-BFB4-950B63D18DD2, name="swap"
start=9439232, size=927797248, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=6F67185E-6E6E-50AF-BCFD-901959990514, name="root"
END
await_node /dev/disk/by-partuuid/40696c87-2c28-574e-beef-7d7fb7352ee3 "$disk_le0"
await_node /dev/disk/by-partuuid/091b4cd8-6515-565e-bfb4-950b63d18dd2 "$disk_le0"
await_node /dev/disk/by-partuuid/6f67185e-6e6e-50af-bcfd-901959990514 "$disk_le0"

# partition le1: le1.esp of 512 MiB, le1.swap of 4 GiB, le1.root of 442.4 GiB
# layout line 15 (hardware.disks.le1); destroys everything on the disk le1
step 7/38 'partition le1: le1.esp of 512 MiB, le1.swap of 4 GiB, le1.root of 442.4 GiB'
require_blank "$disk_le1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_le1" <<'END'
label: gpt
label-id: 8B5CE987-B53A-5CFC-9F28-2395B25986AC
unit: sectors
sector-size: 512
start=2048, size=1048576, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, uuid=C1B34306-18B1-527A-9B43-D15D59FE7103, name="esp"
start=1050624, size=8388608, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=55BD3BD7-D5DE-57AB-99B6-E1C9D1BDD87D, name="swap"
start=9439232, size=927797248, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=5FD9527D-1F73-5BBB-B8E9-5CE599C47CE6, name="root"
END
await_node /dev/disk/by-partuuid/c1b34306-18b1-527a-9b43-d15d59fe7103 "$disk_le1"
await_node /dev/disk/by-partuuid/55bd3bd7-d5de-57ab-99b6-e1c9d1bdd87d "$disk_le1"
await_node /dev/disk/by-partuuid/5fd9527d-1f73-5bbb-b8e9-5ce599c47ce6 "$disk_le1"

# create raid1 root of 2 members (le0.root, le1.root), 442.3 GiB usable
# layout line 27 (arrays.root); destroys everything on le0.root, everything on le1.root
step 8/38 'create raid1 root of 2 members (le0.root, le1.root), 442.3 GiB usable'
require_blank /dev/disk/by-partuuid/6f67185e-6e6e-50af-bcfd-901959990514
require_blank /dev/disk/by-partuuid/5fd9527d-1f73-5bbb-b8e9-5ce599c47ce6
mdadm --create /dev/md/root --run --quiet --readonly --metadata=1.2 --homehost=ledger --name=root \
	--uuid=2204bf37:b2e85644:9c5ccf2d:b7d8bc8e --level=raid1 --raid-devices=2 --bitmap=internal \
	--consistency-policy=bitmap /dev/disk/by-partuuid/6f67185e-6e6e-50af-bcfd-901959990514 \
	/dev/disk/by-partuuid/5fd9527d-1f73-5bbb-b8e9-5ce599c47ce6
await_node /dev/md/root

# pause the initial sync of root, so that it does not slow down what follows
# layout line 27 (arrays.root)
step 9/38 'pause the initial sync of root, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/root}/md/sync_action' frozen

# open root for writing
# layout line 27 (arrays.root)
step 10/38 'open root for writing'
set_attribute '/sys/block/{/dev/md/root}/md/array_state' active

# create raid1 swap of 2 members (le0.swap, le1.swap), 4.0 GiB usable
# layout line 28 (arrays.swap); destroys everything on le0.swap, everything on le1.swap
step 11/38 'create raid1 swap of 2 members (le0.swap, le1.swap), 4.0 GiB usable'
require_blank /dev/disk/by-partuuid/091b4cd8-6515-565e-bfb4-950b63d18dd2
require_blank /dev/disk/by-partuuid/55bd3bd7-d5de-57ab-99b6-e1c9d1bdd87d
mdadm --create /dev/md/swap --run --quiet --readonly --metadata=1.2 --homehost=ledger --name=swap \
	--uuid=5bdc4778:cb245feb:9bf1f0e2:c4d6b572 --level=raid1 --raid-devices=2 --bitmap=internal \
	--consistency-policy=bitmap /dev/disk/by-partuuid/091b4cd8-6515-565e-bfb4-950b63d18dd2 \
	/dev/disk/by-partuuid/55bd3bd7-d5de-57ab-99b6-e1c9d1bdd87d
await_node /dev/md/swap

# pause the initial sync of swap, so that it does not slow down what follows
# layout line 28 (arrays.swap)
step 12/38 'pause the initial sync of swap, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/swap}/md/sync_action' frozen

# open swap for writing
# layout line 28 (arrays.swap)
step 13/38 'open swap for writing'
set_attribute '/sys/block/{/dev/md/swap}/md/array_state' active

# format le0.esp as vfat efi, 512 MiB
# layout line 31 (filesystems.efi); destroys everything on le0.esp
step 14/38 'format le0.esp as vfat efi, 512 MiB'
require_blank /dev/disk/by-partuuid/40696c87-2c28-574e-beef-7d7fb7352ee3
mkfs.vfat -F 32 -i 5E56319F /dev/disk/by-partuuid/40696c87-2c28-574e-beef-7d7fb7352ee3
await_node /dev/disk/by-uuid/5E56-319F /dev/disk/by-partuuid/40696c87-2c28-574e-beef-7d7fb7352ee3

# format le1.esp as vfat efi2, 512 MiB
# layout line 32 (filesystems.efi2); destroys everything on le1.esp
step 15/38 'format le1.esp as vfat efi2, 512 MiB'
require_blank /dev/disk/by-partuuid/c1b34306-18b1-527a-9b43-d15d59fe7103
mkfs.vfat -F 32 -i A488CBE4 /dev/disk/by-partuuid/c1b34306-18b1-527a-9b43-d15d59fe7103
await_node /dev/disk/by-uuid/A488-CBE4 /dev/disk/by-partuuid/c1b34306-18b1-527a-9b43-d15d59fe7103

# format root as ext4 root, 442.3 GiB, 28,985,408 inodes
# layout line 33 (filesystems.root); destroys everything on root
step 16/38 'format root as ext4 root, 442.3 GiB, 28,985,408 inodes'
require_blank /dev/md/root
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 4096 -I 256 -N 28985408 -m 5 -G 16 -E \
	stride=0,stripe_width=0,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	07083338-5834-5d17-b8bb-222f8a2881d0 /dev/md/root 115941632
await_node /dev/disk/by-uuid/07083338-5834-5d17-b8bb-222f8a2881d0 /dev/md/root

# format swap as the swap area swap, 4.0 GiB
# layout line 36 (swap.swap); destroys everything on swap
step 17/38 'format swap as the swap area swap, 4.0 GiB'
require_blank /dev/md/swap
mkswap --quiet --uuid abd3b532-9094-5f0b-bf7f-91d19d042b9b /dev/md/swap
await_node /dev/disk/by-uuid/abd3b532-9094-5f0b-bf7f-91d19d042b9b /dev/md/swap

# update the initramfs, so that arrays keep their names at boot
# layout line 26 (arrays)
step 18/38 'update the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot '2204bf37:b2e85644:9c5ccf2d:b7d8bc8e 5bdc4778:cb245feb:9bf1f0e2:c4d6b572' \
	/etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 38 (monitoring.mail)
step 19/38 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month to find latent errors (all arrays of this machine, also those that no layout names)
# layout line 38 (monitoring.scrub)
step 20/38 'read all members once a month to find latent errors (all arrays of this machine, also those that no layout names)'
systemctl enable --now mdcheck_start.timer

# switch off checkarray, which cron runs on the same first Sunday (all arrays of this machine, also those that no layout names)
# layout line 38 (monitoring.scrub)
step 21/38 'switch off checkarray, which cron runs on the same first Sunday (all arrays of this machine, also those that no layout names)'
write_block /etc/default/mdadm ledger bottom 0644 <<'END'
AUTOCHECK=false
END

# write 4 lines to /etc/fstab
# layout line 30 (filesystems)
step 22/38 'write 4 lines to /etc/fstab'
write_block /etc/fstab ledger bottom 0644 <<'END'
UUID=5E56-319F /boot/efi vfat umask=0077,nofail,x-systemd.device-timeout=120s 0 2
UUID=A488-CBE4 /boot/efi2 vfat umask=0077,nofail,x-systemd.device-timeout=120s 0 2
UUID=07083338-5834-5d17-b8bb-222f8a2881d0 / ext4 defaults 0 1
UUID=abd3b532-9094-5f0b-bf7f-91d19d042b9b none swap sw,nofail 0 0
END

# let systemd read fstab again
# layout line 30 (filesystems)
step 23/38 'let systemd read fstab again'
systemctl daemon-reload

# mount root at /
# layout line 33 (filesystems.root)
step 24/38 'mount root at /'
systemctl start /

# create directory /boot/efi
# layout line 31 (filesystems.efi)
step 25/38 'create directory /boot/efi'
mkdir --parents /boot/efi

# mount efi at /boot/efi
# layout line 31 (filesystems.efi)
step 26/38 'mount efi at /boot/efi'
systemctl start /boot/efi

# create directory /boot/efi2
# layout line 32 (filesystems.efi2)
step 27/38 'create directory /boot/efi2'
mkdir --parents /boot/efi2

# mount efi2 at /boot/efi2
# layout line 32 (filesystems.efi2)
step 28/38 'mount efi2 at /boot/efi2'
systemctl start /boot/efi2

# enable the swap area swap
# layout line 36 (swap.swap)
step 29/38 'enable the swap area swap'
swapon /dev/md/swap

# install GRUB on le0.esp at /boot/efi, and as EFI/BOOT/BOOTX64.EFI there
# layout line 24 (boot)
step 30/38 'install GRUB on le0.esp at /boot/efi, and as EFI/BOOT/BOOTX64.EFI there'
grub-install --target=x86_64-efi --efi-directory=/boot/efi --no-nvram --force-extra-removable

# install GRUB on le1.esp at /boot/efi2, and as EFI/BOOT/BOOTX64.EFI there
# layout line 24 (boot)
step 31/38 'install GRUB on le1.esp at /boot/efi2, and as EFI/BOOT/BOOTX64.EFI there'
grub-install --target=x86_64-efi --efi-directory=/boot/efi2 --no-nvram --force-extra-removable

# make GRUB's menu of the kernels in /boot, /boot/grub/grub.cfg
# layout line 24 (boot)
step 32/38 'make GRUB'"'"'s menu of the kernels in /boot, /boot/grub/grub.cfg'
update-grub

# enter le1.esp into the firmware's boot order, as 'ledger le1'
# layout line 24 (boot)
step 33/38 'enter le1.esp into the firmware'"'"'s boot order, as '"'"'ledger le1'"'"''
efibootmgr --quiet --create --disk "$disk_le1" --part 1 --label 'ledger le1' --loader \
	'\EFI\BOOT\BOOTX64.EFI'

# enter le0.esp into the firmware's boot order, as 'ledger le0'
# layout line 24 (boot)
step 34/38 'enter le0.esp into the firmware'"'"'s boot order, as '"'"'ledger le0'"'"''
efibootmgr --quiet --create --disk "$disk_le0" --part 1 --label 'ledger le0' --loader \
	'\EFI\BOOT\BOOTX64.EFI'

# write /usr/local/sbin/raidplan-boot-loaders, which gives le0.esp and le1.esp the boot loader of the installed packages
# layout line 24 (boot)
step 35/38 'write /usr/local/sbin/raidplan-boot-loaders, which gives le0.esp and le1.esp the boot loader of the installed packages'
write_file /usr/local/sbin/raidplan-boot-loaders 0755 <<'END'
#!/bin/sh
# Written by raidplan for the host ledger: each of its disks has the boot loader of the installed packages.
# dpkg runs it after every update. By hand: raidplan-boot-loaders, or raidplan-boot-loaders --always.
# shellcheck disable=SC2317  # a machine uses boot_sector or esp, and mounted only for a /boot of its own
set -u
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
core=/boot/grub/i386-pc/core.img
made=/boot/grub/x86_64-efi/core.efi
signed=/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed
shim=/usr/lib/shim/shimx64.efi.signed
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
    elif [ -n "$always" ] || ! cmp -s -i 1024 -n "$(($(stat -c %s "$core") - 1024))" "$core" "$part"; then
        disk=/dev/$(lsblk -ndo PKNAME "$part") && install "$disk" grub-install --target=i386-pc "$disk"
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
    if [ -n "$always" ] || ! cmp -s "$first" "$2/EFI/BOOT/BOOTX64.EFI" ||
        { [ "$first" = "$shim" ] && ! cmp -s "$signed" "$2/EFI/BOOT/grubx64.efi"; }; then
        install "$2" grub-install --target=x86_64-efi --efi-directory="$2" --no-nvram --force-extra-removable
    fi
}

now=$(packages)
# Between unpacking and configuring dpkg is not done yet, and comes back.
if ! [ -d /usr/lib/grub/x86_64-efi ] || echo "$now" | grep -qv '^.i '; then
    exit 0
fi

always=${1:-}
[ "$now" = "$(cat "$done_for" 2>/dev/null)" ] || always=yes
words=$(mktemp) || exit 1
trap 'rm -f "$words"' EXIT
esp 40696c87-2c28-574e-beef-7d7fb7352ee3 /boot/efi
esp c1b34306-18b1-527a-9b43-d15d59fe7103 /boot/efi2
if [ "$failed$waits" = 00 ]; then
    mkdir -p "${done_for%/*}" && echo "$now" >"$done_for.new" && mv "$done_for.new" "$done_for" || failed=1
fi
[ "$absent" = 0 ] || [ -z "$always" ] || say "not every disk is there: run it again when it is"
[ "$failed$waits" != 01 ] || failed=$unchanged
exit "$failed"
END

# let dpkg run it after every update, by /etc/dpkg/dpkg.cfg.d/raidplan
# layout line 24 (boot)
step 36/38 'let dpkg run it after every update, by /etc/dpkg/dpkg.cfg.d/raidplan'
write_file /etc/dpkg/dpkg.cfg.d/raidplan 0644 <<'END'
# Written by raidplan
post-invoke=if [ -x /usr/local/sbin/raidplan-boot-loaders ]; then /usr/local/sbin/raidplan-boot-loaders; fi
END

# start the initial sync of root
# layout line 27 (arrays.root)
step 37/38 'start the initial sync of root'
set_attribute '/sys/block/{/dev/md/root}/md/sync_action' idle

# start the initial sync of swap
# layout line 28 (arrays.swap)
step 38/38 'start the initial sync of swap'
set_attribute '/sys/block/{/dev/md/swap}/md/sync_action' idle

complete=yes
echo 'done'
}
