"""An estimate."""

from __future__ import annotations

from raidplan.render.estimate_text import KINDS
from tests.manuals.schemas.shapes import (
    Schema,
    by_name,
    constant,
    flag,
    listed,
    maybe,
    number,
    or_null,
    record,
    ref,
    text,
    texts,
    whole,
)

RATE = "or null where it is not known"
FIGURES = {
    "read_bytes_per_second": or_null(whole(RATE)), "write_bytes_per_second": or_null(whole(RATE)),
    "read_iops": or_null(whole(RATE)), "write_iops": or_null(whole(RATE)),
    "bottleneck": maybe("bottleneck"), "write_bottleneck": maybe("bottleneck"),
}  # fmt: skip
FATE = {
    "survives": by_name("for each component, whether it goes on without it", {"type": "boolean"}),
    "losses_always_survived": or_null(whole("disks, whichever they are; 3 is three or more")),
    "smallest_sets": ref("sets"),
    "smallest_disk_sets": ref("sets"),
}
THING = {
    "capacity_bytes": or_null(whole("of a file system: for files")),
    **FIGURES,
    "together": ref("figures"),
    **FATE,
    "missing": texts("facts that the layout does not state"),
}
ARRAY = {
    **THING,
    "rebuild_seconds": or_null(whole(RATE)),
    "rebuild_bytes_per_second": or_null(whole(RATE)),
    "read_error_bound": {
        "description": "by the disk's error rate, the most likely it can be that a rebuild meets an unreadable sector",
        "type": ["object", "null"],
        "additionalProperties": {"type": "number"},
    },
    "stripe_cache_bytes": whole("memory"),
    "notes": texts("in words"),
}
DEFINITIONS = {
    "array": record("An array.", ARRAY),
    "thing": record("A file system or a swap area.", THING),
    "figures": record("The rates while all arrays are at work.", FIGURES),
    "bottleneck": record("What sets a rate.", {
        "component": text("its name"), "kind": text("its kind", *KINDS, "port"),
        "bytes_per_second": or_null(whole(RATE)), "assumed": flag("a rate is not of the layout, but of the fastest disk of its kind"),
        "also": texts("others that are equally full"), "without_it_bytes_per_second": or_null(whole(RATE)),
    }),
    "fate": record("What the machine survives.", FATE),
    "sets": record("The smallest sets whose loss stops it.", {
        "losses": or_null(whole("components in each, or null")),
        "choices": listed("each: any so many of these", {"type": "array", "items": ref("some")}),
        "complete": flag("none is left out"),
    }),
    "some": record("Any so many components of one kind.", {
        "any": whole("how many"), "kind": text("their kind", *KINDS), "of": texts("their names")}),
    "gain": record("The rates of all arrays without one bottleneck.", {
        "components": texts("the bottleneck"), "kind": text("its kind", *KINDS), "disks": texts("behind it"),
        "read_bytes_per_second": listed("now, then", {"type": ["integer", "null"]}),
        "write_bytes_per_second": listed("now, then", {"type": ["integer", "null"]}),
    }),
}  # fmt: skip


def estimate() -> Schema:
    """Of `raidplan estimate --format json`."""
    keys = {
        "format_version": constant(1, "the form"),
        "host": text("of the layout"),
        "arrays": by_name("each by its name", ref("array")),
        "filesystems": by_name("each by its name", ref("thing")),
        "swap": by_name("each by its name", ref("thing")),
        "machine": record("the machine as a whole", {
            "watts": number("while the disks work"), "base_watts_known": flag("false: of disks and boards alone"),
            "spinup_amps_12v": number("while the disks start"), "running?": ref("fate"), "boot?": ref("fate"),
            "boot_loader_installed": or_null(flag("by the plan; null where the layout makes no root file system"))}),
        "gains": listed("what is to be won, the largest first", ref("gain")),
        "missing": texts("facts that the layout does not state"),
    }  # fmt: skip
    return {**record("Upper bounds: `raidplan estimate --format json`.", keys), "definitions": DEFINITIONS}
