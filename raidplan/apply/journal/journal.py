"""The journal of every step begun and finished, on disk before it happens: an interrupted `apply` resumes from it.

A folder for each host holds `journal` (one JSON record a line, each with the hash of the line before) and
`plan.json` (the whole plan; beside it those of earlier runs that began what nobody has ended). A record is synced
before the effect that it announces, so the journal may claim less than was done, never more.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from raidplan.apply.journal.past import (
    HEADERS,
    PLAN,
    Past,
    header_as,
    kept_as,
    seconds,
    sectors_as,
)
from raidplan.apply.journal.records import past_of
from raidplan.apply.journal.sectors import digest_of
from raidplan.apply.refusal import Refusal, Refused
from raidplan.base.figures import Figure
from raidplan.base.size import MIB
from raidplan.plan.loss import Loss, loss_to_row
from raidplan.plan.origin import Origin

if TYPE_CHECKING:
    from raidplan.apply.world import World

HANDED_OVER = "handed-over"
"""A file beside a journal that another system has now."""
MAX_BYTES = 64 * MIB
"""A journal of 4,000 disks has about 10 MB; what is larger is not one."""
FIRST = "0" * 64
FORMAT = 2
"""The format of the records. In 2 a record names the devices that a step works on; those of 1 (which name no format) do not,
and count for no device. Nothing is known of later ones."""


class BrokenJournal(Refused):
    """The journal, or a file beside it, cannot be used."""

    def __init__(self, case: str, place: Path, **figures: Figure) -> None:
        super().__init__(Refusal("journal-unusable", case, str(place), figures=figures))


class DamagedJournal(BrokenJournal):
    """The content cannot be trusted: another journal may take its place. A full disk damages none."""


@dataclass(slots=True)
class Journal:
    """The journal of one host, opened for adding to it."""

    folder: Path
    world: World
    past: Past = field(default_factory=Past)
    marks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By step, for its records: its fingerprint for each device."""
    disk_marks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By step that makes an object, for its records: the fingerprint of the disks below each device."""
    listed: Mapping[str, Sequence[Loss]] = field(default_factory=dict)
    """By step that clears a device, for its record: what was listed of it. An apply that goes on finds a part of that only."""
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """By step, its reason to be in the plan, for steps that no layout asks for."""
    _number: int = 0
    _hash: str = FIRST
    _lock: Lock = field(default_factory=Lock)
    _lost: OSError | None = None
    """Why the last record may be incomplete; records after it would not be believed."""

    @property
    def file(self) -> Path:
        """The records."""
        return self.folder / "journal"

    def begin(self, plan: str, plan_digest: str) -> None:
        """A run begins; `plan` is its whole plan as JSON, kept so that it can be finished without the layout.

        The earlier plan stays under another name as long as one of its steps may need it to finish.
        """
        file, before = self.folder / PLAN, self.past.plan_digest
        kept = self.folder / kept_as(before)
        if before != plan_digest and before in self.past.plans.values() and not kept.exists():
            with suppress(FileNotFoundError):
                self.world.keep_beside(file, kept)
        # First the record: until the plan is there no step is begun, and the old plan is still the one that is kept.
        self.world.clock = seconds(self._add("open", format=FORMAT, plan=plan_digest, boot=boot_id()))
        self.world.replace(file, plan.encode(), like=file, mode=0o600)

    def record_intent(self, step: str, sectors: bytes = b"", *, erased: bool = False) -> None:
        """Records that the step's effect comes next; `sectors` is what it finds on the device that it clears; `erased`: the device that
        it writes over reads as erased flash."""
        losses = [loss_to_row(each) for each in self.listed.get(step, ())]
        found = {**({"clears": losses} if losses else {}), **({"erased": True} if erased else {})}
        self._add("intent", step=step, **self._on(step), **self._why(step), **found, **self._keep(sectors))

    def record_end(self, step: str, seconds: float, made: str = "") -> None:
        """Records that the action of the step succeeded; `made` is the object that it creates, `kind:key`."""
        self._add("ended", step=step, seconds=round(seconds, 3), **({"made": made} if made else {}))

    def record_failure(self, step: str, message: str) -> None:
        """Records that the action of the step failed; nobody knows what it left behind."""
        self._add("failed", step=step, message=message[:2000])

    def record_refusal(self, step: str, message: str) -> None:
        """Records that the guard of the step did not hold: nothing was done."""
        self._add("refused", step=step, message=message[:2000])

    def record_adoption(self, step: str, made: str) -> None:
        """Records that the object of a step was looked at and found whole."""
        self._add("adopted", step=step, made=made, **self._on(step))

    def forget(self, step: str) -> None:
        """Records that the step no longer counts, by decision of a person: its object does not exist, or no layout has it."""
        self._add("forgotten", step=step)

    def record_copies(self, digests: Mapping[str, str], final: Sequence[str]) -> None:
        """Records that the content that will be overwritten was copied; after the steps `final` there is no way back."""
        self._add("copied", copies=dict(digests), final=list(final))

    def begin_undo(self) -> None:
        """Records that the run is about to be undone."""
        self._add("undoing")

    def record_restore(self, disk: str) -> None:
        """Records that the disk is as it was before the run: from here on, what is on it is its owner's."""
        self._add("restored", disk=disk)

    def end_undo(self) -> None:
        """Records that everything is as it was before the run."""
        self._add("undone")
        self._drop_kept()

    def close(self) -> None:
        """Everything was read back and is as planned."""
        self._add("close")
        self._drop_kept()

    def _drop_kept(self) -> None:
        """Removes the earlier plans and the sectors of clearings, which have no step to finish any more."""
        for file in (*self.folder.glob(kept_as("*")), *self.folder.glob(sectors_as("*"))):
            with suppress(OSError):
                self.world.effect("remove", str(file), file.unlink)

    def _keep(self, sectors: bytes) -> dict[str, str]:
        """Writes the file; where it takes none, an interrupted clearing only needs a person to say once more that it may go on."""
        digest = digest_of(sectors) if sectors else ""
        file = self.folder / sectors_as(digest)
        try:
            if digest:
                self.world.replace(file, sectors, like=file, mode=0o600)
        except OSError:
            return {}
        return {"sectors": digest} if digest else {}

    def _on(self, step: str) -> dict[str, dict[str, str]]:
        fields = {"on": self.marks.get(step), "disks": self.disk_marks.get(step)}
        return {name: dict(of) for name, of in fields.items() if of}

    def _why(self, step: str) -> dict[str, str]:
        origin = self.origins.get(step)
        return {"origin": origin.kind, "for": origin.step} if origin else {}

    def _add(self, kind: str, **more: object) -> str:
        """Writes a record; its time."""
        with self._lock:
            if self._lost:
                raise self._lost
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            record = {"number": self._number + 1, "before": self._hash, "time": now, "kind": kind, **more}
            line = json.dumps(record, ensure_ascii=True).encode() + b"\n"
            first = not self.file.exists()
            try:
                self.world.append(self.file, line)
                if first:
                    self.world.sync(self.folder)
            except OSError as error:
                self._lost = error
                raise
            self._number += 1
            self._hash = hashlib.sha256(line).hexdigest()
            return now


