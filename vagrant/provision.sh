#!/bin/sh
# Runs as root in the machine: installs raidplan from /raidplan, checks the layout, applies it.
#   PROVIDER  libvirt or virtualbox. All else comes as a file, so that no shell reads a word of the layout:
#   /raidplan/machine.json, what disks.py printed and the layout's path here
set -eu

say() { printf -- '--- %s\n' "$*"; }

# Of the machine: a text, or a list as lines.
of_machine() {
  python3 -c 'import json, sys
value = json.load(open("/raidplan/machine.json"))
for key in sys.argv[1:]:
    value = value[key]
print(*([value] if isinstance(value, str) else value), sep="\n")' "$@"
}

packages="mdadm gdisk fdisk cryptsetup e2fsprogs xfsprogs btrfs-progs f2fs-tools dosfstools lvm2 python3"
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

layout=$(of_machine layout)
confirm=$(of_machine host)
unshown=$(of_machine unshown "$PROVIDER")

of_machine keys | while read -r key; do
  if [ -n "$key" ] && [ ! -e "$key" ]; then
    say "a key for this machine alone: $key"
    mkdir -p "$(dirname "$key")"
    (umask 077 && head -c 64 /dev/urandom >"$key")
  fi
done

set --
if [ -n "$unshown" ]; then
  say "not shown by this provider, so disks are found by serial number alone: $unshown"
  python3 /raidplan/devices.py /raidplan/machine.json >/root/devices.json
  set -- --devices /root/devices.json
fi

say "raidplan check $layout"
raidplan check "$layout"
say "raidplan apply $layout --confirm $confirm $*"
raidplan apply "$layout" --confirm "$confirm" "$@"
say "raidplan apply once more: there must be nothing to do"
raidplan apply "$layout" --confirm "$confirm" "$@"
