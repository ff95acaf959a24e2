#!/bin/sh
# The plan for the host shop, made by raidplan. Run it there as root: sh FILE
# It writes only to the disks that it finds by what the layout says of them, and only if they are blank.
# layout sha256:ed2ea065c17269b22c4a01f9e9fa8910e6c2b6cbfd458949b523d8bb009d7cfe

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
require_tools awk blkid cpio debconf-set-selections df find grep grub-install lsblk mdadm mkdir mke2fs \
	mkinitramfs mkswap mktemp modprobe readlink run-parts sed sfdisk sort swapon systemctl udevadm \
	unmkinitramfs update-grub update-initramfs wipefs
disks=$(list_disks)
disk_sh0=$(find_disk sh0 480000000000 512 SHOP-2B700 '' '' '')
disk_sh1=$(find_disk sh1 480000000000 512 SHOP-2B701 '' '' '')
require_distinct "$disk_sh0" "$disk_sh1"
require_all_blank "$disk_sh0" "$disk_sh1"
require_blank_range "$disk_sh0" 1048576 1048576
require_blank_range "$disk_sh0" 2097152 4294967296
require_blank_range "$disk_sh0" 4297064448 64424509440
require_blank_range "$disk_sh0" 68721573888 411143503872
require_blank_range "$disk_sh1" 1048576 1048576
require_blank_range "$disk_sh1" 2097152 4294967296
require_blank_range "$disk_sh1" 4297064448 64424509440
require_blank_range "$disk_sh1" 68721573888 411143503872
require_room_for_initramfs /boot

# name 3 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org
# layout line 26 (arrays)
step 1/39 'name 3 arrays in /etc/mdadm/mdadm.conf, alarms to root@example.org'
begun=yes
write_block /etc/mdadm/mdadm.conf shop top 0644 <<'END'
MAILADDR root@example.org
ARRAY /dev/md/root metadata=1.2 UUID=7643ef60:861c509b:aacc67b5:6cb6f8a2
ARRAY /dev/md/swap metadata=1.2 UUID=9b2f1d49:a4f65ad3:ac639524:0588067b
ARRAY /dev/md/data metadata=1.2 UUID=85c15cb5:0f1a5430:9577bfbf:c900816d
END

# let udev start 3 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-shop.rules
# layout line 26 (arrays)
step 2/39 'let udev start 3 arrays that may lack a member at every boot, by /etc/udev/rules.d/65-raidplan-shop.rules'
write_file /etc/udev/rules.d/65-raidplan-shop.rules 0644 <<'END'
# Written by raidplan: tunes arrays whenever they appear, and starts those that lack a member.
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="7643ef60-861c-509b-aacc-67b56cb6f8a2", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="9b2f1d49-a4f6-5ad3-ac63-95240588067b", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
SUBSYSTEM=="block", ACTION=="add|change", ENV{ID_FS_TYPE}=="linux_raid_member", ENV{ID_FS_UUID}=="85c15cb5-0f1a-5430-9577-bfbfc900816d", TEST=="holders/*/md/array_state", TEST!="holders/*/md/sync_action", PROGRAM=="/bin/ls %S%p/holders", ENV{SYSTEMD_WANTS}+="mdadm-last-resort@%c.timer"
END

# let udev read its rules again
# layout line 26 (arrays)
step 3/39 'let udev read its rules again'
udevadm control --reload

# load the kernel module md_mod
# layout line 26 (arrays)
step 4/39 'load the kernel module md_mod'
modprobe md_mod

# load the kernel module raid1
# layout line 26 (arrays)
step 5/39 'load the kernel module raid1'
modprobe raid1

