"""The documentation of findings that are made before any rule runs: a layout that cannot be read or understood."""

from __future__ import annotations

from raidplan.base.findings import Severity
from raidplan.rules.lib.engine import stated


@stated(Severity.ERROR)
def unreadable_layout() -> None:
    """The layout, or the hardware file that it names, cannot be read.

    Why: what cannot be read is not guessed. A layout is a regular file of UTF-8 text, at most 4 MiB, so that a
    wrong name or a device in its place is noticed before anything else happens.

    Bad:
        hardware: storage1.hardware.yaml    # <-- here

    Good:
        hardware:
          disks: {d0: {serial: WD-A1, size: 3TB}}

    Source: the layout file's own contract.
    """


@stated(Severity.ERROR)
def invalid_yaml() -> None:
    """The text is not YAML, or uses a part of YAML that two readers could understand differently.

    Why: duplicate keys, anchors, aliases, tags, merge keys and invisible characters let a file look like one
    thing to its reviewer and be another to a program. In a file that says which disks are written to, they are
    refused.

    Bad:
        hardware:
          disks:
            d0: {serial: WD-A1}
            d0: {serial: WD-B2}    # <-- here

    Good:
        hardware:
          disks:
            d0: {serial: WD-A1}
            d1: {serial: WD-B2}

    Source: YAML 1.1 and 1.2; CVE-2021-42574 for text that is reordered.
    """


@stated(Severity.ERROR)
def invalid_range() -> None:
    """A range in the compact form cannot be written out.

    Why: ranges such as `d<0-7>` stand for entries. One that counts backwards, repeats a name, refers to a
    range that is not there or makes more than 250,000 entries means nothing, or not what was meant.

    Bad:
        hardware:
          disks:
            d<7-0>: {size: 3TB}    # <-- here

    Good:
        hardware:
          disks:
            d<0-7>: {size: 3TB}

    Source: the layout file's own contract.
    """


@stated(Severity.ERROR)
def invalid_layout() -> None:
    """The file is not a layout as a whole.

    Why: it is no mapping of keys to values, is written for another version of the format, is the hardware file of
    a layout that is not found, or takes its hardware from outside its own folder. A reviewer of the folder would
    not see a change of that file.

    Bad:
        hardware: ../shared.hardware.yaml    # <-- here

    Good:
        hardware:
          disks: {d0: {serial: WD-A1, size: 3TB}}

    Source: the layout file's own contract.
    """


@stated(Severity.ERROR)
def invalid_value() -> None:
    """A value is none that its key takes.

    Why: a size without a unit, a bare `3T` (3,000,000,000,000 or 3,298,534,883,328 bytes), a word that is none
    of those known: nothing is guessed, since a guess decides where data lies.

    Bad:
        hardware:
          disks:
            d0: {size: 3T}    # <-- here

    Good:
        hardware:
          disks:
            d0: {size: 3TB}

    Source: IEC 80000-13 for KiB, the SI for kB.
    """


@stated(Severity.ERROR)
def missing_key() -> None:
    """Something has to be said that is not there.

    Why: there is no default for it that would be right for everybody.

    Bad:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s0: {members: [d<0-3>]}    # <-- here

    Good:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s0: {level: raid6, members: [d<0-3>]}

    Source: the layout file's own contract.
    """


@stated(Severity.ERROR)
def unknown_key() -> None:
    """A key is written that does not exist there.

    Why: a misspelt key would be without effect: the array would be made, without the chunk that was meant.

    Bad:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s0: {level: raid6, members: [d<0-3>], chnk: 512KiB}    # <-- here

    Good:
        hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB}}}
        arrays:
          s0: {level: raid6, members: [d<0-3>], chunk: 512KiB}

    Source: the layout file's own contract.
    """
