#!/bin/sh
# Runs as root in the machine: installs raidplan from /raidplan, checks the layout, applies it.
#   LAYOUT    the layout's path here        CONFIRM   its host
#   DISKS     what disks.py printed         UNSHOWN   what this provider cannot show of its disks
set -eu

say() { printf -- '--- %s\n' "$*"; }

packages="mdadm gdisk fdisk e2fsprogs xfsprogs btrfs-progs f2fs-tools dosfstools lvm2 python3"
missing=""
for package in $packages; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
  say "apt-get install$missing"
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
fi

python=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
say "installing raidplan for Python $python"
if [ ! -e "/raidplan/raidplan-$python.tar" ]; then
  say "there is none for Python $python: set RAIDPLAN_GUEST_PYTHON=$python on the host" >&2
  exit 1
fi
rm -rf /opt/raidplan
mkdir -p /opt/raidplan
tar -x -C /opt/raidplan -f "/raidplan/raidplan-$python.tar"
install -m 755 /raidplan/raidplan /usr/local/bin/raidplan

lsblk --nodeps --output NAME,HCTL,SIZE,LOG-SEC,PHY-SEC,ROTA,SERIAL,WWN,MODEL

set --
if [ -n "$UNSHOWN" ]; then
  say "not shown by this provider, so disks are found by serial number alone: $UNSHOWN"
  printf '%s' "$DISKS" >/root/disks.json
  python3 /raidplan/devices.py /root/disks.json >/root/devices.json
  set -- --devices /root/devices.json
fi

say "raidplan check $LAYOUT"
raidplan check "$LAYOUT"
say "raidplan apply $LAYOUT --confirm $CONFIRM $*"
raidplan apply "$LAYOUT" --confirm "$CONFIRM" "$@"
say "raidplan apply once more: there must be nothing to do"
raidplan apply "$LAYOUT" --confirm "$CONFIRM" "$@"
