"""The faults of a file that is no plan, as sentences: templates of `render/sentences.py`, by case."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.plan.fault import Case, Fault, NotAPlan
from raidplan.render.sentences import filled

AGAIN = "make it again with `raidplan plan`"
NONE = "this is not a plan: "
STEP = f"{NONE}the step {{step}}"
FAULTS: Mapping[Case, str] = {
    "form": f"{NONE}{{error}}",
    "large": "it is larger than {most} MiB, too large for a plan",
    "version": "format_version {version} is not known to this raidplan, which reads {known: and }",
    "digest": f"its content does not have its digest, so it was changed after it was made: {AGAIN}",
    "without-whole": f"it was made by an earlier raidplan, whose plans do not list the steps that were done already: {AGAIN}",
    "host": f"{NONE}no host is called '{{host:|}}'",
    "several-actions": f"the step {{step}} has several actions ({{actions:, }}), and a step can have only one: {AGAIN}",
    "twice": f"{NONE}there are two steps {{step}}",
    "does-nothing": f"{STEP} has no target, no phase or no command",
    "not-its-disk": f"{STEP} is on {{disk}}, which is not a disk of the plan",
    "order": f"{STEP} needs {{needs}}, which does not come before it",
    "partitions": f"{STEP} makes partitions that nobody can read",
    "unproven": f"{STEP} makes a new {{kind}} and does not prove it",
    "unguarded": f"{STEP} writes over a device and has no guard that proves it blank",
    "unguarded-device": f"{STEP} writes over {{device}}, at which its guard does not look",
    "clears-unseen": f"{STEP} clears a device and does not look what is on it",
    "image-unseen": f"{STEP} makes the initramfs and does not look what is in it",
    "clears-unmade": f"{STEP} clears {{device}} whatever is on it, and no step that it needs makes that",
    "clears-without-reason": f"{STEP} clears {{device}}, for which nothing in the plan gives a reason",
    "two-ways": f"{STEP} is not the same in its two lists, `steps` and `whole`",
}


def fault_text(fault: Fault) -> str:
    """The sentence."""
    kind = str(fault.figures.get("kind", "")).replace("_", " ")
    return filled(FAULTS[fault.case], {**fault.figures, "kind": kind, "step": fault.step})


def unread_text(error: Exception) -> str:
    """Why a file gave no plan: what is wrong in it, or the words of the system."""
    return fault_text(error.fault) if isinstance(error, NotAPlan) else str(error)
