"""Lines that others wrote into a configuration file and that speak of what is ours: two truths in one file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from raidplan.apply.configuration.aliases import of_array, of_volume
from raidplan.apply.configuration.files import BrokenBlock, file_text, outside_block
from raidplan.apply.configuration.lines import Key, Line, device, fstab, mdadm_conf, numbered, statements
from raidplan.apply.journal.past import Past
from raidplan.apply.teardown.given_up import made_nodes
from raidplan.facts import Machine
from raidplan.facts.signatures import plain
from raidplan.plan import Plan, WriteBlock
from raidplan.plan.places import FSTAB, MDADM_CONF

Grammar = Callable[[Iterable[Line]], Iterator[tuple[int, dict[Key, str]]]]
GRAMMARS: Mapping[str, Grammar] = {FSTAB: fstab, MDADM_CONF: mdadm_conf}


def conflicting(left: Plan, whole: Plan, machine: Machine) -> Iterator[str]:
    """Each such line of a file that a step is to write, with its number and the word that is taken."""
    for action, others in _files(left, machine):
        grammar = GRAMMARS.get(action.file)
        if grammar is None:
            continue
        ours = {key for _, keys in grammar(numbered(action.content)) for key in keys}
        ours |= set(_meant(action.file, whole, machine))
        for number, keys in grammar(others):
            for key, word in keys.items():
                if key in ours:
                    yield f"{action.file} line {number} speaks of {plain(word)} already: remove the line, or take it out of the layout"


def put_inside(left: Plan, whole: Plan, machine: Machine, past: Past) -> Iterator[str]:
    """Lines that somebody wrote into our block, and that would go with it: of nothing that any layout made.

    Without a journal nobody can tell them from those of an earlier layout; a run that was cut off wrote some of what it
    never came to make.
    """
    made = frozenset() if past.is_open else past.made
    proven = (f"{step.proof.kind}:{step.proof.key}" for step in whole.steps if step.proof)
    known = {_spoken_of(*each.split(":", 1)) for each in (*made, *proven)}
    for action, others in _files(left, machine) if made else ():
        grammar, outside = GRAMMARS.get(action.file), {number for number, _ in others}
        if grammar is None:
            continue
        lines = numbered(file_text(machine, action.file) or "")
        for number, keys in grammar(line for line in lines if line[0] not in outside):
            if known.isdisjoint(keys):
                words = plain(" ".join(keys.values()))
                yield (
                    f"{action.file} line {number} ({words}) stands in the block of raidplan, which is written anew, and is of no "
                    "layout: move it out of the block, or remove it"
                )


def _spoken_of(kind: str, key: str) -> Key:
    """How our own lines call what was made."""
    if kind == "array":
        return "array", key.replace("-", "")
    return ("node", key.removeprefix("file:")) if key.startswith("file:") else device(f"UUID={key}")


def unheard(left: Plan, machine: Machine) -> Iterator[str]:
    """What mdadm will not heed (mdadm.conf(5)): addresses behind ours, of which it takes the first, and devices beside a list."""
    for action, others in _files(left, machine):
        if action.file != MDADM_CONF:
            continue
        looked_at = [(number, words[1:]) for number, words in statements(others) if words[0] == "DEVICE"]
        if looked_at and not any("partitions" in words for _, words in looked_at):
            number, words = looked_at[0]
            yield f"{action.file} line {number} lets mdadm look at {plain(' '.join(words))} only: no array with members elsewhere is assembled at boot"
        ours = [words for _, words in statements(numbered(action.content)) if words[0] == "MAILADDR"]
        for number, words in statements(others):
            if ours and words[0] == "MAILADDR" and words != ours[0]:
                yield f"{action.file} line {number} counts no more: alarms go to {ours[0][1]}, not to {plain(' '.join(words[1:]))}"


def _files(left: Plan, machine: Machine) -> Iterator[tuple[WriteBlock, list[Line]]]:
    for step in left.steps:
        if isinstance(step.action, WriteBlock):
            try:
                text = file_text(machine, step.action.file) or ""
                yield step.action, outside_block(text, step.action.mark)
            except BrokenBlock:
                continue  # `against` has said so


def _meant(file: str, whole: Plan, machine: Machine) -> Iterator[Key]:
    """What our own lines mean without saying it: other names of the same file system, or of the same array."""
    nodes = {identity: node for node, identity in made_nodes(whole).items()}
    for step in whole.steps:
        if step.proof is None:
            continue
        uuid = step.proof.key
        label, name = (str(step.proof.expect.get(each) or "") for each in ("label", "name"))
        if file == FSTAB and step.creates and step.proof.kind in ("filesystem", "swap"):
            yield from (device(node) for node in step.guard)
            yield from ([("LABEL", label)] if label else [])
        if file == FSTAB and step.proof.kind == "volume":
            yield from map(device, of_volume(uuid))
        if step.creates and step.proof.kind == "array":
            found = machine.observe("array", uuid) or {}
            node = str(found.get("node") or nodes.get(f"array:{uuid}", ""))
            links = of_array(uuid, name) if file == FSTAB else ()
            yield from map(device, (*links, *([node] if node else [])))
            yield from [("name", name), ("name", name.rpartition(":")[2])] if file == MDADM_CONF else []
