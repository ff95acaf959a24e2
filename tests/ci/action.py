"""Running the steps of action.yml as GitHub's runner does: its files, its variables, its order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
INSTALL = "Install raidplan"

GH = """\
#!/bin/sh
# Stands in for gh: notes what it is called with, keeps the body, and answers with the comments that exist.
printf '%s\\n' "$*" >>"$FAKE_GH/calls"
for word; do
  case $word in body=@*) cat "${word#body=@}" >"$FAKE_GH/body" ;; esac
done
case "$*" in
*--paginate*)
  shift
  while [ "$1" != --jq ]; do shift; done
  jq -r "$2" "$FAKE_GH/comments" ;;
*) [ ! -e "$FAKE_GH/readonly" ] || { echo 'HTTP 403' >&2; exit 1; } ;;
esac
"""
SHIM = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m raidplan "$@"\n'


@dataclass
class Run:
    """One run of the action in a checkout; `log` is what its steps printed."""

    checkout: Path
    folder: Path
    base: str
    number: str = "7"
    inputs: Mapping[str, str] = field(default_factory=dict)
    log: str = ""
    code: int = 0
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gh = self.folder / "gh"
        for name in ("gh", "bin", "temp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        if not (self.gh / "comments").exists():
            (self.gh / "comments").write_text("[]")
        self.tool("gh", GH)
        for name in ("path", "output", "summary"):
            (self.folder / name).touch()

    def tool(self, name: str, text: str) -> None:
        """Puts a program on the PATH."""
        file = self.folder / "bin" / name
        file.write_text(text)
        file.chmod(0o755)

    def all(self, *, install: bool = False) -> Run:
        """Every step in its order; without `install` the code of this checkout stands in."""
        if not install:
            self.tool("raidplan", SHIM)
        for name, step in STEPS.items():
            if name == INSTALL and not install:
                continue
            if "if" in step and not self.holds(step["if"]):
                continue
            self.step(step)
            if self.code:
                break
        return self

    def step(self, step: Mapping[str, object]) -> None:
        """One step, by the command line that the runner has for `shell: bash`."""
        assert step["shell"] == "bash" and "${{" not in str(step["run"])
        output = self.folder / "output"
        output.write_text("")
        script = self.folder / "script.sh"
        script.write_text(str(step["run"]))
        given = step.get("env", {})
        assert isinstance(given, dict)
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.checkout,
            env=self.environment() | {key: self.value(str(text)) for key, text in given.items()},
            capture_output=True,
            check=False,
        )
        self.log += (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
        self.code = done.returncode
        self.path = (self.folder / "path").read_text().splitlines()
        if "id" in step:
            pairs = (line.partition("=") for line in output.read_text().splitlines())
            self.outputs[str(step["id"])] = {key: value for key, _, value in pairs}

    def environment(self) -> dict[str, str]:
        """What the runner sets; nothing of a token."""
        kept = {key: os.environ[key] for key in ("HOME", "LANG") if key in os.environ}
        kept |= {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_"))}
        path = [*reversed(self.path), str(self.folder / "bin"), *os.environ["PATH"].split(":")]
        return kept | {
            "PATH": ":".join(path),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_REPOSITORY": "owner/site",
            "GITHUB_WORKSPACE": str(self.checkout),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_PATH": str(self.folder / "path"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "RUNNER_TEMP": str(self.folder / "temp"),
            "FAKE_GH": str(self.gh),
        }

    def value(self, text: str) -> str:
        """A value of `env:` with its expressions put in."""
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: self.expression(match[1]), text)

    def expression(self, text: str) -> str:
        """Those that action.yml has; another one is a KeyError, to be added here."""
        known = {
            "github.event.pull_request.base.sha || github.event.before": self.base,
            "github.event.pull_request.number": self.number,
            "steps.changed.outputs.base": self.outputs.get("changed", {}).get("base", ""),
            "steps.check.outputs.code": self.outputs.get("check", {}).get("code", ""),
            "steps.rehearse.outputs.code": self.outputs.get("rehearse", {}).get("code", ""),
            "inputs.token": "a-token",
        }
        for name, about in ACTION["inputs"].items():
            known.setdefault(f"inputs.{name}", self.inputs.get(name, str(about["default"])))
        return known[text]

    def holds(self, condition: str) -> bool:
        known = {
            "inputs.comment == 'true' && github.event.pull_request.number": self.expression("inputs.comment")
            == "true"
            and bool(self.number),
            "inputs.rehearse != 'none'": self.expression("inputs.rehearse") != "none",
        }
        return known[condition]

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text()

    @property
    def calls(self) -> list[str]:
        """What gh was called with to write."""
        file = self.gh / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line for line in lines if "--method" in line]

    @property
    def body(self) -> str:
        """The comment that gh was given."""
        return (self.gh / "body").read_text()
