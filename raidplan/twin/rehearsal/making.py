"""The layout made on the twin: applied, filled with records, booted; a whole server from a rescue system on, and from its own disks."""

from __future__ import annotations

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.plan.boot_loaders import LOADERS
from raidplan.plan.codec import plan_to_json
from raidplan.plan.step import Plan
from raidplan.twin.rehearsal.rig import Rig
from raidplan.twin.rehearsal.stages import (  # fmt: skip
    BOOT_SECONDS,
    NOTHING,
    WHOLE,
    Run,
    apply_plan,
    install,
    preflight,
)
from raidplan.twin.rehearsal.subject import plan_of
from raidplan.twin.server import Twin
from raidplan.twin.server.arguments import KERNEL
from raidplan.twin.server.guest import patience

PLAN, BELOW = "/root/plan.json", "/root/below.json"
"""The plan that the server would get, and that of a whole server in its rescue system, below the target."""
PROGRAMS = (
    "initramfs-tools", "dracut-core", "udev", "lvm2", "cryptsetup-bin",
    *dict.fromkeys(each.package.name for each in FILESYSTEMS.values()), *sorted({loader for packages in LOADERS.values() for loader in packages}),
)  # fmt: skip
VERSIONS = f"""\
echo "kernel $(uname -r)"
echo "mdadm $(mdadm --version 2>&1 | grep -o 'v[0-9.]*' | head -n 1)"
echo "Debian $(cat /etc/debian_version)"
dpkg-query --show --showformat='${{Package}} ${{Version}}\\n' {" ".join(PROGRAMS)} 2>/dev/null || :
"""
"""A line for each: the name, and its version. Of the packages those that are there."""
TARGET = "/mnt"
CONSOLE = f"""\
GRUB_CMDLINE_LINUX="{KERNEL}"
GRUB_TERMINAL=console
GRUB_TIMEOUT=0
"""
"""The twin has no screen, for which GRUB would wait. The words for the kernel are systemd-boot's too."""
FILL = f"""\
set -e
tar --directory=/ --one-file-system --exclude=./var/lib/raidplan --exclude=./etc/fstab --create . | tar --directory={TARGET} --extract --preserve-permissions
mkdir -p {TARGET}/etc/default/grub.d {TARGET}/etc/kernel
cat > {TARGET}/etc/default/grub.d/twin.cfg
sed -n 's/^GRUB_CMDLINE_LINUX="\\(.*\\)"$/\\1/p' {TARGET}/etc/default/grub.d/twin.cfg > {TARGET}/etc/kernel/cmdline
{patience(TARGET)}
sync
"""
"""The rescue system is a whole Debian, made by mmdebstrap: an installer that has everything at hand."""


def make(rig: Rig, plan: Plan, run: Run) -> None:
    """Applies the plan, applies it again, fills it, boots and reads back; no rule keeps a layout from being rehearsed."""
    twin = rig.twin
    stand_up(rig, plan, run)
    with run.stage("apply again", "there must be nothing to do"):
        apply_plan(run, twin, PLAN, plan.host, NOTHING)
    with run.stage("fill", "records on every file system, which must read back in every case"):
        rig.put_programs()
        rig.witness("fill")
    with run.stage("reboot", "with the initramfs that apply made"):
        twin.shut_down(timeout=BOOT_SECONDS)
        twin.start_again(timeout=BOOT_SECONDS, snapshots=True)
    with run.stage("read back", "there must be nothing to do"):
        apply_plan(run, twin, PLAN, plan.host, NOTHING)


def stand_up(rig: Rig, plan: Plan, run: Run) -> None:
    """Applies the plan, and for a whole server installs its system and boots it; the run has the versions that did it."""
    twin, fresh = rig.twin, rig.subject.fresh
    with run.stage("install", "raidplan in the twin"):
        install(twin, rig.subject.topology.layout)
        twin.put(plan_to_json(plan).encode(), PLAN)
        if fresh:
            twin.put(plan_to_json(plan_of(rig.subject, TARGET)).encode(), BELOW)
        lines = twin.run(VERSIONS).stdout.splitlines()
        run.versions |= {
            name: version for name, _, version in (line.partition(" ") for line in lines) if version
        }
    first = BELOW if fresh else PLAN
    with run.stage("preflight", "nothing is written yet, and nothing must be refused"):
        preflight(twin, first)
    with run.stage("apply", f"the layout{', below a target' if fresh else ''}; every property is read back"):
        apply_plan(run, twin, first, plan.host, WHOLE)
    if fresh:
        _install_system(twin, plan.host, run)


def _install_system(twin: Twin, host: str, run: Run) -> None:
    """From the storage that was made below the target to a machine that was started by its own firmware and disks."""
    with run.stage("system", "Debian, copied below the target as an installer would"):
        twin.run(["sh", "-c", FILL], stdin=CONSOLE.encode(), timeout=BOOT_SECONDS)
    with run.stage("finish", "initramfs and boot loader of the system below the target"):
        apply_plan(run, twin, BELOW, host, WHOLE)
    with run.stage("boot from disks", "by the firmware and what is on the layout's disks"):
        twin.shut_down(timeout=BOOT_SECONDS)
        twin.start_from_disks(timeout=BOOT_SECONDS)
