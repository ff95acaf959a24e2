"""What an earlier version of the layout brought, and this one does not name any more.

Configuration of ours is taken back: blocks, the udev rules, what was switched. Arrays, file systems and swap areas are
never touched; they are only told of, and so is what a running array keeps until the next boot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidplan.apply.files import file_text, wanted_text
from raidplan.apply.journal import Past
from raidplan.facts import Machine
from raidplan.facts.arrays import coloned
from raidplan.facts.stack import SAFE_NAME
from raidplan.plan import Plan, Proof, Run, Step, WriteBlock, WriteFile
from raidplan.plan.places import CHECK, DEFAULTS, FSTAB, LAST_RESORT, MDADM_CONF, RULES_BEGIN, UDEV_RULES

BACK = "back."
"""What the ids of these steps begin with; the rest is that of the step that is taken back."""
DEGRADED = "config.degraded"
STANDING = ("array", "volume_group", "volume", "filesystem", "swap")
UNTUNED = {
    "md/stripe_cache_size": "256",
    "md/group_thread_cnt": "0",
    "md/sync_speed_min": "system",
    "md/sync_speed_max": "system",
}
"""What an array begins with (NR_STRIPES in drivers/md/raid5.c; Documentation/admin-guide/md.rst). Its read-ahead is none:
the kernel computes it from the stripe when the array is assembled."""


def taken_back(plan: Plan, machine: Machine, past: Past) -> Iterator[Step]:
    """The steps that take configuration back. Raises BrokenBlock.

    A plan that was made for a machine holds only what was left to do there, so it says nothing of the rest.
    """
    if plan.machine:
        return
    described = {step.action.file for step in plan.steps if isinstance(step.action, WriteFile | WriteBlock)}
    for steps in (_rules(plan), _fstab(plan), _mdadm_conf(plan), _check(plan)):
        written = next(step for step in steps if isinstance(step.action, WriteFile | WriteBlock))
        assert isinstance(written.action, WriteFile | WriteBlock)
        if written.action.file in described:
            continue
        if _is_ours(written.action, file_text(machine, written.action.file)):
            yield from steps
        elif past.is_open and written.id in past.begun | past.ended:
            # It was killed in between: what reads the file has yet to hear of it.
            yield from (step.among(()) for step in steps if step.follows and step.id not in past.ended)
    if DEGRADED in past.settings and all(step.id != DEGRADED for step in plan.steps):
        say = "start degraded arrays at boot by themselves again"
        yield _step("degraded", say, Run(("systemctl", "unmask", LAST_RESORT)), LAST_RESORT)


def _is_ours(action: WriteFile | WriteBlock, text: str | None) -> bool:
    if isinstance(action, WriteFile):
        return text is not None and text.startswith(RULES_BEGIN)
    return text is not None and wanted_text(action, text) != text


def _rules(plan: Plan) -> tuple[Step, ...]:
    file = UDEV_RULES.format(host=plan.host)
    say = "no array is tuned at boot any more"
    written = _step("udev", say, WriteFile(file, ""), file)
    reload = Run(("udevadm", "control", "--reload"))
    return written, _step("udev.reload", "let udev read its rules again", reload, "udev", written)


def _fstab(plan: Plan) -> tuple[Step, ...]:
    written = _step("fstab", "nothing is mounted at boot any more", WriteBlock(FSTAB, "", plan.host), FSTAB)
    reload = Run(("systemctl", "daemon-reload"))
    return written, _step("fstab.reload", "let systemd read fstab again", reload, "systemd", written)


def _mdadm_conf(plan: Plan) -> tuple[Step, ...]:
    block = WriteBlock(MDADM_CONF, "", plan.host, at_top=True)
    written = _step("mdadm.conf", "no array is named any more", block, MDADM_CONF)
    renew = Run(("update-initramfs", "-u", "-k", "all"))
    fresh = Proof("initramfs", "current", {"fresh": True})
    return written, _step("initramfs", "nor in the initramfs", renew, "initramfs", written, proof=fresh)


def _check(plan: Plan) -> tuple[Step, ...]:
    """The block shows that the timers are ours; so they are switched back first."""
    disable = Run(("systemctl", "disable", "--now", *CHECK))
    timers = _step("scrub", "leave the check for latent errors to the distribution", disable, *CHECK)
    block = WriteBlock(DEFAULTS, "", plan.host)
    return timers, _step("autocheck", "let cron check again, as it was", block, DEFAULTS, needs=timers.id)


def _step(
    name: str,
    say: str,
    action: Run | WriteFile | WriteBlock,
    *targets: str | Step,
    needs: str = "",
    proof: Proof | None = None,
) -> Step:
    """A step, due with the one that stands among its targets."""
    after = tuple(each.id for each in targets if isinstance(each, Step))
    return Step(
        id=f"{BACK}{name}",
        phase="configure",
        say=f"the layout does not say it any more: {say}" if not after else say,
        action=action,
        because="what an earlier version said",
        needs=(*after, *([needs] if needs else [])),
        follows=after,
        targets=tuple(each for each in targets if isinstance(each, str)),
        proof=proof,
    )


def left_standing(plan: Plan, machine: Machine, past: Past) -> Iterator[str]:
    """What was made by an earlier version, is still there, and is in no layout now; in words."""
    if plan.machine:
        return
    described = {f"{step.proof.kind}:{step.proof.key}" for step in plan.steps if step.proof}
    for made in sorted(past.made - described):
        kind, _, key = made.partition(":")
        found = machine.observe(kind, key) if kind in STANDING else None
        if found is not None:
            known = (found.get(name) for name in ("name", "label", "node", "device"))
            name = next((str(each) for each in known if each), key)
            yield f"left standing: the {kind.replace('_', ' ')} {name} ({key}) is not described any more; nothing of it is touched"


def left_running(plan: Plan, machine: Machine) -> Iterator[str]:
    """Tunables that a rule of ours set, that running arrays still have, and that no layout says now; in words."""
    if plan.machine:
        return
    rules = file_text(machine, UDEV_RULES.format(host=plan.host)) or ""
    tuned = {
        step.proof.key: step.proof.expect for step in plan.steps if step.proof and step.proof.kind == "tuning"
    }
    for uuid, running in sorted(machine.objects.get("tuning", {}).items()):
        for attribute, value in _set_by(rules, uuid).items():
            if attribute not in tuned.get(uuid, {}) and running.get(attribute) == value:
                device = str((machine.observe("array", uuid) or {}).get("device", ""))
                yield _kept(device, attribute, value)


def _set_by(rules: str, uuid: str) -> dict[str, int]:
    """The attributes that the rule of an array sets, and their values."""
    match = f'ENV{{MD_UUID}}=="{coloned(uuid)}"'
    lines = (line for line in rules.splitlines() if match in line)
    found = (re.findall(r'ATTR\{([a-z]+/[a-z_]+)\}="(\d+)"', line) for line in lines)
    return {attribute: int(value) for pairs in found for attribute, value in pairs}


def _kept(device: str, attribute: str, value: int) -> str:
    name = attribute.partition("/")[2]
    says = f"left running: {device} keeps {name} {value}, which the layout does not say any more; it goes with the next boot"
    if attribute not in UNTUNED or not SAFE_NAME.fullmatch(device):
        return says
    return f"{says}, or now: echo {UNTUNED[attribute]} >/sys/block/{device}/{attribute}"
