"""The engine: a rule is one function, its name and severity come from where it is written."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan.base.findings import Finding, Severity, error
from raidplan.document.read import parse_document
from raidplan.layout.load import load_layout
from raidplan.rules import CATALOGUE, RULES, Hit, check, rule
from raidplan.topology import Topology, resolve

REQUIRED = {
    "array-behind-one-controller",
    "array-behind-one-multiplier",
    "assume-clean-on-parity",
    "boot-behind-multiplier",
    "chunk-for-workload",
    "chunk-on-raid1",
    "command-based-switching",
    "component-loss-kills-array",
    "conflicting-consistency",
    "degraded-autostart",
    "duplicate-mount",
    "duplicate-serial",
    "equal-swap-priorities",
    "esp-on-raid",
    "filesystem-too-large",
    "impossible-inode-count",
    "inode-table-overhead",
    "invalid-chunk",
    "journal-on-member",
    "members-on-pci",
    "metadata-limits",
    "mirror-pair-shares-component",
    "mixed-member-sizes",
    "mixed-sector-sizes",
    "mount-blocks-boot",
    "name-too-long",
    "nested-without-redundancy",
    "no-alarm",
    "no-bitmap",
    "no-error-recovery-limit",
    "no-redundancy",
    "no-scrub",
    "no-spare",
    "not-enough-inodes",
    "oversubscribed-link",
    "parity-for-random-writes",
    "ports-exceeded",
    "power-budget",
    "read-ahead-below-stripe",
    "rebuild-window",
    "same-batch-members",
    "slow-member",
    "slow-path-in-stripe",
    "smr-member",
    "spare-shares-fate",
    "spinup-surge",
    "stripe-cache-memory",
    "stripe-cache-range",
    "stripe-cache-without-parity",
    "swap-across-members",
    "swap-on-raid0",
    "too-few-members",
    "two-members-one-disk",
    "unbalanced-multipliers",
    "unstable-device-name",
    "write-hole",
}
"""The names of the contract."""


WATCHED = "monitoring: {mail: root@example.org, scrub: monthly}"


def topology(text: str) -> tuple[Topology, list[Finding]]:
    document, problems = parse_document("version: 1\nhost: example\n" + text, "x.yaml")
    assert document is not None and not problems
    layout, findings = load_layout(document)
    assert layout is not None, findings
    return resolve(layout)


def errors(findings: list[Finding]) -> list[str]:
    return [finding.rule for finding in findings if finding.severity is Severity.ERROR]


def test_the_names_of_the_contract_are_there() -> None:
    assert set(RULES) >= REQUIRED


def test_a_rule_is_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidplan.rules.lib.engine.RULES", registry := dict(RULES))

    @rule(Severity.NOTE)
    def green_disks(topology: Topology) -> Iterator[Hit]:
        """A disk is green."""
        for name in topology.layout.hardware.disks:
            yield Hit(("hardware", "disks", name), f"{name} is green", "paint it")
            yield Hit(
                ("hardware", "disks", name), f"{name} is very green", "paint it", severity=Severity.WARNING
            )

    assert registry["green-disks"].summary == "A disk is green."
    made, found = topology("hardware: {disks: {d0: {serial: A}}}")
    path = ("hardware", "disks", "d0")
    assert check(made, found) == [
        Finding("green-disks", Severity.NOTE, path, "d0 is green", "paint it"),
        Finding("green-disks", Severity.WARNING, path, "d0 is very green", "paint it"),
    ]


def test_two_rules_of_one_name_are_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidplan.rules.lib.engine.RULES", dict(RULES))

    def too_few_members(topology: Topology) -> Iterator[Hit]:
        yield from ()

    with pytest.raises(ValueError, match="two rules are named too-few-members"):
        rule(Severity.NOTE)(too_few_members)


def test_the_rules_can_be_listed_without_pydantic() -> None:
    code = "import sys, raidplan.rules; print(len(raidplan.rules.RULES), 'pydantic' in sys.modules, 'yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(len(RULES)), "False", "False"]


def test_a_rule_stands_in_for_the_general_complaint() -> None:
    made, found = topology(
        "hardware: {disks: {d<0-2>: {size: 3TB, serial: S<1>}}}\narrays: {s0: {level: raid6, members: [d<0-2>]}}\n"
        + WATCHED
    )
    assert [f.rule for f in found] == ["impossible-array"]
    assert errors(check(made, found)) == ["too-few-members"]


def test_a_rule_about_something_else_does_not() -> None:
    made, found = topology(
        "hardware: {disks: {d<0-2>: {size: 16MiB, serial: S<1>}}}\n"
        "arrays: {s0: {level: raid5, members: [d<0-2>], chunk: 64MiB, stripe_cache_size: 1}}\n" + WATCHED
    )
    assert errors(check(made, found)) == ["impossible-array", "stripe-cache-range"]


def test_nothing_is_said_about_a_circle_but_that_it_is_one() -> None:
    made, found = topology("arrays: {a: {level: raid6, members: [b]}, b: {level: raid6, members: [a]}}")
    assert [f.rule for f in check(made, found)] == ["cycle"]


def test_findings_of_the_resolution_are_kept() -> None:
    made, _ = topology("")
    odd = error("unknown-device", ("arrays", "s0"), "no such device")
    assert check(made, [odd]) == [odd]


LARGE = """\
hardware:
  controllers: {c<0-99>: {ports: 8}}
  multipliers: {pm<000-799>: {behind: c0, ports: 5, speed: 3Gbps}}
  disks:
    d<000-799><0-4>:
      {behind: pm<1>, port: <2>, serial: S<1><2>, partitions: {swap: {size: 1GiB}, data: {size: rest}}}
arrays: {s<000-799>: {level: raid5, members: [d<1><0-4>.data]}}
swap: {w<000-799><0-4>: {device: d<1><2>.swap}}
"""


def test_every_rule_is_linear_in_disks_and_arrays() -> None:
    """4,000 disks in 800 arrays, each rule within a second of processor time."""
    made, _ = topology(LARGE)
    for each in RULES.values():
        assert each.search is not None
        started = time.process_time()
        for _ in each.search(made):
            pass
        assert time.process_time() - started < 1, each.name


def test_examples_are_of_one_form() -> None:
    folder = Path(__file__).parents[2] / "raidplan" / "rules"
    assert len(RULES) == sum(file.read_text().count("\n@rule(Severity.") for file in folder.glob("*.py"))


ELSEWHERE = {"disk-too-small", "disk-size-unknown"}
"""Stated by `loops` and `plan`, which `check` does not run."""


def test_everything_that_is_stated_has_a_page() -> None:
    """The first argument of every call that makes a finding, and every name among the expected errors."""
    names = set[str]()
    for file in (Path(__file__).parents[2] / "raidplan").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if called in ("error", "Impossible", "Finding") and isinstance(node, ast.Call) and node.args:
                first = node.args[0]
                names |= {first.value} if isinstance(first, ast.Constant) else set()
    for file in (Path(__file__).parents[1] / "errors").glob("*.txt"):
        names |= {line.rpartition(":")[2] for line in file.read_text().splitlines()}
    assert len(names) > 50 and names - ELSEWHERE <= set(CATALOGUE)
