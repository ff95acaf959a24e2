"""`python -m bench.predicted`: what is predicted for the systems of the accounts, and what was stated there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from raidplan.document import parse_document
from raidplan.estimate.estimate import estimate
from raidplan.estimate.result import Estimate, Estimates
from raidplan.layout.load import load_layout
from raidplan.topology import resolve

EXAMPLES = Path(__file__).parents[1] / "examples"
MB, MIB, HOUR = 1e6, 1024**2 / 1e6, 3600.0
Figure = Callable[[Estimates], float | None]

UNKNOWN_RATE = "the rate of the disks is assumed; "
NETWORK = "the network is not in the model: gigabit Ethernet carries 125 MB/s on the line, 118 of data, and NFS and Samba wait for answers"
LVM_DISKS = (0, 1, 2, 3, 4, 5, 7)
LVM_RATES = (
    "{each: [90.6MB/s, 86.2MB/s, 59.2MB/s, 89.3MB/s, 94.7MB/s, 54.3MB/s]}",
    "{each: [83.0MB/s, 89.7MB/s]}",
)
LINKS_ALONE = tuple((f"rate: {rate}", "rate: 99GB/s") for rate in LVM_RATES)
"""Disks so fast that nothing but links is left."""
GIGABIT = 118
"""MB/s of TCP's data over gigabit Ethernet: 1448 of 1538 bytes on the line for each packet."""
WAITING = "only that: network and array one after the other, neither of them ahead"
CACHED = 998.73 * MIB
"""MB/s that hdparm read from memory on the machine of 2009."""
BOX = "its processor: the figures hardly differ between stripe, mirror and single disk"
OLD_PARTS = "only that: platters, links (by the table) and memory (1047 MB/s, hdparm's cached reads) one after the other"
WHOLE = "not every stripe is written whole"
HALF = "every second block with reads of old data and parity, on the same bus; how many there were is not stated, and half is assumed"


@dataclass(frozen=True)
class Row:
    """One stated figure and its prediction."""

    system: str
    what: str
    example: str
    figure: Figure
    stated: tuple[float, ...]
    """In the same unit; several where the account has several."""
    unit: str
    why: str
    """The reason of the difference, and what the prediction rests on."""
    changes: tuple[tuple[str, str], ...] = ()
    """Of the example's text: to leave out a rate that its author took from this very figure."""
    bound: bool = True
    """The prediction is an upper bound."""

    @property
    def predicted(self) -> float:
        """From the layout alone."""
        found = self.figure(estimates(self.example, self.changes))
        assert found is not None, (self.system, self.what)
        return found


def read(name: str) -> Figure:
    """MB/s of an array alone."""
    return lambda all_of: (_thing(all_of, name).alone.read.bytes_per_second or 0) / MB


def write(name: str) -> Figure:
    """MB/s of an array alone."""
    return lambda all_of: (_thing(all_of, name).alone.write.bytes_per_second or 0) / MB


def hours(name: str) -> Figure:
    """Of a rebuild, or of the first sync, which goes over as much."""
    return lambda all_of: (_thing(all_of, name).rebuild.seconds or 0) / HOUR


def terabytes(*names: str) -> Figure:
    """Of arrays, in TB of 10^12 bytes."""
    return lambda all_of: sum(_thing(all_of, name).capacity or 0 for name in names) / 1e12


def after(figure: Figure, *others: Figure | float) -> Figure:
    """The rate of bytes that pass several things, of which none works while another one does."""
    rates = (figure, *others)
    return lambda all_of: 1 / sum(1 / (each(all_of) or 1 if callable(each) else each) for each in rates)


def start(figure: Figure, part: float) -> Figure:
    """A part of a figure."""
    return lambda all_of: (figure(all_of) or 0) * part


def half_whole(name: str) -> Figure:
    """MB/s written to a RAID5 behind a full bus, half in whole stripes, half with data and parity read and written for each block.

    The latter moves four times what a read does.
    """
    return in_turn(write(name), start(read(name), 1 / 4))


def read_of(example: str, members: str, fewer: str, *more: tuple[str, str]) -> Figure:
    """MB/s of a stripe of fewer of the members of an example's one array."""
    changes = (("level: raid5", "level: raid0"), (f"members: {members}", f"members: {fewer}"), *more)
    return lambda _: (estimates(example, changes).arrays[0].alone.read.bytes_per_second or 0) / MB


def in_turn(*figures: Figure) -> Figure:
    """The rate of equal parts at each of several rates, one after the other."""
    return lambda all_of: len(figures) / sum(1 / (figure(all_of) or 1) for figure in figures)


