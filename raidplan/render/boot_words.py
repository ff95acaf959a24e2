"""The sentences of refusals about lines that the next boot needs, as templates of `render/sentences.py`."""

from __future__ import annotations

from collections.abc import Mapping

DESTROYED = "which this plan would destroy: remove"
DROPPED = "in raidplan's block, and the layout no longer has it"

NEEDED: Mapping[str, str] = {
    "mount": f"{{place}} line {{number}} mounts {{word}}, {DESTROYED} the line first",
    "unit": f"{{place}} mounts {{word}}, {DESTROYED} that unit first",
    "crypttab": f"{{place}} line {{number}} opens {{word}}, {DESTROYED} the line first",
    "dropped-mount": f"{{place}} line {{number}} mounts {{word}}, which the running system needs at boot; it is {DROPPED}: move the line "
    "out of the block to keep it, or delete it by hand",
    "dropped-device": f"{{place}} line {{number}} opens {{word}}, on which {{point}} stands; it is {DROPPED}: move the line out of the block",
    "dropped-name": f"{{place}}{{number:? line %}} needs {{word}} at boot, by line {{dropped}} of {{file}}, which is {DROPPED}: move that line "
    "out of the block, or remove the one that needs it",
}
