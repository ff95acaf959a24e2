#!/usr/bin/python
# Copyright: the raidplan maintainers
# Apache License 2.0 (see LICENSE or https://www.apache.org/licenses/LICENSE-2.0)

"""A host made what its layout says."""

from __future__ import annotations

DOCUMENTATION = r"""
module: raidplan_apply
short_description: Makes the storage of a host what its raidplan layout says
version_added: 0.1.0
description:
  - Makes a plan for the host, and applies exactly that plan. raidplan refuses, before the first write, whatever is in doubt.
  - In check mode the plan is made and returned, and nothing is written.
  - A second run finds nothing to do, and changes nothing.
  - A run that was interrupted is resumed by the next one from the journal on the host.
  - A long run survives a lost connection with C(async). Ansible has no C(async) in check mode, so write
    C(async) as in the examples. With a C(poll) above 0 a host that went off is asked until C(async) is over; the role
    P(raidplan.storage.server#role) asks with M(ansible.builtin.async_status), which ends with the host unreachable.
options:
  src:
    description: The layout file on the host. A hardware file that it names lies beside it.
    type: path
  confirm:
    description:
      - The host that is meant, as a rule C({{ inventory_hostname }}). A layout for another C(host) is refused.
    type: str
    required: true
  plan:
    description:
      - The RV(digest) of a plan that was reviewed, as a run in check mode returns it. If the plan for the host is another one now,
        it is refused. Nothing to do is no other plan.
      - The rest of an interrupted run is another plan, to be reviewed again.
    type: str
  destroy:
    description:
      - The RV(digest) of a plan that destroys something, as a run in check mode returns it beside RV(destroys). Exactly what that
        names is given up, and nothing else. Without it such a plan is refused.
    type: str
  machine:
    description:
      - In check mode only. A file with the facts of a machine as JSON, which are looked at instead of this host.
      - It is made by M(raidplan.storage.raidplan_facts) or C(raidplan discover facts).
    type: path
  devices:
    description: The disks' device nodes, as C(raidplan loops up) writes them, for test machines.
    type: path
  state:
    description: The folder of the journal; in a rescue system one that outlives a reboot. By default C(/var/lib/raidplan/HOST).
    type: path
extends_documentation_fragment:
  - raidplan.storage.raidplan
  - raidplan.storage.raidplan.layout
  - raidplan.storage.raidplan.applies
notes:
  - Needs root, with C(become) as a rule.
  - raidplan has no terminal here, so a passphrase cannot be typed. Encryptions need C(key_file) in the layout, or are refused.
  - No secret is an option of the module or a value that it returns.
seealso:
  - module: raidplan.storage.raidplan_check
  - module: raidplan.storage.raidplan_facts
"""

EXAMPLES = r"""
- name: Apply the layout of a host
  raidplan.storage.raidplan_apply:
    src: /etc/raidplan/layout.yaml
    confirm: "{{ inventory_hostname }}"
  async: "{{ ansible_check_mode | ternary(0, 86400) }}"
  poll: 10

- name: Apply what was reviewed, and nothing else
  raidplan.storage.raidplan_apply:
    layout: "{{ storage_layout }}"
    confirm: "{{ inventory_hostname }}"
    plan: "{{ reviewed_plan }}"

- name: Give up what the reviewed plan destroys
  raidplan.storage.raidplan_apply:
    src: /etc/raidplan/layout.yaml
    confirm: "{{ inventory_hostname }}"
    destroy: "{{ reviewed_plan }}"
    state: /root/raidplan-journal
    executable: /usr/local/bin/raidplan

- name: Show the plan for a machine whose facts were recorded
  raidplan.storage.raidplan_apply:
    src: layouts/pair.yaml
    confirm: pair
    machine: facts/pair.json
  check_mode: true
  delegate_to: localhost

- name: Try a layout on loop devices of a test machine
  raidplan.storage.raidplan_apply:
    src: pair.loops/layout.yaml
    confirm: pair
    devices: pair.loops/devices.json
"""

