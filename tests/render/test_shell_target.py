"""The script of a plan below a target: run once for the storage, and once more in the system that was installed there."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.plan.step import Action, Plan, Proof, RenewInitramfs, Run, Step, WriteBlock, WriteFile
from raidplan.render.plan_shell import plan_shell
from tests.absent import needs_root
from tests.render.scripts import SHELLS, Bench, own_path

TOOLS = ("make", "mount", "switch", "chroot", "unshare")


def step(name: str, phase: str, action: Action, proof: Proof | None = None) -> Step:
    return Step(name, phase, name, action, "arrays", 7, proof=proof)


def plan(target: Path, *, only: str = "") -> Plan:
    """A plan of both runs, or of the steps of one phase."""
    node = target.parent / "node"
    steps = (
        step("made", "format", Run(("make", "it"))),
        step("mounted", "activate", Run(("mount", str(node), str(target))), Proof("mount", "/", {})),
        step("fstab", "configure", WriteBlock("/etc/fstab", "a line\n", "fresh")),
        step("rules", "configure", WriteFile("/etc/udev/own.rules", "a rule\n")),
        step("enabled", "configure", Run(("switch", "on"))),
        step("loader", "configure", Run(("grub-install", "a disk"), inside=True)),
        step("started", "sync", Run(("make", "sync"))),
    )
    kept = tuple(each for each in steps if not only or each.phase == only)
    return Plan("fresh", "sha256:0", "", (), kept, target=str(target), whole=steps if only else ())


def bench_of(folder: Path, source: str = "") -> Bench:
    """Recording tools, of which findmnt names what is mounted; empty: nothing is."""
    bench = Bench(folder, TOOLS)
    (folder / "node").touch()
    bench.tool("findmnt", f"#!/bin/sh\necho '{source}'\n" if source else "#!/bin/sh\nexit 1\n")
    return bench


def filled(target: Path) -> Path:
    """A system below the target, with the one program that the plan runs there."""
    program = target / "usr/sbin/grub-install"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    (target / "etc").mkdir()
    return target


@pytest.mark.parametrize("shell", SHELLS)
def test_the_first_run_makes_the_storage_and_no_file(tmp_path: Path, shell: str) -> None:
    target = tmp_path / "mnt"
    target.mkdir()
    bench = bench_of(tmp_path)
    result = bench.run(own_path(plan_shell(plan(target))), shell)
    assert result.returncode == 0, result.stderr
    assert bench.calls == [("make", "it"), ("mount", str(tmp_path / "node"), str(target)), ("make", "sync")]
    assert not [*target.iterdir()]
    assert "install a system there, and run this with --finish\n" in result.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_the_second_run_configures_the_system_below_the_target(tmp_path: Path, shell: str) -> None:
    target = filled(tmp_path / "mnt")
    bench = bench_of(tmp_path, str(tmp_path / "node"))
    result = bench.run(own_path(plan_shell(plan(target))), shell, "--finish")
    assert result.returncode == 0, result.stderr
    switched, within = bench.calls
    assert switched == ("switch", "on")
    assert within[:4] == ("unshare", "--mount", "--propagation=private", "sh")
    assert within[-4:] == ("sh", str(target), "grub-install", "a disk")
    assert "a line" in (target / "etc/fstab").read_text()
    assert (target / "etc/udev/own.rules").read_text() == "a rule\n"
    assert result.stdout.splitlines()[-1] == "done"


def test_a_plan_of_one_run_needs_no_option(tmp_path: Path) -> None:
    target = filled(tmp_path / "mnt")
    bench = bench_of(tmp_path, str(tmp_path / "node"))
    assert "--finish" not in plan_shell(plan(target, only="format"))
    assert "make the plan again" in bench.run(own_path(plan_shell(plan(target, only="format")))).stdout
    result = bench.run(own_path(plan_shell(plan(target, only="configure"))))
    assert result.returncode == 0 and "a line" in (target / "etc/fstab").read_text(), result.stderr


@pytest.mark.parametrize(
    ("source", "says"),
    [("", "nothing is mounted at"), ("/dev/null", "/dev/null is mounted at")],
)
def test_nothing_is_written_where_another_file_system_is_mounted(
    tmp_path: Path, source: str, says: str
) -> None:
    target = filled(tmp_path / "mnt")
    bench = bench_of(tmp_path, source)
    result = bench.run(own_path(plan_shell(plan(target))), "dash", "--finish")
    assert result.returncode == 4 and says in result.stderr and "nothing was written" in result.stderr
    assert bench.calls == [] and not (target / "etc/fstab").exists()


def test_a_program_that_the_system_lacks_is_named(tmp_path: Path) -> None:
    target = filled(tmp_path / "mnt")
    (target / "usr/sbin/grub-install").unlink()
    bench = bench_of(tmp_path, str(tmp_path / "node"))
    result = bench.run(own_path(plan_shell(plan(target))), "dash", "--finish")
    assert result.returncode == 4 and f"grub-install is missing below {target}" in result.stderr
    (target / "usr/sbin/grub-install").symlink_to("/usr/libexec/of-that-system")
    assert bench.run(own_path(plan_shell(plan(target))), "dash", "--finish").returncode == 0


@pytest.mark.parametrize("shell", SHELLS)
def test_no_link_below_the_target_leads_to_a_file_of_the_rescue_system(tmp_path: Path, shell: str) -> None:
    target = filled(tmp_path / "mnt")
    own = tmp_path / "own"
    own.mkdir()
    (own / "fstab").write_text("of the rescue system\n")
    (target / "etc").rmdir()
    (target / "etc").symlink_to(own)
    bench = bench_of(tmp_path, str(tmp_path / "node"))
    result = bench.run(own_path(plan_shell(plan(target))), shell, "--finish")
    assert result.returncode == 3 and "out of" in result.stderr, result.stderr
    assert [file.name for file in own.iterdir()] == ["fstab"]
    assert (own / "fstab").read_text() == "of the rescue system\n"


def test_no_key_is_copied_through_a_link_to_the_rescue_system(tmp_path: Path) -> None:
    target, own = filled(tmp_path / "mnt"), tmp_path / "own"
    own.mkdir()
    (target / "etc/keys").symlink_to(own)
    copies = Run(("make", "key"))
    steps = (step("key", "configure", copies, Proof("key_file", "/etc/keys/k", {"secret": True})),)
    bench = bench_of(tmp_path, str(tmp_path / "node"))
    script = plan_shell(Plan("fresh", "sha256:0", "", (), steps, target=str(target)))
    result = bench.run(own_path(script))
    assert result.returncode == 4 and f"leads to {own}/k, out of {target}" in result.stderr, result.stderr
    assert bench.calls == []
    (target / "etc/keys").unlink()
    assert bench.run(own_path(script)).returncode == 0 and bench.calls == [("make", "key")]


def test_a_key_that_came_with_a_backup_is_not_written_over(tmp_path: Path) -> None:
    target, key = filled(tmp_path / "mnt"), tmp_path / "k"
    key.write_bytes(b"new")
    there = target / str(key).lstrip("/")
    there.parent.mkdir(parents=True)
    there.write_bytes(b"old")
    proof = Proof("key_file", str(key), {"secret": True})
    steps = (step("key", "configure", Run(("make", "key")), proof),)
    bench = bench_of(tmp_path, str(tmp_path / "node"))
    script = own_path(plan_shell(Plan("fresh", "sha256:0", "", (), steps, target=str(target))))
    result = bench.run(script)
    assert result.returncode == 4 and "holds another key" in result.stderr and bench.calls == []
    there.write_bytes(b"new")
    assert bench.run(script).returncode == 0 and bench.calls == [("make", "key")]
    key.unlink()
    assert "holds another key" not in bench.run(script).stderr, "it may be the only copy"


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("filled", "is not empty: a mount would hide what is there"),
        ("link", "leads through a symbolic link"),
        ("file", "is no folder"),
        ("mounted", "something is mounted at"),
        ("none", ""),
    ],
)
def test_the_storage_is_made_for_an_empty_folder_only(kind: str, says: str, tmp_path: Path) -> None:
    target = tmp_path / "mnt"
    if kind == "filled":
        filled(target)
    elif kind == "link":
        target.symlink_to(tmp_path)
    elif kind == "file":
        target.touch()
    bench = bench_of(tmp_path, "/dev/sdx" if kind == "mounted" else "")
    result = bench.run(own_path(plan_shell(plan(target))))
    assert result.returncode == (4 if says else 0) and says in result.stderr, result.stderr
    assert (bench.calls == []) == bool(says)


def test_a_root_that_is_described_only_is_mounted_first(tmp_path: Path) -> None:
    target = tmp_path / "mnt"
    target.mkdir()
    steps = (step("mounted", "activate", Run(("mount", "x", f"{target}/srv")), Proof("mount", "/srv", {})),)
    kept = Plan("fresh", "sha256:0", "", (), steps, target=str(target))
    bench = bench_of(tmp_path)
    result = bench.run(own_path(plan_shell(kept)))
    assert result.returncode == 4 and "so files would be this system's own" in result.stderr
    assert bench.calls == []


def test_a_script_asks_for_what_a_boot_needs(tmp_path: Path) -> None:
    """The firmware before anything is made; packages and signatures in the system before the second run."""
    target = filled(tmp_path / "mnt")
    loader = ("grub-install", "--target=x86_64-efi")
    steps = (
        step("made", "format", Run(("cryptsetup", "luksFormat", "--key-file", f"{tmp_path}/key"))),
        step("loader", "configure", Run(loader, inside=True)),
        step("image", "configure", RenewInitramfs(encrypted=("1-2",), volumes=True)),
    )
    first, second = plan_shell(Plan("h", "sha256:0", "", (), steps, target=str(target))).split("exit 0\nfi")
    assert "\nrequire_firmware uefi\n" in first and f"\nrequire_secret {tmp_path}/key\n" in first
    assert "require_signed" not in first.rpartition("require_signed()")[2].partition("}")[2]
    for line in (
        "require_signed /usr/lib/shim/shimx64.efi.signed shim-signed",
        "require_package /usr/share/initramfs-tools/hooks/cryptroot cryptsetup-initramfs",
        "require_package /usr/share/initramfs-tools/hooks/lvm2 lvm2",
        f"renew_initramfs {target}/boot '' /etc/initramfs/post-update.d 1-2 yes",
    ):
        assert line in second.replace("\\\n\t", "")


@needs_root
def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    bench, key = Bench(tmp_path, []), tmp_path / "key"
    for text, mode, says in (
        ("", 0o400, "there is no key file"),
        ("k", 0o440, "by others"),
        ("k", 0o400, ""),
    ):
        key.unlink(missing_ok=True)
        key.write_text(text)
        key.chmod(mode)
        result = bench.functions(f"require_secret {key}")
        assert says in result.stderr and result.returncode == (4 if says else 0)
    missing = bench.functions(f"below={tmp_path}\nrequire_package /hook lvm2")
    assert f"the system in {tmp_path} lacks lvm2" in missing.stderr
    assert bench.functions(f"below={tmp_path}\nrequire_package /key lvm2").returncode == 0
    bench.tool("od", "#!/bin/sh\necho '   1'\n")
    unsigned = bench.functions(f"below={tmp_path}\nrequire_signed /shim shim-signed")
    assert "Secure Boot is on" in unsigned.stderr and unsigned.returncode == 4
    assert bench.functions(f"below={tmp_path}\nrequire_signed /key shim-signed").returncode == 0
