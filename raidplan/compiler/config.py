"""The host's configuration files, made of the lines that the parts of a layout add."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from raidplan.base.words import counted, listed
from raidplan.compiler.watch import watch_steps
from raidplan.layout.kinds.device import Line
from raidplan.plan.places import CRYPTTAB, FSTAB, MDADM_CONF, RULES_BEGIN, UDEV_RULES
from raidplan.plan.step import Proof, RenewInitramfs, Run, Step, WriteBlock, WriteFile
from raidplan.plan.switches import RELOAD_RULES
from raidplan.topology import Topology
from raidplan.topology.kept import kept
from raidplan.topology.resolve import Item


def config_steps(topology: Topology) -> Iterator[Step]:
    """The steps that write mdadm.conf, the udev rules and fstab, and let their readers read them again.

    Below a target nothing reads them before the target itself runs.
    """
    if not topology.target:
        yield from _all_steps(topology)
        return
    for step in _all_steps(topology):
        if not isinstance(step.action, Run) or step.proof is not None:
            yield replace(step, phase="configure")


def _all_steps(topology: Topology) -> Iterator[Step]:
    lines = [
        line for item in _items_to_make(topology) for line in item.kind.lines(item.name, item.path, topology)
    ]
    arrays = _of("mdadm.conf", lines)
    if arrays:
        yield _mdadm_conf(topology, arrays)
    tuned = _of("udev", lines)
    members = _of(f"udev where degraded arrays {topology.layout.boot.degraded}", lines)
    if tuned or members:
        yield from _udev(topology, tuned, members)
    encrypted = _of("crypttab", lines)
    if encrypted:
        yield _crypttab(topology, encrypted)
    first = topology.once(opened_first) if encrypted else ()
    written = [
        *(("config.mdadm.conf",) if arrays else ()),
        *(("config.udev",) if arrays and (tuned or members) else ()),
        *(("config.crypttab",) if first else ()),
    ]
    if written:
        yield _initramfs(arrays, first, tuple(written), on_volumes(topology))
    if arrays:
        yield from watch_steps(topology)
    mounts = _of("fstab", lines)
    if mounts:
        made = [step.id for step in _steps_of_mounts(topology)]
        more = (*(("config.crypttab",) if encrypted else ()), *(("config.initramfs",) if written else ()))
        yield from _fstab(topology, mounts, (*made, *more))
    elif encrypted:
        yield replace(_reload("config.crypttab", "crypttab"), because="encryption")


def opened_first(topology: Topology) -> tuple[str, ...]:
    """The UUIDs of the encryptions that the initramfs has to open: those below / and /usr (crypttab(5) of Debian).

    One that is kept has a UUID that its maker chose, and a line of its maker's in crypttab.
    """
    entries = topology.layout.filesystems.values()
    below = [
        each for entry in entries if entry.mount in ("/", "/usr") for each in topology.below(entry.device)
    ]
    sections = topology.layout.encryption
    return tuple(
        dict.fromkeys(
            sections[item.name].uuid(item.name, topology)
            for item in below
            if item.path[0] == "encryption" and item.path not in kept(topology)
        )
    )


def on_volumes(topology: Topology) -> bool:
    """Whether the initramfs has to activate volumes: / or /usr stands on one, kept or not, since that asks for a program and no name."""
    entries = [entry for entry in topology.layout.filesystems.values() if entry.mount in ("/", "/usr")]
    return any(each.path[0] == "volume_groups" for entry in entries for each in topology.below(entry.device))


def _items_to_make(topology: Topology) -> Iterator[Item]:
    """The things that are not described only."""
    return (item for item in topology.items if item.path not in kept(topology))


def _of(file: str, lines: list[Line]) -> list[str]:
    return [line.text for line in lines if line.file == file]


def _steps_of_mounts(topology: Topology) -> Iterator[Step]:
    """The steps that make the objects named in fstab: a line for a missing one would be worse than none."""
    for item in _items_to_make(topology):
        yield from (
            step for step in item.kind.steps(item.name, item.path, topology) if step.phase == "format"
        )


def _mdadm_conf(topology: Topology, arrays: list[str]) -> Step:
    mail = topology.layout.monitoring.mail
    # Lines that name one array each; what would count for those of others too (CREATE, HOMEHOST, AUTO, POLICY) is left
    # alone, but for the address, of which there is one. Before the first line, because mdadm takes the first MAILADDR.
    content = "\n".join([*([f"MAILADDR {mail}"] if mail else []), *arrays]) + "\n"
    return Step(
        id="config.mdadm.conf",
        phase="prepare",
        say=f"name {counted(len(arrays), 'array')} in {MDADM_CONF}" + (f", alarms to {mail}" if mail else ""),
        action=WriteBlock(MDADM_CONF, content, topology.host, at_top=True),
        because="arrays",
        targets=(MDADM_CONF,),
    )


def _udev(topology: Topology, tuned: list[str], members: list[str]) -> Iterator[Step]:
    file = UDEV_RULES.format(host=topology.host)
    waits = topology.layout.boot.degraded == "wait"
    degraded = "leaves those that lack a member to a person" if waits else "starts those that lack a member"
    content = "\n".join(
        [f"{RULES_BEGIN}: tunes arrays whenever they appear, and {degraded}.", *tuned, *members, ""]
    )
    what = [f"tune {counted(len(tuned), 'array')}"] if tuned else []
    if members:
        arrays = counted(len(members), "array")
        what.append(
            f"leave {arrays} to a person if a member is missing"
            if waits
            else f"start {arrays} that may be degraded"
        )
    yield Step(
        id="config.udev",
        phase="prepare",
        say=f"let udev, at every boot, {' and '.join(what)}, by {file}",
        action=WriteFile(file, content),
        because="arrays",
        targets=(file,),
    )
    yield Step(
        id="config.udev.reload",
        phase="prepare",
        say="let udev read its rules again",
        action=Run(RELOAD_RULES),
        because="arrays",
        needs=("config.udev",),
        follows=("config.udev",),
        targets=("udev",),
    )


def _crypttab(topology: Topology, lines: list[str]) -> Step:
    steps = (
        step for item in _items_to_make(topology) for step in item.kind.steps(item.name, item.path, topology)
    )
    return Step(
        id="config.crypttab",
        phase="configure",
        say=f"write {counted(len(lines), 'line')} to {CRYPTTAB}",
        action=WriteBlock(CRYPTTAB, "\n".join(lines) + "\n", topology.host),
        because="encryption",
        needs=tuple(step.id for step in steps if step.proof and step.proof.kind == "encryption"),
        targets=(CRYPTTAB,),
    )


def _initramfs(
    arrays: list[str], encrypted: tuple[str, ...], written: tuple[str, ...], volumes: bool
) -> Step:
    words = [word.partition("=") for line in arrays for word in line.split()]
    aims = [
        *(["arrays keep their names"] if arrays else []),
        *(["it opens the encryption"] if encrypted else []),
        *(["it finds the volumes"] if volumes else []),
    ]
    opens = {f"opens {uuid}": True for uuid in encrypted} | ({"volumes": True} if volumes else {})
    return Step(
        id="config.initramfs",
        phase="configure",
        say=f"update the initramfs, so that {listed(aims, last=' and ')} at boot",
        action=RenewInitramfs(
            tuple(value for key, _, value in words if key == "UUID"), encrypted=encrypted, volumes=volumes
        ),
        because="arrays" if arrays else "encryption",
        needs=written,
        follows=written,
        targets=("initramfs",),
        proof=Proof("initramfs", "current", {"fresh": True, **opens}),
    )


def _fstab(topology: Topology, mounts: list[str], needs: tuple[str, ...]) -> Iterator[Step]:
    content = "\n".join(mounts) + "\n"
    yield Step(
        id="config.fstab",
        phase="configure",
        say=f"write {counted(len(mounts), 'line')} to {FSTAB}",
        action=WriteBlock(FSTAB, content, topology.host),
        because="filesystems",
        needs=needs,
        targets=(FSTAB,),
    )
    yield _reload("config.fstab", "fstab")


def _reload(after: str, file: str) -> Step:
    return Step(
        id=f"{after}.reload",
        phase="configure",
        say=f"let systemd read {file} again",
        action=Run(("systemctl", "daemon-reload")),
        because="filesystems",
        needs=(after,),
        follows=(after,),
        targets=("systemd",),
    )