def in_links(figure: Figure) -> Figure:
    """Of the machine of 2009, if its disks were as fast as can be."""
    return lambda _: figure(estimates("lvm-test-host-cure", LINKS_ALONE))


def one_of_2009(*more: tuple[str, str]) -> Figure:
    """MB/s of its disks, one at a time."""
    return in_turn(*(read_of("lvm-test-host-mistake", "[t<0-5>, t7]", f"[t{n}]", *more) for n in LVM_DISKS))


def seeks(name: str) -> Figure:
    """Small reads per second."""
    return lambda all_of: _thing(all_of, name).alone.read.iops


def no_faster(figure: Figure, most: float) -> Figure:
    """A figure, or a limit where that is less."""
    return lambda all_of: min(figure(all_of) or 0, most)


def each_of(count: int, figure: Figure) -> Figure:
    """For each of so many disks."""
    return lambda all_of: (figure(all_of) or 0) / count


def watts(all_of: Estimates) -> float:
    """Of the machine."""
    return all_of.machine.watts


def fatal_disks(all_of: Estimates) -> float:
    """How many disks stop the running system when they fail alone."""
    losses = all_of.machine.fates["running"].losses
    return sum(not loss.survived for loss in losses if loss.kind == "disk")


def _thing(all_of: Estimates, name: str) -> Estimate:
    return next(array for array in all_of.arrays if array.name == name)


@cache
def estimates(example: str, changes: tuple[tuple[str, str], ...] = ()) -> Estimates:
    """Of an example, with parts of its text replaced."""
    text = (EXAMPLES / f"{example}.yaml").read_text()
    for old, new in changes:
        assert old in text, (example, old)
        text = text.replace(old, new)
    document, problems = parse_document(text, example)
    assert document is not None and not problems, problems
    layout, findings = load_layout(document)
    assert layout is not None, findings
    return estimate(resolve(layout)[0])