def open_journal(folder: Path, world: World) -> Journal:
    """The journal in a folder, which is made if it does not exist. Raises BrokenJournal.

    A last line that was not written to its end is removed: its effect was not begun.
    """
    _own_folder(folder)
    journal = Journal(folder, world)
    data = _read(journal.file)
    whole = _whole(data)
    records = list(_records(whole, journal.file))
    if len(whole) < len(data):
        try:
            world.effect("cut", str(journal.file), lambda: os.truncate(journal.file, len(whole)))
            world.sync(journal.file)
        except OSError as error:
            raise BrokenJournal("end", journal.file, error=error.strerror or "") from None
    journal.past = replace(past_of(records), folder=str(folder), headers=_headers(folder))
    journal._number = len(records)
    lines = whole.splitlines(keepends=True)
    journal._hash = hashlib.sha256(lines[-1]).hexdigest() if lines else FIRST
    return journal


def was_handed_over(folder: Path) -> bool:
    """Whether the journal in a folder is one of before."""
    return (folder / HANDED_OVER).exists()


def read_past(folder: Path) -> Past:
    """The past that the journal tells of, read without touching it; an empty one if there is none. Raises BrokenJournal."""
    file = folder / "journal"
    return replace(past_of(_records(_whole(_read(file)), file)), folder=str(folder), headers=_headers(folder))


def _headers(folder: Path) -> frozenset[str]:
    """The UUIDs of the encryptions of whose header a copy is beside the journal."""
    return frozenset(file.stem for file in (folder / HEADERS).glob(header_as("*")) if file.is_file())


def _own_folder(folder: Path) -> None:
    """Makes the folder root's own, and nobody else's: a link in it could make us write anywhere."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.lstat(folder)
    except OSError as error:
        raise BrokenJournal("no-folder", folder, error=error.strerror or "") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise BrokenJournal("folder-of-others", folder)


def _read(file: Path) -> bytes:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise BrokenJournal("unopened", file, error=error.strerror or "") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise DamagedJournal("file-of-others", file)
        with os.fdopen(descriptor, "rb", closefd=False) as opened:
            data = opened.read(MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MAX_BYTES:
        raise DamagedJournal("large", file, most=MAX_BYTES // MIB)
    return data


def _whole(data: bytes) -> bytes:
    """The lines that were written to their end; a power cut can leave half of one, or zeros in its place, also before its end."""
    end = data.rfind(b"\n") + 1
    last = data.rfind(b"\n", 0, max(0, end - 1)) + 1
    line = data[last:end]
    torn = _record(line) is None and (b"\0" in line or not line.strip())  # and not what somebody wrote
    return data[: last if torn else end]


def _records(data: bytes, file: Path) -> Iterable[Mapping[str, Any]]:
    before = FIRST
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        record = _record(line)
        if record is None or record.get("number") != number or record.get("before") != before:
            raise DamagedJournal("line", file, number=number)
        if int(record.get("format", 1)) > FORMAT:
            raise BrokenJournal("later", file, number=number)
        before = hashlib.sha256(line).hexdigest()
        yield record


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and all(isinstance(key, str) for key in record) else None


def boot_id() -> str:
    """The id of this boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