# partition sh0: sh0.bios of 1 MiB, sh0.swap of 4 GiB, sh0.root of 60 GiB, sh0.data of 382.9 GiB
# layout line 15 (hardware.disks.sh0); destroys everything on the disk sh0
step 6/39 'partition sh0: sh0.bios of 1 MiB, sh0.swap of 4 GiB, sh0.root of 60 GiB, sh0.data of 382.9 GiB'
require_blank "$disk_sh0"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_sh0" <<'END'
label: gpt
label-id: 93DABBB9-4DEC-5896-8460-017249284528
unit: sectors
sector-size: 512
start=2048, size=2048, type=21686148-6449-6E6F-744E-656564454649, uuid=51F4B34F-FB6D-502F-8BFB-FB2DE52DCAB9, name="bios"
start=4096, size=8388608, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=63995946-A582-54CC-B0BA-1FA5A04AE1B8, name="swap"
start=8392704, size=125829120, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=A58A28DC-2218-55B9-84CC-23C61240EC75, name="root"
start=134221824, size=803014656, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=4B91FCFF-CE05-53DE-97D0-4435BFF16DA1, name="data"
END
await_node /dev/disk/by-partuuid/51f4b34f-fb6d-502f-8bfb-fb2de52dcab9
await_node /dev/disk/by-partuuid/63995946-a582-54cc-b0ba-1fa5a04ae1b8
await_node /dev/disk/by-partuuid/a58a28dc-2218-55b9-84cc-23c61240ec75
await_node /dev/disk/by-partuuid/4b91fcff-ce05-53de-97d0-4435bff16da1

# partition sh1: sh1.bios of 1 MiB, sh1.swap of 4 GiB, sh1.root of 60 GiB, sh1.data of 382.9 GiB
# layout line 15 (hardware.disks.sh1); destroys everything on the disk sh1
step 7/39 'partition sh1: sh1.bios of 1 MiB, sh1.swap of 4 GiB, sh1.root of 60 GiB, sh1.data of 382.9 GiB'
require_blank "$disk_sh1"
sfdisk --quiet --lock=yes --wipe=never --wipe-partitions=never "$disk_sh1" <<'END'
label: gpt
label-id: 0B16AF09-4E6A-5525-8E7F-0297CF725EC9
unit: sectors
sector-size: 512
start=2048, size=2048, type=21686148-6449-6E6F-744E-656564454649, uuid=A4E84590-C12A-5BD8-8866-C2423514A252, name="bios"
start=4096, size=8388608, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=4C7A5375-164D-517D-846C-BAFCEDF9C329, name="swap"
start=8392704, size=125829120, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=9B00CACB-6B3E-5B51-9A46-87349447A7CD, name="root"
start=134221824, size=803014656, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=155F18C2-F8E9-5DD4-A6FD-0E153E3ADF5E, name="data"
END
await_node /dev/disk/by-partuuid/a4e84590-c12a-5bd8-8866-c2423514a252
await_node /dev/disk/by-partuuid/4c7a5375-164d-517d-846c-bafcedf9c329
await_node /dev/disk/by-partuuid/9b00cacb-6b3e-5b51-9a46-87349447a7cd
await_node /dev/disk/by-partuuid/155f18c2-f8e9-5dd4-a6fd-0e153e3adf5e

# create raid1 root of 2 members (sh0.root, sh1.root), 60.0 GiB usable
# layout line 27 (arrays.root); destroys everything on sh0.root, everything on sh1.root
step 8/39 'create raid1 root of 2 members (sh0.root, sh1.root), 60.0 GiB usable'
require_blank /dev/disk/by-partuuid/a58a28dc-2218-55b9-84cc-23c61240ec75
require_blank /dev/disk/by-partuuid/9b00cacb-6b3e-5b51-9a46-87349447a7cd
mdadm --create /dev/md/root --run --quiet --readonly --metadata=1.2 --homehost=shop --name=root \
	--uuid=7643ef60:861c509b:aacc67b5:6cb6f8a2 --level=raid1 --raid-devices=2 --bitmap=internal \
	--consistency-policy=bitmap /dev/disk/by-partuuid/a58a28dc-2218-55b9-84cc-23c61240ec75 \
	/dev/disk/by-partuuid/9b00cacb-6b3e-5b51-9a46-87349447a7cd
