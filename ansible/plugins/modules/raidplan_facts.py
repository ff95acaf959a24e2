#!/usr/bin/python
# Copyright: the raidplan maintainers
# Apache License 2.0 (see LICENSE or https://www.apache.org/licenses/LICENSE-2.0)

"""The machine as data."""

from __future__ import annotations

DOCUMENTATION = r"""
module: raidplan_facts
short_description: Reads the disks of a host and what stands on them
version_added: 0.1.0
description:
  - Runs C(raidplan discover) and returns the machine as facts. It changes nothing.
  - Without root, identifiers of disks may be missing, which RV(messages) says.
options:
  src:
    description: A layout on the host. The files and units that it touches are read too, as a plan made elsewhere needs them.
    type: path
  gather:
    description:
      - V(machine) is all that stands on the machine, in the form that O(raidplan.storage.raidplan_apply#module:machine) reads.
      - V(hardware) is the disks and controllers in the words of a layout's C(hardware) section.
    type: list
    elements: str
    choices: [machine, hardware]
    default: [machine, hardware]
extends_documentation_fragment:
  - raidplan.storage.raidplan
  - raidplan.storage.raidplan.layout
  - raidplan.storage.raidplan.looks
attributes:
  facts:
    support: full
    description: The values are facts of the host.
"""

EXAMPLES = r"""
- name: Read the disks of every host
  raidplan.storage.raidplan_facts:
    gather: [hardware]
    executable: raidplan

- name: Read all that a plan for a layout asks about
  raidplan.storage.raidplan_facts:
    src: /etc/raidplan/layout.yaml

- name: The same for a layout that stands in the inventory
  raidplan.storage.raidplan_facts:
    layout: "{{ storage_layout }}"
    gather: [machine]
"""

RETURN = r"""
ansible_facts:
  description: The facts.
  returned: always
  type: dict
  contains:
    raidplan_version:
      description: The version of raidplan on the host.
      returned: always
      type: str
      sample: 0.1.0
    raidplan_machine:
      description: The machine, as C(raidplan discover facts) prints it.
      returned: if O(gather) has V(machine)
      type: dict
    raidplan_hardware:
      description: The hardware, as C(raidplan discover hardware --format json) prints it.
      returned: if O(gather) has V(hardware)
      type: dict
messages:
  description: What raidplan said besides, by lines, such as what could not be read.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.raidplan.storage.plugins.module_utils.raidplan import OK, Raidplan, layout_file


def main():
    """Reads what is asked for."""
    module = AnsibleModule(
        argument_spec={
            "src": {"type": "path"},
            "layout": {"type": "raw"},
            "gather": {
                "type": "list",
                "elements": "str",
                "choices": ["machine", "hardware"],
                "default": ["machine", "hardware"],
            },
            "executable": {"type": "str", "default": "raidplan"},
        },
        mutually_exclusive=[("src", "layout")],
        supports_check_mode=True,
    )
    raidplan = Raidplan(module)
    facts, messages = {"raidplan_version": raidplan.version}, []
    file = layout_file(module)
    kinds = {
        "machine": ["facts", *([f"--for={file}"] if file else [])],
        "hardware": ["hardware", "--format=json"],
    }
    for name in module.params["gather"]:
        _code, facts[f"raidplan_{name}"], said = raidplan.data(["discover", *kinds[name]], (OK,))
        messages += [line for line in said if line not in messages]
    module.exit_json(changed=False, ansible_facts=facts, messages=messages)


if __name__ == "__main__":
    main()
