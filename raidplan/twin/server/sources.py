"""The sources of mmdebstrap: this machine's own Debian mirrors, and no third party's."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

_RELATED = ("", "-updates", "-security")
_HONOURED = ("Acquire::http::", "Acquire::https::", "Acquire::Check-", "Acquire::Retries")


@dataclass(frozen=True, slots=True)
class Source:
    """One stanza of apt's sources, reduced to what a Debian mirror needs."""

    uris: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str = ""
    trusted: bool = False

    @property
    def is_debian(self) -> bool:
        """Whether Debian's archive key signs it; without a key named, whether it has a Debian mirror's path."""
        if "main" not in self.components:
            return False
        if self.signed_by:
            return Path(self.signed_by).name.startswith("debian-archive")
        return all(uri.rstrip("/").endswith(("/debian", "/debian-security")) for uri in self.uris)

    def stanza(self) -> str:
        """The source in apt's deb822 form, the component main only."""
        lines = [
            "Types: deb",
            f"URIs: {' '.join(self.uris)}",
            f"Suites: {' '.join(self.suites)}",
            "Components: main",
        ]
        lines += [f"Signed-By: {self.signed_by}"] if self.signed_by else []
        lines += ["Trusted: yes"] if self.trusted else []
        return "\n".join(lines) + "\n"


def debian_sources(release: str, folder: Path = Path("/etc/apt")) -> str:
    """Sources of `release` in deb822 form from this machine's own; empty where it has no Debian mirror.

    Where the machine uses another release than the one wanted, the same mirrors are asked for it.
    """
    known = [source for source in _read(folder) if source.is_debian]
    wanted = [f"{release}{tail}" for tail in _RELATED]
    fitting = [_only(source, wanted) for source in known]
    if not any(release in source.suites for source in fitting):
        fitting = [_renamed(source, release) for source in known]
    return "\n".join(source.stanza() for source in fitting if source.suites)


def apt_options() -> tuple[str, ...]:
    """This machine's proxy, certificate and date settings of apt, as values for `--aptopt`."""
    try:
        dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(
        line for line in dump.splitlines() if line.startswith(_HONOURED) and not line.endswith('"";')
    )


def _only(source: Source, suites: Iterable[str]) -> Source:
    return replace(source, suites=tuple(suite for suite in source.suites if suite in suites))


def _renamed(source: Source, release: str) -> Source:
    tails = {tail for suite in source.suites for tail in _RELATED if suite.partition("-")[2] == tail[1:]}
    return replace(source, suites=tuple(f"{release}{tail}" for tail in sorted(tails)))


def _read(folder: Path) -> Iterator[Source]:
    for path in [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*"))]:
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".sources":
            yield from _deb822(text)
        elif path.suffix == ".list":
            yield from _one_line(text)


def _deb822(text: str) -> Iterator[Source]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in "\n".join(lines).split("\n\n"):
        fields = {}
        for line in stanza.splitlines():
            key, colon, value = line.partition(":")
            if colon and not line[0].isspace():
                fields[key.lower()] = value.strip()
        if "deb" in fields.get("types", "").split() and fields.get("enabled", "yes").lower() != "no":
            yield Source(
                uris=tuple(fields.get("uris", "").split()),
                suites=tuple(fields.get("suites", "").split()),
                components=tuple(fields.get("components", "").split()),
                signed_by=fields.get("signed-by", ""),
                trusted=fields.get("trusted", "no").lower() == "yes",
            )


def _one_line(text: str) -> Iterator[Source]:
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words or words[0] != "deb":
            continue
        options: dict[str, str] = {}
        if len(words) > 1 and words[1].startswith("["):
            bracket, _, rest = " ".join(words[1:]).partition("]")
            options = dict(word.split("=", 1) for word in bracket[1:].split() if "=" in word)
            words = ["deb", *rest.split()]
        if len(words) >= 4:
            uri, suite, *components = words[1:]
            signed_by, trusted = options.get("signed-by", ""), options.get("trusted") == "yes"
            yield Source((uri,), (suite,), tuple(components), signed_by, trusted)