await_node /dev/md/root

# pause the initial sync of root, so that it does not slow down what follows
# layout line 27 (arrays.root)
step 9/39 'pause the initial sync of root, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/root}/md/sync_action' frozen

# open root for writing
# layout line 27 (arrays.root)
step 10/39 'open root for writing'
set_attribute '/sys/block/{/dev/md/root}/md/array_state' active

# create raid1 swap of 2 members (sh0.swap, sh1.swap), 4.0 GiB usable
# layout line 28 (arrays.swap); destroys everything on sh0.swap, everything on sh1.swap
step 11/39 'create raid1 swap of 2 members (sh0.swap, sh1.swap), 4.0 GiB usable'
require_blank /dev/disk/by-partuuid/63995946-a582-54cc-b0ba-1fa5a04ae1b8
require_blank /dev/disk/by-partuuid/4c7a5375-164d-517d-846c-bafcedf9c329
mdadm --create /dev/md/swap --run --quiet --readonly --metadata=1.2 --homehost=shop --name=swap \
	--uuid=9b2f1d49:a4f65ad3:ac639524:0588067b --level=raid1 --raid-devices=2 --bitmap=internal \
	--consistency-policy=bitmap /dev/disk/by-partuuid/63995946-a582-54cc-b0ba-1fa5a04ae1b8 \
	/dev/disk/by-partuuid/4c7a5375-164d-517d-846c-bafcedf9c329
await_node /dev/md/swap

# pause the initial sync of swap, so that it does not slow down what follows
# layout line 28 (arrays.swap)
step 12/39 'pause the initial sync of swap, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/swap}/md/sync_action' frozen

# open swap for writing
# layout line 28 (arrays.swap)
step 13/39 'open swap for writing'
set_attribute '/sys/block/{/dev/md/swap}/md/array_state' active

# create raid1 data of 2 members (sh0.data, sh1.data), 382.8 GiB usable
# layout line 29 (arrays.data); destroys everything on sh0.data, everything on sh1.data
step 14/39 'create raid1 data of 2 members (sh0.data, sh1.data), 382.8 GiB usable'
require_blank /dev/disk/by-partuuid/4b91fcff-ce05-53de-97d0-4435bff16da1
require_blank /dev/disk/by-partuuid/155f18c2-f8e9-5dd4-a6fd-0e153e3adf5e
mdadm --create /dev/md/data --run --quiet --readonly --metadata=1.2 --homehost=shop --name=data \
	--uuid=85c15cb5:0f1a5430:9577bfbf:c900816d --level=raid1 --raid-devices=2 --bitmap=internal \
	--consistency-policy=bitmap /dev/disk/by-partuuid/4b91fcff-ce05-53de-97d0-4435bff16da1 \
	/dev/disk/by-partuuid/155f18c2-f8e9-5dd4-a6fd-0e153e3adf5e
await_node /dev/md/data

# pause the initial sync of data, so that it does not slow down what follows
# layout line 29 (arrays.data)
step 15/39 'pause the initial sync of data, so that it does not slow down what follows'
set_attribute '/sys/block/{/dev/md/data}/md/sync_action' frozen

# open data for writing
# layout line 29 (arrays.data)
step 16/39 'open data for writing'
set_attribute '/sys/block/{/dev/md/data}/md/array_state' active

# format root as ext4 root, 60.0 GiB, 3,932,160 inodes
# layout line 32 (filesystems.root); destroys everything on root
step 17/39 'format root as ext4 root, 60.0 GiB, 3,932,160 inodes'
require_blank /dev/md/root
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 4096 -I 256 -N 3930048 -m 5 -G 16 -E \
	stride=0,stripe_width=0,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	9cb4a94d-23bf-5040-b784-fa5026cc3991 /dev/md/root 15720192
await_node /dev/disk/by-uuid/9cb4a94d-23bf-5040-b784-fa5026cc3991 /dev/md/root

