#!/usr/bin/python
# Copyright: the raidplan maintainers
# Apache License 2.0 (see LICENSE or https://www.apache.org/licenses/LICENSE-2.0)

"""The findings of layouts."""

from __future__ import annotations

DOCUMENTATION = r"""
module: raidplan_check
short_description: Says what is wrong or unwise in raidplan layouts
version_added: 0.1.0
description:
  - Runs C(raidplan check) and returns its findings. It looks at no machine and needs no root, so it may run on the controller.
  - Several layouts are also checked against each other, for example for a serial number that stands in two of them.
options:
  src:
    description: Layout files, or folders of them, on the host that runs the module.
    type: list
    elements: path
  fail_on:
    description: The least severity for which the module fails. By default that of the project's settings, or V(error).
    type: str
    choices: [error, warning, note]
  select:
    description: These rules alone.
    type: list
    elements: str
    default: []
  ignore:
    description: Rules that are not reported. What nobody can accept is always reported.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - raidplan.storage.raidplan
  - raidplan.storage.raidplan.layout
  - raidplan.storage.raidplan.looks
seealso:
  - module: raidplan.storage.raidplan_apply
"""

EXAMPLES = r"""
- name: Check the layouts of all servers, on the controller
  raidplan.storage.raidplan_check:
    src: ["{{ playbook_dir }}/layouts"]
    fail_on: warning
    ignore: [same-batch-members]
    executable: "{{ raidplan_on_controller | default('raidplan') }}"
  delegate_to: localhost
  run_once: true

- name: Look for one pitfall in a layout that stands in the inventory
  raidplan.storage.raidplan_check:
    layout: "{{ storage_layout }}"
    select: [no-alarm]
"""

RETURN = r"""
result:
  description: V(ok), V(findings) of at least O(fail_on), V(invalid) layouts, or V(unable) to check anything.
  returned: always
  type: str
  sample: ok
exit_code:
  description: The exit code of raidplan.
  returned: if raidplan ran
  type: int
  sample: 0
findings:
  description: The findings as C(raidplan check --format json) prints them.
  returned: if raidplan ran
  type: list
  elements: dict
  sample: [{"rule": "no-alarm", "severity": "warning", "message": "nobody is told when a disk of d fails", "line": 5}]
accepted:
  description: The findings that the layouts accept, with the reasons.
  returned: if raidplan ran
  type: list
  elements: dict
counts:
  description: How many findings are C(errors), C(warnings) and C(notes).
  returned: if raidplan ran
  type: dict
  sample: {"errors": 0, "warnings": 1, "notes": 0}
messages:
  description: What raidplan said besides, by lines.
  returned: if raidplan ran
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.raidplan.storage.plugins.module_utils.raidplan import (
    FINDINGS,
    OK,
    UNABLE,
    Raidplan,
    gravest,
    layout_file,
)


def main():
    """Checks, and fails as raidplan does."""
    module = AnsibleModule(
        argument_spec={
            "src": {"type": "list", "elements": "path"},
            "layout": {"type": "raw"},
            "fail_on": {"type": "str", "choices": ["error", "warning", "note"]},
            "select": {"type": "list", "elements": "str", "default": []},
            "ignore": {"type": "list", "elements": "str", "default": []},
            "executable": {"type": "str", "default": "raidplan"},
        },
        mutually_exclusive=[("src", "layout")],
        required_one_of=[("src", "layout")],
        supports_check_mode=True,
    )
    raidplan = Raidplan(module)
    raidplan.read(lambda: check(module, raidplan))


def check(module, raidplan):
    """Ends the module with the findings."""
    own = None if module.params["layout"] is None else layout_file(module)
    words = ["check", "--format=json"]
    if module.params["fail_on"]:
        words.append(f"--fail-on={module.params['fail_on']}")
    words += [f"--{name}={rule}" for name in ("select", "ignore") for rule in module.params[name]]
    words += ["--", *([own] if own else module.params["src"])]
    code, found, said = raidplan.data(words, (OK, FINDINGS, UNABLE))
    values = {
        "changed": False,
        "result": {OK: "ok", FINDINGS: "findings", UNABLE: "invalid"}[code],
        "exit_code": code,
        "messages": said,
        "findings": found["findings"],
        "accepted": found["accepted"],
        "counts": {name: found[name] for name in ("errors", "warnings", "notes")},
    }
    if code == OK:
        module.exit_json(**values)
    module.fail_json(msg=gravest(found["findings"], own), **values)


if __name__ == "__main__":
    main()
