"""The colours, for a light and for a dark page; text on every one of them has a contrast of 4.5 to 1 or more.

Twelve hues of equal lightness (OKLCH): in light 0.88 with frames of 0.58, in dark 0.36 with frames of 0.66.
"""

from __future__ import annotations

from collections.abc import Mapping

HUES = 12
_LIGHT = (
    ("#addcff", "#347ec4"), ("#ffc8a5", "#b66028"), ("#b5e7b5", "#418e47"), ("#f1c6fb", "#9c5eaa"),
    ("#e9d897", "#937800"), ("#91e9ee", "#009098"), ("#ffc2c0", "#bb565a"), ("#d1d0ff", "#736dc3"),
    ("#d0e0a1", "#718516"), ("#99e4ff", "#0089b4"), ("#fcce9a", "#aa6a00"), ("#ffc1df", "#b25785"),
)  # fmt: skip
"""Fill and frame."""
_DARK = (
    ("#1a3f63", "#5497d9"), ("#5c3015", "#cc7b4b"), ("#214723", "#60a563"), ("#4e2f55", "#b379c0"),
    ("#4a3c00", "#a9912b"), ("#00484d", "#00a7af"), ("#5e2b2c", "#d17273"), ("#393763", "#8b87d8"),
    ("#38430e", "#899d41"), ("#00455a", "#1aa1c9"), ("#563504", "#c18434"), ("#5a2b43", "#c8729c"),
)  # fmt: skip


def light(hue: int) -> tuple[str, str]:
    """Fill and frame of a hue on a light page."""
    return _LIGHT[hue % HUES]


def _rules(
    hues: tuple[tuple[str, str], ...],
    page: str,
    ink: str,
    muted: str,
    wire: str,
    part: str,
    loss: str,
    limit: str,
) -> Mapping[str, str]:
    """A declaration for each class; later ones win."""
    rules = {f"hue{n}": f"fill:{fill};stroke:{frame}" for n, (fill, frame) in enumerate(hues)}
    return {
        "page": f"fill:{page}",
        **rules,
        "spare": f"fill:{page}",
        "part": f"fill:{part};stroke:{wire}",
        "host": f"fill:{part};stroke:{ink}",
        "thing": f"fill:{page};stroke:{wire}",
        "free": f"fill:{page};stroke:{wire}",
        "other": f"fill:{part};stroke:{muted}",
        "held": f"stroke:{limit};stroke-width:2",
        "wire": f"stroke:{wire}",
        "bound": f"stroke:{limit}",
        "ink": f"fill:{ink}",
        "muted": f"fill:{muted}",
        "loss": f"fill:{loss}",
        "limit": f"fill:{limit}",
        "cross": f"stroke:{loss}",
        "narrow": f"fill:{limit}",
        "kept": f"stroke:{ink}",
    }


LIGHT = _rules(_LIGHT, "#ffffff", "#1b1f24", "#464e57", "#a8b0b9", "#f3f5f7", "#96190f", "#833500")
DARK = _rules(_DARK, "#0f1318", "#e8ebef", "#a3adb8", "#535d68", "#1c2229", "#ff8f84", "#ffb066")
