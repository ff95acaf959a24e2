#!/bin/sh
# What a careful administrator would type for the layout of bench/apply.py, as much as possible side by side: no proofs,
# no journal, no check of what is on the disks. Run as root on a machine whose 40 blank disks have the serials BENCH-00 … BENCH-39.
set -eu

disks=$(lsblk --nodeps --noheadings --raw --output SERIAL,NAME | sort | sed -n 's/^BENCH-.. //p')

# Each of the arguments as a command line of its own, all at once; fails if one fails.
together() {
    running=""
    for line; do
        sh -ec "$line" &
        running="$running $!"
    done
    for one in $running; do wait "$one"; done
}

set --
for disk in $disks; do
    set -- "$@" "echo 'start=1MiB, type=R' | sfdisk --quiet --label gpt /dev/$disk"
done
together "$@"
udevadm settle

set --
number=0
members=""
for disk in $disks; do
    members="$members /dev/${disk}1"
    number=$((number + 1))
    if [ $((number % 8)) = 0 ]; then
        name=s$((number / 8 - 1))
        set -- "$@" "mdadm --create /dev/md/$name --run --quiet --level=6 --chunk=512 --bitmap=internal --metadata=1.2 --homehost=bench --raid-devices=8 $members
            until [ -e /dev/md/$name ]; do sleep 0.1; done # mdadm waits for udev, but not for ever
            echo frozen > /sys/block/\$(basename \$(readlink -f /dev/md/$name))/md/sync_action
            mkfs.ext4 -q -i 1048576 -m 1 -L $name /dev/md/$name"
        members=""
    fi
done
together "$@"
date +%s.%N >/root/formatted # for those who compare with a tool that ends here

mdadm --detail --scan >> /etc/mdadm/mdadm.conf
for name in s0 s1 s2 s3 s4; do
    mkdir --parents /data/$name
    echo "UUID=$(blkid --match-tag UUID --output value /dev/md/$name) /data/$name ext4 defaults,nofail 0 2" >> /etc/fstab
done
update-initramfs -u -k all
systemctl daemon-reload
together "mount /data/s0" "mount /data/s1" "mount /data/s2" "mount /data/s3" "mount /data/s4"
for name in s0 s1 s2 s3 s4; do
    echo idle > "/sys/block/$(basename "$(readlink -f /dev/md/$name)")/md/sync_action"
done
