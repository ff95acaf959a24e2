"""What the modules have in common."""

from __future__ import annotations


class ModuleDocFragment:
    """The option of every module that runs raidplan."""

    DOCUMENTATION = r"""
options:
  executable:
    description:
      - The raidplan to run, as a path or as a name that is looked for in C(PATH), C(/usr/local/bin) and C(/usr/local/sbin).
      - It has to be of the collection's version up to the second number (C(0.1)).
    type: str
    default: raidplan
requirements:
  - raidplan 0.1 on the host that runs the module, and Python 3.11 or later for it
author:
  - The raidplan maintainers (@raidplan)
"""
    LAYOUT = r"""
options:
  layout:
    description:
      - The layout itself, as a mapping or as the text of a file.
      - A mapping has the plain form that C(raidplan show) prints. It is read by Ansible first, which keeps no ranges, comments and
        lines, and for which C(0123) is a number, so quote serial numbers and labels.
      - P(ansible.builtin.file#lookup) gives a text, of which every byte counts.
      - A text cannot name a file of its own for C(hardware); O(src) can.
    type: raw
"""
    APPLIES = r"""
attributes:
  check_mode:
    support: full
    description: Changes nothing, and says what would be changed.
  diff_mode:
    support: full
    description: Shows what is destroyed and what is done.
  platform:
    support: full
    platforms: Linux
    description: The systems that the module runs on.
"""
    LOOKS = r"""
attributes:
  check_mode:
    support: full
    description: Changes nothing in any mode.
  diff_mode:
    support: N/A
    description: Changes nothing, so there is no difference.
  platform:
    support: full
    platforms: Linux
    description: The systems that the module runs on.
"""