RETURN = r"""
result:
  description:
    - V(nothing_to_do), V(planned) in check mode, or V(applied).
    - Of a failed task V(refused), V(stopped) part-way (run it again to go on), V(findings) that are errors, V(invalid) layout, or
      V(unable) to do anything.
    - Nothing was written unless it is V(applied) or V(stopped).
  returned: always
  type: str
  sample: planned
exit_code:
  description: The exit code of the raidplan that ran last.
  returned: if raidplan ran
  type: int
  sample: 0
host:
  description: The layout's host.
  returned: if the layout could be read
  type: str
  sample: storage1
digest:
  description: The digest of the plan, for O(plan) and O(destroy).
  returned: if there is a plan
  type: str
  sample: sha256:67fb8921fbacd27f282efb18b5306c3266b9bc9516bb9d7323598cb943a59eb5
steps:
  description: The steps that the host needs, in their order.
  returned: if there is a plan
  type: list
  elements: dict
  sample: [{"id": "array.data", "phase": "array", "say": "create raid1 data of 2 members (d0, d1), 931.2 GiB usable"}]
destroys:
  description: The present content of the host that the plan destroys.
  returned: if there is a plan
  type: list
  elements: dict
  sample: [{"what": "ext4 'old' on d0 (/dev/sda)", "where": "/dev/sda"}]
findings:
  description: The findings of the layout, as C(raidplan check --format json) prints them.
  returned: if the layout could be read
  type: list
  elements: dict
refusals:
  description: Every reason to change nothing, each with a C(code) that stays the same, a C(message), and a C(remedy).
  returned: always
  type: list
  elements: dict
  sample: [{"code": "disk-unmatched", "message": "d0: no disk has serial PAIR-0", "place": "d0", "remedy": "correct the layout"}]
done:
  description: The ids of the steps that were done.
  returned: if the plan was applied
  type: list
  elements: str
failed_steps:
  description: The steps that failed, each with C(step) and C(message).
  returned: if the plan was applied
  type: list
  elements: dict
not_begun:
  description: The ids of the steps that were not begun.
  returned: if the plan was applied to its end or stopped by itself
  type: list
  elements: str
not_as_planned:
  description: What is not as planned after all steps were done.
  returned: if the plan was applied to its end or stopped by itself
  type: list
  elements: str
syncs:
  description: The syncs that go on in the background, each with C(array), C(percent) and C(seconds_left).
  returned: if the plan was applied
  type: list
  elements: dict
messages:
  description: What raidplan said besides, by lines.
  returned: if raidplan ran
  type: list
  elements: str
"""

import json
import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.raidplan.storage.plugins.module_utils.raidplan import (
    FINDINGS,
    OK,
    REFUSED,
    STOPPED,
    UNABLE,
    Raidplan,
    gravest,
    last_line,
    layout_file,
)

SHOWN = ("id", "phase", "say", "argv", "file", "zero", "targets", "destroys", "because", "line")
"""What is returned of a step; contents of files and proofs are left out."""


def main():
    """Plans, compares the plan with what was asked for, applies it."""
    module = AnsibleModule(
        argument_spec={
            "src": {"type": "path"},
            "layout": {"type": "raw"},
            "confirm": {"type": "str", "required": True},
            "plan": {"type": "str"},
            "destroy": {"type": "str"},
            "machine": {"type": "path"},
            "devices": {"type": "path"},
            "state": {"type": "path"},
            "executable": {"type": "str", "default": "raidplan"},
        },
        mutually_exclusive=[("src", "layout"), ("machine", "state")],
        required_one_of=[("src", "layout")],
        supports_check_mode=True,
    )
    if module.params["machine"] and not module.check_mode:
        module.fail_json(
            msg="machine is another machine than this host: it can be looked at in check mode only",
            changed=False,
            result="unable",
        )
    raidplan = Raidplan(module)
    raidplan.read(lambda: plan_and_apply(module, raidplan))


def plan_and_apply(module, raidplan):
    """Ends the module with what became of it."""
    file = layout_file(module)
    values = plan(module, raidplan, file)
    if not values["plan"]["steps"]:
        return leave(module, values, result="nothing_to_do", changed=False)
    if module.check_mode:
        return leave(module, values, result="planned", changed=True)
    return apply(module, raidplan, values)


