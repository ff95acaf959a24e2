"""The rules: what is wrong or unwise in a layout. One function each, in a module for its theme.

To add a rule, write one function decorated with `@rule` in any module of this package; nothing else. Its
name with dashes is the rule's name, its docstring the manual page, and the two examples in there, indented
below `Bad:` and `Good:`, its tests.

Nobody can accept (`allow:`) or ignore an error of a rule, unless it is made with `acceptable=True`: an error
stands for data that would be lost, or for what cannot be built.
"""

from importlib import import_module
from pkgutil import iter_modules

from raidplan.rules.lib.engine import CATALOGUE, RULES, Hit, Rule, can_be_accepted, check, rule

for _module in sorted(entry.name for entry in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

__all__ = ["CATALOGUE", "RULES", "Hit", "Rule", "can_be_accepted", "check", "rule"]
