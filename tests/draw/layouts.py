"""Random layouts for pictures: deep wirings, long names, nested arrays, volumes, hostile labels."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from hypothesis import HealthCheck, Phase, assume, settings
from hypothesis import strategies as st

from raidplan.base.findings import Finding
from raidplan.layout.load import layout_of
from raidplan.topology import Topology, resolve

HOSTILE = ("<script>alert(1)</script>", "]]>", "--><svg/onload=x>", '"]; click t0 "javascript:x"', "&amp;&lt;",
           "`'\"", "#quot; #35;", "%%{init: {}}%%", "end", "a|b|c", "```", "@octocat #1", "日本語のラベル", "𝔘𝔫𝔦", "مرحبا",
           "W" * 90)  # fmt: skip
"""Labels and mount points that a layout may hold, and that would do something elsewhere."""
LEVELS = {"raid0": 2, "raid1": 2, "raid5": 3, "raid6": 4, "raid10": 2, "linear": 2}
NAMES = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,8}|[WMm]{1,64}", fullmatch=True)


def topology(layout: dict[str, Any]) -> Topology:
    """What a layout of plain values means; it must be right."""
    made, findings = _resolved(layout)
    assert not findings
    return made


def _resolved(layout: dict[str, Any]) -> tuple[Topology, list[Finding]]:
    return resolve(layout_of(_text({"version": 1, "host": "h", **layout})))


def _text(value: Any) -> Any:
    """As a document gives it: every scalar is text."""
    if isinstance(value, dict):
        return {key: _text(entry) for key, entry in value.items()}
    return [_text(entry) for entry in value] if isinstance(value, list) else str(value)


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, Any]:
    """A machine of up to 30 disks, and what may stand on them."""
    stems = draw(st.lists(NAMES, min_size=1, max_size=5))
    names = (f"{stem[: 64 - len(str(n))]}{n}" for n, stem in enumerate(cycle(stems)))
    hardware = draw(hardwares(names=names))
    free = [
        device
        for name, disk in hardware["disks"].items()
        for device in ([f"{name}.{part}" for part in disk.get("partitions", ())] or [name])
    ]
    layout: dict[str, Any] = {"host": next(names), "hardware": hardware, "arrays": {}, "volume_groups": {}}

    def take(least: int, most: int) -> list[str]:
        count = min(draw(st.integers(least, most)), len(free))
        return [free.pop(draw(st.integers(0, len(free) - 1))) for _ in range(count)]

    for _ in range(draw(st.integers(0, 6))):
        level = draw(st.sampled_from(sorted(LEVELS)))
        if len(free) < LEVELS[level]:
            continue
        array: dict[str, Any] = {"level": level, "members": take(LEVELS[level], 9)}
        if level not in ("raid0", "linear"):
            array["spares"] = take(0, 2)
        name = next(names)
        layout["arrays"][name] = array
        free.append(name)
    for _ in range(draw(st.integers(0, 2))):
        if free:
            group, volumes = next(names), [next(names) for _ in range(draw(st.integers(0, 4)))]
            layout["volume_groups"][group] = {
                "devices": take(1, 3),
                "volumes": {volume: {"size": "300MiB"} for volume in volumes},
            }
            free += [f"{group}.{volume}" for volume in volumes]
    layout |= draw(mounted(free, names=names))
    assume(not _resolved(layout)[1])  # volumes may be too many for their group
    return layout


@st.composite
def mounted(draw: st.DrawFn, free: list[str], *, names: Any) -> dict[str, Any]:
    """File systems and swap areas on some of what is left."""
    filesystems, swap = {}, {}
    for number, device in enumerate(free):
        match draw(st.sampled_from(["filesystem", "swap", "nothing"])):
            case "filesystem":
                point = draw(st.sampled_from(HOSTILE)).replace("/", "")
                entry = {"device": device, "type": "btrfs", "mount": f"/{number}{point}"}
                filesystems[next(names)] = entry | {"label": draw(st.sampled_from(HOSTILE))}
            case "swap":
                swap[next(names)] = {"device": device, "priority": number}
    if filesystems and draw(st.booleans()):
        home = draw(st.sampled_from([entry["mount"] for entry in filesystems.values()]))
        swap[next(names)] = {"file": f"{home}/swapfile", "size": "1GiB"}
    return {"filesystems": filesystems, "swap": swap}


@st.composite
def hardwares(draw: st.DrawFn, *, names: Any) -> dict[str, Any]:
    """A forest of components, disks anywhere on it or nowhere, shelves and supplies across it."""
    carriers: list[str] = []

    def some(most: int, *, must: bool = False, **more: Any) -> dict[str, Any]:
        made = {}
        for _ in range(draw(st.integers(0, most))):
            above = draw(st.sampled_from(carriers)) if carriers and (must or draw(st.booleans())) else None
            if above or not must:
                name = next(names)
                stated = {key: value for key, value in more.items() if draw(st.booleans()) or key == "type"}
                made[name] = stated | ({"behind": above} if above else {})
                carriers.append(name)
        return made

    hardware: dict[str, Any] = {
        "buses": some(3, type="pcie", generation=2, lanes=4),
        "controllers": some(4, speed="6Gbps", ports=8, rate="300MB/s"),
        "multipliers": some(5, must=True, speed="3Gbps", ports=5, switching="command"),
        "expanders": some(2, must=True, speed="12Gbps", lanes=4),
        "disks": {},
    }
    for number in range(draw(st.integers(1, 30))):
        disk: dict[str, Any] = {"serial": f"S{number}"}
        if draw(st.integers(0, 9)):
            disk["size"] = "16GiB"
        if carriers and draw(st.integers(0, 9)):
            disk["behind"] = draw(st.sampled_from(carriers))
        if draw(st.booleans()):
            disk["rate"] = "100MB/s"
        parts = draw(st.integers(0, 5)) if draw(st.booleans()) else 0
        if parts:
            disk["partitions"] = {
                next(names) if number < 3 else f"p{n}": {"size": "2GiB"} for n in range(parts)
            }
        hardware["disks"][f"d{number}"] = disk
    disks = list(hardware["disks"])
    lists = st.lists(st.sampled_from(disks), max_size=5, unique=True)
    hardware["enclosures"] = {next(names): {"disks": draw(lists)} for _ in range(draw(st.integers(0, 2)))}
    fed = st.lists(st.sampled_from([*disks, *carriers]), max_size=5, unique=True)
    hardware["power"] = {next(names): {"feeds": draw(fed)} for _ in range(draw(st.integers(0, 2)))}
    return hardware


MANY = settings(
    max_examples=40,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shrinking a whole machine takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
