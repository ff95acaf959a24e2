"""Whatever becomes of file systems, volumes, groups, encryptions and partitions: `diff` and `apply` name the same commands, or
that there are none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.base.figures import Figures
from raidplan.base.identity import derived_uuid
from raidplan.base.size import KIB, MIB, SECTOR, align_up
from raidplan.diff import diff
from raidplan.plan.changes import Before
from raidplan.plan.identities import device_names, node_of
from raidplan.plan.step import Plan, Run
from tests.apply.earlier import plan_of_text
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated, State
from tests.diff.layouts import side, thing

__all__ = ["impatient"]

DISKS = "hardware: {disks: {d<0-4>: {serial: S<1>, size: 8GiB, partitions: {p: {size: 2GiB, type: TYPE}, q: {size: SIZE}}}}}\n"
F, V, G = "filesystems.f", "volume_groups.vg.volumes.v", "volume_groups.vg"


def _group(size: str = "512MiB", extent: str = "4MiB", devices: str = "d0.q", type: str = "") -> str:
    rest = f"filesystems: {{f: {{device: vg.v, type: {type}, mount: /f}}}}\n" if type else ""
    return f"volume_groups: {{vg: {{devices: [{devices}], extent: {extent}, volumes: {{v: {{size: {size}}}}}}}}}\n{rest}"


def _on_partition(words: str) -> str:
    return f"filesystems: {{f: {{device: d0.q, mount: /f, {words}}}}}\n"


def _on_array(members: int, rest: str, chunk: str = "512KiB") -> str:
    return f"arrays: {{a: {{level: raid5, members: [{', '.join(f'd{n}.p' for n in range(members))}], chunk: {chunk}}}}}\n{rest}"


ON_IT = {"encryption.c": F}
"""Whose commands `apply` names beside those of what is on it, since they have an order."""


def _encrypted(type: str) -> str:
    return f"encryption: {{c: {{device: a, key: ask}}}}\nfilesystems: {{f: {{device: c, type: {type}, mount: /f}}}}\n"


ENCRYPTED = _encrypted("ext4").replace("device: a", "device: vg.v")
BTRFS_IN_IT = ENCRYPTED.replace("ext4", "btrfs")
SWAP, S = "swap: {s: {device: vg.v, label: spare}}\n", "swap.s"
BTRFS = "filesystems: {f: {device: a, type: btrfs, mount: /f}}\n"
MOUNTED = "filesystems: {f: {device: a, type: xfs, mount: /f}}\n"
PAIRS: dict[str, tuple[str, str, dict[str, str | None]]] = {
    "ext3 to ext4": (_on_partition("type: ext3"), _on_partition("type: ext4"), {F: "tune2fs -O extents"}),
    "ext4 to ext2": (_on_partition("type: ext4"), _on_partition("type: ext2"), {F: None}),
    "ext4 to xfs": (_on_partition("type: ext4"), _on_partition("type: xfs"), {F: None}),
    "more inodes": (_on_partition("type: ext4"), _on_partition("type: ext4, inodes: 1000000"), {F: None}),
    "reserved": (_on_partition("type: ext4"), _on_partition("type: ext4, reserved: 1%"), {F: "tune2fs -r"}),
    "volume larger": (_group(), _group("768MiB"), {V: "lvextend --size"}),
    "volume smaller": (_group(), _group("400MiB"), {V: "lvreduce --size"}),
    "ext4 larger": (_group(type="ext4"), _group("768MiB", type="ext4"), {V: "lvextend --size", F: "resize2fs"}),
    "ext4 much smaller": (_group("800MiB", type="ext4"), _group("400MiB", type="ext4"), {V: "lvreduce --size", F: "resize2fs"}),
    "ext4 much larger": (_group("400MiB", type="ext4"), _group("800MiB", type="ext4"), {V: "lvextend --size", F: "resize2fs"}),
    "ext3 to ext4, larger": (_group("800MiB", type="ext3"), _group("1200MiB", type="ext4"), {V: "lvextend --size", F: "tune2fs -O extents, resize2fs"}),
    "ext3 to ext4, with larger blocks": (_group("400MiB", type="ext3"), _group("800MiB", type="ext4"), {V: "lvextend --size", F: "tune2fs -O extents, resize2fs"}),
    "xfs larger": (_group(type="xfs"), _group("768MiB", type="xfs"), {V: "lvextend --size", F: "xfs_growfs"}),
    "xfs smaller": (_group(type="xfs"), _group("400MiB", type="xfs"), {V: "lvreduce --size", F: None}),
    "f2fs larger": (_group(type="f2fs"), _group("768MiB", type="f2fs"), {V: "lvextend --size", F: "resize.f2fs"}),
    "smaller extents": (_group(), _group(extent="1MiB"), {G: "vgchange --physicalextentsize"}),
    "larger extents": (_group(), _group(extent="8MiB"), {G: None}),
    "group on more": (_group(devices="d0.q"), _group(devices="d0.q, d1.q"), {G: "pvcreate, vgextend"}),
    "group on fewer": (_group(devices="d0.q, d1.q"), _group(devices="d0.q"), {G: "pvmove, vgreduce"}),
    "group elsewhere": (_group(devices="d0.q"), _group(devices="d1.q"), {G: "pvcreate, vgextend, pvmove, vgreduce"}),
    "group off an array": (_on_array(3, _group(devices="d0.q, a")), _on_array(3, _group(devices="d0.q")), {G: "pvmove, vgreduce"}),
    "ext4 on a larger array": (_on_array(3, "filesystems: {f: {device: a, type: ext4}}\n"), _on_array(4, "filesystems: {f: {device: a, type: ext4}}\n"), {F: "resize2fs"}),
    "xfs on a larger array": (_on_array(3, MOUNTED), _on_array(4, MOUNTED), {F: "xfs_growfs, mount -o sunit=1024,swidth=3072"}),
    "xfs on larger chunks": (_on_array(3, MOUNTED, "64KiB"), _on_array(3, MOUNTED, "512KiB"), {F: "none"}),
    "xfs on smaller chunks": (_on_array(3, MOUNTED, "512KiB"), _on_array(3, MOUNTED, "64KiB"), {F: "none"}),
    "group on a larger array": (_on_array(3, _group(devices="a")), _on_array(4, _group(devices="a")), {G: "pvresize, none"}),
    "group on a smaller array": (_on_array(4, _group(devices="a")), _on_array(3, _group(devices="a")), {G: "pvmove, pvresize --setphysicalvolumesize, none"}),
    "btrfs larger": (_group(type="btrfs"), _group("768MiB", type="btrfs"), {V: "lvextend --size", F: "btrfs filesystem resize"}),
    "btrfs smaller": (_group("768MiB", type="btrfs"), _group(type="btrfs"), {V: "lvreduce --size", F: "btrfs filesystem resize"}),
    "btrfs on a larger array": (_on_array(3, BTRFS), _on_array(4, BTRFS), {F: "btrfs filesystem resize"}),
    "swap larger": (_group() + SWAP, _group("768MiB") + SWAP, {V: "lvextend --size", S: "swapoff, mkswap, swapon"}),
    "swap smaller": (_group() + SWAP, _group("400MiB") + SWAP, {V: "lvreduce --size", S: "swapoff, mkswap, swapon"}),
    "swap on a larger array": (_on_array(3, SWAP.replace("vg.v", "a")), _on_array(4, SWAP.replace("vg.v", "a")), {S: "swapoff, mkswap, swapon"}),
    "encrypted btrfs on a larger volume": (_group("400MiB") + BTRFS_IN_IT, _group("800MiB") + BTRFS_IN_IT, {V: "lvextend --size", F: "btrfs filesystem resize"}),
    "encryption on a larger array": (_on_array(3, _encrypted("ext4")), _on_array(4, _encrypted("ext4")), {F: "resize2fs", "encryption.c": "cryptsetup resize"}),
    "encryption on a larger volume": (_group("400MiB") + ENCRYPTED, _group("800MiB") + ENCRYPTED, {V: "lvextend --size", F: "resize2fs", "encryption.c": "cryptsetup resize"}),
    "encryption on a smaller volume": (_group("800MiB") + ENCRYPTED, _group() + ENCRYPTED, {V: "lvreduce --size", F: "resize2fs", "encryption.c": "cryptsetup resize --size"}),
}  # fmt: skip
"""Before, after, and for each thing the command that both name; None where both say that there is none."""


@pytest.mark.parametrize("pair", PAIRS)
def test_diff_and_apply_say_the_same(pair: str, tmp_path: Path) -> None:
    before, after, wanted = PAIRS[pair]
    hardware = DISKS.replace("TYPE", "raid").replace("SIZE", "2GiB, type: linux")
    _compare(hardware + before, hardware + after, wanted, tmp_path)


def test_partitions_too(tmp_path: Path) -> None:
    rest = _on_partition("type: vfat")
    small, large = (DISKS.replace("TYPE", "raid").replace("SIZE", size) + rest for size in ("1GiB", "2GiB"))
    _compare(small, large, {"hardware.disks.d1": "sfdisk, partx --update"}, tmp_path)
    (tmp_path / "other").mkdir()
    other = small.replace("type: raid", "type: linux")
    _compare(small, other, {"hardware.disks.d1": "sfdisk --part-type"}, tmp_path / "other")


SIZE_OF_MEMBERS = {
    ("raid1", "1.2", "internal"): ("sfdisk, partx --update", "mdadm --grow --size"),
    ("raid1", "1.0", "none"): ("sfdisk, partx --update, mdadm --grow --size", "mdadm --grow --size"),
    ("raid1", "1.0", "internal"): ("mdadm --grow --bitmap, sfdisk, partx --update, mdadm --grow --size, mdadm --grow --bitmap", "mdadm --grow --bitmap, mdadm --grow --size"),
    ("raid5", "0.90", "internal"): ("mdadm --grow --bitmap, sfdisk, partx --update, mdadm --grow --size, mdadm --grow --bitmap", "mdadm --grow --bitmap, mdadm --grow --size"),
    ("raid0", "1.0", ""): (None, None),
    ("raid0", "1.2", ""): (None, None),
    ("linear", "1.0", ""): (None, None),
}  # fmt: skip
"""By level, metadata and bitmap, the commands for a larger partition and for the array of which it is a member."""


@pytest.mark.parametrize("array", SIZE_OF_MEMBERS, ids=str)
def test_larger_members_take_their_superblocks_along(array: tuple[str, str, str], tmp_path: Path) -> None:
    """A superblock at the end of a member is found no more once that has grown, until mdadm moves it, without a bitmap."""
    level, metadata, bitmap = array
    words = f", bitmap: {bitmap}" if bitmap else ""
    text = (
        "hardware: {disks: {d<0-2>: {serial: S<1>, size: 8GiB, partitions: {p: {size: SIZE, type: raid}}}}}\n"
        f'arrays: {{a: {{level: {level}, members: [d0.p, d1.p, d2.p], metadata: "{metadata}"{words}}}}}\n'
    )
    before, after = (text.replace("SIZE", size) for size in ("2GiB", "4GiB"))
    partition, whole = SIZE_OF_MEMBERS[array]
    wanted = {"hardware.disks.d0": partition, "hardware.disks.d1": partition, "arrays.a": whole}
    told = _compare(before, after, wanted, tmp_path)
    for place in ("hardware.disks.d0", "arrays.a"):
        for each in (each for each in told if each.place == place and wanted[place]):
            conditions, commands = each.figures["conditions"], each.figures["commands"]
            assert (Before.SUPERBLOCK_MOVES in conditions) is (metadata != "1.2")  # type: ignore[operator]
            if bitmap == "internal" and metadata != "1.2":
                assert commands[0] == "mdadm --grow --bitmap=none /dev/md/a"  # type: ignore[index]
                assert commands[-2:] == ("mdadm --grow --size=max /dev/md/a", "mdadm --grow --bitmap=internal /dev/md/a")  # type: ignore[index]  # fmt: skip


def _compare(before: str, after: str, wanted: dict[str, str | None], root: Path) -> tuple[Refusal, ...]:
    """Each thing is said to be changed by the command, or made anew, by both; and `apply` refuses nothing else of them."""
    state, old, new = machine(root), plan_of_text(before, root), plan_of_text(after, root)
    assert apply(old, Simulated(old, root, state)) == "done"
    decided = decide(
        new, Simulated(new, root, state).read(new), read_past(root / "var/lib/raidplan"), here=False
    )
    made = diff(side(before), side(after))
    by_apply = [" ".join(step.action.argv) for step in decided.left.steps if isinstance(step.action, Run)]
    for place, command in wanted.items():
        named = [each.how and each.how.command for each in thing(made, place).changes]
        assert command in (*named, ", ".join(filter(None, named))), (place, named)
        at = ON_IT.get(place, place)
        told = [each for each in decided.refusals if each.place == at and each.case != "other-mount"]
        if command is None:
            assert told and not any(each.figures.get("commands") for each in told), told
        elif command == "none":
            assert [each for each in told if each.case != "stripe-stays"] == [], "it stays as it was made"
        else:
            assert all(each.figures.get("commands") for each in told), told
            commands = [str(each) for refusal in told for each in refusal.figures.get("commands", ())]  # type: ignore[union-attr]
            if not place.startswith("hardware"):  # the numbers of partitions are in test_partitions_agree
                assert not any(re.search(r"\b[A-Z]{2,}\b", each) for each in commands), commands
            said = [*commands, *by_apply]
            for part in command.removesuffix(", none").split(", "):
                assert any(all(word in each for word in part.split()) for each in said), (place, said)
    others = {each.place for each in decided.refusals if each.code == "differs"} - {*wanted, "arrays.a"}
    assert not [place for place in others if not place.startswith("hardware")], others
    return decided.refusals


def _of_content(before: str, after: str, place: str, root: Path) -> Figures:
    """The figures of the refusal of what stands on a device of another size."""
    hardware = DISKS.replace("TYPE", "raid").replace("SIZE", "2GiB, type: linux")
    state, old, new = (
        machine(root),
        plan_of_text(hardware + before, root),
        plan_of_text(hardware + after, root),
    )
    assert apply(old, Simulated(old, root, state)) == "done"
    read = Simulated(new, root, state).read(new)
    refusals = decide(new, read, read_past(root / "var/lib/raidplan"), here=False).refusals
    (told,) = (each for each in refusals if each.place == place)
    return told.figures


def test_a_swap_area_keeps_its_names_and_is_off_while_its_device_shrinks(tmp_path: Path) -> None:
    uuid = derived_uuid("h", "swap", "s")
    for size, conditions in (("768MiB", ()), ("400MiB", (Before.SWAP_OFF_FIRST,))):
        root = tmp_path / size
        root.mkdir()
        told = _of_content(_group() + SWAP, _group(size) + SWAP, S, root)
        made = f"mkswap --uuid={uuid} --label=spare /dev/vg/v"
        assert told["commands"] == ("swapoff /dev/vg/v", made, "swapon /dev/vg/v")
        assert told["conditions"] == conditions


def test_an_encrypted_swap_area_is_off_while_its_device_changes(tmp_path: Path) -> None:
    inside = "encryption: {c: {device: vg.v, key: ask}}\nswap: {s: {device: c}}\n"
    made = f"mkswap --uuid={derived_uuid('h', 'swap', 's')} /dev/mapper/c"
    for size, resize in (("768MiB", "c"), ("400MiB", f"--size={(400 - 16) * MIB // SECTOR} c")):
        root = tmp_path / size
        root.mkdir()
        told = _of_content(_group() + inside, _group(size) + inside, S, root)
        wanted = ("swapoff /dev/mapper/c", f"cryptsetup resize {resize}", made, "swapon /dev/mapper/c")
        assert told["commands"] == wanted


def test_a_smaller_physical_volume_ends_behind_its_last_extent(tmp_path: Path) -> None:
    told = _of_content(_on_array(4, _group(devices="a")), _on_array(3, _group(devices="a")), G, tmp_path)
    array = proof_size(_on_array(3, ""), tmp_path)
    front = align_up(MIB, 3 * 512 * KIB)
    left, before = (array - front) // (4 * MIB), (array // 2 * 3 - front) // (4 * MIB)
    assert told["commands"] == (
        f"pvmove /dev/md/a:{left}-{before - 1}",
        f"pvresize --setphysicalvolumesize={front + left * 4 * MIB}b /dev/md/a",
    )


def proof_size(text: str, root: Path) -> int:
    """The bytes of the array of a layout."""
    plan = plan_of_text(DISKS.replace("TYPE", "raid").replace("SIZE", "2GiB, type: linux") + text, root)
    return next(
        int(str(each.proof.expect["size"]))
        for each in plan.steps
        if each.proof and each.proof.kind == "array"
    )


def test_a_smaller_btrfs_is_told_in_bytes(tmp_path: Path) -> None:
    inside = "filesystems: {f: {device: vg.v, type: btrfs, mount: /f}}\n"
    told = _of_content(_group() + inside, _group("400MiB") + inside, F, tmp_path)
    assert told["commands"] == (f"btrfs filesystem resize {400 * MIB} /f",)


def test_a_size_that_is_not_read_differs_from_nothing(tmp_path: Path) -> None:
    """Neither does one of a machine as it was made, nor is anything made again because of one that differs."""
    hardware = (
        DISKS.replace("TYPE", "raid")
        .replace("SIZE", "2GiB, type: linux")
        .replace("serial", "wipe: true, serial")
    )
    text = hardware + _group() + SWAP + "filesystems: {f: {device: d1.q, type: btrfs, mount: /f}}\n"
    state, plan = machine(tmp_path), plan_of_text(text, tmp_path)
    assert apply(plan, Simulated(plan, tmp_path, state)) == "done"
    assert apply(plan, Simulated(plan, tmp_path, state)) == "nothing to do"
    past = read_past(tmp_path / "var/lib/raidplan")
    for kind, name in (("swap", "size"), ("filesystem", "blocks"), ("physical_volume", "extents")):
        (found,) = state.objects[kind].values()
        found[name] -= 4 * MIB
        decided = decide(plan, Simulated(plan, tmp_path, state).read(plan), past, here=False)
        assert [each.code for each in decided.refusals] == ["differs"] and decided.left.steps == ()
        del found[name]
        assert apply(plan, Simulated(plan, tmp_path, state)) == "nothing to do"


def test_what_is_encrypted_is_resized_in_the_order_in_which_it_fits(tmp_path: Path) -> None:
    hardware = DISKS.replace("TYPE", "raid").replace("SIZE", "2GiB, type: linux")
    for sizes in (("400MiB", "800MiB"), ("800MiB", "600MiB")):
        root = tmp_path / sizes[0]
        root.mkdir()
        before, after = (hardware + _group(size) + ENCRYPTED for size in sizes)
        told = _compare(before, after, {V: "lvreduce --size" if root.name == "800MiB" else "lvextend --size", F: "resize2fs"}, root)  # fmt: skip
        (each,) = (each for each in told if each.place == F and each.figures.get("commands"))
        node = "/dev/mapper/c"
        blocks = (600 - 16) * MIB // 4096
        smaller = (f"resize2fs {node} {blocks}", f"cryptsetup resize --size={(600 - 16) * MIB // SECTOR} c")
        larger = ("cryptsetup resize c", f"resize2fs {node}")
        assert each.figures["commands"] == (smaller if root.name == "800MiB" else larger)


DEVICES = {
    ("d0.q", "d0.q, d1.q"): (("pvcreate OPTIONS {d1.q}", "vgextend vg {d1.q}"), ()),
    ("d0.q, d1.q", "d0.q"): (("pvmove {d1.q}", "vgreduce vg {d1.q}"), (Before.DEVICE_LATER,)),
    ("d0.q, d1.q", "d2.q"): (
        ("pvcreate OPTIONS {d2.q}", "vgextend vg {d2.q}", "pvmove {d0.q}", "vgreduce vg {d0.q}", "pvmove {d1.q}", "vgreduce vg {d1.q}"),
        (Before.DEVICE_LATER,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("devices", DEVICES, ids=str)
def test_devices_of_a_group_are_named(devices: tuple[str, str], tmp_path: Path) -> None:
    """As `pvmove` and `vgextend` take them; every command of the row stands there, and nothing else."""
    hardware = DISKS.replace("TYPE", "raid").replace("SIZE", "2GiB, type: linux")
    old, new = (plan_of_text(hardware + _group(devices=each), tmp_path) for each in devices)
    state = machine(tmp_path)
    assert apply(old, Simulated(old, tmp_path, state)) == "done"
    past = read_past(tmp_path / "var/lib/raidplan")
    refusals = decide(new, Simulated(new, tmp_path, state).read(new), past, here=False).refusals
    (told,) = (each for each in refusals if each.place == G and each.code == "differs")
    nodes = {f"{{{name}}}": node_of(each) for plan in (old, new) for each, name in device_names(plan).items()}
    nodes |= {"OPTIONS": options_of_last(new)}
    wanted, conditions = DEVICES[devices]
    named = tuple(" ".join(nodes.get(word, word) for word in each.split()) for each in wanted)
    assert (told.figures["commands"], told.figures["conditions"]) == (named, conditions)


def options_of_last(plan: Plan) -> str:
    """The options by which the plan makes its last physical volume, save those that ask nobody."""
    *_, make = (step for step in plan.steps if step.proof and step.proof.kind == "physical_volume")
    assert isinstance(make.action, Run)
    uuid, no_file, alignment = make.action.argv[3:-1]
    assert make.action.argv[:3] == ("pvcreate", "--yes", "--quiet") and no_file == "--norestorefile"
    assert uuid.startswith("--uuid=") and alignment.startswith("--dataalignment=")
    return f"{uuid} {no_file} {alignment}"


def _grouped(old: str, new: str, folder: Path) -> tuple[Plan, State, Past]:
    """The plan of a group as it is to be, and the machine and its journal once the old one is applied."""
    hardware = DISKS.replace("TYPE", "raid").replace("SIZE", "2GiB, type: linux")
    made, planned = (plan_of_text(hardware + each, folder) for each in (old, new))
    state = machine(folder)
    assert apply(made, Simulated(made, folder, state)) == "done"
    return planned, state, read_past(folder / "var/lib/raidplan")


def test_a_group_is_extended_by_hand_to_what_the_plan_has(tmp_path: Path) -> None:
    """After each of the two commands `apply` goes on: the physical volume has the planned UUID, and is made no second time."""
    new, state, past = _grouped(_group(devices="d0.q"), _group(devices="d0.q, d1.q"), tmp_path)
    made = {step.proof.kind: step.proof for step in new.steps if step.proof}
    device = made["physical_volume"].expect["device"]
    state.objects["physical_volume"][made["physical_volume"].key] = {**made["physical_volume"].expect}
    state.content[str(device)] = [f"LVM2_member {made['physical_volume'].key}"]
    refusals = decide(new, Simulated(new, tmp_path, state).read(new), past, here=False).refusals
    (told,) = (each for each in refusals if each.place == G and each.code == "differs")
    assert told.figures["commands"] == (f"vgextend vg {node_of(str(device))}",)
    assert {each.code for each in refusals} == {"differs"}
    state.objects["volume_group"]["vg"]["devices"] = made["volume_group"].expect["devices"]
    after = decide(new, Simulated(new, tmp_path, state).read(new), past, here=False)
    assert (after.refusals, [step.id for step in after.left.steps if "physical" in step.id]) == ((), [])


def test_extents_are_those_of_the_group(tmp_path: Path) -> None:
    new, state, past = _grouped(_group(extent="4MiB"), _group(extent="1MiB"), tmp_path)
    (told,) = decide(new, Simulated(new, tmp_path, state).read(new), past, here=False).refusals
    assert told.figures["commands"] == ("vgchange --physicalextentsize=1048576b vg",)
