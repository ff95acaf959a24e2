"""The steps that install GRUB, and the layouts that have none."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which

import pytest

from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.step import Plan, Run, WriteFile
from raidplan.render.overview import summary
from raidplan.review import pipeline

LAYOUT = """\
version: 1
host: fresh
hardware:
  firmware: bios
  disks:
    a<0-2>: {size: 4GiB, partitions: {bios: {size: 1MiB, type: bios-boot}, os: {size: rest}}}
    d0: {size: 4GiB, partitions: {data: {size: rest}}}
arrays: {os: {level: raid1, members: [a<0-2>.os]}}
filesystems:
  root: {device: os, type: ext4, mount: /}
  data: {device: d0.data, type: ext4, mount: /srv}
boot: {loader: grub}
"""
BY_UEFI = """\
version: 1
host: fresh
hardware:
  firmware: uefi
  disks:
    a<0-2>: {size: 4GiB, partitions: {os: {size: 3GiB}, esp: {size: 512MiB, type: esp}}}
boot: {loader: grub, esp: [a<0-2>.esp]}
arrays: {os: {level: raid1, members: [a<0-2>.os]}}
filesystems:
  root: {device: os, type: ext4, mount: /}
  efi2: {device: a1.esp, type: vfat, mount: "/boot/efi 2"}
  efi: {device: a0.esp, type: vfat, mount: /boot/efi}
