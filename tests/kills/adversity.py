"""What happens to an apply, drawn before the run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from tests.kills.family import DISKS

CONVERGED, PERSON, STUCK, LOST = "converged", "needed a person", "stuck", "lost"
OPEN = "not predicted"
"""Nothing told before the run whether it needs a person: it counts as neither, unless it is stuck or lost."""
KILLS = ("kill all", "kill raidplan", "kill one")
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
PLANTED = ("foreign sector", "foreign sector midway")
"""Before the first apply, and beside a maker that was killed in its work or a thing that none has begun to make."""
PULLED, STORM = "disk pulled", "udev storm"
OTHERS = (
    "terminal lost",
    PULLED,
    "root full",
    STORM,
    "person's create",
    "second raidplan",
    *PLANTED,
)
POWER = "power cut"
AGAIN = (*KILLS, *SIGNALS, "root full", POWER)
"""After these the apply that goes on may be killed too."""
LAST_RESORT = 45.0
"""Seconds after which whatever is still there of an array that udev has assembled runs without the rest, and the kernel has cleared bits
of its bitmap: mdadm waits for half a minute (mdadm-last-resort@.timer), the kernel for twice 5 s."""
WEIGHTS = {**dict.fromkeys(KILLS, 4), **dict.fromkeys(SIGNALS, 1), **dict.fromkeys(OTHERS, 1)}


@dataclass(frozen=True)
class Adversity:
    """`share`: when, as a share of the journal's records that an apply writes without it; `again`: when the apply that goes on is killed."""

    kind: str
    share: float
    again: tuple[float, ...] = ()
    disk: int = 0
    pause: float = 0.0
    """Seconds until the next apply; of a power cut, from a record of the journal, before which all is flushed, to the cut: it comes as soon
    as a disk has unflushed writes, and at the latest after these."""
    draw: int = 0
    """The seed of what else is random: which process, which sector, which unflushed writes."""

    def to_data(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def draw_adversity(seed: int, *, power: bool = False) -> Adversity:
    """The adversity of a seed."""
    random = Random(f"adversity {seed}")
    kind = POWER if power else random.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
    again = (round(random.uniform(0.02, 0.9), 3),) if kind in AGAIN and random.random() < 0.3 else ()
    return Adversity(
        kind,
        round(random.uniform(0.02, 0.97), 3),
        again,
        random.randrange(DISKS),
        round(
            random.uniform(0, 3) if power else random.choice((0.0, 0.0, random.uniform(0, 3), LAST_RESORT)), 2
        ),
        random.randrange(2**31),
    )
