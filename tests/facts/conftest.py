"""A recorded server, put up again below a folder: sysfs, /proc, the bytes that were read, the answers of tools."""

import base64
import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from raidplan.facts import Machine, read_machine
from raidplan.facts.run import Result

RECORDED = Path(__file__).parent / "recorded"


@dataclass
class Server:
    """The recorded server; `changed` answers and changed files under `root` make it another one."""

    root: Path
    answers: dict[str, list]
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def ask(self, argv: Sequence[str]) -> Result:
        self.asked.append(tuple(argv))
        found = self.answers.get(" ".join(argv)) or self.answers.get(argv[0]) or [127, "", "not recorded"]
        return Result(tuple(argv), *found)

    def read(
        self, *paths: str, units: Sequence[str] = (), swap_files: Sequence[str] = (), target: str = ""
    ) -> Machine:
        return read_machine(paths, units, swap_files=swap_files, target=target, root=self.root, ask=self.ask)

    def write(self, path: str, text: str) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture
def server(tmp_path: Path) -> Server:
    """The recorded server, for a test that changes it."""
    return put_up(tmp_path / "root")


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """The recorded server as it was, read once."""
    return put_up(tmp_path_factory.mktemp("server") / "root").read()


def put_up(root: Path) -> Server:
    """Debian 12 (kernel 6.1, mdadm 4.2): eight arrays on ten disks, LVM on one, swap on a volume and in a file.

    The members of md_o2 are left out, so that its superblocks cannot be read.
    """
    recorded = json.loads((RECORDED / "server.json").read_text())
    server = Server(root, recorded["answers"])
    for path, text in recorded["files"].items():
        server.write(path, text)
    for folder in recorded["dirs"]:
        (server.root / folder).mkdir(parents=True, exist_ok=True)
    for node, size in recorded["sizes"].items():
        _device(server.root / node.lstrip("/"), size, recorded["bytes"].get(node, {}))
    for link, target in recorded["links"].items():
        (server.root / link).parent.mkdir(parents=True, exist_ok=True)
        (server.root / link).symlink_to(target)
    for member in server.root.glob("sys/block/*/md/dev-*"):
        _link_to_device(member)
    return server


def _link_to_device(member: Path) -> None:
    """The kernel's link from a member of an array to its device, which was not recorded."""
    blocks = member.parents[2]
    name = member.name.removeprefix("dev-")
    for device in (blocks / name, *blocks.glob(f"*/{name}")):
        if device.is_dir():
            (member / "block").symlink_to(device)


def _device(file: Path, size: int, content: dict[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as device:
        device.truncate(size)
        for offset, packed in content.items():
            device.seek(int(offset))
            device.write(zlib.decompress(base64.b64decode(packed)))


@pytest.fixture
def answering() -> Callable[..., Callable[[Sequence[str]], Result]]:
    """Makes an asker of a mapping: command line to (return code, output, complaint)."""

    def make(answers: dict[str, tuple[int, str, str]]) -> Callable[[Sequence[str]], Result]:
        def ask(argv: Sequence[str]) -> Result:
            return Result(tuple(argv), *answers.get(" ".join(argv), (127, "", "no such program")))

        return ask

    return make