ROWS = (
    Row("1 Tel-Aviv JBOD", "read, one array (zcav), four lanes for each card", "tel-aviv-jbod", read("s0"), (494 * MIB, 506 * MIB), "MB/s",
        "the cards: bound by the assumed rate of the disks, fewer multipliers on a card could not be faster, as the account says they are"),
    Row("1 Tel-Aviv JBOD", "the same, one lane for each card", "tel-aviv-as-built", read("s0"), (494 * MIB, 506 * MIB), "MB/s",
        "three members of each array on a card: 205 / 3 for each of eight. The cards are assumed, after the board "
        "and Backblaze's parts; so are the level and the rate of the disks, which does not matter below 150"),
    Row("1 Tel-Aviv JBOD", "read, one array (hdparm)", "tel-aviv-as-built", read("s0"), (366.81 * MIB,), "MB/s",
        "three seconds from a cold start, in which zcav read 324 MB/s too"),
    Row("1 Tel-Aviv JBOD", "the same figure, from the start on: zcav's first GiB", "tel-aviv-as-built", start(read("s0"), 308.82 / 500), (366.81 * MIB,), "MB/s",
        "only the start of zcav (309 of 500 MiB/s) taken over from the account", bound=False),
    Row("1 Tel-Aviv JBOD", "write, one array", "tel-aviv-as-built", write("s0"), (344,), "MB/s",
        "the lanes carry the two parities too"),
    Row("1 Tel-Aviv JBOD", "read over NFS", "tel-aviv-as-built", read("s0"), (86.1,), "MB/s", NETWORK),
    Row("1 Tel-Aviv JBOD", "the same, network and array in turn", "tel-aviv-as-built", after(read("s0"), GIGABIT), (86.1,), "MB/s", WAITING, bound=False),
    Row("1 Tel-Aviv JBOD", "write over NFS", "tel-aviv-as-built", write("s0"), (2 * 6710.8864 / (97.0069 + 77.2204),), "MB/s",
        f"{NETWORK}. Two runs of one command, 69.2 and 86.9 MB/s, together"),
    Row("1 Tel-Aviv JBOD", "the same, network and array in turn", "tel-aviv-as-built", after(write("s0"), GIGABIT),
        (2 * 6710.8864 / (97.0069 + 77.2204),), "MB/s", WAITING, bound=False),
    Row("2 Rio, crash", "disks that stop the machine", "rio-swap-mistake", fatal_disks, (4,), "of 4",
        "one failed and the machine crashed, the array intact; equal swap on each of the four", bound=False),
    Row("2 Rio, crash", "the same with mirrored swap", "rio-swap-cure", fatal_disks, (0,), "of 4",
        "the cure is not in the account, which expects a quarter of the risk from swap on one disk", bound=False),
    Row("3 Rio 2007", "read (Bonnie++ on XFS, dd)", "rio-2007", read("rio"), (126927 * 1024 / MB, 138), "MB/s",
        "65 MB/s per disk are half of the 129 written; so this compares reading with writing: near copies read "
        "like half the disks. dd is 6 % above: the layout's rate is one that writing reached"),
    Row("3 Rio 2007", "write (Bonnie++ on XFS, dd)", "rio-2007", write("rio"), (126942 * 1024 / MB, 129), "MB/s",
        "circular: the rate of the disks was taken from it"),
    Row("3 Rio 2007", "read, write on ext3", "rio-2007", read("rio"), (117808 * 1024 / MB, 103617 * 1024 / MB), "MB/s",
        "the cost of ext3's block map and journal is not in the model"),
    Row("3 Rio 2007", "random seeks (Bonnie++)", "rio-2007", seeks("rio"), (415.8, 285.4), "per s",
        "75 per disk is for seeks over the whole disk; Bonnie++ seeks within 16 of 600 GB, partly in memory",
        bound=False),
    Row("4 SoHo server", "each of 24 disks behind an expander", "sas-expander", each_of(24, read("wide")), (50,), "MB/s",
        "50 is the line rate (1200 / 24); 0.92 of it are left for data", bound=False),
    Row("4 SoHo server", "power of 16 of the 20 disks", "norco-rpc4020", lambda all_of: watts(all_of) - 100, (160, 240), "W",
        "10 to 15 W per disk are stated and 12 assumed; the 100 W of the rest, assumed in the layout, are taken off",
        bound=False),
    Row("4 SoHo server", "3-disk RAID5 over Samba", "office-file-server", read("shares"), (75,), "MB/s", NETWORK),
    Row("4 SoHo server", "the same, network and array in turn", "office-file-server", after(read("shares"), GIGABIT), (75,), "MB/s", WAITING, bound=False),
    Row("5 File server 2013", "power, idle and busy", "file-server-2013", watts, (80, 100), "W",
        "12 W per disk is for working 7200 rpm disks of 3.5\"; 50 W for the rest are assumed; the disks are not "
        "named, and the load stressed the processor, not them"),
    Row("5 File server 2013", "the same, disks that turn and do nothing", "file-server-2013", lambda all_of: watts(all_of) - 8 * (12 - 5), (80, 100), "W",
        "5 W for each of eight idle disks, as data sheets of 3.5\" disks have it", bound=False),
    Row("6 Office file server", "redundant space in all", "office-file-server", terabytes("shares", "moved"), (4,), "TB",
        "stated as more than 4; three of the disks are assumed"),
    Row("9 Pegasus2 R4", "initial sync", "pegasus2-r4", hours("pegasus"), (8,), "h",
        "held to 100 MB/s per disk; 3 TB at this pace", bound=False),
    Row("9 Pegasus2 R4", "usable space", "pegasus2-r4", terabytes("pegasus"), (9,), "TB", "the same"),
    Row("9 Pegasus2 R4", "read (AJA, BlackMagic)", "pegasus2-r4", read("pegasus"), (480, 475), "MB/s",
        "at the 210 MB/s of the data sheet of the ST3000DM001; over Thunderbolt 1 and through a hardware controller",
        (("rate: 180MB/s", "rate: 210MB/s"),)),
    Row("9 Pegasus2 R4", "the same, disks as fast as when written", "pegasus2-r4", read("pegasus"), (480, 475), "MB/s",
        "180 MB/s per disk: a third of the 550 MB/s that three disks of data were written at"),
    Row("9 Pegasus2 R4", "write (AJA, BlackMagic)", "pegasus2-r4", write("pegasus"), (550, 530), "MB/s",
        "the same; its battery-backed cache of 512 MB helps", (("rate: 180MB/s", "rate: 210MB/s"),)),
    Row("10 MicroNet NAS", "building the mirror", "micronet-nas", hours("backup"), (4,), "h",
        "without the controller's 70 MB/s, which the layout takes from these hours; the box could not move more",
        ((", rate: 70MB/s", ""),), bound=False),
    Row("10 MicroNet NAS", "the same, with the controller's 70 MB/s", "micronet-nas", hours("backup"), (4,), "h",
        "circular: the rate was taken from it", bound=False),
    Row("10 MicroNet NAS", "read of a large file, mirror (NFS)", "micronet-nas", read("backup"), (10.257,), "MB/s", BOX, ((", rate: 70MB/s", ""),)),
    Row("10 MicroNet NAS", "the same, no faster than without an array", "micronet-nas", no_faster(read("backup"), 8.919), (10.257,), "MB/s",
        "only that: 8.919 MB/s are stated of a single disk", ((", rate: 70MB/s", ""),), bound=False),
    Row("10 MicroNet NAS", "read of a large file, mirror (Samba)", "micronet-nas", read("backup"), (10.007,), "MB/s", BOX, ((", rate: 70MB/s", ""),)),
    Row("10 MicroNet NAS", "the same, no faster than without an array", "micronet-nas", no_faster(read("backup"), 11.723), (10.007,), "MB/s",
        "only that: 11.723 MB/s are stated of a single disk", ((", rate: 70MB/s", ""),), bound=False),
    Row("10 MicroNet NAS", "write of a large file, mirror (NFS)", "micronet-nas", write("backup"), (5.328,), "MB/s", BOX, ((", rate: 70MB/s", ""),)),
    Row("10 MicroNet NAS", "the same, no faster than without an array", "micronet-nas", no_faster(write("backup"), 5.62), (5.328,), "MB/s",
        "only that: 5.62 MB/s are stated of a single disk", ((", rate: 70MB/s", ""),), bound=False),
    Row("10 MicroNet NAS", "write of a large file, mirror (Samba)", "micronet-nas", write("backup"), (8.73,), "MB/s", BOX, ((", rate: 70MB/s", ""),)),
    Row("10 MicroNet NAS", "the same, no faster than without an array", "micronet-nas", no_faster(write("backup"), 9.542), (8.73,), "MB/s",
        "only that: 9.542 MB/s are stated of a single disk", ((", rate: 70MB/s", ""),), bound=False),
    Row("11 LVM test host", "read from md (hdparm, dd)", "lvm-test-host-cure", read("md0"), (178.98 * MIB, 2097.152 / 10.9341), "MB/s",
        "the slowest of seven measured disks sets the pace (6 x 54.3), if one reader keeps all parts busy at the same time; here it waits"),
    Row("11 LVM test host", "the same, its parts in turn", "lvm-test-host-cure", after(read("md0"), in_links(read("md0")), CACHED),
        (178.98 * MIB, 2097.152 / 10.9341), "MB/s", OLD_PARTS, bound=False),
    Row("11 LVM test host", "read through LVM (hdparm, dd)", "lvm-test-host-mistake", read("md0"), (48.62 * MIB, 2097.152 / 41.1147), "MB/s",
        "reads 128 KiB ahead, half a chunk, so that one disk works at a time, and waits; `check` says so (volume-read-ahead-low)"),
    Row("11 LVM test host", "the same, one disk at a time, its parts in turn", "lvm-test-host-mistake", after(one_of_2009(), one_of_2009(*LINKS_ALONE), CACHED),
        (48.62 * MIB, 2097.152 / 41.1147), "MB/s", f"{OLD_PARTS}, disk by disk", bound=False),
    Row("13 2 TB RAID5, 2005", "read from md", "raid5-2005-lvm", read("storagearray"), (182.707079,), "MB/s",
        "the PCI bus is the bottleneck: eight times the quarter of 95 MB/s, which is what four disks at once had "
        "(340 in all less 245 on the other controller)"),
    Row("13 2 TB RAID5, 2005", "read from md, bus by the table", "raid5-2005-lvm", read("storagearray"), (182.707079,), "MB/s",
        "without the measured rate: 0.75 of 133 MB/s", ((", rate: 95MB/s", ""),)),
    Row("13 2 TB RAID5, 2005", "read through ext3", "raid5-2005", read("storage"), (174.272366,), "MB/s",
        "the file system's own work is not in the model"),
    Row("13 2 TB RAID5, 2005", "write through ext3", "raid5-2005", write("storage"), (82.056337,), "MB/s", WHOLE),
    Row("13 2 TB RAID5, 2005", "the same, half of it in whole stripes", "raid5-2005", half_whole("storage"), (82.056337,), "MB/s",
        f"only that: {HALF}. None whole would be 48", bound=False),
    Row("13 2 TB RAID5, 2005", "read through LVM, with ext3 and without", "raid5-2005-lvm", read("storagearray"), (103.078283, 90.728421), "MB/s",
        "LVM reads 128 KiB ahead, two chunks, so that two disks work at a time; `check` says so (volume-read-ahead-low)"),
    Row("13 2 TB RAID5, 2005", "the same, two disks at a time", "raid5-2005-lvm",
        in_turn(read_of("raid5-2005-lvm", "[bl<0-7>]", "[bl<0-1>]"), read_of("raid5-2005-lvm", "[bl<0-7>]", "[bl<4-5>]")), (103.078283, 90.728421), "MB/s",
        "only that: half of the time on the fast controller, half on the bus", bound=False),
    Row("13 2 TB RAID5, 2005", "write through LVM and ext3", "raid5-2005-lvm", write("storagearray"), (79.942404, 90.286367), "MB/s", WHOLE),
    Row("13 2 TB RAID5, 2005", "the same, half of it in whole stripes", "raid5-2005-lvm", half_whole("storagearray"), (79.942404, 90.286367), "MB/s",
        "only that, as without LVM", bound=False),
    Row("13 2 TB RAID5, 2005", "read over Ethernet", "raid5-2005", read("storage"), (60,), "MB/s",
        "the network is not in the model; the account supposes the board's second interface on the PCI bus that half of the disks use"),
    Row("13 2 TB RAID5, 2005", "the same, the network on that bus", "raid5-2005", after(read("storage"), 95), (60,), "MB/s",
        "only that: every byte crosses the bus once more, at its 95 MB/s. Which interface was used is not stated", bound=False),
    Row("13 2 TB RAID5, 2005", "write over Ethernet", "raid5-2005", write("storage"), (35,), "MB/s",
        f"the network on that bus, and {WHOLE}"),
    Row("13 2 TB RAID5, 2005", "the same, with both", "raid5-2005", after(half_whole("storage"), 95), (35,), "MB/s",
        "only that: half of it in whole stripes, as above, and every byte over the bus once more", bound=False),
    Row("14 Commenter's RAID5", "read from md, through LVM", "commenter-raid5", read("home"), (87.37, 104.54), "MB/s",
        f"{UNKNOWN_RATE}read-ahead: 4096 sectors gave 104.54 through LVM, 2048 gave 87.37 from md"),
    Row("14 Commenter's RAID5", "read through LVM, 256 sectors ahead", "commenter-raid5", read("home"), (51.54,), "MB/s",
        "LVM reads 128 KiB ahead; `check` says so where a layout asks for it"),
    Row("14 Commenter's RAID5", "the same, one disk at a time", "commenter-raid5", each_of(2, read("home")), (51.54,), "MB/s",
        "only that; read-ahead of a chunk or two of the array", bound=False),
)  # fmt: skip
"""Every figure of the accounts that a layout can be held against, by the number of the system."""

