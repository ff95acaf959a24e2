"""Lines that others wrote into a configuration file and that speak of what is ours: two truths in one file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from raidplan.apply.configuration.aliases import of_array, of_volume
from raidplan.apply.configuration.blocks import Sections, our_blocks
from raidplan.apply.configuration.lines import (
    Key,
    Line,
    assignments,
    compared,
    continuing,
    crypttab,
    device,
    fstab,
    key_of_array,
    mdadm_conf,
    numbered,
    rows,
    statements,
    unit,
)
from raidplan.apply.journal.past import Past
from raidplan.apply.note import Note, note
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.figures import Figures
from raidplan.base.hidden import escaped
from raidplan.base.identity import Identity, encryption_uuid
from raidplan.base.magic import MEMBER
from raidplan.facts import Machine
from raidplan.plan.identities import made_nodes
from raidplan.plan.places import CRYPTTAB, DEFAULTS, FSTAB, MDADM_CONF, MDADM_CONF_PARTS
from raidplan.plan.step import Plan, WriteBlock

Grammar = Callable[[Iterable[Line]], Iterator[tuple[int, dict[Key, str]]]]
GRAMMARS: Mapping[str, Grammar] = {FSTAB: fstab, CRYPTTAB: crypttab, MDADM_CONF: mdadm_conf}

OF_EARLIER_VERSIONS = (["CREATE", "names=yes"],)
"""Statements for mdadm that raidplan wrote before."""
OPTIONS = frozenset({"luks", "plain", "swap", "cipher", "size", "offset", "sector-size", "discard", "nofail"})
"""The options of crypttab that layouts give."""


def conflicting(whole: Plan, machine: Machine) -> Iterator[Refusal]:
    """Lines of others that name what a line of ours names, in files that a step writes and in those that are read with them."""
    for action, text in our_blocks(whole, machine):
        grammar = GRAMMARS.get(action.file)
        if grammar is None:
            continue
        ours = {key for _, keys in grammar(numbered(action.content)) for key in keys}
        ours |= set(_implied_names(action.file, whole, machine))
        one = compared if action.file == MDADM_CONF else _as_it_is
        ours = set(map(one, ours))
        for file, lines in ((action.file, text.others), *further_files(action, machine)):
            for number, keys in grammar(lines):
                for word in (word for key, word in keys.items() if one(key) in ours):
                    yield refusal("lines-conflict", "line", place=file, number=number, word=word)
        for file, keys in _units(action, machine):
            if taken := [word for key, word in keys.items() if key in ours]:
                yield refusal("lines-conflict", "unit", place=file, words=tuple(taken), file=FSTAB)


def _as_it_is(key: Key) -> Key:
    return key


def changed_by_ours(whole: Plan, machine: Machine) -> Iterator[Refusal]:
    """Lines of others for mdadm that would mean something else, or nothing, once our block is there (config.c, lib.c of mdadm)."""
    for _, text in _of_mdadm(whole, machine):
        # Neither a comment nor an empty line ends a statement.
        if number := continuing(text.behind):
            yield refusal("lines-conflict", "indented", place=MDADM_CONF, number=number)
        for file in machine.objects.get("file", {}) if machine.observe("file", MDADM_CONF) is None else ():
            if file.startswith("/etc/mdadm.conf"):
                yield refusal("lines-conflict", "other-file", place=file, file=MDADM_CONF)


def overruling(whole: Plan, machine: Machine) -> Iterator[Refusal]:
    """Lines of others for mdadm that take precedence over ours: behind our block, or in a file that is read later."""
    for action, text in our_blocks(whole, machine):
        if action.file == DEFAULTS:
            ours = {name: value for _, name, value in assignments(numbered(action.content))}
            later = {name: (number, value) for number, name, value in assignments(text.behind)}
            for name, (number, value) in later.items():
                if ours.get(name, value) != value:
                    figures: Figures = {"number": number, "name": name, "value": value, "ours": ours[name]}
                    yield Refusal("lines-conflict", "overruled", DEFAULTS, figures=figures)


def redirected(left: Plan, whole: Plan, machine: Machine, past: Past) -> Iterator[Refusal]:
    """An alarm address of others that ours would replace, although there are arrays of others: mdadm uses the first address for
    all arrays, and a statement without one is none (`mailline` in config.c)."""
    others = arrays_of_others(left, whole, machine, past)
    for action, text in _of_mdadm(left, machine):
        ours = _addresses(numbered(action.content))
        found = (each for each in _statements(text.others, action, machine) if _is_address(each[1]))
        place, words = next(found, ("", []))
        if ours and others and words and words[1] != ours[0] and not _addresses(text.inside):
            figures = {"address": words[1], "array": others[0], "ours": ours[0]}
            yield Refusal("lines-conflict", "address", place, figures=figures)


def _addresses(lines: Iterable[Line]) -> list[str]:
    return [words[1] for _, words in statements(lines) if _is_address(words)]


def _is_address(words: list[str]) -> bool:
    return words[0] == "MAILADDR" and len(words) > 1


def arrays_of_others(left: Plan, whole: Plan, machine: Machine, past: Past) -> list[str]:
    """Arrays that the layout does not describe, and that the run does not clear: running, by the superblocks of members, by
    lines of mdadm.conf; in words."""
    running = {uuid: str(found.get("node", "")) for uuid, found in machine.objects.get("array", {}).items()}
    members = {
        trace.uuid: f"that of {disk.node}"
        for disk in machine.disks
        for trace in disk.traces
        if trace.type == MEMBER
    }
    found = {uuid.replace("-", ""): words for uuid, words in {**members, **running}.items()}
    for uuid, words in _listed(whole, machine):
        found.setdefault(uuid, words)
    known = known_arrays(left, whole, past)
    return [escaped(words) for uuid, words in found.items() if uuid not in known]


def known_arrays(left: Plan, whole: Plan, past: Past) -> set[str]:
    """The UUIDs, as 32 digits, of arrays that the layout describes or the run clears."""
    cleared = (*(step.destroys for step in left.steps), *past.listed.values())
    known = {step.proof.key for step in whole.steps if step.proof and step.proof.kind == "array"}
    known |= {loss.uuid for losses in cleared for loss in losses}
    return {uuid.replace("-", "") for uuid in known}


def _listed(whole: Plan, machine: Machine) -> Iterator[tuple[str, str]]:
    """The UUID of each array that a line of others names, or what else is said of it, and words for it; mdadm watches none
    that is called <ignore>."""
    for action, text in _of_mdadm(whole, machine):
        for place, (keyword, *words) in _statements(text.others, action, machine):
            if keyword == "ARRAY" and words and words[0] != "<ignore>":
                uuids = (key[1] for key in map(key_of_array, words) if key and key[0] == "array")
                yield next(uuids, words[0]), f"{words[0]} ({place})"


def foreign_lines(left: Plan, whole: Plan, machine: Machine, past: Past) -> Iterator[Refusal]:
    """Foreign lines in our block, which rewriting it would delete: they name nothing that any layout made.

    Without a journal nobody can tell them from those of an earlier layout; an interrupted run wrote some of what it
    never came to make.
    """
    for action, text in our_blocks(left, machine):
        yield from _foreign_words(action, text)
    made = frozenset() if past.is_open else past.made
    proven = (step.proof.identity for step in whole.steps if step.proof)
    known = {_own_name(each) for each in (*map(Identity.read, made), *proven)}
    for action, text in our_blocks(left, machine) if made else ():
        grammar = GRAMMARS.get(action.file)
        for number, keys in grammar(text.inside) if grammar else ():
            if keys and known.isdisjoint(keys) and not any(_is_opened(key, whole.host, made) for key in keys):
                words = " ".join(keys.values())
                yield refusal("foreign-lines", place=action.file, number=number, words=words)


def _foreign_words(action: WriteBlock, text: Sections) -> Iterator[Refusal]:
    """Statements for mdadm, and options of encryptions, that no layout gives, whatever a journal says."""
    if action.file == MDADM_CONF:
        for number, words in statements(text.inside):
            of_nothing = words[0] == "ARRAY" and not any(map(key_of_array, words[1:]))
            if of_nothing or (words[0] not in ("ARRAY", "MAILADDR") and words not in OF_EARLIER_VERSIONS):
                said = escaped(" ".join(words))
                yield refusal("foreign-lines", place=action.file, number=number, words=said)
    if action.file == CRYPTTAB:
        for number, row in rows(text.inside):
            options = row[3].split(",") if len(row) > 3 else ()
            if foreign := [each for each in options if each.partition("=")[0] not in OPTIONS]:
                said = escaped(",".join(foreign))
                yield refusal("foreign-lines", "option", place=action.file, number=number, words=said)


def _own_name(made: Identity) -> Key:
    """The name of an object in our own lines."""
    on = made if made.kind == "mapping" else Identity.read(made.key)
    match made.kind, on.kind:
        case "array", _:
            return "array", made.key.replace("-", "")
        case _, "mapping":
            return "node", f"/dev/mapper/{on.key}"
        case _, "file":
            return "node", on.key
    return device(f"UUID={made.key}")


def _is_opened(key: Key, host: str, made: frozenset[str]) -> bool:
    """Whether this is the name of an opened encryption that a layout made: a swap with a random key is told by nothing else."""
    kind, node = key
    folder, _, name = node.rpartition("/")
    encryption = Identity("encryption", encryption_uuid(host, name))
    return (kind, folder) == ("node", "/dev/mapper") and str(encryption) in made


def ignored_lines(left: Plan, machine: Machine, past: Past) -> Iterator[Note]:
    """Lines that mdadm ignores (mdadm.conf(5)): addresses behind ours, of which it takes the first, and devices missing from a list."""
    for action, text in _of_mdadm(left, machine):
        found = [*_statements(text.others, action, machine)]
        listed = [(place, words[1:]) for place, words in found if words[0] == "DEVICE"]
        if listed and not any("partitions" in words for _, words in listed):
            place, words = listed[0]
            yield note("devices-limited", place=place, devices=tuple(words))
        ours = [words for _, words in statements(numbered(action.content)) if words[0] == "MAILADDR"]
        for place, words in found:
            if ours and _is_address(words) and words != ours[0]:
                yield note("alarms-overridden", place=place, ours=ours[0][1], theirs=tuple(words[1:]))
        others = arrays_of_others(left, left.complete, machine, past)
        if (
            ours
            and others
            and not any(_is_address(words) for _, words in found)
            and not _addresses(text.inside)
        ):
            yield note("alarms-of-others", arrays=tuple(others), ours=ours[0][1])


def _of_mdadm(left: Plan, machine: Machine) -> Iterator[tuple[WriteBlock, Sections]]:
    return ((action, text) for action, text in our_blocks(left, machine) if action.file == MDADM_CONF)


def _statements(
    lines: Iterable[Line], action: WriteBlock, machine: Machine
) -> Iterator[tuple[str, list[str]]]:
    """The place and the words of each statement in these lines and in the further files."""
    for file, each in ((action.file, lines), *further_files(action, machine)):
        for number, words in statements(each):
            yield f"{escaped(file)} line {number}", words


def further_files(action: WriteBlock, machine: Machine) -> Iterator[tuple[str, list[Line]]]:
    """The further files that mdadm reads, and their lines."""
    for file, found in machine.objects.get("file", {}).items():
        if action.file == MDADM_CONF and file.rpartition("/")[0] in MDADM_CONF_PARTS:
            yield file, [*numbered(str(found.get("content", "")))]


def _units(action: WriteBlock, machine: Machine) -> Iterator[tuple[str, dict[Key, str]]]:
    """Units that count in place of those which systemd makes of fstab, and what they speak of."""
    for file, found in machine.objects.get("unit_file", {}).items() if action.file == FSTAB else ():
        yield file, unit(file, str(found.get("what", "")))


def _implied_names(file: str, whole: Plan, machine: Machine) -> Iterator[Key]:
    """The implicit meaning of our own lines: other names of the same file system, or of the same array."""
    nodes = {identity: node for node, identity in made_nodes(whole).items()}
    for step in whole.steps:
        if step.proof is None:
            continue
        uuid = step.proof.key
        label, name = (str(step.proof.expect.get(each) or "") for each in ("label", "name"))
        labels = {label, str((machine.observe(step.proof.kind, uuid) or {}).get("label") or "")} - {""}
        if file == FSTAB and step.creates and step.proof.kind in ("filesystem", "swap"):
            yield from (device(node) for node in step.guard)
            # Also the present label, which a step may change: a line of others for that would name nothing any more.
            yield from (("LABEL", each) for each in labels)
        if file == FSTAB and step.proof.kind == "volume":
            yield from map(device, of_volume(uuid))
        if step.creates and step.proof.kind == "array":
            found = machine.observe("array", uuid) or {}
            node = str(found.get("node") or nodes.get(str(step.proof.identity), ""))
            links = of_array(uuid, name) if file == FSTAB else ()
            yield from map(device, (*links, *([node] if node else [])))
            yield from [("name", name), ("name", name.rpartition(":")[2])] if file == MDADM_CONF else []
