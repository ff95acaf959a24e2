"""Modules, units, files and the initramfs, below a folder that stands for the root."""

import os

import pytest

from raidplan.facts import host
from raidplan.facts.host import read_system
from tests.initramfs import cpio


def put(root, path, text="", mtime=None):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    if mtime is not None:
        os.utime(file, (mtime, mtime))


@pytest.fixture
def modules(tmp_path):
    put(tmp_path, "lib/modules/6.1/modules.builtin", "kernel/drivers/md/raid1.ko\n")
    put(
        tmp_path,
        "lib/modules/6.1/modules.dep",
        "kernel/drivers/md/md-mod.ko.xz:\nkernel/drivers/md/raid456.ko: kernel/lib/raid6/raid6_pq.ko\n"
        "kernel/drivers/md/raid0.ko.zst: kernel/drivers/md/md-mod.ko\n",
    )
    (tmp_path / "sys/module/md_mod").mkdir(parents=True)
    return tmp_path


ALL = "modprobe --dry-run --quiet --all raid0 raid456"


def test_modules(modules, answering):
    found = host.read_modules(modules, "6.1", answering({ALL: (0, "", "")}))
    yes, can, no = ({"loaded": a, "loadable": b} for a, b in ((True, True), (False, True), (False, False)))
    assert found == {
        "md_mod": yes, "raid1": yes, "raid0": can, "raid456": can, "raid10": no, "linear": no, "dm_mod": no, "dm_crypt": no, "f2fs": no,
    }  # fmt: skip


def test_one_module_that_cannot_be_loaded(modules, answering):
    ask = answering({ALL: (1, "", ""), "modprobe --dry-run --quiet raid0": (0, "", "")})
    found = host.read_modules(modules, "6.1", ask)
    assert (found["raid0"]["loadable"], found["raid456"]["loadable"]) == (True, False)


def test_no_modules_at_all(tmp_path, answering):
    found = host.read_modules(tmp_path, "6.1", answering({}))
    assert not any(module["loaded"] or module["loadable"] for module in found.values())


def test_a_package_of_which_one_program_is_missing(answering, monkeypatch):
    """sfdisk is in a package of its own, and not every plan needs it."""
    there = {"mkswap": "/sbin/mkswap", "wipefs": "/sbin/wipefs"}
    monkeypatch.setattr(host, "find_tool", lambda tool: there.get(tool, ""))
    found = host.read_tools(answering({"mkswap --version": (0, "mkswap from util-linux 2.38.1\n", "")}))
    assert found == {tool: {"path": path, "version": "2.38.1"} for tool, path in there.items()}


def test_units(answering):
    ask = answering({
        "systemctl is-enabled a.timer": (0, "enabled\n", ""),
        "systemctl is-enabled b.timer": (1, "masked\n", ""),
        "systemctl is-enabled c.timer": (1, "", "Failed to get unit file state for c.timer: No such file or directory"),
    })  # fmt: skip
    found = host.read_units(["a.timer", "b.timer", "c.timer"], ask)
    assert [unit["enabled"] for unit in found.values()] == ["enabled", "masked", "not-found"]