"""
BY_SYSTEMD = BY_UEFI.replace("loader: grub", "loader: systemd-boot")
ON_LVM = """\
arrays: {os: {level: raid1, members: [a<0-2>.os]}}
volume_groups: {my-vg: {devices: [os], volumes: {root-1: {size: 2GiB}}}}
filesystems: {root: {device: my-vg.root-1, type: ext4, mount: /}}
boot: {loader: grub}
"""


def plan(text: str, tmp_path: Path) -> Plan:
    file = tmp_path / "layout.yaml"
    file.write_text(text)
    made, loaded = pipeline.plan(pipeline.check(str(file)))
    assert made is not None, loaded.findings
    return made


def test_a_plan_that_makes_the_root_and_installs_no_boot_loader_says_so(tmp_path: Path) -> None:
    for text in (LAYOUT, BY_UEFI):
        assert "boot" not in summary(plan(text, tmp_path))
        without = plan(text.replace("loader: grub", "loader: none"), tmp_path)
        assert summary(without)["boot"] == "no boot loader is installed, and / is made"
        kept = text.replace("loader: grub", "loader: none").replace("mount: /}", "mount: /mnt}")
        assert "boot" not in summary(plan(kept, tmp_path))
        # What is left of an apply that made / before says nothing of what is not its own.
        mounts = tuple(step for step in without.steps if step.id == "filesystem.root.mount")
        assert mounts and "boot" not in summary(replace(without, steps=mounts))


def test_grub_is_installed_on_each_disk_with_a_bios_boot_partition_and_then_its_menu_made(
    tmp_path: Path,
) -> None:
    made = plan(LAYOUT, tmp_path)
    steps = {step.id: step for step in made.steps if step.id.startswith("boot.")}
    assert [*steps] == ["boot.grub.a0", "boot.grub.a1", "boot.grub.a2", "boot.menu", "boot.grub-pc"]
    assert steps["boot.grub.a1"].action == Run(("grub-install", "--target=i386-pc", "{a1}"), inside=True)
    assert {*steps["boot.grub.a0"].needs} >= {"config.fstab", "config.initramfs"}
    assert {*steps["boot.menu"].needs} == {"boot.grub.a0", "boot.grub.a1", "boot.grub.a2"}
    assert len({steps[f"boot.grub.a{n}"].targets for n in range(3)}) == 1, "one after the other"
    root = next(step for step in made.steps if step.id == "filesystem.root.make")
    assert root.proof and steps["boot.menu"].proof
    assert steps["boot.menu"].proof.expect == {"root": f"UUID={root.proof.key}"}
    assert plan_from_json(plan_to_json(made)) == made


def test_grub_is_installed_on_each_mounted_esp_and_entered_the_first_last(tmp_path: Path) -> None:
    made = plan(BY_UEFI, tmp_path)
    steps = {step.id: step for step in made.steps}
    names = [name for name in steps if name.startswith("boot.")]
    entries = ["boot.entry.a1.esp", "boot.entry.a0.esp"]
    assert names == ["boot.grub.a0.esp", "boot.grub.a1.esp", "boot.menu", *entries]
    words = ("--target=x86_64-efi", "--efi-directory=/boot/efi 2", "--no-nvram", "--force-extra-removable")
    assert steps["boot.grub.a1.esp"].action == Run(("grub-install", *words), inside=True)
    assert "filesystem.efi2.mount" in steps["boot.grub.a1.esp"].needs
    loader = ("--label", "fresh a1", "--loader", "\\EFI\\BOOT\\BOOTX64.EFI")
    create = ("efibootmgr", "--quiet", "--create", "--disk", "{a1}", "--part", "2", *loader)
    assert steps["boot.entry.a1.esp"].action == Run(create, inside=True)
    assert steps["boot.entry.a0.esp"].needs[0] == "boot.entry.a1.esp", "what is entered last is tried first"
    assert plan_from_json(plan_to_json(made)) == made


def hook(text: str, tmp_path: Path) -> str:
    steps = {step.id: step.action for step in plan(text, tmp_path).steps}
    script, dpkg = steps["config.boot"], steps["config.boot.dpkg"]
    assert isinstance(script, WriteFile) and isinstance(dpkg, WriteFile)
    assert (
        script.mode == 0o755
        and f"post-invoke=if [ -x {script.file} ]; then {script.file}; fi\n" in dpkg.content
    )
    return script.content


STAND_IN = """\
#!/bin/sh
echo "$*" >> {log}
case $* in *fail*) echo 'no room' >&2; exit 1;; esac
"""


class Host:
    """A folder as the machine of the script: its devices, boot loaders and programs."""

    def __init__(self, script: str, root: Path) -> None:
        self.root, self.script, self.log = root, root / "script", root / "log"
        for place in ("/dev/disk", "/boot", "/usr/lib/", "/var/lib/raidplan", "/sys/block"):
            script = script.replace(place, f"{root}{place}")
        lines = [
            f"PATH={root}/bin:$PATH" if line.startswith("PATH=") else line for line in script.splitlines()
        ]
        self.script.write_text("\n".join(lines) + "\n")
        (root / "bin").mkdir()
        self.program("grub-install", STAND_IN.format(log=self.log))
        self.program("mountpoint", '#!/bin/sh\n[ -d "$2" ]\n')
        self.program("mount", "#!/bin/sh\nexit 1\n")
        self.program("lsblk", "#!/bin/sh\nbasename \"$3\" | sed 's/^/disk-of-/'\n")
        self.packages("ii  grub-common 2.06")
        for platform in ("i386-pc", "x86_64-efi"):
            (root / "usr/lib/grub" / platform).mkdir(parents=True)

    def program(self, name: str, text: str) -> None:
        (self.root / "bin" / name).write_text(text)
        (self.root / "bin" / name).chmod(0o755)

    def packages(self, *lines: str) -> None:
        words = "\n".join(lines)
        self.program("dpkg-query", f"#!/bin/sh\ncat <<'END'\n{words}\nEND\n")

    def put(self, file: str, data: bytes = b"") -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def run(self, *words: str, by: str = "") -> tuple[int, list[str], str]:
        """Its exit code, what grub-install was told, and what it said; `by`: the variable of dpkg that is set."""
        self.log.write_text("")
        env = {**os.environ, **({by: "x"} if by else {})}
        done = subprocess.run(["sh", self.script, *words], capture_output=True, text=True, env=env)
        told = self.log.read_text().replace(f"{self.root}", "").splitlines()
        return done.returncode, told, done.stderr


def bios_boot(made: Plan) -> list[str]:
    """The UUIDs of the BIOS boot partitions."""
    return [step.proof.key for step in made.steps if step.proof and step.proof.kind == "boot_loader"]


def test_the_script_installs_on_every_disk_after_an_update_and_later_where_the_image_is_another(
    tmp_path: Path,
) -> None:
    host = Host(hook(LAYOUT, tmp_path), tmp_path)
    uuids, image = bios_boot(plan(LAYOUT, tmp_path)), bytes(range(256)) * 8
    every = [f"--target=i386-pc /dev/disk-of-{uuid}" for uuid in uuids]
    host.put("boot/grub/i386-pc/core.img", image)
    for uuid in uuids:
        host.put(f"dev/disk/by-partuuid/{uuid}", bytes(1024) + image[1024:] + bytes(512))
    assert host.run()[:2] == (0, every), "it knows no packages yet"
    assert host.run() == (0, [], ""), "nothing is another one"
    host.put(f"dev/disk/by-partuuid/{uuids[1]}", bytes(len(image)))
    assert host.run()[1] == every[1:2], "a disk that came back"
    host.packages("iU  grub-common 2.12")
    assert host.run()[1] == [], "dpkg has still to configure it"
    host.packages("ii  grub-common 2.12", "rc  grub-efi 2.06", "un  shim ")
    (tmp_path / f"dev/disk/by-partuuid/{uuids[0]}").unlink()
    code, told, said = host.run()
    assert (code, told) == (0, every[1:]) and "not every disk is there" in said
    assert host.run("--always")[1] == every[1:]


def test_the_script_compares_what_the_firmware_loads(tmp_path: Path) -> None:
    host = Host(hook(BY_UEFI, tmp_path), tmp_path)
    for uuid in bios_boot(plan(BY_UEFI, tmp_path)):
        host.put(f"dev/disk/by-partuuid/{uuid}")
    host.put("boot/grub/x86_64-efi/core.efi", b"core")
    for mount in ("efi", "efi 2"):
        host.put(f"boot/{mount}/EFI/BOOT/BOOTX64.EFI", b"core")
    told = [
        f"--target=x86_64-efi --efi-directory=/boot/{mount} --no-nvram --force-extra-removable"
        for mount in ("efi", "efi 2")
    ]
    assert host.run()[:2] == (0, told)
    assert host.run() == (0, [], "")
    host.put("usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed", b"signed")
    host.put("boot/efi/EFI/BOOT/BOOTX64.EFI", b"signed")
    assert host.run()[1] == told[1:]
    host.put("usr/lib/shim/shimx64.efi.signed", b"shim")
    for mount in ("efi", "efi 2"):
        host.put(f"boot/{mount}/EFI/BOOT/BOOTX64.EFI", b"shim")
    host.put("boot/efi/EFI/BOOT/grubx64.efi", b"signed")
    assert host.run()[1] == told[1:]
    host.put("boot/efi 2/EFI/BOOT/grubx64.efi", b"signed")
    assert host.run() == (0, [], "")


def test_the_script_says_which_disk_may_not_boot_and_tries_again(tmp_path: Path) -> None:
    host = Host(hook(BY_UEFI, tmp_path).replace("/boot/efi", "/boot/fail"), tmp_path)
    for uuid in bios_boot(plan(BY_UEFI, tmp_path)):
        host.put(f"dev/disk/by-partuuid/{uuid}")
    (tmp_path / "boot/fail").mkdir(parents=True)
    (tmp_path / "usr/lib/grub/x86_64-efi").rename(tmp_path / "elsewhere")
    assert host.run() == (0, [], ""), "no GRUB for this firmware is installed"
    (tmp_path / "elsewhere").rename(tmp_path / "usr/lib/grub/x86_64-efi")
    for _ in range(2):
        code, told, said = host.run()
        assert (code, len(told)) == (1, 1) and "which may not boot any more" in said and "no room" in said


def test_the_script_leaves_the_boot_loader_while_the_array_below_it_is_rebuilt(tmp_path: Path) -> None:
    host = Host(hook(LAYOUT, tmp_path), tmp_path)
    for uuid in bios_boot(plan(LAYOUT, tmp_path)):
        host.put(f"dev/disk/by-partuuid/{uuid}")
    host.program("findmnt", "#!/bin/sh\necho /dev/md127\n")
    host.put("sys/block/disk-of-md127/md/sync_action", b"recover\n")
    for _ in range(2):
        code, told, said = host.run()
        assert (code, told) == (1, []) and said.count("is rebuilt: run raidplan-boot-loaders afterwards") == 3
    for by in BY_DPKG:
        assert host.run(by=by)[:2] == (0, []), "apt goes on"
    host.put("sys/block/disk-of-md127/md/sync_action", b"resync\n")
    assert (host.run()[0], len(host.run("--always")[1])) == (0, 3), (
        "the first sync has all data on each member"
    )


BY_DPKG = ("DPKG_HOOK_ACTION", "DPKG_MAINTSCRIPT_NAME")
"""Of its hooks, and of the scripts of packages, which run update-initramfs: one that fails stops what apt has still to do."""
BOOT_APART = {
    "bios": LAYOUT.replace("filesystems:\n", "filesystems:\n  boot: {device: d0.data, type: ext4, mount: /boot}\n")
    .replace("  data: {device: d0.data, type: ext4, mount: /srv}\n", ""),
    "systemd-boot": BY_SYSTEMD.replace("{os: {size: 3GiB}", "{os: {size: 2GiB}, boot: {size: 900MiB}")
    .replace("members: [a<0-2>.os]}", "members: [a<0-2>.os]}, boot: {level: raid1, members: [a<0-2>.boot]}")
    .replace("filesystems:\n", "filesystems:\n  boot: {device: boot, type: ext4, mount: /boot}\n"),
}  # fmt: skip


def test_without_its_boot_mounted_the_script_changes_nothing(tmp_path: Path) -> None:
    for name, text in BOOT_APART.items():
        (tmp_path / name).mkdir()
        host = kernels_host(tmp_path / name, text)[0]
        empty = f'#!/bin/sh\n[ "$2" != "{host.root}/boot" ] && [ -d "$2" ]\n'
        if name == "systemd-boot":
            assert host.run()[0] == 0
        before = copies(host.root, "boot/efi")
        host.program("mountpoint", empty)
        (host.root / "boot/vmlinuz-6.1").unlink()
        code, told, said = host.run()
        assert (code, told) == (1, []) and "/boot is not mounted, so nothing was changed" in said
        for by in BY_DPKG:
            code, told, said = host.run(by=by)
            assert (code, told) == (0, []) and "/boot is not mounted" in said
        assert copies(host.root, "boot/efi") == before


def test_the_script_never_takes_the_last_kernel_away(tmp_path: Path) -> None:
    host, _ = kernels_host(tmp_path)
    assert host.run()[0] == 0
    before = copies(tmp_path, "boot/efi")
    (tmp_path / "boot/vmlinuz-6.1").unlink()
    code, _, said = host.run()
    assert code == 1 and "no kernel is in" in said and copies(tmp_path, "boot/efi") == before
    assert host.run(by=BY_DPKG[0])[0] == 0 and copies(tmp_path, "boot/efi") == before


def test_systemd_boot_is_copied_to_each_mounted_esp_after_the_initramfs(tmp_path: Path) -> None:
    made = plan(BY_SYSTEMD, tmp_path)
    steps = {step.id: step for step in made.steps}
    places = ["boot.systemd-boot.a0.esp", "boot.systemd-boot.a1.esp"]
    entries = ["boot.entry.a1.esp", "boot.entry.a0.esp"]
    assert [name for name in steps if name.startswith("boot.")] == [*places, *entries]
    step, root = steps[places[1]], steps["filesystem.root.make"]
    assert step.action == Run(("sh", "/usr/local/sbin/raidplan-boot-loaders", "/boot/efi 2"), inside=True)
    assert {*step.needs} >= {"config.initramfs", "config.boot", "filesystem.efi2.mount"}
    assert step.follows == ("config.initramfs",), "it has a copy of it"
    assert root.proof and step.proof
    assert step.proof.expect == {"loader": "systemd-boot", "current": True, "root": f"UUID={root.proof.key}"}
    assert {*steps["boot.entry.a0.esp"].needs} == {"boot.entry.a1.esp", places[0]}
    after = steps["config.boot.initramfs"].action
    assert isinstance(after, WriteFile) and after.mode == 0o755 and after.content.startswith("#!/bin/sh\n")
    assert plan_from_json(plan_to_json(made)) == made
    bios = plan(LAYOUT.replace("loader: grub", "loader: systemd-boot"), tmp_path)
    assert not [step for step in bios.steps if step.id.startswith("boot.")], "only UEFI starts it"


def copies(root: Path, mount: str) -> dict[str, str]:
    """The files of an EFI system partition, and what is in them."""
    folder = root / mount
    return {
        str(file.relative_to(folder)): file.read_text()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def kernels_host(tmp_path: Path, text: str = BY_SYSTEMD) -> tuple[Host, str]:
    """A machine with a kernel and two EFI system partitions, and the UUID of its root."""
    made = plan(text, tmp_path)
    host = Host(
        hook(text, tmp_path)
        .replace("/etc/", f"{tmp_path}/etc/")
        .replace("/usr/lib/systemd/boot/efi", f"{tmp_path}/images"),
        tmp_path,
    )
    host.program("sync", "#!/bin/sh\nexit 0\n")
    for uuid in bios_boot(made):
        host.put(f"dev/disk/by-partuuid/{uuid}")
    for mount in ("efi", "efi 2"):
        (tmp_path / "boot" / mount).mkdir(parents=True)
    host.put("images/systemd-bootx64.efi", b"systemd")
    host.put("boot/vmlinuz-6.1", b"kernel")
    host.put("boot/initrd.img-6.1", b"images")
    host.put("etc/os-release", b'PRETTY_NAME="Debian 13"\n')
    root = next(step for step in made.steps if step.id == "filesystem.root.make").proof
    assert root
    return host, root.key


def test_the_script_copies_every_kernel_and_takes_away_those_that_went(tmp_path: Path) -> None:
    host, root = kernels_host(tmp_path)
    assert host.run(f"{tmp_path}/boot/efi")[0] == 0 and not copies(tmp_path, "boot/efi 2"), "one alone"
    host.put("etc/kernel/cmdline", b"root=/dev/sda1 quiet console=ttyS0\n")
    code, _, said = host.run()
    assert code == 0 and said.count("systemd-boot and the kernels are on") == 2
    entry = f"title Debian 13\nversion 6.1\nlinux /raidplan/6.1/linux\ninitrd /raidplan/6.1/initrd.img\noptions root=UUID={root} ro quiet console=ttyS0\n"
    wanted = {
        "EFI/BOOT/BOOTX64.EFI": "systemd",
        "EFI/systemd/systemd-bootx64.efi": "systemd",
        "loader/entries/raidplan-6.1.conf": entry,
        "loader/loader.conf": "timeout 3\n",
        "raidplan/6.1/initrd.img": "images",
        "raidplan/6.1/linux": "kernel",
    }
    assert copies(tmp_path, "boot/efi") == copies(tmp_path, "boot/efi 2") == wanted
    assert host.run() == (0, [], ""), "nothing is another one"
    host.put("boot/efi/loader/loader.conf", b"timeout 9\n")
    host.put("boot/vmlinuz-6.2", b"newer")
    assert host.run() == (0, [], ""), "its initramfs is still to be made"
    host.put("boot/initrd.img-6.2", b"images of it")
    (tmp_path / "boot/vmlinuz-6.1").unlink()
    assert host.run()[0] == 0
    found = copies(tmp_path, "boot/efi")
    assert "raidplan/6.2/linux" in found and not [name for name in found if "6.1" in name]
    assert found["loader/loader.conf"] == "timeout 9\n", "a person's"


def test_the_script_keeps_the_kernel_of_before_where_there_is_no_room(tmp_path: Path) -> None:
    host, _ = kernels_host(tmp_path)
    assert host.run()[0] == 0
    host.put("boot/initrd.img-6.1", b"larger")
    host.program("cp", "#!/bin/sh\nprintf la >\"$2\"; echo 'No space left on device' >&2; exit 1\n")
    code, _, said = host.run()
    assert code == 1 and "may start an earlier kernel" in said and "No space" in said
    assert copies(tmp_path, "boot/efi")["raidplan/6.1/initrd.img"] == "images"
    assert not [name for name in copies(tmp_path, "boot/efi") if name.endswith(".new")]


def test_the_script_puts_shim_first_where_it_is_installed(tmp_path: Path) -> None:
    host, _ = kernels_host(tmp_path)
    host.put("images/systemd-bootx64.efi.signed", b"signed")
    host.put("usr/lib/shim/shimx64.efi.signed", b"shim")
    (tmp_path / "boot/efi 2").rmdir()
    code, _, said = host.run()
    assert code == 0 and "not every disk is there" in said
    found = copies(tmp_path, "boot/efi")
    assert (found["EFI/BOOT/BOOTX64.EFI"], found["EFI/BOOT/grubx64.efi"]) == ("shim", "signed")


@pytest.mark.skipif(not which("shellcheck"), reason="shellcheck is not installed")
@pytest.mark.parametrize("text", [LAYOUT, BY_UEFI, BY_SYSTEMD], ids=["bios", "uefi", "systemd-boot"])
def test_the_script_has_no_fault_that_shellcheck_knows(text: str, tmp_path: Path) -> None:
    done = subprocess.run(["shellcheck", "-"], input=hook(text, tmp_path), capture_output=True, text=True)
    assert not done.stdout


def test_a_root_on_lvm_is_named_by_its_node(tmp_path: Path) -> None:
    text = LAYOUT[: LAYOUT.index("arrays:")] + ON_LVM
    (menu,) = (step for step in plan(text, tmp_path).steps if step.id == "boot.menu")
    assert menu.proof and menu.proof.expect == {"root": "/dev/mapper/my--vg-root--1"}


@pytest.mark.parametrize(
    ("here", "instead"),
    {
        "no loader is named": ("boot: {loader: grub}\n", ""),
        "none": ("loader: grub", "loader: none"),
        "no firmware": ("  firmware: bios\n", ""),
        "no root": ("mount: /}", "mount: /var}"),
    }.values(),
)
def test_no_boot_loader_is_installed(here: str, instead: str, tmp_path: Path) -> None:
    assert here in LAYOUT
    assert not [
        step for step in plan(LAYOUT.replace(here, instead), tmp_path).steps if step.id.startswith("boot.")
    ]


@pytest.mark.parametrize(("target", "copies"), [("", {"--autobackup=y"}), ("/mnt", {"--autobackup=n"})])
def test_below_a_target_lvm_leaves_no_copy_in_the_rescue_system(target: str, copies: set[str]) -> None:
    """It would write /etc/lvm/backup and /etc/lvm/archive there, at every command."""
    made, _ = pipeline.plan(pipeline.check("examples/root-raid6-lvm.yaml"), target)
    assert made is not None
    commands = [step.action.argv for step in made.steps if isinstance(step.action, Run)]
    said = {
        argv[0]: {word for word in argv if "autobackup" in word}
        for argv in commands
        if argv[0] in ("vgcreate", "lvcreate")
    }
    assert said == {"vgcreate": copies, "lvcreate": copies if target else set()}