NOT_PREDICTED = (
    ("1 Tel-Aviv JBOD", "about 40 MB/s read and half of it written in the first build", "its wiring is not described"),
    ("1 Tel-Aviv JBOD", "308.82 MiB/s where zcav began, and 5523 MB/s from memory", "why it began slowly is not stated; memory is not a disk"),
    ("3 Rio 2007", "a job that took 2 h took 1 h 10 min", "memory, level, disks and file system changed together"),
    ("4 SoHo server", "PCI 133, one lane 250, four lanes 1000 MB/s", "these are line rates, as in the table of links"),
    ("4 SoHo server", "a Drobo at about 20 and a NAS at 10 MB/s", "other machines, whose insides are not described"),
    ("7 Dell R710", "that it works great", "no figure"),
    ("8 Forecast server", "100,000,000 inodes", "exact: `plan` prints the inodes that mke2fs makes"),
    ("10 MicroNet NAS", "the same files on a stripe and on single disks, and 4222 small ones", "the network and the box again; no layout"),
    ("11 LVM test host", "125 MB/s from md and 43.0 through LVM as dd's averages of three runs", "the bytes and seconds beside them are 192 and 51.0 MB/s"),
    ("11 LVM test host", "140 MB/s with XFS on another box", "its disks are not described"),
    ("12 Cluster case, 2009", "the price of its parts", "not a figure of storage"),
    ("13 2 TB RAID5, 2005", "340 MB/s of all eight disks at once, 245 of four, 129 on a reader's board", "what the bus is taken from"),
)  # fmt: skip


def table() -> Iterator[str]:
    """A Markdown table."""
    yield "| system | figure | predicted | stated | predicted / stated | why they differ, and what the prediction rests on |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in ROWS:
        predicted = row.predicted
        stated = ", ".join(f"{value:.3g}" for value in row.stated)
        ratio = ", ".join(f"{predicted / value:.2f}" if value else "-" for value in row.stated)
        most = "at most " if row.bound else ""
        yield f"| {row.system} | {row.what} | {most}{predicted:.3g} {row.unit} | {stated} {row.unit} | {ratio} | {row.why} |"
    yield ""
    yield "Stated, and not predicted:"
    yield ""
    yield from (f"- {system}: {what}; {why}." for system, what, why in NOT_PREDICTED)


if __name__ == "__main__":
    print("\n".join(table()))