# format swap as swap swap, 4.0 GiB
# layout line 36 (swap.swap); destroys everything on swap
step 18/39 'format swap as swap swap, 4.0 GiB'
require_blank /dev/md/swap
mkswap --quiet --uuid 81e2cdd6-3ee1-5ac5-921c-e8aec3abdfae /dev/md/swap
await_node /dev/disk/by-uuid/81e2cdd6-3ee1-5ac5-921c-e8aec3abdfae /dev/md/swap

# format data as ext4 data, 382.8 GiB, 25,092,096 inodes
# layout line 33 (filesystems.data); destroys everything on data
step 19/39 'format data as ext4 data, 382.8 GiB, 25,092,096 inodes'
require_blank /dev/md/data
mke2fs -q -t ext4 -O \
	none,sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize \
	-b 4096 -I 256 -N 25085952 -m 1 -G 16 -E \
	stride=0,stripe_width=0,nodiscard,lazy_itable_init=1,lazy_journal_init=1 -U \
	7ee79a78-49ab-508b-89f9-484b43081f02 /dev/md/data 100343808
await_node /dev/disk/by-uuid/7ee79a78-49ab-508b-89f9-484b43081f02 /dev/md/data

# update the initramfs, so that arrays keep their names at boot
# layout line 26 (arrays)
step 20/39 'update the initramfs, so that arrays keep their names at boot'
renew_initramfs /boot \
	'7643ef60:861c509b:aacc67b5:6cb6f8a2 9b2f1d49:a4f65ad3:ac639524:0588067b 85c15cb5:0f1a5430:9577bfbf:c900816d' \
	/etc/initramfs/post-update.d

# let the monitor read its configuration again, so that it writes to root@example.org
# layout line 38 (monitoring.mail)
step 21/39 'let the monitor read its configuration again, so that it writes to root@example.org'
systemctl restart mdmonitor.service

# read all members once a month for latent errors: of all arrays of this machine, also those that no layout names
# layout line 38 (monitoring.scrub)
step 22/39 'read all members once a month for latent errors: of all arrays of this machine, also those that no layout names'
systemctl enable --now mdcheck_start.timer

# switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names
# layout line 38 (monitoring.scrub)
step 23/39 'switch off the check of cron (checkarray), on the same first Sunday: of all arrays of this machine, also those that no layout names'
write_block /etc/default/mdadm shop bottom 0644 <<'END'
AUTOCHECK=false
END

# add 3 lines to /etc/fstab
# layout line 31 (filesystems)
step 24/39 'add 3 lines to /etc/fstab'
write_block /etc/fstab shop bottom 0644 <<'END'
UUID=9cb4a94d-23bf-5040-b784-fa5026cc3991 / ext4 defaults 0 1
UUID=81e2cdd6-3ee1-5ac5-921c-e8aec3abdfae none swap sw,nofail 0 0
UUID=7ee79a78-49ab-508b-89f9-484b43081f02 /srv ext4 defaults,nofail,x-systemd.device-timeout=120s 0 2
END

# let systemd read fstab again
# layout line 31 (filesystems)
step 25/39 'let systemd read fstab again'
systemctl daemon-reload

# install GRUB on sh0: the boot sector, and its core image in sh0.bios
# layout line 24 (boot)
step 26/39 'install GRUB on sh0: the boot sector, and its core image in sh0.bios'
grub-install --target=i386-pc "$disk_sh0"

# install GRUB on sh1: the boot sector, and its core image in sh1.bios
# layout line 24 (boot)
step 27/39 'install GRUB on sh1: the boot sector, and its core image in sh1.bios'
grub-install --target=i386-pc "$disk_sh1"

# make GRUB's menu of the kernels in /boot, /boot/grub/grub.cfg
# layout line 24 (boot)
step 28/39 'make GRUB'"'"'s menu of the kernels in /boot, /boot/grub/grub.cfg'
update-grub