def test_paths(tmp_path):
    put(tmp_path, "etc/fstab", "# none\n")
    put(tmp_path, "etc/udev/rules.d/65-raidplan-jbod.rules", "rule\n")
    put(tmp_path, "etc/udev/rules.d/60-other.rules", "other\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "latin").write_bytes(b"\xe4\n")
    with (tmp_path / "swapfile").open("wb") as file:
        file.truncate(1 << 30)
    found = host.read_paths(tmp_path, ("/data", "/nothing", "/latin", "/swapfile", "/etc/fstab"))
    assert found == {
        "file": {
            "/etc/fstab": {"size": 7, "content": "# none\n"},
            "/etc/udev/rules.d/65-raidplan-jbod.rules": {"size": 5, "content": "rule\n"},
            "/latin": {"size": 2, "content": "\ufffd\n"},
            "/swapfile": {"size": 1 << 30},
        },
        "directory": {"/data": {"exists": True}},
        "unit_file": {},
    }


def test_crypttab_is_read(tmp_path):
    put(tmp_path, "etc/crypttab", "safe /dev/sdz none luks\n")
    (found,) = host.read_paths(tmp_path, ())["file"].items()
    assert found[0] == "/etc/crypttab" and found[1]["content"] == "safe /dev/sdz none luks\n"


def test_what_mdadm_and_systemd_read_beside(tmp_path):
    for name in ("b.conf", "a.conf", ".c.conf", "d"):
        put(tmp_path, f"etc/mdadm/mdadm.conf.d/{name}", "ARRAY x\n")
    put(tmp_path, "etc/mdadm.conf.d/e.conf", "")
    put(tmp_path, "etc/systemd/system/srv-a.mount", "[Mount]\nWhat=/dev/a\n")
    put(tmp_path, "run/systemd/system/srv-a.automount", "[Automount]\nWhere=/srv/a\n")
    put(tmp_path, "etc/systemd/system/a.swap", "[Swap]\nWhat=/dev/a\nWhat=/a\n")
    (tmp_path / "etc/systemd/system/srv-b.mount").symlink_to("/dev/null")
    os.mkfifo(tmp_path / "etc/systemd/system/srv-c.mount")
    for other in ("etc/systemd/system/a.service", "run/systemd/generator/srv-d.mount"):
        put(tmp_path, other, "What=/dev/d\n")
    found = host.read_paths(tmp_path, ())
    assert [*found["file"]] == [
        "/etc/mdadm/mdadm.conf.d/a.conf",
        "/etc/mdadm/mdadm.conf.d/b.conf",
        "/etc/mdadm.conf.d/e.conf",
    ]
    assert found["unit_file"] == {
        "/etc/systemd/system/a.swap": {"what": "/a"},
        "/etc/systemd/system/srv-a.mount": {"what": "/dev/a"},
        "/etc/systemd/system/srv-b.mount": {"what": ""},
        "/etc/systemd/system/srv-c.mount": {"what": ""},
        "/run/systemd/system/srv-a.automount": {"what": ""},
    }


OURS = "# >>> raidplan h\nARRAY /dev/md/a UUID=1\n# <<< raidplan h\n"


@pytest.mark.parametrize(
    ("image", "rules", "conf", "expected"),
    [
        (OURS, "a", f"MAILADDR x\n{OURS}", True),
        (OURS, "b", OURS, False),
        (OURS, "a", OURS.replace("UUID=1", "UUID=2"), False),
        (OURS, "a", "", False),
        ("", "a", OURS, False),
        ("# mkconf made this\n", "a", "# >>> raidplan h\nMAILADDR x\n# <<< raidplan h\n", True),
    ],
)
def test_initramfs(tmp_path, image, rules, conf, expected):
    held = {"etc/mdadm/mdadm.conf": image.encode(), "usr/lib/udev/rules.d/65-raidplan-h.rules": b"a"}
    put(tmp_path, "lib/modules/6.1/modules.dep")
    put(tmp_path, "boot/initrd.img-5.10", mtime=1)
    put(tmp_path, "etc/mdadm/mdadm.conf", conf)
    put(tmp_path, "etc/udev/rules.d/65-raidplan-h.rules", rules)
    (tmp_path / "boot/initrd.img-6.1").write_bytes(cpio(held))
    assert host.read_initramfs(tmp_path, "6.1") == {"current": {"fresh": expected}}


def test_an_initramfs_that_cannot_be_read_is_not_fresh(tmp_path):
    put(tmp_path, "boot/initrd.img-6.1", "broken")
    put(tmp_path, "lib/modules/6.1/modules.dep")
    assert host.read_initramfs(tmp_path, "6.1") == {"current": {"fresh": False}}


def test_lines_of_others_in_an_initramfs(tmp_path):
    """As Debian's hook writes them for all arrays where mdadm.conf has none."""
    theirs = "ARRAY /dev/md/store  metadata=1.2 UUID=2 name=nas:store"
    put(tmp_path, "boot/initrd.img-6.1")
    put(tmp_path, "lib/modules/6.1/modules.dep")
    (tmp_path / "boot/initrd.img-6.1").write_bytes(
        cpio({"etc/mdadm/mdadm.conf": f"# by mkconf\n{theirs}\n{OURS}".encode()})
    )
    put(tmp_path, "etc/mdadm/mdadm.conf", OURS)
    found = {"fresh": True, "array_lines": ["ARRAY /dev/md/store metadata=1.2 UUID=2 name=nas:store"]}
    assert host.read_initramfs(tmp_path, "6.1") == {"current": found}


def test_no_initramfs(tmp_path):
    put(tmp_path, "boot/initrd.img-5.10")
    assert host.read_initramfs(tmp_path, "6.1") == {}


def test_kernels(tmp_path):
    assert host.read_kernels(tmp_path) == {}
    put(tmp_path, "boot/vmlinuz-6.1.0-38-amd64")
    put(tmp_path, "boot/initrd.img-5.10")
    assert host.read_kernels(tmp_path) == {"6.1.0-38-amd64": {"file": "/boot/vmlinuz-6.1.0-38-amd64"}}


def test_memory_and_firmware(tmp_path):
    assert (host.memory_bytes(tmp_path), host.firmware(tmp_path)) == (0, "bios")
    put(tmp_path, "proc/meminfo", "MemTotal:        2025964 kB\nMemFree: 1 kB\n")
    (tmp_path / "sys/firmware/efi").mkdir(parents=True)
    assert (host.memory_bytes(tmp_path), host.firmware(tmp_path)) == (2025964 * 1024, "uefi")


def test_the_grub_of_a_system_below_a_folder(tmp_path) -> None:
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    other = "Package: grub-common\nStatus: install ok installed\nVersion: 9\n\n"
    own = "Package: grub2-common\nStatus: install ok installed\nDepends: a,\n b\nVersion: 2.06-13+deb12u1\n\n"
    for text, version in (
        ("", ""),
        (other, ""),
        (other + own + other, "2.06"),
        (own.replace("2.06-13", "1:2.12-9"), "2.12"),
    ):
        (tmp_path / "var/lib/dpkg/status").write_text(text)
        assert read_system(tmp_path)["target"]["grub"] == version