def plan(module, raidplan, file):
    """The values to return, and with them the plan, if it is one that was asked for; else the module fails."""
    options = [
        f"--{name}={module.params[name]}" for name in ("machine", "devices", "state") if module.params[name]
    ]
    code, made, said = raidplan.data(
        ["plan", "--format=json", *options, "--", file], (OK, FINDINGS, UNABLE, REFUSED)
    )
    values = {"exit_code": code, "messages": said, "refusals": made.get("refusals", [])}
    if "findings" in made:
        values["findings"] = made["findings"]
    if code in (FINDINGS, UNABLE):
        own = None if module.params["layout"] is None else file
        result = "findings" if code == FINDINGS else "invalid"
        fail(
            module,
            values,
            result,
            gravest(made["findings"], own) if made["findings"] else last_line("\n".join(said)),
        )
    values["host"] = made["host"]
    if made["host"] != module.params["confirm"]:
        refuse(
            module, values, f"the layout is for {made['host']}, and this host is {module.params['confirm']}"
        )
    if code == REFUSED:
        more = len(values["refusals"]) - 1
        refuse(
            module,
            values,
            values["refusals"][0]["message"] + (f" (and {more} more in refusals)" if more else ""),
        )
    values["plan"], values["digest"] = made, made["digest"]
    values["steps"] = [{name: step[name] for name in SHOWN if name in step} for step in made["steps"]]
    values["destroys"] = lost(made["steps"])
    unlike = [name for name in ("plan", "destroy") if module.params[name] not in (None, made["digest"])]
    if made["steps"] and unlike:
        refuse(
            module,
            values,
            f"{unlike[0]} is the digest of another plan: the layout, the host or what is on its disks has changed since; "
            f"the plan is {made['digest']} now",
        )
    if values["destroys"] and not module.params["destroy"] and not module.check_mode:
        refuse(
            module,
            values,
            f"the plan destroys {values['destroys'][0]['what']}"
            + (f" and {len(values['destroys']) - 1} more" if len(values["destroys"]) > 1 else "")
            + f"; if all that destroys lists is to be given up, give destroy: {made['digest']}",
        )
    return values


def lost(steps):
    """The present content of the machine that the steps destroy, each thing once, as raidplan's own list has it."""
    found = []
    for step in steps:
        clears = step["phase"] == "teardown"
        if clears and not step["destroys"] and step["clears"] and "zero" in step:
            found.append({"what": f"whatever is on {step['zero']}", "where": step["zero"]})
        if clears or step.get("origin", {}).get("kind") == "clear":
            found += step["destroys"]
    return [each for place, each in enumerate(found) if each not in found[:place]]


def apply(module, raidplan, values):
    """Applies the plan, and returns what became of it."""
    made = os.path.join(module.tmpdir, "plan.json")
    events = os.path.join(module.tmpdir, "events")
    with open(made, "w", encoding="utf-8") as opened:
        json.dump(values["plan"], opened, ensure_ascii=False)
    consent = (
        f"--destroy={module.params['destroy']}"
        if module.params["destroy"]
        else f"--confirm={module.params['confirm']}"
    )
    options = [f"--{name}={module.params[name]}" for name in ("devices", "state") if module.params[name]]
    code, said, told = raidplan.apply([consent, f"--events={events}", *options, "--", made], events)
    values["exit_code"] = code
    values["messages"] = [*values["messages"], *said]
    of = {}
    for event in told:
        of.setdefault(event["event"], []).append(event)
    ended = of.get("ended", [{}])[-1]
    values["done"] = [event["step"] for event in of.get("done", []) if "step" in event]
    values["failed_steps"] = [
        {name: event.get(name, "") for name in ("step", "message")} for event in of.get("failed", [])
    ]
    values["syncs"] = of.get("sync", [])
    values.update({name: ended[name] for name in ("not_begun", "not_as_planned") if name in ended})
    begun = raidplan.begun
    if code == OK:
        leave(module, values, result="applied", changed=begun)
    if code == REFUSED and not begun:
        refused = [
            {name: event[name] for name in event if name not in ("event", "time")}
            for event in of.get("refused", [])
        ]
        values["refusals"] = refused
        refuse(module, values, refused[0]["message"] if refused else " ".join(said[-2:]))
    if code == STOPPED or begun:
        why = [f"{each['step']}: {each['message']}" for each in values["failed_steps"]]
        why += values.get("not_as_planned", [])
        said_last = last_line("\n".join(said)) or f"raidplan ended with {code}"
        fail(module, values, "stopped", f"stopped part-way: {why[0]}" if why else said_last, changed=begun)
    fail(module, values, "unable", last_line("\n".join(said)) or f"raidplan ended with {code}")


def leave(module, values, result, changed):
    """Ends the module well."""
    module.exit_json(**returned(module, values), result=result, changed=changed)


def refuse(module, values, message):
    """Ends the module: nothing was written."""
    fail(module, values, "refused", message)


def fail(module, values, result, message, changed=False):
    """Ends the module, which did not do what was asked."""
    module.fail_json(msg=message, **returned(module, values), result=result, changed=changed)


def returned(module, values):
    """The values for the person; the difference, if that was asked for."""
    shown = {name: value for name, value in values.items() if name != "plan"}
    if module._diff and "steps" in values:
        host = values["host"]
        shown["diff"] = {
            "before_header": f"{host}: destroyed",
            "after_header": f"{host}: done",
            "before": "".join(f"{each['what']}\n" for each in values["destroys"]),
            "after": "".join(f"{step['say']}\n" for step in values["steps"]),
        }
    return shown


if __name__ == "__main__":
    main()
