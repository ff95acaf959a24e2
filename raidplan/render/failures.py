"""Failures as sentences: templates of `render/sentences.py`, by case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from raidplan.facts.failure import Failure, FailureCase, failures_of
from raidplan.render.sentences import filled
from raidplan.render.uses import use_texts

NO_START = "and the system could not start from it"
PROGRAM = "{program} ended with {code}: {said:lines|without a word}"
FAILURES: Mapping[FailureCase, str] = {
    "system": "{error:lines}",
    "program": "{place} ended with {code}: {said:lines|without a word}",
    "not-done": "not done, because {uses:; }",
    "no-passphrase": "nobody was asked for the passphrase of {place}",
    "not-appeared": "{place} did not appear within {seconds} s",
    "unit": "{place} is {now} after `{command: }`, and was {was}",
    "not-taken": "{place} cannot be written to at byte {byte}: is the disk failing?",
    "not-kept": "{place} reads back something else than was written at byte {byte}: is the disk failing?",
    "not-zero": "{place} reads back something else than the zeroes that were written at byte {byte}: is the disk failing?",
    "partitions-kept": "the kernel keeps the partitions {partitions}",
    "restless": "{place} is written by somebody else again and again: find out by whom",
    "written-meanwhile": "another program wrote to {place} at the same moment: find out which one, then run the command again",
    "block-lost": "raidplan's block in {place} was damaged a moment ago: apply again shows where",
    "image-closed": "{place} cannot be read: {error}",
    "image-empty": "{place} holds no file",
    "image-more": "{place} has other data behind its last archive",
    "image-packed": "{place} cannot be unpacked: {command: } returned {code}{said:?: %}",
    "image-no-archive": "{place} holds no archive at byte {byte}",
    "image-damaged": "{place} holds a damaged archive",
    "image-short": "{place} ends in the middle of an archive",
    "image-lines": "{place} does not hold the lines of {file} as they are now",
    "image-rules": "{place} holds other rules than {file} has now",
    "image-arrays": "{place} does not hold the ARRAY lines of mdadm.conf for {arrays}, so a boot would not know the arrays by name",
    "image-encryption": f"{{place}} does not open the encryption {{uuids}}, {NO_START}",
    "image-volumes": f"{{place}} activates no LVM volume, {NO_START}",
    "image-program": f"{{place}}: {PROGRAM}",
    "image-hooks": f"{{place}} is made, and not everything in {{folder}} took it: {PROGRAM}",
    "image-changed": "{place} was changed by somebody else while it was being made again",
    "images-stay": "the images in {place} stay as they are",
    "snapshot": "this is not a snapshot of a machine: {error}",
    "snapshot-version": "format_version {version} is not known to this raidplan, which reads {known}",
    "snapshot-property": "a property in the snapshot has a value of a type that it cannot have, {type}",
    "snapshot-value": "'{name}' of {place:|a trace} in the snapshot is {value}",
}


def failure_texts(failures: Iterable[Failure]) -> tuple[str, ...]:
    """The sentences."""
    return tuple(
        filled(FAILURES[each.case], {**each.figures, "place": each.place, "uses": use_texts(each.uses)})
        for each in failures
    )


def failure_text(failures: Iterable[Failure]) -> str:
    """The sentences, in one line unless a program said more."""
    return "; ".join(failure_texts(failures))


def error_text(error: Exception) -> str:
    """The reasons that an error has, in words."""
    return failure_text(failures_of(error))