# let updates of grub-pc choose no disk by themselves (grub-pc/install_devices_empty): /usr/local/sbin/raidplan-boot-loaders has all of them
# layout line 24 (boot)
step 29/39 'let updates of grub-pc choose no disk by themselves (grub-pc/install_devices_empty): /usr/local/sbin/raidplan-boot-loaders has all of them'
debconf-set-selections <<'END'
grub-pc grub-pc/install_devices_empty boolean true
END

# write /usr/local/sbin/raidplan-boot-loaders, which gives sh0.bios and sh1.bios the boot loader of the installed packages
# layout line 24 (boot)
step 30/39 'write /usr/local/sbin/raidplan-boot-loaders, which gives sh0.bios and sh1.bios the boot loader of the installed packages'
write_file /usr/local/sbin/raidplan-boot-loaders 0755 <<'END'
#!/bin/sh
# Written by raidplan for the host shop: each of its disks has the boot loader of the installed packages.
# dpkg runs it after every update. By hand: raidplan-boot-loaders, or raidplan-boot-loaders --always.
# shellcheck disable=SC2317  # a machine uses boot_sector or esp
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

# Lines "state package version" of the packages that a boot loader is made of.
packages() {
    dpkg-query --show --showformat='${db:Status-Abbrev} ${Package} ${Version}\n' 'grub*' 'shim*' 2>/dev/null |
        grep -v '^.[nc] ' | sort
}

say() {
    echo "raidplan-boot-loaders: $*" >&2
}

# install WHERE COMMAND...
install() {
    where=$1
    shift
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
if ! [ -d /usr/lib/grub/i386-pc ] || echo "$now" | grep -qv '^.i '; then
    exit 0
fi
always=${1:-}
[ "$now" = "$(cat "$done_for" 2>/dev/null)" ] || always=yes
words=$(mktemp) || exit 1
trap 'rm -f "$words"' EXIT
boot_sector 51f4b34f-fb6d-502f-8bfb-fb2de52dcab9
boot_sector a4e84590-c12a-5bd8-8866-c2423514a252
if [ "$failed" = 0 ]; then
    mkdir -p "${done_for%/*}" && echo "$now" >"$done_for.new" && mv "$done_for.new" "$done_for" || failed=1
fi
[ "$absent" = 0 ] || [ -z "$always" ] || say "not every disk is there: run it again when it is"
exit "$failed"
END

# let dpkg run it after every update, by /etc/dpkg/dpkg.cfg.d/raidplan
# layout line 24 (boot)
step 31/39 'let dpkg run it after every update, by /etc/dpkg/dpkg.cfg.d/raidplan'
write_file /etc/dpkg/dpkg.cfg.d/raidplan 0644 <<'END'
# Written by raidplan
post-invoke=if [ -x /usr/local/sbin/raidplan-boot-loaders ]; then /usr/local/sbin/raidplan-boot-loaders; fi
END

# create directory /
# layout line 32 (filesystems.root)
step 32/39 'create directory /'
mkdir --parents /

# mount root at /
# layout line 32 (filesystems.root)
step 33/39 'mount root at /'
systemctl start /

# enable swap swap
# layout line 36 (swap.swap)
step 34/39 'enable swap swap'
swapon /dev/md/swap

# create directory /srv
# layout line 33 (filesystems.data)
step 35/39 'create directory /srv'
mkdir --parents /srv

# mount data at /srv
# layout line 33 (filesystems.data)
step 36/39 'mount data at /srv'
systemctl start /srv

# start the initial sync of root
# layout line 27 (arrays.root)
step 37/39 'start the initial sync of root'
set_attribute '/sys/block/{/dev/md/root}/md/sync_action' idle

# start the initial sync of swap
# layout line 28 (arrays.swap)
step 38/39 'start the initial sync of swap'
set_attribute '/sys/block/{/dev/md/swap}/md/sync_action' idle

# start the initial sync of data
# layout line 29 (arrays.data)
step 39/39 'start the initial sync of data'
set_attribute '/sys/block/{/dev/md/data}/md/sync_action' idle

complete=yes
echo 'done'
}
