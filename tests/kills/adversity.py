"""What happens to an apply, drawn and predicted before the run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from tests.kills.family import DISKS

CONVERGED, PERSON, STUCK, LOST = "converged", "needed a person", "stuck", "lost"
KILLS = ("kill all", "kill raidplan", "kill one")
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
OTHERS = (
    "terminal lost",
    "disk pulled",
    "root full",
    "udev storm",
    "person's create",
    "second raidplan",
    "foreign sector",
)
POWER = "power cut"
WEIGHTS = {**dict.fromkeys(KILLS, 4), **dict.fromkeys(SIGNALS, 1), **dict.fromkeys(OTHERS, 1)}


@dataclass(frozen=True)
class Adversity:
    """`share`: when, as a share of the journal's records that an apply writes without it; `again`: when the apply that goes on is killed."""

    kind: str
    share: float
    again: tuple[float, ...] = ()
    disk: int = 0
    pause: float = 0.0
    """Seconds until the next apply."""
    draw: int = 0
    """The seed of what else is random: which process, which sector, which unflushed writes."""

    @property
    def expected(self) -> str:
        """The prediction: where a person has put something there that is not ours, a person has to take it away."""
        return PERSON if self.kind == "foreign sector" else CONVERGED

    @property
    def expected_if_won(self) -> str:
        """The prediction where a person's own command succeeded, or an array lost a member by the disk that was pulled."""
        return PERSON if self.kind in ("person's create", "disk pulled") else self.expected

    def to_data(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def draw_adversity(seed: int, *, power: bool = False) -> Adversity:
    """The adversity of a seed."""
    random = Random(f"adversity {seed}")
    kind = POWER if power else random.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
    again = (round(random.uniform(0.02, 0.9), 3),) if kind in KILLS and random.random() < 0.3 else ()
    return Adversity(
        kind,
        round(random.uniform(0.02, 1.02), 3),
        again,
        random.randrange(DISKS),
        round(random.choice((0.0, 0.0, random.uniform(0, 3))), 2),
        random.randrange(2**31),
    )
