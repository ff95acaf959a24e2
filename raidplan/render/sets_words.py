"""The smallest sets of components that stop a thing, in words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from math import comb, prod

from raidplan.base.groups import by_key
from raidplan.base.words import counted, plural
from raidplan.estimate.survival import Sets, Some
from raidplan.render.estimate_words import named
from raidplan.render.visible import visible

Choice = tuple[Some, ...]


def sets_shape(sets: Sets) -> Hashable:
    """The sets without names: things of one shape are said together."""
    return (
        sets.losses,
        sets.complete,
        tuple(tuple((part.count, part.kind, len(part.names)) for part in choice) for choice in sets.choices),
    )


def sets_words(sets: Sets, of_disks: Sets) -> str:
    """`any 2 of 4 controllers; a controller and a disk (24 sets, such as c0 and d4)`; of disks alone if not among those."""
    said = list(_words(sets))
    if not any(all(part.kind == "disk" for part in choice) for choice in sets.choices):
        said += _words(of_disks)
    more = [] if sets.complete else ["components that take fewer disks along are left out"]
    return "; ".join([*said, *more])


def _words(sets: Sets) -> Iterator[str]:
    by_kinds = by_key(
        (tuple(part.kind for part in choice for _ in range(part.count)), choice) for choice in sets.choices
    )
    yield from (_alike(kinds, choices) for kinds, choices in by_kinds.items())


def _alike(kinds: tuple[str, ...], choices: list[Choice]) -> str:
    """Sets of the same kinds of components."""
    singles = [name for choice in choices for name in choice[0].names]
    if len(kinds) == 1:
        names = named(singles)
        kind = "supply" if kinds[0] == "power" else kinds[0]
        return (
            f"{kind} {names}" if len(singles) == 1 else f"any of {counted(len(singles), kinds[0])} ({names})"
        )
    if len(choices) == len(choices[0]) == 1:
        both = len(kinds) == len(singles) == 2
        return (
            f"both {plural(kinds[0])}" if both else f"any {len(kinds)} of {counted(len(singles), kinds[0])}"
        )
    each = sum(prod(comb(len(part.names), part.count) for part in choice) for choice in choices)
    such = " and ".join(visible(name) for part in choices[0] for name in part.names[: part.count])
    called = {kind: kinds.count(kind) for kind in kinds}
    what = " and ".join(
        f"{'an' if kind[0] in 'aeiou' else 'a'} {'supply' if kind == 'power' else kind}"
        if many == 1
        else f"{many} {plural(kind)}"
        for kind, many in called.items()
    )
    return f"{what} ({counted(each, 'set')}, such as {such})"
